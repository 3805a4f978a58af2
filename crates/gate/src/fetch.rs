//! Requests to the network: each hop is admitted by the grants, and each is written down.

use crate::book::{Entry, now};
use crate::egress::{Fetched, Hop, HopReport, Hops, Injection, Refused, Response, ResponseHead};
use crate::gate::Gate;
use crate::ledger::lock;
use crate::secrets::Vault;
use crate::whole::{Looked, WHOLE_BYTES_MAX, look};
use isolith_core::{
    Answer, BodyId, BoxFuture, CallError, CallId, CallOutcome, FetchCall, Grant, HostReply, Json, Method, Power,
    SecretName, Target, Verdict, admit,
};
use serde::Serialize;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

impl Gate {
    pub(crate) async fn fetch(&self, asker: CallId, call: FetchCall) -> Answer {
        let id = call.request;
        let (method, url) = (call.method.clone(), call.url.clone());
        let label = || shown(&method, &url);
        if self.bodies.is_full() {
            let message = "too many responses are open: read them to their end, or cancel them";
            let error =
                CallError { name: "TypeError".into(), message: message.into(), code: Some("egress.limit".into()) };
            return self.unsent(label(), error);
        }
        // Someone who has to be asked is asked before anything is begun, so that the run can leave memory meanwhile. A body that comes
        // piece by piece is begun already, and a redirect is under way: for those it has to stay.
        let agreed = if call.streamed { None } else { self.agreed_to(asker, &call).await };
        let (cancel, upload) = self.requests.begin(id, call.streamed);
        let _ended = Ended(self, id);
        let client = self.client();
        let hops = Admission::new(self, &self.grants, self.vault()).knowing(agreed);
        let fetched = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                let acts = lock(&hops.entries).iter().map(Entry::act).collect();
                let reply = HostReply::failed_as("egress.aborted", "AbortError", "the request was given up");
                return Answer { reply, acts };
            }
            fetched = client.fetch(call, upload, &hops) => fetched,
        };
        match fetched {
            // Refused for what it is, before anyone was asked.
            Fetched { result: Err(error), hops } if hops.is_empty() => self.unsent(label(), error),
            fetched => self.answer(fetched, hops).await,
        }
    }

    /// What someone said about the first hop of a request, where they have to be asked: with what was asked, and under which grant.
    async fn agreed_to(&self, asker: CallId, call: &FetchCall) -> Option<Agreed> {
        if !self.may_ask() {
            return None;
        }
        let (method, target) = (Method::new(&call.method).ok()?, Target::parse(&call.url).ok()?);
        let admitted = admit::egress(&self.grants, &method, &target).ok()?;
        let label = self.ledger.asks(&admitted)?;
        let said = self.ask(Some(asker), label.clone(), format!("{method} {target}"), None).await;
        Some((label, said))
    }

    /// A request that was not sent is in the books all the same.
    pub(crate) fn unsent(&self, what: String, error: CallError) -> Answer {
        let mut entry = self.book.entry(format!("egress:{what}"), what);
        entry.failed(&error);
        Answer { acts: vec![entry.act()], reply: HostReply::Failed { error } }
    }

    async fn answer(&self, Fetched { result, hops }: Fetched, admission: Admission<'_>) -> Answer {
        let mut entries = admission.entries(hops);
        let acts = entries.iter().map(Entry::act).collect();
        let reply = match result {
            Ok(Response { head, body: None, .. }) => HostReply::value(&Head::of(&head, None, None)),
            Ok(Response { head, body: Some(source), length }) => {
                let most = self.whole_bytes_max();
                let looked = match length {
                    Some(length) if length > most as u64 => Looked::Open(source),
                    length => look(source, most, length.map(|length| length as usize)).await,
                };
                match looked {
                    Looked::Whole(whole) => {
                        if let Some(entry) = entries.last_mut() {
                            entry.bytes_in = whole.len() as u64;
                        }
                        match Json::of(&Head::of(&head, None, Some(whole.len() as u64))) {
                            Ok(json) => HostReply::Response { head: json, status: head.status, whole },
                            Err(error) => HostReply::failed("Error", error.to_string()),
                        }
                    }
                    // The last hop's entry stays open until its body is over.
                    Looked::Open(source) => {
                        let body = self.bodies.open(source, entries.pop());
                        HostReply::value(&Head::of(&head, Some(body), length))
                    }
                }
            }
            Err(error) => HostReply::Failed { error },
        };
        Answer { reply, acts }
    }

    /// How large a body may be that goes along with its reply, which has limits too.
    fn whole_bytes_max(&self) -> usize {
        let reply = (self.limits.payload_bytes / 2).min(self.limits.memory_bytes / 16);
        WHOLE_BYTES_MAX.min(reply as usize)
    }

    async fn admit_hop(
        &self,
        (grants, vault): (&[Grant], &Vault),
        method: &Method,
        target: &Target,
        agreed: Option<Agreed>,
    ) -> Result<Hop, Refused> {
        let decision = admit::egress(grants, method, target);
        let ask = async |label: String| match agreed {
            Some((known, said)) if known == label => said,
            _ => self.ask(None, label, format!("{method} {target}"), None).await,
        };
        let same = decision.clone();
        let passed = self.ledger.pass(decision, ask, |_| same).await.map(|passed| passed.grant);
        let grant = passed.map_err(|refused| Refused { error: refused.error, wanted: refused.wanted })?;
        let refused = |error: CallError| Refused { error, wanted: self.text_of(grant) };
        let mut hop = Hop { grant: self.text_of(grant), injection: None, redactor: None };
        let Power::Egress(egress) = &grant.power else { return Ok(hop) };
        let Some(credential) = &egress.credential else { return Ok(hop) };
        // THREAT[T-SECRET-001]: a secret is read only after the request was admitted, and before any packet is sent.
        let mut values = Vec::new();
        for name in credential.secrets() {
            let value = vault.get(name).await.map_err(refused)?;
            if egress.redact {
                self.redactor.add(name.as_str(), value.expose());
            }
            values.push((name.clone(), value));
        }
        let lookup =
            |wanted: &SecretName| values.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.expose());
        let injection = Injection::of(credential, now(), lookup).map_err(|error| {
            refused(CallError { name: "Error".into(), message: error.to_string(), code: Some("secret.invalid".into()) })
        })?;
        if egress.redact {
            injection.register(&self.redactor);
            hop.redactor = Some(Arc::clone(&self.redactor));
        }
        hop.injection = Some(injection);
        Ok(hop)
    }
}

/// The admission of one request. A hop is in the books from the moment it is admitted: a run that ends meanwhile does not
/// leave it out.
pub(crate) struct Admission<'a> {
    gate: &'a Gate,
    /// Under which grants it goes, and the secrets of these.
    grants: &'a [Grant],
    vault: &'a Vault,
    entries: Mutex<Vec<Entry>>,
    /// What was said about its first hop.
    agreed: Mutex<Option<Agreed>>,
}

/// What someone said, with what they were asked, by the grant that asks.
type Agreed = (String, (String, Verdict));

impl<'a> Admission<'a> {
    pub(crate) fn new(gate: &'a Gate, grants: &'a [Grant], vault: &'a Vault) -> Admission<'a> {
        Admission { gate, grants, vault, entries: Mutex::default(), agreed: Mutex::default() }
    }

    /// The same with what was said about its first hop.
    fn knowing(self, agreed: Option<Agreed>) -> Admission<'a> {
        Admission { agreed: Mutex::new(agreed), ..self }
    }

    /// The entries of these hops, which are all there were, with how each went.
    pub(crate) fn entries(self, hops: Vec<HopReport>) -> Vec<Entry> {
        let mut begun = self.entries.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut entries: Vec<Entry> = Vec::new();
        for hop in hops {
            // What was refused has no entry yet.
            let known = begun.iter().position(|entry| self.gate.redactor.text(entry.what()) == hop.what);
            let entry = known.map(|at| begun.remove(at));
            let mut entry = entry.unwrap_or_else(|| self.gate.book.entry(String::new(), hop.what.clone()));
            fill(&mut entry, hop);
            entries.push(entry);
        }
        entries
    }
}

impl Hops for Admission<'_> {
    fn admit<'a>(&'a self, method: &'a Method, target: &'a Target) -> BoxFuture<'a, Result<Hop, Refused>> {
        Box::pin(async move {
            let agreed = lock(&self.agreed).take();
            let admitted = self.gate.admit_hop((self.grants, self.vault), method, target, agreed).await;
            if let Ok(hop) = &admitted {
                let mut entry = self.gate.book.entry(hop.grant.clone(), format!("{method} {target}"));
                if let Some(row) = entry.row() {
                    row.outcome = CallOutcome::Cancelled;
                    row.host = Some(target.host_text().to_owned());
                }
                lock(&self.entries).push(entry);
            }
            admitted
        })
    }

    fn admit_address(&self, method: &Method, target: &Target, address: IpAddr) -> Result<(), Refused> {
        admit::address(self.grants, method, target, address).map_err(|refusal| {
            let mut error = refusal.to_error();
            error.code = Some("egress.address.denied".into());
            Refused { error, wanted: refusal.wanted.to_string() }
        })
    }
}

/// What a guest is told of a response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    url: &'a str,
    status: u16,
    status_text: &'a str,
    headers: &'a [(String, String)],
    redirected: bool,
    body: Option<BodyId>,
    length: Option<u64>,
}

impl<'a> Head<'a> {
    fn of(head: &'a ResponseHead, body: Option<BodyId>, length: Option<u64>) -> Head<'a> {
        let ResponseHead { url, status, status_text, headers, redirected } = head;
        Head { url, status: *status, status_text, headers, redirected: *redirected, body, length }
    }
}

/// A request as the books show it when it could not even be read.
pub(crate) fn shown(method: &str, url: &str) -> String {
    let place: String = url.split(['?', '#']).next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX).collect();
    format!("{} {place}", method.chars().take(SHOWN_CHARS_MAX).collect::<String>())
}

/// As much of a URL is shown.
const SHOWN_CHARS_MAX: usize = 200;

fn fill(entry: &mut Entry, hop: HopReport) {
    if let Some(row) = entry.row() {
        row.grant = hop.grant;
        row.host = Some(hop.host);
        row.outcome = hop.outcome;
        row.error = hop.error;
        row.bytes_out = hop.bytes_out;
        row.duration_us = hop.duration.as_micros() as u64;
    }
}

/// However a request ends, it is over.
struct Ended<'a>(&'a Gate, isolith_core::RequestId);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.requests.end(self.1);
    }
}
