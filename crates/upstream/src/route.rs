//! Requests to one place that an operator named, for what no run asks for by itself.

use crate::fail;
use isolith_core::{
    BoxFuture, CallError, Egress, FetchCall, Grant, Limits, Method, Power, Redirect, RequestId, Target, admit,
};
use isolith_gate::egress::{Client, Hop, Hops, Net, Refused, Response};
use isolith_gate::{BodySource, Redactor};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zeroize::Zeroizing;

/// How much of a body is taken at once.
const PIECE_BYTES: usize = 64 << 10;

/// The way to one URL and what is below it. Nothing else can be reached by it, wherever a server may point.
pub(crate) struct Route {
    client: Client,
    grants: Vec<Grant>,
    /// What every request carries.
    headers: Vec<(String, Zeroizing<String>)>,
    redactor: Arc<Redactor>,
    requests: AtomicU32,
}

/// What may be sent to a URL and below it: everything.
pub(crate) fn egress(url: &str) -> Result<Egress, String> {
    let target = Target::parse(url).map_err(|why| why.to_string())?;
    let method = Method::new("GET")?;
    Ok(Egress { methods: Default::default(), ..admit::smallest(&method, &target) })
}

impl Route {
    pub(crate) fn to(
        url: &str,
        net: &Arc<Net>,
        headers: Vec<(String, Zeroizing<String>)>,
        redactor: Arc<Redactor>,
    ) -> Result<Route, CallError> {
        let egress = egress(url).map_err(|why| fail::unavailable(format!("`{url}` cannot be asked: {why}")))?;
        // It serves many runs and streams that do not end; each message is bounded where it is read.
        let limits = Limits { egress_requests: u32::MAX, egress_response_bytes: u64::MAX, ..Limits::default() };
        let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let grants = vec![Grant::allow(Power::Egress(egress))];
        Ok(Route { client: net.client(&limits), grants, headers, redactor, requests: AtomicU32::new(0) })
    }

    /// Sends one request. What comes back is without the secrets that were sent.
    pub(crate) async fn send(
        &self,
        method: &str,
        url: &str,
        mut headers: Vec<(String, String)>,
        body: Option<Vec<u8>>,
    ) -> Result<Response, CallError> {
        for (name, value) in &self.headers {
            headers.retain(|(other, _)| other != name);
            headers.push((name.clone(), value.to_string()));
        }
        let call = FetchCall {
            request: RequestId(self.requests.fetch_add(1, Ordering::Relaxed)),
            url: url.to_owned(),
            method: method.to_owned(),
            headers,
            redirect: Redirect::Follow,
            streamed: false,
            body,
        };
        self.client.fetch(call, None, self).await.result
    }
}

impl Hops for Route {
    fn admit<'a>(&'a self, method: &'a Method, target: &'a Target) -> BoxFuture<'a, Result<Hop, Refused>> {
        let decided = admit::egress(&self.grants, method, target)
            .map_err(|refusal| Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() })
            .map(|admitted| Hop {
                grant: admitted.grant.to_string(),
                injection: None,
                redactor: Some(Arc::clone(&self.redactor)),
            });
        Box::pin(std::future::ready(decided))
    }

    fn admit_address(&self, method: &Method, target: &Target, address: IpAddr) -> Result<(), Refused> {
        admit::address(&self.grants, method, target, address)
            .map_err(|refusal| Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() })
    }
}

/// A header of a response.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A whole body, if it is not larger than this.
pub(crate) async fn whole(body: Option<Box<dyn BodySource>>, most: usize) -> Result<Vec<u8>, CallError> {
    let mut all = Vec::new();
    let Some(mut body) = body else { return Ok(all) };
    loop {
        let piece = body.read(PIECE_BYTES).await?;
        if piece.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&piece);
        if all.len() > most {
            return Err(fail::too_large(format!("the answer has more than {} MiB", most >> 20)));
        }
    }
}
