use super::body::{ResponseBody, too_large};
use super::journey::{Journey, Payload};
use super::names::Names;
use super::pool::{Pool, Taken};
use super::request::Prepared;
use super::upload::Outgoing;
use super::{Hop, HopReport, Hops, Injection, Net, Response, ResponseHead, Upload, decode, error, redirect, tls};
use crate::Redactor;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::LOCATION;
use hyper::{Request, Version};
use isolith_core::{CallError, FetchCall, Limits, Method, Redirect, Target, headers};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, OnceCell, Semaphore};
use tokio_rustls::rustls::ClientConfig;

/// How long a server may think. A body that is on its way to it extends this.
const HEAD_TIMEOUT: Duration = Duration::from_secs(300);
/// How often it may say that it is thinking (1xx).
const INFORMATIONAL_MAX: u32 = 16;
/// How many bodies one run decompresses at a time.
const DECODERS_MAX: usize = 8;

/// What one run sends requests with. Dropping it closes every connection.
pub struct Client {
    net: Arc<Net>,
    names: Names,
    pool: Pool,
    tls: OnceCell<Arc<ClientConfig>>,
    decoders: Arc<Semaphore>,
    requests: AtomicU32,
    requests_max: u32,
    response_bytes_max: u64,
}

/// How a request went, redirects included.
#[derive(Debug)]
pub struct Fetched {
    /// For the guest.
    pub result: Result<Response, CallError>,
    /// Each hop, in order. Empty when the request was refused for what it is (its URL, method or headers) before anyone was
    /// asked.
    pub hops: Vec<HopReport>,
}

/// What came back from one hop.
struct Arrived {
    response: hyper::Response<Incoming>,
    injection: Option<Injection>,
}

impl Client {
    pub(super) fn new(net: Arc<Net>, limits: &Limits) -> Client {
        Client {
            net,
            names: Names::default(),
            pool: Pool::new(),
            tls: OnceCell::new(),
            decoders: Arc::new(Semaphore::new(DECODERS_MAX)),
            requests: AtomicU32::new(0),
            requests_max: limits.egress_requests,
            response_bytes_max: limits.egress_response_bytes,
        }
    }

    /// Sends one request and follows where it leads. `upload` is the body when `call.streamed`.
    ///
    /// Dropping the future breaks the request off; it reports nothing then.
    pub async fn fetch(&self, call: FetchCall, upload: Option<Upload>, hops: &dyn Hops) -> Fetched {
        let mut reports = Vec::new();
        let result = self.follow(call, upload, hops, &mut reports).await;
        Fetched { result, hops: reports }
    }

    async fn follow(
        &self,
        call: FetchCall,
        upload: Option<Upload>,
        hops: &dyn Hops,
        reports: &mut Vec<HopReport>,
    ) -> Result<Response, CallError> {
        // THREAT[T-EGRESS-012]: a header, method or URL makes another request of it on the way; what could is refused here,
        // and the request is built from what was checked.
        headers::check(&call.headers).map_err(|why| error::denied("egress.header.denied", why))?;
        let method = Method::new(&call.method).map_err(|why| error::denied("egress.method.denied", why))?;
        let target = Target::parse(&call.url).map_err(|why| error::denied("egress.url.denied", why.to_string()))?;
        let body = match call.body {
            _ if call.streamed => Payload::Pieces(upload),
            Some(body) => Payload::Whole(body.into()),
            None => Payload::None,
        };
        let mut journey = Journey { method, target, headers: call.headers, body, redactors: Vec::new(), redirects: 0 };
        loop {
            let mut report = journey.report();
            let arrived = self.hop(&mut journey, hops, &mut report).await;
            let arrived = journey.written(arrived, report, reports)?;
            let status = arrived.response.status().as_u16();
            let location = arrived.response.headers().get(LOCATION);
            match (location, call.redirect) {
                (Some(location), Redirect::Follow) if redirect::is_redirect(status) => {
                    let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
                    let gone = journey.go(status, &location, arrived.injection.as_ref());
                    if gone.is_err() {
                        let mut report = journey.report();
                        report.what = format!("{} (where a redirect led)", report.what);
                        journey.written(gone, report, reports)?;
                    }
                }
                (Some(_), Redirect::Error) if redirect::is_redirect(status) => {
                    let message = format!("{} answered with a redirect, and `redirect` is `error`", journey.target);
                    return Err(journey.redacted(error::network("egress.redirect", message)));
                }
                _ => return self.respond(&journey, arrived.response).map_err(|error| journey.redacted(error)),
            }
        }
    }

    /// One request and what came back. Notes in `report` what is known of it.
    async fn hop(&self, journey: &mut Journey, hops: &dyn Hops, report: &mut HopReport) -> Result<Arrived, CallError> {
        self.check_count(self.requests.load(Ordering::Relaxed))?;
        // THREAT[T-EGRESS-001]: a name that is looked up is a message to its owner; nothing is asked before this.
        let admitted = hops.admit(&journey.method, &journey.target).await;
        let Hop { grant, injection, redactor } = admitted.map_err(|refused| {
            report.grant = refused.wanted;
            refused.error
        })?;
        report.grant = grant;
        if let Some(redactor) = redactor {
            // THREAT[T-SECRET-006]: pieces of a response, put together by the guest, show what none of them shows.
            if journey.headers.iter().any(|(name, _)| name == "range") {
                let message = "a range of a response cannot be asked for where secrets are taken out of it: \
                               the grant would have to say `redact = false`";
                return Err(error::denied("egress.header.denied", message));
            }
            injection.iter().for_each(|injection| injection.register(&redactor));
            if !journey.redactors.iter().any(|known| Arc::ptr_eq(known, &redactor)) {
                journey.redactors.push(redactor);
            }
        }
        // THREAT[T-EGRESS-013]: redirects without end, or requests; each hop counts.
        self.check_count(self.requests.fetch_add(1, Ordering::Relaxed))?;
        let addresses = self.checked_addresses(journey, hops, report).await?;
        let tls = if journey.target.is_https() { Some(self.tls().await?) } else { None };
        let whole: Option<Bytes> = match &journey.body {
            Payload::None => Some(Bytes::new()),
            Payload::Whole(bytes) => Some(bytes.clone()),
            Payload::Pieces(_) => None,
        };
        let prepared =
            Prepared::new(&journey.method, &journey.target, &journey.headers, injection.as_ref(), whole.as_deref())?;
        let mut outgoing = match (whole, &mut journey.body) {
            (Some(bytes), _) => Outgoing::Whole(bytes),
            (None, Payload::Pieces(upload)) if upload.is_some() => {
                upload.take().map_or(Outgoing::Whole(Bytes::new()), Outgoing::Pieces)
            }
            _ => return Err(error::network("egress.reset", "the body of the request never came")),
        };
        let progress = match &outgoing {
            Outgoing::Whole(bytes) => Arc::new(AtomicU64::new(bytes.len() as u64)),
            Outgoing::Pieces(upload) => upload.taken(),
        };
        loop {
            let mut taken = self.pool.take(&self.net, tls.clone(), &journey.target, &addresses).await?;
            let request = prepared.request(&taken.link, outgoing)?;
            let answer = exchange(&mut taken, request, &progress, &journey.target).await;
            report.bytes_out = progress.load(Ordering::Relaxed);
            match answer? {
                Ok(response) => {
                    self.pool.put(&journey.target, taken);
                    return Ok(Arrived { response, injection });
                }
                // The server had closed the connection before the request was on it.
                Err(unsent) => outgoing = unsent,
            }
        }
    }

    fn check_count(&self, before: u32) -> Result<(), CallError> {
        if before < self.requests_max {
            return Ok(());
        }
        let message = format!(
            "the run has made {} requests, redirects included, which is the limit `egress_requests`",
            self.requests_max
        );
        Err(error::network("egress.limit", message))
    }

    async fn checked_addresses(
        &self,
        journey: &Journey,
        hops: &dyn Hops,
        report: &mut HopReport,
    ) -> Result<Arc<[IpAddr]>, CallError> {
        let Journey { method, target, .. } = journey;
        let addresses = self.names.addresses(&self.net, target.host()).await?;
        for address in addresses.iter().filter(|address| !self.net.is_fixture(**address)) {
            // THREAT[T-EGRESS-002]: a public name has a private address among its public ones; one such refuses the name.
            hops.admit_address(method, target, *address).map_err(|refused| {
                report.grant = refused.wanted;
                CallError { code: Some("egress.address.denied".into()), ..refused.error }
            })?;
        }
        Ok(addresses)
    }

    async fn tls(&self) -> Result<Arc<ClientConfig>, CallError> {
        let made = || async { self.net.tls().await.map(tls::for_run) };
        self.tls.get_or_try_init(made).await.cloned()
    }

    fn respond(&self, journey: &Journey, response: hyper::Response<Incoming>) -> Result<Response, CallError> {
        let (parts, body) = response.into_parts();
        let status = parts.status.as_u16();
        let host = journey.target.host_text().to_owned();
        let bodiless = journey.method.as_str() == "HEAD" || matches!(status, 204 | 205 | 304);
        let codings = if bodiless { Vec::new() } else { decode::codings(&parts.headers)? };
        let length = body.size_hint().exact().filter(|_| codings.is_empty());
        if !bodiless && length.is_some_and(|length| length > self.response_bytes_max) {
            return Err(too_large(&host, self.response_bytes_max));
        }
        let redacting = journey.redactors.iter().any(|redactor| !redactor.is_empty());
        let changed = !codings.is_empty() || (redacting && !bodiless);
        let reason = match parts.extensions.get::<hyper::ext::ReasonPhrase>() {
            Some(reason) => reason.as_bytes().to_vec(),
            None if parts.version == Version::HTTP_2 => Vec::new(),
            None => parts.status.canonical_reason().unwrap_or_default().into(),
        };
        let head = ResponseHead {
            url: journey.redact_text(journey.target.url().as_str()),
            status,
            status_text: journey.redact_latin1(&reason),
            headers: journey.shown(&parts.headers, !codings.is_empty(), changed),
            redirected: journey.redirects > 0,
        };
        if bodiless {
            return Ok(Response { head, body: None, length: None });
        }
        let mut source = ResponseBody::new(decode::decoded(body, &codings), host, self.response_bytes_max);
        source.redacting = journey.redactors.iter().map(Redactor::stream).collect();
        source.decoders = (!codings.is_empty()).then(|| self.decoders.clone());
        Ok(Response { head, body: Some(Box::new(source)), length: length.filter(|_| !changed) })
    }
}

/// Sends a request and waits for the head of its response. Gives the body back when the server cannot have seen any of it.
async fn exchange(
    taken: &mut Taken,
    mut request: Request<Outgoing>,
    progress: &AtomicU64,
    target: &Target,
) -> Result<Result<hyper::Response<Incoming>, Outgoing>, CallError> {
    let host = target.host_text();
    let (said, enough) = (AtomicU32::new(0), Arc::new(Notify::new()));
    let enough_said = enough.clone();
    hyper::ext::on_informational(&mut request, move |_| {
        if said.fetch_add(1, Ordering::Relaxed) >= INFORMATIONAL_MAX {
            enough_said.notify_one();
        }
    });
    let used = taken.used;
    let mut sending = std::pin::pin!(taken.link.send(request));
    loop {
        let before = progress.load(Ordering::Relaxed);
        tokio::select! {
            biased;
            answer = &mut sending => return match answer {
                Ok(response) if response.status() == hyper::StatusCode::SWITCHING_PROTOCOLS => {
                    Err(error::network("egress.protocol", format!("{host} wants to speak something else than HTTP")))
                }
                Ok(response) => Ok(Ok(response)),
                Err(mut failed) => match failed.take_message().filter(|_| used) {
                    Some(request) => Ok(Err(request.into_body())),
                    None => Err(error::http(host, failed.error())),
                },
            },
            // THREAT[T-EGRESS-006]: a server that always says that it will answer soon.
            () = enough.notified() => {
                return Err(error::network("egress.protocol", format!("{host} keeps saying that it will answer")));
            }
            // THREAT[T-EGRESS-011]: a server that takes the request and says nothing.
            () = tokio::time::sleep(HEAD_TIMEOUT) => if progress.load(Ordering::Relaxed) == before {
                return Err(error::network("egress.timeout", format!("{host} did not answer")));
            },
        }
    }
}
