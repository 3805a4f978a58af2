//! Toolboxes with servers of our own behind them.

#![allow(dead_code, unreachable_pub, reason = "a module that each test file uses some of")]

pub mod origin;

use isolith_core::ToolName;
use isolith_core::{BindingName, CallError, Json, Limits, RunId};
use isolith_core::{Upstream, UpstreamSource};
use isolith_gate::Upstreams as _;
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use isolith_upstream::{Setting, Toolbox};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A toolbox, and a gate of a run that uses it.
pub struct Desk {
    pub toolbox: Toolbox,
    pub gate: Gate,
}

pub fn net() -> Arc<Net> {
    Arc::new(Net::new(NetOptions::default()).unwrap())
}

pub fn table(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

pub fn upstream(source: UpstreamSource) -> Upstream {
    Upstream { timeout_ms: 20_000, ..Upstream::new(source) }
}

/// The server in Python, over pipes.
pub fn python(env: &[(&str, &str)]) -> Upstream {
    let command = ["python3", "tests/servers/mcp.py"].map(str::to_owned).to_vec();
    upstream(UpstreamSource::Command { command, env: table(env), cwd: None })
}

impl Desk {
    pub fn new(upstreams: Vec<(&str, Upstream)>) -> Desk {
        Desk::at(".".into(), upstreams)
    }

    pub fn at(folder: PathBuf, upstreams: Vec<(&str, Upstream)>) -> Desk {
        let named = |(name, upstream)| (BindingName::new(name).unwrap(), upstream);
        let setting = Setting { folder: folder.clone(), net: net(), secrets: None };
        let toolbox = Toolbox::new(upstreams.into_iter().map(named).collect(), setting).unwrap();
        let identity = Identity { run: RunId("run".into()), program: "program".into() };
        let gate = Gate::new(Vec::new(), Limits::default(), identity, Means::new(net(), folder)).unwrap();
        Desk { toolbox, gate }
    }

    pub async fn call(&self, name: &str, args: Value) -> Result<Value, CallError> {
        let name = ToolName::new(name).unwrap();
        let answer = self.toolbox.call(&self.gate, &name, Some(Json::of(&args).unwrap())).await?;
        Ok(answer.map_or(Value::Null, |json| json.parse().unwrap()))
    }

    /// The code and message of a call that does not work.
    pub async fn refused(&self, name: &str, args: Value) -> (String, String) {
        match self.call(name, args).await {
            Ok(value) => panic!("{name} answered {value}"),
            Err(error) => (error.code.unwrap_or_default(), error.message),
        }
    }

    pub async fn search(&self, query: &str, granted: &(dyn Fn(&str) -> bool + Sync)) -> Value {
        self.toolbox.search(query, 10, &|name| granted(name.as_str())).await.parse().unwrap()
    }

    pub async fn describe(&self, path: &str) -> Result<String, CallError> {
        self.toolbox.describe(path, &|_| true).await
    }
}
