//! One namespace and what stands behind it, connected when it is first needed.

use crate::fail;
use crate::listing::{Entry, Listing};
use crate::mcp::{Dialled, Server};
use crate::openapi::{Api, Described};
use crate::redaction::Redaction;
use crate::route::Route;
use crate::rules::Rules;
use crate::state::Pauses;
use crate::toolbox::Setting;
use crate::values::Values;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use isolith_core::{BindingName, BoxFuture, CallError, Json, Rule, Upstream, UpstreamSource};
use isolith_gate::Gate;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One namespace.
pub(crate) struct Place {
    name: BindingName,
    source: UpstreamSource,
    about: Option<String>,
    limit: Duration,
    rules: Rules,
    /// Its environment or headers.
    values: Values,
    /// Its command, or where it is.
    words: Values,
    setting: Arc<Setting>,
    /// Knows every secret that was given to what stands behind the namespace.
    redaction: Redaction,
    state: Mutex<State>,
}

struct State {
    now: Now,
    pauses: Pauses,
    /// Why it could not be started the last time.
    why: Option<CallError>,
    /// Nothing is started any more.
    closed: bool,
}

enum Now {
    Idle,
    Starting(Start),
    Ready(Link),
}

/// Many may wait for one start. It goes on when they do not.
type Start = Shared<BoxFuture<'static, Result<Link, CallError>>>;

/// What stands behind a namespace, connected.
#[derive(Clone)]
pub(crate) enum Link {
    Server(Arc<Server>),
    Api(Arc<Api>),
}

impl Place {
    pub(crate) fn new(name: BindingName, upstream: Upstream, setting: Arc<Setting>) -> Result<Place, String> {
        let Upstream { source, allow, ask, deny, timeout_ms, description } = upstream;
        let values = match &source {
            UpstreamSource::Command { env, .. } => env,
            UpstreamSource::Url { headers, .. } | UpstreamSource::OpenApi { headers, .. } => headers,
        };
        let words: Vec<(&str, &str)> = match &source {
            UpstreamSource::Command { command, .. } => command.iter().map(|word| ("command", word.as_str())).collect(),
            UpstreamSource::Url { url, .. } => vec![("url", url)],
            UpstreamSource::OpenApi { openapi, .. } => vec![("openapi", openapi)],
        };
        let wrong = |why: String| format!("tools.{name}: {why}");
        Ok(Place {
            values: Values::read(values.iter().map(|(name, text)| (name.as_str(), text.as_str()))).map_err(wrong)?,
            words: Values::read(words).map_err(wrong)?,
            name,
            source,
            about: description,
            limit: Duration::from_millis(timeout_ms),
            rules: Rules { allow, ask, deny },
            setting,
            redaction: Redaction::default(),
            state: Mutex::new(State { now: Now::Idle, pauses: Pauses::default(), why: None, closed: false }),
        })
    }

    /// Calls a function of this namespace.
    pub(crate) async fn call(
        self: &Arc<Self>,
        gate: &Gate,
        function: &str,
        args: Option<Json>,
    ) -> Result<Option<Json>, CallError> {
        let called = self.perform(gate, function, args).await;
        // THREAT[T-SECRET-005]: the server repeats a secret that it was given.
        let value = called.map_err(|error| self.redaction.error(error))?;
        Json::of(&self.redaction.value(value)).map(Some).map_err(|error| fail::failed(error.to_string()))
    }

    async fn perform(self: &Arc<Self>, gate: &Gate, function: &str, args: Option<Json>) -> Result<Value, CallError> {
        let link = self.link().await?;
        let listing = link.listing().await;
        let entry = listing.find(function)?;
        let args: Value = match args {
            None => Value::Object(Map::new()),
            Some(args) => args.parse().map_err(|error| fail::invalid_input(&entry.path, &error.to_string()))?,
        };
        entry.check_input(&args)?;
        let answer = link.call(gate, &entry, args).await?;
        // An API may have nothing to say where it described what it says otherwise.
        if !(matches!(link, Link::Api(_)) && answer.is_null()) {
            entry.check_output(&answer)?;
        }
        Ok(answer)
    }

    /// Whether a function may be called, as far as the namespace has a say in it.
    pub(crate) async fn rule(self: &Arc<Self>, function: &str) -> Rule {
        // What is forbidden by its name needs nobody to be asked.
        if self.rules.of(&[function]) == Some(Rule::Deny) {
            return Rule::Deny;
        }
        let listing = self.listing().await.ok();
        let tool = listing.as_ref().and_then(|listing| listing.find(function).ok()).map(|entry| entry.tool);
        let mut names = vec![function];
        names.extend(tool.map(|tool| tool.upstream.as_str()));
        self.rules.of(&names).unwrap_or_else(|| match (tool, &self.source) {
            (Some(tool), _) => tool.rule,
            (None, UpstreamSource::OpenApi { .. }) => Rule::Ask,
            (None, UpstreamSource::Command { .. } | UpstreamSource::Url { .. }) => Rule::Allow,
        })
    }

    /// The tools of this namespace: as they are known, whether or not the server is there right now.
    pub(crate) async fn listing(self: &Arc<Self>) -> Result<Arc<Listing>, CallError> {
        let ready = match &self.state().now {
            Now::Ready(link) => Some(link.clone()),
            Now::Idle | Now::Starting(_) => None,
        };
        let link = match ready {
            Some(link) => link,
            None => self.link().await.map_err(|error| self.redaction.error(error))?,
        };
        Ok(link.listing().await)
    }

    /// What stands behind the namespace; connects to it when nobody has yet, or when it died.
    async fn link(self: &Arc<Self>) -> Result<Link, CallError> {
        let start = {
            let mut state = self.state();
            match &state.now {
                Now::Ready(link) if link.is_alive() => return Ok(link.clone()),
                Now::Starting(start) => start.clone(),
                Now::Ready(_) | Now::Idle => self.begin(&mut state)?,
            }
        };
        start.await
    }

    fn begin(self: &Arc<Self>, state: &mut State) -> Result<Start, CallError> {
        let now = Instant::now();
        if let Now::Ready(dead) = std::mem::replace(&mut state.now, Now::Idle) {
            state.pauses.died(dead.is_proved(), now);
            state.why = None;
            tokio::spawn(async move { dead.close().await });
        }
        if state.closed {
            return Err(fail::unavailable(format!("the tools of `{}` are closed", self.name)));
        }
        if let Some(left) = state.pauses.left(now) {
            let why = state.why.as_ref().map_or_else(
                || format!("the tool server of `{}` ended before it answered anything", self.name),
                |why| why.message.clone(),
            );
            let message = format!("{why}; it is tried again in {} ms", left.as_millis().max(1));
            return Err(fail::unavailable(message));
        }
        let place = Arc::clone(self);
        // On its own: a run that does not wait for it any more leaves it to the next.
        let task = tokio::spawn(async move {
            let made = place.make().await;
            place.made(&made);
            made
        });
        let place = Arc::clone(self);
        let start = async move {
            let lost = |_| fail::unavailable("the tool server could not be started".to_owned());
            let made = task.await.map_err(lost).flatten();
            if made.is_err() {
                // Also when it never got to say so itself.
                let mut state = place.state();
                if matches!(state.now, Now::Starting(_)) {
                    state.now = Now::Idle;
                }
            }
            made
        };
        let start = start.boxed().shared();
        state.now = Now::Starting(start.clone());
        Ok(start)
    }

    fn made(&self, made: &Result<Link, CallError>) {
        let mut state = self.state();
        match made {
            Ok(link) if state.closed => {
                state.now = Now::Idle;
                let link = link.clone();
                tokio::spawn(async move { link.close().await });
            }
            Ok(link) => state.now = Now::Ready(link.clone()),
            Err(error) => {
                state.now = Now::Idle;
                state.pauses.failed(Instant::now());
                state.why = Some(error.clone());
            }
        }
    }

    async fn make(&self) -> Result<Link, CallError> {
        let (name, about, limit) = (&self.name, self.about.as_deref(), self.limit);
        let (setting, redaction) = (&self.setting, &self.redaction);
        let dialled = Dialled { name, about, limit, redaction };
        let fill = || self.values.fill(setting.secrets.clone(), redaction);
        let words = self.words.fill(setting.secrets.clone(), redaction).await?;
        let place = words.first().map_or("", |(_, word)| word.as_str());
        match &self.source {
            UpstreamSource::Command { cwd, .. } => {
                let command: Vec<String> = words.iter().map(|(_, word)| word.to_string()).collect();
                let server = dialled.start(&command, cwd.as_deref(), &setting.folder, &fill().await?).await?;
                Ok(Link::Server(Arc::new(server)))
            }
            UpstreamSource::Url { .. } => {
                let route = Route::to(place, &setting.net, fill().await?, Arc::clone(&redaction.wire))?;
                Ok(Link::Server(Arc::new(dialled.connect(place, route).await?)))
            }
            UpstreamSource::OpenApi { base, .. } => {
                let (openapi, base, headers) = (place, base.as_deref(), &self.values);
                let described = Described { name, about, limit, openapi, base, headers, redaction, setting };
                Ok(Link::Api(Arc::new(described.read().await?)))
            }
        }
    }

    /// Lets go of what stands behind it, and waits until that has ended.
    pub(crate) async fn close(&self) {
        let link = {
            let mut state = self.state();
            state.closed = true;
            match std::mem::replace(&mut state.now, Now::Idle) {
                Now::Ready(link) => Some(link),
                Now::Idle | Now::Starting(_) => None,
            }
        };
        if let Some(link) = link {
            link.close().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    fn is_alive(&self) -> bool {
        match self {
            Link::Server(server) => server.is_alive(),
            Link::Api(_) => true,
        }
    }

    fn is_proved(&self) -> bool {
        match self {
            Link::Server(server) => server.is_proved(),
            Link::Api(_) => true,
        }
    }

    async fn listing(&self) -> Arc<Listing> {
        match self {
            Link::Server(server) => server.listing().await,
            Link::Api(api) => api.listing(),
        }
    }

    async fn call(&self, gate: &Gate, entry: &Entry<'_>, args: Value) -> Result<Value, CallError> {
        match self {
            Link::Api(api) => api.call(gate, entry, &args).await,
            Link::Server(server) => match args {
                Value::Object(args) => server.call(&entry.path, &entry.tool.upstream, args).await,
                _ => Err(fail::invalid_input(&entry.path, "it takes an object")),
            },
        }
    }

    async fn close(&self) {
        if let Link::Server(server) = self {
            server.close().await;
        }
    }
}
