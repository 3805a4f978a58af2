use super::{HopReport, Injection, Upload, error, redirect};
use crate::Redactor;
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING};
use isolith_core::{CallError, CallOutcome, InvalidTarget, Method, Power, Target, admit};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One request on its way from hop to hop.
pub(super) struct Journey {
    pub(super) method: Method,
    pub(super) target: Target,
    /// The guest's own. What is added is never among them.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Payload,
    /// Those of every hop so far: what one server was told, another may repeat.
    pub(super) redactors: Vec<Arc<Redactor>>,
    pub(super) redirects: u32,
}

pub(super) enum Payload {
    None,
    Whole(Bytes),
    /// Gone once it was sent.
    Pieces(Option<Upload>),
}

impl Journey {
    /// What is known of the next hop before anyone was asked.
    pub(super) fn report(&self) -> HopReport {
        HopReport {
            grant: String::new(),
            what: format!("{} {}", self.method, self.target),
            host: self.target.host_text().to_owned(),
            outcome: CallOutcome::Failed,
            error: None,
            started: Instant::now(),
            duration: Duration::ZERO,
            bytes_out: 0,
        }
    }

    /// Files a report with how the hop went, and gives that back without secrets.
    pub(super) fn written<T>(
        &self,
        result: Result<T, CallError>,
        mut report: HopReport,
        reports: &mut Vec<HopReport>,
    ) -> Result<T, CallError> {
        let result = result.map_err(|error| self.redacted(error));
        report.duration = report.started.elapsed();
        if report.grant.is_empty() {
            // Nobody was asked: what is wanted is the least that covers it.
            report.grant = Power::Egress(admit::smallest(&self.method, &self.target)).to_string();
        }
        report.what = self.redact_owned(report.what);
        report.grant = self.redact_owned(report.grant);
        report.error = result.as_ref().err().map(|error| error.message.clone());
        report.outcome = match &result {
            Ok(_) => CallOutcome::Ok,
            Err(error) if error.is_refusal() => CallOutcome::Denied,
            Err(_) => CallOutcome::Failed,
        };
        reports.push(report);
        result
    }

    /// Goes where a redirect leads; the next hop is admitted like a first one.
    pub(super) fn go(&mut self, status: u16, location: &str, injection: Option<&Injection>) -> Result<(), CallError> {
        let wrong = |message: &str| error::network("egress.redirect", message);
        self.redirects += 1;
        if self.redirects > redirect::REDIRECTS_MAX {
            return Err(wrong(&format!("there were more than {} redirects", redirect::REDIRECTS_MAX)));
        }
        let odd = |why: InvalidTarget| {
            error::denied("egress.url.denied", format!("{} redirects to where no request is made: {why}", self.target))
        };
        // THREAT[T-EGRESS-005]: a redirect leads to where the guest may not go. It is read by the same parser, joined to what
        // was admitted and not to what was sent, and admitted from the start.
        let mut next = self.target.join(location).map_err(odd)?;
        if let Some(injection) = injection {
            let mut url = next.url().clone();
            injection.withdraw(&mut url);
            next = Target::parse(url.as_str()).map_err(odd)?;
        }
        if !next.same_origin(&self.target) {
            redirect::forget_identity(&mut self.headers);
            // THREAT[T-SECRET-004]: a server that was told a secret passes it on in the URL it redirects to.
            if self.redact_text(next.url().as_str()) != next.url().as_str() {
                return Err(wrong("the redirect would tell a secret to another server"));
            }
        }
        if matches!(self.body, Payload::Pieces(_)) && status != 303 {
            return Err(wrong("a body that is streamed cannot be sent again to where the redirect leads"));
        }
        if matches!(self.body, Payload::Pieces(_)) {
            self.body = Payload::None;
        }
        if redirect::turned_to_get(status, &self.method) {
            self.method = Method::new("GET").map_err(|why| wrong(&why))?;
            self.body = Payload::None;
            redirect::forget_body(&mut self.headers);
        }
        self.target = next;
        Ok(())
    }

    /// The headers of a response, as the guest gets them.
    pub(super) fn shown(&self, headers: &HeaderMap, decoded: bool, changed: bool) -> Vec<(String, String)> {
        let mut shown = Vec::with_capacity(headers.len());
        for (name, value) in headers {
            // They are about the connection, or about a body that the guest does not get in that form.
            let about_connection = [CONNECTION, TRAILER, TRANSFER_ENCODING].contains(name) || name == "keep-alive";
            let stale = (decoded && name == CONTENT_ENCODING) || (changed && name == CONTENT_LENGTH);
            if !about_connection && !stale && self.may_show(name.as_str()) {
                shown.push((name.as_str().to_owned(), self.redact_latin1(value.as_bytes())));
            }
        }
        shown
    }

    /// An error without secrets.
    pub(super) fn redacted(&self, error: CallError) -> CallError {
        CallError { message: self.redact_owned(error.message), ..error }
    }

    /// Text without secrets.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.redact_owned(text.to_owned())
    }

    fn redact_owned(&self, text: String) -> String {
        self.redactors.iter().fold(text, |text, redactor| match redactor.text(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        })
    }

    fn may_show(&self, text: &str) -> bool {
        self.redactors.iter().all(|redactor| matches!(redactor.text(text), Cow::Borrowed(_)))
    }

    /// Bytes above 0x7f as the characters of those numbers, after secrets were taken out.
    pub(super) fn redact_latin1(&self, bytes: &[u8]) -> String {
        let clean = self.redactors.iter().fold(bytes.to_vec(), |bytes, redactor| redactor.bytes(&bytes).into_owned());
        match String::from_utf8(clean) {
            Ok(text) if text.is_ascii() => text,
            Ok(text) => text.bytes().map(char::from).collect(),
            Err(odd) => odd.into_bytes().into_iter().map(char::from).collect(),
        }
    }
}
