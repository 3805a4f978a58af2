//! An API that is described in OpenAPI.

use crate::fail;
use crate::listing::{Entry, Listing};
use crate::redaction::Redaction;
use crate::route::{Route, egress, header, whole};
use crate::toolbox::Setting;
use crate::values::Values;
use isolith_core::{BindingName, CallError, Egress, FetchCall, Grant, Power, Redirect, RequestId, Target};
use isolith_gate::{Gate, Sent};
use isolith_tools::{OpenApi, description, unwrap_http};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use zeroize::Zeroizing;

/// The largest description.
const DESCRIPTION_BYTES_MAX: usize = 32 << 20;
/// How long it may take to get one.
const READ_LIMIT: Duration = Duration::from_secs(60);

/// An API and how it is asked.
pub(crate) struct Api {
    limit: Duration,
    operations: OpenApi,
    listing: Arc<Listing>,
    /// Where it is, and who says so.
    base: String,
    base_is_given: bool,
    /// What every request carries besides its credential.
    headers: Vec<(String, Zeroizing<String>)>,
    grants: Vec<Grant>,
}

/// How an API is set up.
pub(crate) struct Described<'a> {
    pub(crate) name: &'a BindingName,
    pub(crate) about: Option<&'a str>,
    pub(crate) limit: Duration,
    /// A file or a URL.
    pub(crate) openapi: &'a str,
    pub(crate) base: Option<&'a str>,
    pub(crate) headers: &'a Values,
    pub(crate) redaction: &'a Redaction,
    pub(crate) setting: &'a Arc<Setting>,
}

impl Described<'_> {
    /// Reads the description.
    pub(crate) async fn read(&self) -> Result<Api, CallError> {
        let filled = self.headers.fill(self.setting.secrets.clone(), self.redaction).await?;
        let late = |_| self.wrong(format!("was not there within {} s", READ_LIMIT.as_secs()));
        let text = tokio::time::timeout(READ_LIMIT, self.text(&filled)).await.map_err(late)??;
        // Large ones take a moment, which is nobody else's to wait.
        let read = tokio::task::spawn_blocking(move || {
            let description = description(&text)?;
            OpenApi::read(&description).map_err(|error| format!("cannot be used: {error}"))
        });
        let read = read.await.unwrap_or_else(|_| Err("could not be read".to_owned()));
        let operations = read.map_err(|what| self.wrong(fail::said(&what)))?;
        for note in operations.notes() {
            tracing::debug!(namespace = %self.name, "{}", fail::said(note));
        }
        let mut namespace = operations.namespace(self.name).map_err(|error| self.wrong(error.to_string()))?;
        if let Some(about) = self.about {
            namespace.description = about.to_owned();
        }
        let base = self.base_of(&operations)?;
        let egress = egress(&base).map_err(|why| self.wrong(format!("is of an API at `{base}`: {why}")))?;
        // Every path of that server: a path is made here, of a template and of arguments that cannot lead out of it, and has
        // escapes in it by which no prefix could be told.
        let mut egress = Egress { paths: Default::default(), ..egress };
        let (mut grants, mut added) = (Vec::new(), None);
        if let Some((name, credential, secrets)) = self.headers.credential().map_err(|why| self.wrong(why))? {
            (egress.credential, added) = (Some(credential), Some(name));
            grants.extend_from_slice(secrets);
        }
        grants.push(Grant::allow(Power::Egress(egress)));
        let headers = filled.into_iter().filter(|(name, _)| added != Some(name.as_str()));
        Ok(Api {
            limit: self.limit,
            listing: Arc::new(Listing::new(self.redaction.namespace(namespace))),
            operations,
            base,
            base_is_given: self.base.is_some(),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
            grants,
        })
    }

    async fn text(&self, headers: &[(String, Zeroizing<String>)]) -> Result<Vec<u8>, CallError> {
        let Some(url) = self.url() else { return self.file().await };
        // THREAT[T-UPSTREAM-001]: who describes an API is not always who it belongs to: credentials go to the API alone.
        let same = self.base.and_then(|base| Target::parse(base).ok()).is_some_and(|base| base.same_origin(&url));
        let headers = if same { headers.to_vec() } else { Vec::new() };
        let route = Route::to(self.openapi, &self.setting.net, headers, Arc::clone(&self.redaction.wire))?;
        let accept = vec![("accept".to_owned(), "application/json, application/yaml;q=0.9, */*;q=0.5".to_owned())];
        let response = route.send("GET", self.openapi, accept, None).await;
        let response = response.map_err(|error| self.wrong(format!("cannot be had: {}", error.message)))?;
        if response.head.status != 200 {
            return Err(self.wrong(format!("cannot be had: HTTP status {}", response.head.status)));
        }
        whole(response.body, DESCRIPTION_BYTES_MAX)
            .await
            .map_err(|error| self.wrong(format!("cannot be had: {}", error.message)))
    }

    async fn file(&self) -> Result<Vec<u8>, CallError> {
        let path = self.setting.folder.join(self.openapi);
        let cannot = |error: std::io::Error| self.wrong(format!("cannot be read: {}", error.kind()));
        let file = tokio::fs::File::open(path).await.map_err(cannot)?;
        if !file.metadata().await.map_err(cannot)?.is_file() {
            return Err(self.wrong("is not a regular file".into()));
        }
        let mut text = Vec::new();
        file.take(DESCRIPTION_BYTES_MAX as u64 + 1).read_to_end(&mut text).await.map_err(cannot)?;
        if text.len() > DESCRIPTION_BYTES_MAX {
            return Err(self.wrong(format!("has more than {} MiB", DESCRIPTION_BYTES_MAX >> 20)));
        }
        Ok(text)
    }

    fn url(&self) -> Option<Target> {
        let lower = self.openapi.get(..8).unwrap_or(self.openapi).to_ascii_lowercase();
        let is_url = lower.starts_with("https://") || lower.starts_with("http://");
        is_url.then(|| Target::parse(self.openapi).ok()).flatten()
    }

    /// Where the API is: where the operator says, or else where the description says.
    fn base_of(&self, operations: &OpenApi) -> Result<String, CallError> {
        if let Some(base) = self.base {
            return Ok(base.to_owned());
        }
        let server = operations.servers().first().map_or("/", String::as_str);
        let base = match self.url() {
            None => server.to_owned(),
            Some(url) => {
                let joined =
                    url.join(server).map_err(|why| self.wrong(format!("is of an API at `{server}`: {why}")))?;
                // THREAT[T-UPSTREAM-001]: a description that comes from one server must not send what is meant for it to another.
                if !joined.same_origin(&url) && !self.headers.is_empty() {
                    let to = format!("`base = \"{}\"`", joined.url());
                    return Err(self.wrong(format!(
                        "comes from another server than its API, which gets headers: say {to} if that is right"
                    )));
                }
                joined.url().to_string()
            }
        };
        if Target::parse(&base).is_err() {
            return Err(self.wrong("does not say where its API is: say `base = \"https://…\"`".into()));
        }
        Ok(base)
    }

    fn wrong(&self, what: String) -> CallError {
        fail::unavailable(format!("the description of `{}` {what}", self.name))
    }
}

impl Api {
    pub(crate) fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.listing)
    }

    /// Makes the request of an operation.
    pub(crate) async fn call(&self, gate: &Gate, entry: &Entry<'_>, args: &Value) -> Result<Value, CallError> {
        let path = &entry.path;
        let operation = self.operations.operation(entry.tool.name.as_str());
        let operation = operation.map_err(|error| fail::unknown(error.to_string()))?;
        let base = self.base_for(path, operation.servers())?;
        let request = operation.request(&base, args).map_err(|error| fail::invalid_input(path, &error.to_string()))?;
        let mut headers = request.headers;
        for (name, value) in &self.headers {
            headers.retain(|(other, _)| other != name);
            headers.push((name.clone(), value.to_string()));
        }
        let fetch = FetchCall {
            request: RequestId(0),
            url: request.url,
            method: request.method.as_str().to_owned(),
            headers,
            redirect: Redirect::Follow,
            streamed: false,
            body: request.body,
        };
        let sent = tokio::time::timeout(self.limit, gate.send_for(self.grants.clone(), fetch)).await;
        let late = |_| fail::timeout(format!("the tool `{path}` took longer than {} ms", self.limit.as_millis()));
        let Sent { head, body } = sent.map_err(late)??;
        let kind = header(&head.headers, "content-type");
        unwrap_http(head.status, kind, &body)
            .map_err(|failure| fail::failed(format!("the tool `{path}` failed: {failure}")))
    }

    /// Where an operation is. Some are elsewhere than the rest, but never on another server.
    fn base_for(&self, path: &str, servers: &[String]) -> Result<String, CallError> {
        let Some(server) = servers.first().filter(|_| !self.base_is_given) else { return Ok(self.base.clone()) };
        let joined = Target::parse(&self.base).and_then(|base| Ok((base.join(server)?, base)));
        match joined {
            Ok((there, base)) if there.same_origin(&base) => Ok(there.url().to_string()),
            _ => Err(fail::unavailable(format!("the tool `{path}` is on another server than the rest of its API"))),
        }
    }
}
