use super::{HopReport, Hops, Net, Response, Upload, error};
use isolith_core::{CallError, FetchCall, Limits};
use std::sync::Arc;

/// What one run sends requests with. Dropping it closes every connection.
pub struct Client {
    _net: Arc<Net>,
}

/// How a request went, redirects included.
#[derive(Debug)]
pub struct Fetched {
    /// For the guest.
    pub result: Result<Response, CallError>,
    /// Each hop, in order. Empty when the request was refused for what it is (its URL, method or headers) before anyone was asked.
    pub hops: Vec<HopReport>,
}

impl Client {
    pub(super) fn new(net: Arc<Net>, _limits: &Limits) -> Client {
        Client { _net: net }
    }

    /// Sends one request and follows where it leads. `upload` is the body when `call.streamed`.
    pub async fn fetch(&self, _call: FetchCall, _upload: Option<Upload>, _hops: &dyn Hops) -> Fetched {
        Fetched { result: Err(error::network("egress.connect", "not there yet")), hops: Vec::new() }
    }
}
