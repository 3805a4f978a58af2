//! The way to one API. Nothing else can be reached by it, wherever a server may point.

use super::Dialect;
use crate::Setting;
use isolith_core::{
    BoxFuture, CallError, Credential, FetchCall, Grant, Limits, Method, Power, Redirect, RequestId, SecretGrant,
    SecretName, SecretSource, Target, Template, Timestamp, admit,
};
use isolith_gate::egress::{Client, Hop, Hops, Injection, Refused};
use isolith_gate::{BodySource, Redactor, Vault};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 << 20;
const PIECE_BYTES: usize = 64 << 10;
/// What keys are called in what takes their place.
const KEY: &str = "key";
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The way to one URL and what is below it.
pub(super) struct Route {
    client: Client,
    /// What may be sent; empty if the URL is none, which was checked before.
    grants: Vec<Grant>,
    headers: Vec<(String, String)>,
    vault: Option<Key>,
    redactor: Arc<Redactor>,
    requests: AtomicU32,
}

struct Key {
    vault: Vault,
    name: SecretName,
    credential: Credential,
}

/// What a server said.
pub(super) struct Said {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Route {
    pub(super) fn new(url: &str, key: Option<SecretSource>, dialect: Dialect, setting: &Setting) -> Route {
        let egress = Target::parse(url).ok().zip(Method::new("POST").ok());
        let egress = egress.map(|(target, method)| admit::smallest(&method, &target));
        let grants = egress.map(|egress| Grant::allow(Power::Egress(egress))).into_iter().collect();
        // It serves many runs; each answer is bounded where it is read.
        let limits = Limits { egress_requests: u32::MAX, egress_response_bytes: u64::MAX, ..Limits::default() };
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if dialect == Dialect::Anthropic {
            headers.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
        }
        Route {
            client: setting.net.client(&limits),
            grants,
            headers,
            vault: key.and_then(|from| Key::new(from, dialect, setting)),
            redactor: Arc::new(Redactor::new()),
            requests: AtomicU32::new(0),
        }
    }

    /// Posts one body. What comes back, errors included, is without the key.
    pub(super) async fn post(&self, url: &str, body: Vec<u8>) -> Result<Said, String> {
        let call = FetchCall {
            request: RequestId(self.requests.fetch_add(1, Ordering::Relaxed)),
            url: url.to_owned(),
            method: "POST".to_owned(),
            headers: self.headers.clone(),
            // THREAT[T-AGENT-004]: a prompt and a key go where the operator said, and not where that place points.
            redirect: Redirect::Error,
            streamed: false,
            body: Some(body),
        };
        let clean = |error: CallError| self.redactor.text(&error.message).into_owned();
        let response = self.client.fetch(call, None, self).await.result.map_err(clean)?;
        let named = |name: &str| response.head.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let retry_after = named("retry-after").map(|(_, value)| value.clone());
        let body = whole(response.body).await.map_err(clean)?;
        Ok(Said { status: response.head.status, retry_after, body })
    }

    async fn hop(&self, method: &Method, target: &Target) -> Result<Hop, Refused> {
        let admitted = admit::egress(&self.grants, method, target)
            .map_err(|refusal| Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() })?;
        let grant = admitted.grant.to_string();
        let injection = match &self.vault {
            Some(key) => {
                let refused = |error| Refused { error, wanted: grant.clone() };
                Some(key.injection(&self.redactor).await.map_err(refused)?)
            }
            None => None,
        };
        Ok(Hop { grant, injection, redactor: Some(Arc::clone(&self.redactor)) })
    }
}

impl Key {
    fn new(from: SecretSource, dialect: Dialect, setting: &Setting) -> Option<Key> {
        let name = SecretName::new(KEY).ok()?;
        let grant = SecretGrant { name: name.clone(), from: Some(from), reveal: false };
        let credential = match dialect {
            Dialect::Anthropic => {
                Credential::Header { name: "x-api-key".to_owned(), value: Template::new(&format!("${{{KEY}}}")).ok()? }
            }
            Dialect::Openai => Credential::Bearer(name.clone()),
        };
        let vault = Vault::new(&[Grant::allow(Power::Secret(grant))], setting.secrets.clone());
        Some(Key { vault, name, credential })
    }

    async fn injection(&self, redactor: &Redactor) -> Result<Injection, CallError> {
        let value = self.vault.get(&self.name).await?;
        // THREAT[T-SECRET-005]: the server repeats the key that it was sent.
        redactor.add(KEY, value.expose());
        // Nothing here is signed, so the time is not looked at.
        let made = Injection::of(&self.credential, Timestamp::from_micros(0), |_| Some(value.expose()));
        made.map_err(|error| CallError {
            name: "Error".into(),
            message: error.to_string(),
            code: Some("secret.unusable".into()),
        })
    }
}

impl Hops for Route {
    fn admit<'a>(&'a self, method: &'a Method, target: &'a Target) -> BoxFuture<'a, Result<Hop, Refused>> {
        Box::pin(self.hop(method, target))
    }

    fn admit_address(&self, method: &Method, target: &Target, address: IpAddr) -> Result<(), Refused> {
        admit::address(&self.grants, method, target, address)
            .map_err(|refusal| Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() })
    }
}

async fn whole(body: Option<Box<dyn BodySource>>) -> Result<Vec<u8>, CallError> {
    let mut all = Vec::new();
    let Some(mut body) = body else { return Ok(all) };
    loop {
        let piece = body.read(PIECE_BYTES).await?;
        if piece.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&piece);
        if all.len() > ANSWER_BYTES_MAX {
            let message = format!("the answer has more than {} MiB", ANSWER_BYTES_MAX >> 20);
            return Err(CallError { name: "Error".into(), message, code: Some("agent.too_large".into()) });
        }
    }
}
