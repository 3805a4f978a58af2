use super::sigv4::{self, Signer};
use crate::Redactor;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use isolith_core::{Credential, SecretName, Template, Timestamp};
use url::Url;
use zeroize::Zeroizing;

/// What is added to a request after it was admitted. The values it holds are wiped when it is dropped, and it cannot be
/// printed. (What was sent went through buffers that are not wiped.)
pub struct Injection {
    kind: Kind,
    /// What goes over the wire in a form that the secrets themselves do not show, and by which name it is called.
    derived: Option<(String, Zeroizing<String>)>,
}

enum Kind {
    Header { name: HeaderName, value: Zeroizing<String> },
    Query { name: String, value: Zeroizing<String> },
    Signature(Signer),
}

/// A credential that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectionError {
    /// There is no secret of that name.
    #[error("the secret `{0}` is not there")]
    Missing(SecretName),
    /// It cannot be sent as it is.
    #[error("the credential made of {0} cannot be sent: there is a line break or another control character in it")]
    Unsendable(String),
}

/// What a request is made of when something is added to it.
pub(super) struct Outbound<'a> {
    /// The method, in upper case.
    pub(super) method: &'a str,
    /// Where it goes.
    pub(super) url: &'a mut Url,
    /// What it says.
    pub(super) headers: &'a mut HeaderMap,
    /// `host:port`, as the server is told.
    pub(super) authority: &'a str,
    /// The body, where it is known beforehand.
    pub(super) body: Option<&'a [u8]>,
}

impl Injection {
    /// Makes what a credential adds. `now` is the real time, for signatures; `lookup` finds secrets.
    pub fn of<'a>(
        credential: &Credential,
        now: Timestamp,
        mut lookup: impl FnMut(&SecretName) -> Option<&'a str>,
    ) -> Result<Injection, InjectionError> {
        let mut find = |name: &SecretName| lookup(name).ok_or_else(|| InjectionError::Missing(name.clone()));
        let fill = |template: &Template, find: &mut dyn FnMut(&SecretName) -> Result<&'a str, InjectionError>| {
            let mut missing = None;
            let filled = template.fill(|name| find(name).map_err(|error| missing = Some(error)).ok());
            filled.map(Zeroizing::new).ok_or_else(|| missing.unwrap_or(InjectionError::Unsendable("nothing".into())))
        };
        let header = |name: HeaderName, value: Zeroizing<String>| match sensitive(&value) {
            Some(_) => Ok(Kind::Header { name, value }),
            None => Err(unsendable(credential)),
        };
        let (kind, derived) = match credential {
            Credential::Header { name, value } => {
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable(credential))?;
                (header(name, fill(value, &mut find)?)?, None)
            }
            Credential::Bearer(name) => {
                let value = Zeroizing::new(format!("Bearer {}", find(name)?));
                (header(AUTHORIZATION, value)?, None)
            }
            Credential::Basic { user, password } => {
                let (user, password) = (fill(user, &mut find)?, fill(password, &mut find)?);
                let token =
                    Zeroizing::new(STANDARD.encode(Zeroizing::new(format!("{}:{}", *user, *password)).as_bytes()));
                let value = Zeroizing::new(format!("Basic {}", *token));
                let name = credential.secrets().last().map_or("credential".to_owned(), |name| name.to_string());
                (header(AUTHORIZATION, value)?, Some((name, token)))
            }
            Credential::Query { name, value } => {
                (Kind::Query { name: name.clone(), value: fill(value, &mut find)? }, None)
            }
            Credential::SigV4(settings) => {
                let mut take = |name: &SecretName| find(name).map(|value| Zeroizing::new(value.to_owned()));
                let signer = Signer {
                    access_key: take(&settings.access_key)?,
                    secret_key: take(&settings.secret_key)?,
                    session_token: settings.session_token.as_ref().map(take).transpose()?,
                    region: settings.region.clone(),
                    service: settings.service.clone(),
                    now,
                };
                let sent = [Some(&signer.access_key), signer.session_token.as_ref()];
                if sent.into_iter().flatten().any(|value| sensitive(value).is_none()) {
                    return Err(unsendable(credential));
                }
                (Kind::Signature(signer), None)
            }
        };
        Ok(Injection { kind, derived })
    }

    /// Tells a redactor what goes over the wire in another form than the secrets themselves. The client does this.
    pub fn register(&self, redactor: &Redactor) {
        if let Some((name, value)) = &self.derived {
            redactor.add(name, value);
        }
    }

    /// Adds it to a request.
    pub(super) fn apply(&self, outbound: Outbound<'_>) {
        match &self.kind {
            // THREAT[T-SECRET-003]: the guest sets a header of the same name; it is replaced, in whatever case it came.
            Kind::Header { name, value } => set(outbound.headers, name.clone(), value),
            Kind::Query { name, value } => {
                let added = format!("{}={}", sigv4::encode(name.as_bytes(), b""), sigv4::encode(value.as_bytes(), b""));
                let others = without(outbound.url.query(), |other, _| other == name);
                let query = if others.is_empty() { added } else { format!("{others}&{added}") };
                outbound.url.set_query(Some(&query));
            }
            Kind::Signature(signer) => sign(signer, outbound),
        }
    }

    /// Takes out of a URL what this added to another: a server that sends the client elsewhere likes to keep the query.
    pub(super) fn withdraw(&self, url: &mut Url) {
        let Kind::Query { name, value } = &self.kind else { return };
        let kept = without(url.query(), |other, text| other == name && text == value.as_str());
        if url.query().is_some_and(|query| query != kept) {
            url.set_query(Some(kept.as_str()).filter(|query| !query.is_empty()));
        }
    }
}

fn unsendable(credential: &Credential) -> InjectionError {
    let names: Vec<String> = credential.secrets().into_iter().map(|name| format!("`{name}`")).collect();
    InjectionError::Unsendable(names.join(" and "))
}

/// A query without some of its parameters; the others stay as they are written.
fn without(query: Option<&str>, drops: impl Fn(&str, &str) -> bool) -> String {
    let dropped = |piece: &str| url::form_urlencoded::parse(piece.as_bytes()).any(|(name, value)| drops(&name, &value));
    query.unwrap_or_default().split('&').filter(|piece| !dropped(piece)).collect::<Vec<_>>().join("&")
}

fn sign(signer: &Signer, outbound: Outbound<'_>) {
    let Outbound { method, url, headers, authority, body } = outbound;
    let hash = body.map_or_else(|| sigv4::UNSIGNED_PAYLOAD.to_owned(), sigv4::sha256);
    set(headers, HeaderName::from_static("x-amz-date"), &signer.date());
    set(headers, HeaderName::from_static("x-amz-content-sha256"), &hash);
    match &signer.session_token {
        Some(token) => set(headers, HeaderName::from_static("x-amz-security-token"), token),
        None => drop(headers.remove("x-amz-security-token")),
    }
    let signed = |name: &str| name == "content-type" || name.starts_with("x-amz-");
    let names = headers.keys().filter(|name| signed(name.as_str()));
    let mut rows: Vec<(String, String)> = names
        .map(|name| {
            let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            (name.as_str().to_owned(), values.collect::<Vec<_>>().join(","))
        })
        .collect();
    rows.push(("host".into(), authority.to_owned()));
    rows.sort();
    let authorization = signer.authorization(method, url, &rows, &hash);
    set(headers, AUTHORIZATION, &authorization);
}

/// Everything that gets here was checked when the injection was made.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Some(value) = sensitive(value) {
        headers.insert(name, value);
    }
}

/// A value that is not printed, and not kept for compressing the headers of other requests.
fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::SigV4;

    fn apply(credential: &Credential, url: &str, headers: &[(&'static str, &str)]) -> (Url, HeaderMap) {
        let injection = Injection::of(credential, Timestamp::from_micros(1_440_938_160_000_000), secret).ok().unwrap();
        let (mut url, mut map) = (Url::parse(url).unwrap(), HeaderMap::new());
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let authority = url.host_str().unwrap().to_owned();
        let parts =
            Outbound { method: "GET", url: &mut url, headers: &mut map, authority: &authority, body: Some(b"") };
        injection.apply(parts);
        (url, map)
    }

    fn secret(name: &SecretName) -> Option<&'static str> {
        match name.as_str() {
            "A" => Some("k&y 1"),
            "U" => Some("me"),
            "BAD" => Some("a\r\nX: 1"),
            _ => None,
        }
    }

    fn name(name: &str) -> SecretName {
        SecretName::new(name).unwrap()
    }

    #[test]
    fn headers_take_the_place_of_the_guests() {
        let value = Template::new("token ${A}").unwrap();
        let credential = Credential::Header { name: "x-key".into(), value };
        let (_, headers) = apply(&credential, "https://h/", &[("x-key", "1"), ("x-key", "2")]);
        assert_eq!(headers.get_all("x-key").iter().collect::<Vec<_>>(), ["token k&y 1"]);
        let (_, headers) = apply(&Credential::Bearer(name("A")), "https://h/", &[("authorization", "mine")]);
        assert_eq!(headers["authorization"], "Bearer k&y 1");
        let basic = Credential::Basic { user: Template::new("${U}").unwrap(), password: Template::new("p").unwrap() };
        assert_eq!(apply(&basic, "https://h/", &[]).1["authorization"], "Basic bWU6cA==");
    }

    #[test]
    fn queries_replace_and_are_withdrawn() {
        let credential = Credential::Query { name: "key".into(), value: Template::new("${A}").unwrap() };
        for (url, sent) in [
            ("https://h/", "https://h/?key=k%26y%201"),
            ("https://h/?a=%20b+c&KEY=1", "https://h/?a=%20b+c&KEY=1&key=k%26y%201"),
            ("https://h/?key=guest&a&%6bey=guest&key", "https://h/?a&key=k%26y%201"),
        ] {
            assert_eq!(apply(&credential, url, &[]).0.as_str(), sent);
        }
        let injection = Injection::of(&credential, Timestamp::default(), secret).ok().unwrap();
        for (url, kept) in [
            ("https://h/?a=1&key=k%26y%201", "https://h/?a=1"),
            ("https://h/?key=k%26y+1", "https://h/"),
            ("https://h/?key=other&x", "https://h/?key=other&x"),
        ] {
            let mut url = Url::parse(url).unwrap();
            injection.withdraw(&mut url);
            assert_eq!(url.as_str(), kept);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        let of = |credential: &Credential| Injection::of(credential, Timestamp::default(), secret).err();
        assert_eq!(of(&Credential::Bearer(name("NONE"))), Some(InjectionError::Missing(name("NONE"))));
        let error = of(&Credential::Bearer(name("BAD"))).unwrap().to_string();
        assert!(error.contains("`BAD`") && !error.contains("X: 1"), "{error}");
        let value = Template::new("${A}${NONE}").unwrap();
        let header = Credential::Header { name: "x".into(), value };
        assert_eq!(of(&header), Some(InjectionError::Missing(name("NONE"))));
    }

    #[test]
    fn signatures_replace_what_the_guest_forged() {
        let credential = Credential::SigV4(SigV4 {
            access_key: name("U"),
            secret_key: name("A"),
            session_token: None,
            region: "r".into(),
            service: "s3".into(),
        });
        let forged =
            [("x-amz-security-token", "x"), ("x-amz-date", "x"), ("authorization", "x"), ("x-amz-acl", "private")];
        let (_, headers) = apply(&credential, "https://h/a", &forged);
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        assert!(!headers.contains_key("x-amz-security-token"));
        let authorization = headers["authorization"].to_str().unwrap();
        let start = "AWS4-HMAC-SHA256 Credential=me/20150830/r/s3/aws4_request, \
                     SignedHeaders=host;x-amz-acl;x-amz-content-sha256;x-amz-date, Signature=";
        assert!(authorization.starts_with(start), "{authorization}");
    }
}
