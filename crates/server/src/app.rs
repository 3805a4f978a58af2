//! What every route shares, and who may come in.

use crate::caller::{Caller, Ceiling};
use crate::checker::Checker;
use crate::error::Refusal;
use crate::handle::Seal;
use crate::isolates::StateSeal;
use crate::runs::{Runs, lock};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use isolith_core::{ApiKey, ApiKeys, CallerId, Manifest, Scope, key};
use isolith_workspace::Memory;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

pub(crate) struct App {
    pub(crate) runs: Arc<Runs>,
    pub(crate) seal: Seal,
    pub(crate) states: StateSeal,
    keys: Arc<dyn ApiKeys>,
    policy: Option<Manifest>,
    pub(crate) checker: Option<Arc<dyn Checker>>,
    /// Callers as they were made from their keys, so that what is counted for them goes on.
    callers: Mutex<HashMap<CallerId, Known>>,
    /// Workspaces that are nowhere else, the oldest first.
    pub(crate) in_memory: Mutex<VecDeque<(CallerId, String, Arc<Memory>)>>,
}

/// A caller, and the key it was made from; the user of this machine has none.
type Known = (Option<ApiKey>, Arc<Caller>);

/// Where a connection comes from, and where it arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

impl App {
    pub(crate) fn new(
        runs: Arc<Runs>,
        keys: Arc<dyn ApiKeys>,
        policy: Option<Manifest>,
        checker: Option<Arc<dyn Checker>>,
        handle_key: &[u8; 32],
    ) -> Arc<App> {
        Arc::new(App {
            runs,
            seal: Seal::new(handle_key),
            states: StateSeal::new(handle_key),
            keys,
            policy,
            checker,
            callers: Mutex::default(),
            in_memory: Mutex::default(),
        })
    }

    /// Whoever needs no key: the user of this machine.
    pub(crate) fn local(&self) -> Arc<Caller> {
        let ceiling = Ceiling { policies: self.policy.iter().cloned().collect(), local: true };
        let make = || Arc::new(Caller::new(CallerId::local(), Scope::ALL.to_vec(), ceiling, None));
        let mut callers = lock(&self.callers);
        Arc::clone(&callers.entry(CallerId::local()).or_insert_with(|| (None, make())).1)
    }

    /// A caller by its key, as far as it may still come in.
    pub(crate) fn caller(&self, id: &CallerId) -> Option<Arc<Caller>> {
        if *id == CallerId::local() {
            return Some(self.local());
        }
        let key = self.keys.find(id).ok().flatten().filter(|key| key.revoked.is_none())?;
        self.of_key(key).ok()
    }

    fn of_key(&self, key: ApiKey) -> Result<Arc<Caller>, Refusal> {
        let mut callers = lock(&self.callers);
        if let Some((Some(known), caller)) = callers.get(&key.caller)
            && *known == key
        {
            return Ok(Arc::clone(caller));
        }
        let mut policies: Vec<Manifest> = self.policy.iter().cloned().collect();
        if let Some(json) = &key.policy {
            // THREAT[T-SERVER-006]: a policy that cannot be read allows nothing.
            let broken = |error: &dyn std::fmt::Display| Refusal::internal("reading a key's policy", error);
            let value = json.parse().map_err(|error| broken(&error))?;
            policies.push(Manifest::from_value(&value).map_err(|error| broken(&error))?);
        }
        let ceiling = Ceiling { policies, local: false };
        let caller = Arc::new(Caller::new(key.caller.clone(), key.scopes.clone(), ceiling, key.rate));
        callers.insert(key.caller.clone(), (Some(key), Arc::clone(&caller)));
        Ok(caller)
    }

    /// Who sent a request.
    pub(crate) fn authenticate(&self, headers: &HeaderMap, peer: Peer) -> Result<Arc<Caller>, Refusal> {
        let refused = || {
            let refusal = Refusal::new(
                StatusCode::UNAUTHORIZED,
                "key.invalid",
                "this needs a key: `Authorization: Bearer isk_…`",
            );
            refusal.hint("`isolith key create NAME` makes one")
        };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (first, second) = (given.next(), given.next());
        if second.is_some() {
            return Err(Refusal::invalid("there are two `Authorization` headers"));
        }
        let any = self.keys.any().map_err(|error| Refusal::internal("reading the keys", &error))?;
        let Some(value) = first else {
            // THREAT[T-SERVER-001]: where nobody has a key yet, only this machine is served.
            return if !any && peer.from.ip().to_canonical().is_loopback() { Ok(self.local()) } else { Err(refused()) };
        };
        let text = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).ok_or_else(refused)?;
        let (caller, secret) = key::parse(text).ok_or_else(refused)?;
        let found = self.keys.find(&caller).map_err(|error| Refusal::internal("reading the keys", &error))?;
        if !key::matches(found.as_ref(), &secret) {
            return Err(refused());
        }
        self.of_key(found.ok_or_else(refused)?)
    }

    // THREAT[T-SERVER-002]: a page in a browser can reach loopback, by a name of its own (DNS rebinding) or by a request across
    // origins. Names and origins that are not ours are refused before anything else is looked at.
    fn check_origin(&self, request: &Request, peer: Peer) -> Result<(), Refusal> {
        let headers = request.headers();
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(Refusal::invalid("there are two `Host` headers"));
        }
        let given = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
        let host = request.uri().authority().map(|authority| authority.as_str()).or(given);
        let Some(host) = host else { return Err(Refusal::invalid("the `Host` header is missing")) };
        let foreign = |what: &str| {
            let message = format!("this `{what}` is not the server's own");
            Refusal::new(StatusCode::FORBIDDEN, "origin.foreign", message)
                .hint("`isolith serve --host NAME` adds a name")
        };
        let name = host
            .rsplit_once(':')
            .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
            .map_or(host, |(name, _)| name);
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let own = name.eq_ignore_ascii_case("localhost")
            || name
                .parse()
                .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback() || ip.to_canonical() == peer.to.ip().to_canonical())
            || self.runs.settings.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
        if !own {
            return Err(foreign("Host"));
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let same = origin.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host));
            if !same {
                return Err(foreign("Origin"));
            }
        }
        Ok(())
    }
}

/// In front of every route.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    app.runs.metrics.requests.fetch_add(1, Relaxed);
    let peer = match request.extensions().get::<ConnectInfo<Peer>>() {
        Some(ConnectInfo(peer)) => *peer,
        None => return Refusal::internal("taking a request", &"its connection is not known").into_response(),
    };
    if let Err(refusal) = app.check_origin(&request, peer) {
        return refusal.into_response();
    }
    // Paths that nobody knows are not told apart from others without a key.
    let path = request.uri().path();
    if (path.starts_with("/v1") || path.starts_with("/mcp"))
        && let Err(refusal) = app.authenticate(request.headers(), peer)
    {
        return refusal.into_response();
    }
    let mut response = next.run(request).await;
    if matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        app.runs.metrics.shed.fetch_add(1, Relaxed);
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(header::HeaderValue::from_static("no-store"));
    response
}

/// Whoever sent the request, as an argument of a route.
pub(crate) struct Authed(pub(crate) Arc<Caller>);

impl FromRequestParts<Arc<App>> for Authed {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Authed, Refusal> {
        let Some(ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<Peer>>().copied() else {
            return Err(Refusal::internal("taking a request", &"its connection is not known"));
        };
        app.authenticate(&parts.headers, peer).map(Authed)
    }
}
