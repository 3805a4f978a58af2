//! What the gate's side of upstream tools looks like from here.

use crate::toolbox::Setting;
use isolith_core::{
    BindingName, BoxFuture, CallError, CallId, FetchCall, Grant, Host as _, HostCall, HostReply, Json, Limits, Rule,
    RunId,
};
use isolith_gate::{Gate, Identity, Means};
use std::collections::BTreeMap;

/// `<namespace>.<function>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolName(String);

impl ToolName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, String> {
        let name = name.into();
        let ok = name.split('.').all(|part| BindingName::new(part).is_ok());
        if ok { Ok(ToolName(name)) } else { Err(name) }
    }
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// What stands before the dot.
    pub fn namespace(&self) -> Option<&str> {
        self.0.split_once('.').map(|(namespace, _)| namespace)
    }
    /// What stands behind it.
    pub fn function(&self) -> &str {
        self.0.split_once('.').map_or(&self.0, |(_, function)| function)
    }
}

/// One namespace.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// What stands behind it.
    pub source: UpstreamSource,
    /// May be called.
    pub allow: Vec<String>,
    /// Is asked about.
    pub ask: Vec<String>,
    /// May not be called.
    pub deny: Vec<String>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What it is for.
    pub description: Option<String>,
}

/// What stands behind a namespace.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum UpstreamSource {
    Command { command: Vec<String>, env: BTreeMap<String, String>, cwd: Option<String> },
    Url { url: String, headers: BTreeMap<String, String> },
    OpenApi { openapi: String, base: Option<String>, headers: BTreeMap<String, String> },
}

/// The tools of others.
#[allow(missing_docs)]
pub trait Upstreams: Send + Sync {
    fn call<'a>(
        &'a self,
        gate: &'a Gate,
        name: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>>;
    fn rule<'a>(&'a self, name: &'a ToolName) -> BoxFuture<'a, Rule>;
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Json>;
    fn describe<'a>(
        &'a self,
        path: &'a str,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Result<String, CallError>>;
}

type Sent = (u16, Vec<(String, String)>, Vec<u8>);

/// One request under exactly these grants.
pub(crate) async fn send_for(setting: &Setting, grants: Vec<Grant>, fetch: FetchCall) -> Result<Sent, CallError> {
    let wrong = |message: String| crate::fail::failed(message);
    let mut means = Means::new(setting.net.clone(), setting.folder.clone());
    means.secrets = setting.secrets.clone();
    let run = RunId("shim".into());
    let gate = Gate::new(grants, Limits::default(), Identity { run, program: String::new() }, means).map_err(wrong)?;
    match gate.call(CallId(0), HostCall::Fetch(Box::new(fetch))).await.reply {
        HostReply::Response { head, status, whole } => {
            let head: serde_json::Value = head.parse().map_err(|error| wrong(error.to_string()))?;
            let headers = serde_json::from_value(head["headers"].clone()).unwrap_or_default();
            Ok((status, headers, whole.into_iter().collect()))
        }
        HostReply::Value { json: Some(json) } => {
            let head: serde_json::Value = json.parse().map_err(|error| wrong(error.to_string()))?;
            let headers = serde_json::from_value(head["headers"].clone()).unwrap_or_default();
            let status = head["status"].as_u64().unwrap_or_default() as u16;
            let mut all = Vec::new();
            if let Some(body) = head["body"].as_u64() {
                loop {
                    let call = HostCall::ReadBody { body: isolith_core::BodyId(body as u32), most_bytes: 1 << 20 };
                    match gate.call(CallId(1), call).await.reply {
                        HostReply::Bytes { bytes } if bytes.is_empty() => break,
                        HostReply::Bytes { bytes } => all.extend(bytes),
                        HostReply::Failed { error } => return Err(error),
                        _ => break,
                    }
                }
            }
            Ok((status, headers, all))
        }
        HostReply::Failed { error } => Err(error),
        _ => Err(wrong("no response".into())),
    }
}
