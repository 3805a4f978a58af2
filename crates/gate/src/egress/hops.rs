use super::Injection;
use crate::Redactor;
use isolith_core::{BoxFuture, CallError, CallOutcome, Method, Target};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The gate's side of one request: asked before every hop, redirects included.
pub trait Hops: Send + Sync {
    /// Whether this request may be sent, and with what. A refusal means that no packet leaves, not even to look up a name.
    fn admit<'a>(&'a self, method: &'a Method, target: &'a Target) -> BoxFuture<'a, Result<Hop, Refused>>;

    /// Whether an admitted request may go to an address that its host turned out to have.
    fn admit_address(&self, method: &Method, target: &Target, address: IpAddr) -> Result<(), Refused>;
}

/// A request that may be sent.
pub struct Hop {
    /// The grant that covers it.
    pub grant: String,
    /// What that grant adds to it.
    pub injection: Option<Injection>,
    /// What the response may not repeat: there when something is added and the grant does not say `redact = false`.
    pub redactor: Option<Arc<Redactor>>,
}

/// A request that may not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// As the guest's `catch` sees it.
    pub error: CallError,
    /// The smallest grant that would have allowed it.
    pub wanted: String,
}

/// How one hop went. A hop that was admitted and has no report was dropped on its way, together with the whole fetch.
#[derive(Clone, Debug)]
pub struct HopReport {
    /// The grant that was used; for a refusal the smallest one that would have allowed it.
    pub grant: String,
    /// `GET https://api.example.com/v1/users`, without the query.
    pub what: String,
    /// The host.
    pub host: String,
    /// How it went.
    pub outcome: CallOutcome,
    /// Why it was refused or failed.
    pub error: Option<String>,
    /// When it was asked for.
    pub started: Instant,
    /// Until there was a response, or none.
    pub duration: Duration,
    /// What went out of its body. A body that is streamed may go on after this.
    pub bytes_out: u64,
}
