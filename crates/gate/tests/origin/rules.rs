//! The gate's side, decided by grants.

use super::Origin;
use isolith_core::{
    BoxFuture, CallError, FetchCall, Grant, Limits, Method, Power, Redirect, RequestId, SecretName, Target, Timestamp,
    admit,
};
use isolith_gate::Redactor;
use isolith_gate::egress::{Client, Fetched, Hop, Hops, Injection, Net, NetOptions, Refused, Upload};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

pub const SECRET: &str = "sk-live/41+Zz&q";

/// Admits by grants, and remembers what it was asked.
pub struct Rules {
    grants: Vec<Grant>,
    redactor: Arc<Redactor>,
    pub asked: Mutex<Vec<String>>,
}

impl Rules {
    pub fn new(grants: Value) -> Rules {
        let grants = grants.as_array().unwrap().iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect();
        Rules { grants, redactor: Arc::new(Redactor::new()), asked: Mutex::default() }
    }

    /// Everything on this machine.
    pub fn loopback() -> Rules {
        Rules::new(json!([loopback()]))
    }

    /// This origin, with a credential.
    pub fn with(origin: &Origin, credential: Value) -> Rules {
        Rules::new(json!([granted(origin, credential)]))
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

pub fn loopback() -> Value {
    json!({ "kind": "egress", "host": "127.0.0.0/8", "scheme": ["http", "https"], "port": "*" })
}

/// One port of loopback, with a credential.
pub fn granted(origin: &Origin, credential: Value) -> Value {
    let port = origin.address.port();
    json!({ "kind": "egress", "host": "127.0.0.1", "scheme": "http", "port": port, "credential": credential })
}

impl Hops for Rules {
    fn admit<'a>(&'a self, method: &'a Method, target: &'a Target) -> BoxFuture<'a, Result<Hop, Refused>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(format!("{method} {target}"));
            let admitted = admit::egress(&self.grants, method, target).map_err(|refusal| refused(&refusal))?;
            let mut hop = Hop { grant: admitted.grant.to_string(), injection: None, redactor: None };
            let Power::Egress(egress) = &admitted.grant.power else { return Ok(hop) };
            if let Some(credential) = &egress.credential {
                let lookup = |name: &SecretName| Some(if name.as_str() == "USER" { "me" } else { SECRET });
                let injection = Injection::of(credential, Timestamp::from_micros(1_440_938_160_000_000), lookup);
                hop.injection = Some(injection.unwrap());
                if egress.redact {
                    credential
                        .secrets()
                        .iter()
                        .for_each(|name| self.redactor.add(name.as_str(), lookup(name).unwrap()));
                    hop.redactor = Some(self.redactor.clone());
                }
            }
            Ok(hop)
        })
    }

    fn admit_address(&self, method: &Method, target: &Target, address: IpAddr) -> Result<(), Refused> {
        admit::address(&self.grants, method, target, address).map_err(|refusal| refused(&refusal))
    }
}

fn refused(refusal: &isolith_core::Refusal) -> Refused {
    Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() }
}

pub fn client() -> Client {
    client_with(&Limits::default())
}

pub fn client_with(limits: &Limits) -> Client {
    Arc::new(Net::new(NetOptions::default()).unwrap()).client(limits)
}

pub fn call(method: &str, url: &str) -> FetchCall {
    FetchCall {
        request: RequestId(0),
        url: url.to_owned(),
        method: method.to_owned(),
        headers: Vec::new(),
        redirect: Redirect::Follow,
        streamed: false,
        body: None,
    }
}

pub fn headers(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A response with its whole body.
#[derive(Debug)]
pub struct Whole {
    pub url: String,
    pub status: u16,
    pub status_text: String,
    pub headers: Vec<(String, String)>,
    pub redirected: bool,
    pub length: Option<u64>,
    pub body: Option<Vec<u8>>,
}

impl Whole {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone().unwrap_or_default()).unwrap()
    }
}

/// Fetches, and reads the body to its end.
pub async fn whole(fetched: Fetched) -> Result<Whole, CallError> {
    let response = fetched.result?;
    let body = match response.body {
        None => None,
        Some(mut source) => {
            let mut body = Vec::new();
            loop {
                let bytes = source.read(10_000).await?;
                if bytes.is_empty() {
                    break Some(body);
                }
                assert!(bytes.len() <= 10_000);
                body.extend(bytes);
            }
        }
    };
    let head = response.head;
    Ok(Whole {
        url: head.url,
        status: head.status,
        status_text: head.status_text,
        headers: head.headers,
        redirected: head.redirected,
        length: response.length,
        body,
    })
}

pub async fn get(client: &Client, url: &str, rules: &Rules) -> Result<Whole, CallError> {
    send(client, call("GET", url), None, rules).await
}

pub async fn send(client: &Client, call: FetchCall, upload: Option<Upload>, rules: &Rules) -> Result<Whole, CallError> {
    whole(client.fetch(call, upload, rules).await).await
}

/// The code of the error there has to be.
pub fn code(result: Result<Whole, CallError>) -> String {
    result.err().and_then(|error| error.code).unwrap_or_else(|| "no error".into())
}
