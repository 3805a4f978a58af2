//! One MCP server that is connected.

use super::MESSAGE_BYTES_MAX;
use super::child::{Job, Process};
use super::handler::Handler;
use super::http::Http;
use super::lines::Lines;
use crate::listing::Listing;
use crate::redaction::Redaction;
use crate::route::Route;
use crate::{fail, names};
use isolith_core::{BindingName, CallError, Rule};
use isolith_tools::{Namespace, Tool, unwrap_mcp};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, JsonObject, PaginatedRequestParams, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to say hello. Some are downloaded first.
const HELLO_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to list its tools, all pages together.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// How many tools one server may have.
const TOOLS_MAX: usize = 10_000;
/// On how many pages.
const PAGES_MAX: usize = 1_000;
/// And in how many bytes.
const LIST_BYTES_MAX: usize = 64 << 20;
/// How much of what a server says about itself is kept.
const ABOUT_CHARS_MAX: usize = 300;
/// After so many calls in a row that were not answered, a server is taken for dead.
const SILENCES_MAX: u32 = 3;
/// How often the tools are listed again at most.
const RELIST_PAUSE: Duration = Duration::from_secs(1);
/// How long a server may take to let go.
const CLOSE_LIMIT: Duration = Duration::from_secs(3);

/// How to reach a server.
pub(crate) struct Dialled<'a> {
    pub(crate) name: &'a BindingName,
    /// What the operator says it is for.
    pub(crate) about: Option<&'a str>,
    /// How long a call may take.
    pub(crate) limit: Duration,
    pub(crate) redaction: &'a Redaction,
}

/// A server that answers.
pub(crate) struct Server {
    name: BindingName,
    about: Option<String>,
    redaction: Redaction,
    limit: Duration,
    service: tokio::sync::Mutex<Option<RunningService<RoleClient, Handler>>>,
    peer: Peer<RoleClient>,
    process: Option<Process>,
    flooded: Arc<AtomicBool>,
    listing: Mutex<Arc<Listing>>,
    /// Whether the server said that its tools are others now.
    changed: Arc<AtomicBool>,
    /// When they were listed; held while they are listed again.
    listed: tokio::sync::Mutex<Instant>,
    /// Whether it has ever answered a call.
    proved: AtomicBool,
    silences: AtomicU32,
    broken: AtomicBool,
}

/// Both protocols that servers speak: today's, and the one before it.
fn lifecycle(legacy: bool) -> ClientLifecycleMode {
    if legacy {
        return ClientLifecycleMode::Initialize;
    }
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

impl Dialled<'_> {
    /// Starts a server as a process of ours.
    pub(crate) async fn start(
        &self,
        command: &[String],
        cwd: Option<&str>,
        folder: &std::path::Path,
        env: &[(String, zeroize::Zeroizing<String>)],
    ) -> Result<Server, CallError> {
        let mut legacy = false;
        loop {
            let job = Job {
                command,
                env: env.to_vec(),
                folder,
                cwd,
                redaction: self.redaction,
                namespace: self.name.as_str(),
            };
            let (process, stdout, stdin) = job.start()?;
            let lines = Lines::new(stdout, &self.redaction.wire);
            let (flooded, changed) = (Arc::clone(&lines.flooded), Arc::default());
            let handler = Handler { changed: Arc::clone(&changed) };
            // The line that is too long ends in `Lines`, before it is one here.
            let transport = AsyncRwTransport::new_client(lines, stdin).with_max_line_length(MESSAGE_BYTES_MAX * 2);
            let greeting = handler.serve_with_lifecycle(transport, lifecycle(legacy));
            match tokio::time::timeout(HELLO_LIMIT, greeting).await {
                Ok(Ok(service)) => return self.ready(service, Some(process), flooded, changed).await,
                // Some servers of before today's protocol go when they hear of it.
                Ok(Err(ClientInitializeError::ConnectionClosed(_))) if !legacy => legacy = true,
                Ok(Err(error)) => {
                    let how = match process.ended().await {
                        Some(how) => format!("ended before it was ready ({how})"),
                        None if flooded.load(Ordering::Acquire) => flood(),
                        None => format!("could not be talked to: {}", fail::said(&error.to_string())),
                    };
                    return Err(self.unavailable(&how));
                }
                Err(_) => return Err(self.unavailable(&format!("said nothing for {} s", HELLO_LIMIT.as_secs()))),
            }
        }
    }

    /// Connects to a server at a URL.
    pub(crate) async fn connect(&self, url: &str, route: Route) -> Result<Server, CallError> {
        let changed = Arc::default();
        let handler = Handler { changed: Arc::clone(&changed) };
        let config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(MESSAGE_BYTES_MAX);
        let transport = StreamableHttpClientTransport::with_client(Http { route: Arc::new(route) }, config);
        let greeting = handler.serve_with_lifecycle(transport, lifecycle(false));
        match tokio::time::timeout(HELLO_LIMIT, greeting).await {
            Ok(Ok(service)) => self.ready(service, None, Arc::default(), changed).await,
            Ok(Err(error)) if error.is_authorization_required() => {
                Err(self.unavailable("wants to know who is asking (HTTP status 401): give it a header"))
            }
            Ok(Err(error)) => Err(self.unavailable(&format!("could not be talked to: {}", fail::said(&chain(&error))))),
            Err(_) => Err(self.unavailable(&format!("said nothing for {} s", HELLO_LIMIT.as_secs()))),
        }
    }

    async fn ready(
        &self,
        service: RunningService<RoleClient, Handler>,
        process: Option<Process>,
        flooded: Arc<AtomicBool>,
        changed: Arc<AtomicBool>,
    ) -> Result<Server, CallError> {
        let peer = service.peer().clone();
        let about = self.about.map(str::to_owned).or_else(|| about(&peer));
        let listing = list(&peer, self.name, about.as_deref(), self.redaction).await?;
        let server = Server {
            name: self.name.clone(),
            about,
            redaction: self.redaction.clone(),
            limit: self.limit,
            peer,
            service: tokio::sync::Mutex::new(Some(service)),
            process,
            flooded,
            listing: Mutex::new(Arc::new(listing)),
            changed,
            listed: tokio::sync::Mutex::new(Instant::now()),
            proved: AtomicBool::new(false),
            silences: AtomicU32::new(0),
            broken: AtomicBool::new(false),
        };
        server.subscribe();
        Ok(server)
    }

    fn unavailable(&self, what: &str) -> CallError {
        fail::unavailable(format!("the tool server of `{}` {what}", self.name))
    }
}

impl Server {
    /// Whether it can be asked something.
    pub(crate) fn is_alive(&self) -> bool {
        !self.peer.is_transport_closed()
            && !self.broken.load(Ordering::Acquire)
            && self.silences.load(Ordering::Acquire) < SILENCES_MAX
    }

    /// Whether it has answered a call since it was started.
    pub(crate) fn is_proved(&self) -> bool {
        self.proved.load(Ordering::Acquire)
    }

    /// Its tools as they were listed last.
    pub(crate) fn known(&self) -> Arc<Listing> {
        Arc::clone(&self.listing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its tools. They are listed again when the server said that they changed.
    pub(crate) async fn listing(&self) -> Arc<Listing> {
        if !self.changed.load(Ordering::Acquire) || !self.is_alive() {
            return self.known();
        }
        let mut listed = self.listed.lock().await;
        // THREAT[T-UPSTREAM-002]: a server that always says so would be asked all the time.
        if listed.elapsed() < RELIST_PAUSE || !self.changed.swap(false, Ordering::AcqRel) {
            return self.known();
        }
        let again = list(&self.peer, &self.name, self.about.as_deref(), &self.redaction).await;
        *listed = Instant::now();
        match again {
            Ok(listing) => *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(listing),
            Err(error) => tracing::debug!(namespace = %self.name, "tools could not be listed again: {}", error.message),
        }
        self.known()
    }

    /// Calls a tool by the name that the server gives it.
    pub(crate) async fn call(&self, path: &str, upstream: &str, args: JsonObject) -> Result<Value, CallError> {
        let params = CallToolRequestParams::new(upstream.to_owned()).with_arguments(args);
        let called = tokio::time::timeout(self.limit, self.peer.call_tool_once(params)).await;
        let answer = match called {
            Ok(Ok(answer)) => answer,
            Err(_) => {
                self.silences.fetch_add(1, Ordering::AcqRel);
                return Err(fail::timeout(format!("the tool `{path}` took longer than {} ms", self.limit.as_millis())));
            }
            Ok(Err(error)) => return Err(self.failed(path, error).await),
        };
        self.answered();
        match answer {
            CallToolResponse::Complete(result) => {
                let result = serde_json::to_value(result).map_err(|error| fail::failed(error.to_string()))?;
                unwrap_mcp(&result).map_err(|failure| fail::failed(format!("the tool `{path}` failed: {failure}")))
            }
            CallToolResponse::InputRequired(_) => {
                Err(fail::failed(format!("the tool `{path}` asks back, and there is nobody to answer it")))
            }
            _ => Err(fail::failed(format!("the tool `{path}` answers later, which cannot be waited for"))),
        }
    }

    fn answered(&self) {
        self.proved.store(true, Ordering::Release);
        self.silences.store(0, Ordering::Release);
    }

    async fn failed(&self, path: &str, error: ServiceError) -> CallError {
        match error {
            ServiceError::McpError(error) => {
                self.answered();
                fail::failed(format!("the tool `{path}` failed: {} ({})", fail::said(&error.message), error.code.0))
            }
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                let how = match &self.process {
                    _ if self.flooded.load(Ordering::Acquire) => flood(),
                    Some(process) => match process.ended().await {
                        Some(how) => format!("ended ({how})"),
                        None => "closed its output".to_owned(),
                    },
                    None => "is gone".to_owned(),
                };
                let so_far = "whether it did what it was asked to is not known";
                fail::lost(format!("the tool server of `{}` {how} during the call of `{path}`: {so_far}", self.name))
            }
            error => {
                // A server that lost its session, or is not there any more, is greeted again.
                self.broken.store(true, Ordering::Release);
                let said = fail::said(&chain(&error));
                fail::lost(format!("the call of `{path}` did not get through: {said}"))
            }
        }
    }

    /// A server of today's protocol tells what changes to those who ask for it.
    fn subscribe(&self) {
        let info = self.peer.peer_info();
        let tells = info.is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize() && tools.is_some_and(|tools| tools.list_changed == Some(true))
        });
        if !tells {
            return;
        }
        let (peer, changed) = (self.peer.clone(), Arc::clone(&self.changed));
        // It ends with the connection.
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let Ok(mut told) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = told.next().await {
                changed.store(true, Ordering::Release);
            }
        });
    }

    /// Lets go of it, and waits until it has ended.
    pub(crate) async fn close(&self) {
        if let Some(mut service) = self.service.lock().await.take() {
            let _ = service.close_with_timeout(CLOSE_LIMIT).await;
        }
        if let Some(process) = &self.process {
            process.close().await;
        }
    }
}

/// What a server says about itself, in a line.
fn about(peer: &Peer<RoleClient>) -> Option<String> {
    let info = peer.peer_info()?;
    let server = info.server_info.as_ref();
    let said = info.instructions.as_deref().or_else(|| server?.description.as_deref());
    let said = said.or_else(|| server?.title.as_deref()).or_else(|| Some(server?.name.as_str()))?;
    Some(fail::said(said).lines().next()?.chars().take(ABOUT_CHARS_MAX).collect())
}

async fn list(
    peer: &Peer<RoleClient>,
    name: &BindingName,
    about: Option<&str>,
    redaction: &Redaction,
) -> Result<Listing, CallError> {
    let wrong = |what: String| fail::unavailable(format!("the tool server of `{name}` {what}"));
    let late = |_| wrong(format!("did not list its tools within {} s", LIST_LIMIT.as_secs()));
    let tools = tokio::time::timeout(LIST_LIMIT, all(peer)).await.map_err(late)?.map_err(wrong)?;
    let upstream: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
    let mut own = Vec::with_capacity(tools.len());
    for (tool, known) in tools.into_iter().zip(names::identifiers(&upstream)) {
        let Some(known) = known else { continue };
        own.push(Tool {
            name: known,
            upstream: tool.name.into_owned(),
            description: tool.description.map(String::from).or(tool.title).unwrap_or_default(),
            input: Value::Object((*tool.input_schema).clone()),
            output: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
            rule: Rule::Allow,
        });
    }
    let description = about.unwrap_or_default().to_owned();
    let namespace = Namespace { name: name.clone(), description, tools: own };
    Ok(Listing::new(redaction.namespace(namespace)))
}

async fn all(peer: &Peer<RoleClient>) -> Result<Vec<rmcp::model::Tool>, String> {
    if peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let (mut tools, mut bytes, mut cursor) = (Vec::new(), 0, None);
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await;
        let page = page.map_err(|error| format!("could not list its tools: {}", fail::said(&chain(&error))))?;
        bytes += page.tools.iter().map(|tool| serde_json::to_vec(tool).map_or(0, |text| text.len())).sum::<usize>();
        tools.extend(page.tools);
        if tools.len() > TOOLS_MAX || bytes > LIST_BYTES_MAX {
            return Err(format!("has more than {TOOLS_MAX} tools, or {} MiB of them", LIST_BYTES_MAX >> 20));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("lists its tools on more than {PAGES_MAX} pages"))
}

fn flood() -> String {
    format!("sent a message of more than {} MiB", MESSAGE_BYTES_MAX >> 20)
}

/// An error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}
