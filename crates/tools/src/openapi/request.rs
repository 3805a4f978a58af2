//! The request for an operation.

use super::argument;
use super::body;
use super::document::{SHOWN_CHARS_MAX, cut};
use super::operation::Operation;
use super::parameter::{Parameter, Place, is_token};
use super::path::is_dots;
use super::{OpenApiError, percent};
use isolith_core::{Method, headers};
use serde_json::{Map, Value};

/// What is to be sent. Nothing is sent here, and no secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// With which method.
    pub method: Method,
    /// To which URL.
    pub url: String,
    /// With which headers, names in lower case. With a body, `content-type` is among them.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// What kind of body it has.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str())
    }
}

pub(super) fn request(operation: &Operation, base_url: &str, args: &Value) -> Result<Request, OpenApiError> {
    let base_url = checked_base(base_url)?;
    let args = argument::checked(&operation.input, args)?;
    let mut parts = Parts { operation, paths: Vec::new(), query: Vec::new(), headers: Vec::new(), cookies: Vec::new() };
    for parameter in &operation.parameters {
        if let Some(value) = args.get(&parameter.argument) {
            parts.add(parameter, value)?;
        }
    }
    parts.finish(base_url, &args)
}

/// A request in the making.
struct Parts<'a> {
    operation: &'a Operation,
    paths: Vec<(&'a str, String)>,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
}

impl<'a> Parts<'a> {
    fn add(&mut self, parameter: &'a Parameter, value: &Value) -> Result<(), OpenApiError> {
        let at = parameter.argument.as_str();
        match parameter.place {
            Place::Path => {
                let text = parameter.manner.simple(value, at, |text| percent::encoded(text, b""))?;
                // Without a name, or with one that means another place, this would be another path.
                if text.is_empty() || is_dots(&text) {
                    return Err(OpenApiError::refused(at, "is empty or only dots, which would lead to another path"));
                }
                self.paths.push((&parameter.name, text));
            }
            Place::Header => {
                let text = parameter.manner.simple(value, at, str::to_owned)?;
                let sound = |c: char| c == '\t' || (c >= ' ' && c != '\u{7f}' && c <= '\u{ff}');
                if !text.chars().all(sound) {
                    return Err(OpenApiError::refused(at, "has a character that no header can hold"));
                }
                self.headers.push((parameter.name.to_ascii_lowercase(), text));
            }
            Place::Query => {
                for (key, value) in self.pairs(parameter, value)? {
                    self.query.push(format!("{}={value}", percent::encoded(&key, b"")));
                }
            }
            Place::Cookie => {
                for (key, value) in self.pairs(parameter, value)? {
                    if key.is_empty() || !key.bytes().all(is_token) {
                        return Err(OpenApiError::refused(&format!("{at}.{key}"), "cannot be the name of a cookie"));
                    }
                    self.cookies.push(format!("{key}={value}"));
                }
            }
        }
        Ok(())
    }

    /// The names and values that a parameter becomes.
    fn pairs(&self, parameter: &Parameter, value: &Value) -> Result<Vec<(String, String)>, OpenApiError> {
        let at = parameter.argument.as_str();
        let pairs = parameter.manner.pairs(&parameter.name, value, at)?;
        // The keys of an object that is written without its name are the guest's. None of them may be another parameter:
        // a grant may bound that one.
        let others = || self.operation.parameters.iter().filter(|other| other.place == parameter.place);
        let stem = |key: &str| key.split('[').next().unwrap_or_default().to_ascii_lowercase();
        let taken = |key: &str| others().any(|other| other.name != parameter.name && stem(&other.name) == stem(key));
        match pairs.iter().find(|(key, _)| *key != parameter.name && value.is_object() && taken(key)) {
            Some((key, _)) => {
                Err(OpenApiError::refused(&format!("{at}.{key}"), "would be taken for another parameter"))
            }
            None => Ok(pairs),
        }
    }

    fn finish(mut self, base_url: &str, args: &Map<String, Value>) -> Result<Request, OpenApiError> {
        let value = |name: &str| self.paths.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let path = self.operation.path.filled(value).ok_or_else(|| OpenApiError::Missing { at: "path".into() })?;
        let mut url = format!("{base_url}{path}");
        if !self.query.is_empty() {
            url = format!("{url}?{}", self.query.join("&"));
        }
        if let Some(accept) = &self.operation.accept {
            self.headers.push(("accept".into(), accept.clone()));
        }
        if !self.cookies.is_empty() {
            self.headers.push(("cookie".into(), self.cookies.join("; ")));
        }
        let body = match (&self.operation.body, args.get(body::ARGUMENT)) {
            (Some(body), Some(value)) => {
                self.headers.push(("content-type".into(), body.media_type.clone()));
                Some(body.bytes(value)?)
            }
            _ => None,
        };
        headers::check(&self.headers)
            .map_err(|why| OpenApiError::refused("headers", format!("cannot be sent: {why}")))?;
        Ok(Request { method: self.operation.method.clone(), url, headers: self.headers, body })
    }
}

/// The start of a URL, without a `/` at its end. Whether it may be reached is for others to decide.
fn checked_base(url: &str) -> Result<&str, OpenApiError> {
    let wrong = |what: &'static str| OpenApiError::BaseUrl { url: cut(url, SHOWN_CHARS_MAX), what };
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let Some(rest) = ["https://", "http://"].iter().find(|scheme| lower.starts_with(**scheme)).map(|s| &url[s.len()..])
    else {
        return Err(wrong("it has to start with `https://` or `http://`"));
    };
    if rest.is_empty() || rest.starts_with('/') {
        return Err(wrong("it has no host"));
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace() || matches!(c, '?' | '#' | '\\' | '{' | '}')) {
        return Err(wrong("it has a character that does not belong there"));
    }
    Ok(url.trim_end_matches('/'))
}
