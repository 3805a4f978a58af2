use super::connection::Link;
use super::decode::ACCEPTED;
use super::injection::Outbound;
use super::upload::Outgoing;
use super::{Injection, error};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, RANGE, USER_AGENT};
use hyper::{HeaderMap, Request, Uri, Version};
use isolith_core::{CallError, Method, Target};
use url::Url;

/// How requests say who sends them, unless the guest does.
const AGENT: &str = concat!("isolith/", env!("CARGO_PKG_VERSION"));

/// A request that is ready to be sent, over either version of HTTP.
pub(super) struct Prepared {
    method: hyper::Method,
    /// With what was added to the query. It is shown to nobody.
    url: Url,
    authority: String,
    headers: HeaderMap,
}

impl Prepared {
    /// Builds it from what was admitted. `body` is there when it is known beforehand, and is what `content-length` counts.
    pub(super) fn new(
        method: &Method,
        target: &Target,
        guest: &[(String, String)],
        injection: Option<&Injection>,
        body: Option<&[u8]>,
    ) -> Result<Prepared, CallError> {
        let mut headers = headers(guest)?;
        let ours = |headers: &mut HeaderMap, name: HeaderName, value| headers.entry(name).or_insert(value).clone();
        ours(&mut headers, USER_AGENT, HeaderValue::from_static(AGENT));
        ours(&mut headers, ACCEPT, HeaderValue::from_static("*/*"));
        // A piece of something compressed cannot be decompressed.
        let accepted = if headers.contains_key(RANGE) { "identity" } else { ACCEPTED };
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
        let expects_body = matches!(method.as_str(), "POST" | "PUT" | "PATCH");
        if let Some(length) = body.map(<[u8]>::len).filter(|length| *length > 0 || expects_body) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        let mut url = target.url().clone();
        let authority = target.authority().to_owned();
        if let Some(injection) = injection {
            let (url, headers, authority) = (&mut url, &mut headers, authority.as_str());
            injection.apply(Outbound { method: method.as_str(), url, headers, authority, body });
        }
        let method = hyper::Method::from_bytes(method.as_str().as_bytes());
        let method = method.map_err(|_| error::denied("egress.method.denied", "this is not an HTTP method"))?;
        Ok(Prepared { method, url, authority, headers })
    }

    /// The request, as this connection takes it.
    pub(super) fn request(&self, link: &Link, body: Outgoing) -> Result<Request<Outgoing>, CallError> {
        let path = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let odd = |_| error::denied("egress.url.denied", "the path or the query of the URL cannot be sent");
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        match link {
            Link::One(_) => {
                *request.uri_mut() = path.parse::<Uri>().map_err(odd)?;
                let host = HeaderValue::from_str(&self.authority);
                let host =
                    host.map_err(|_| error::denied("egress.url.denied", "the host of the URL cannot be sent"))?;
                request.headers_mut().insert(HOST, host);
            }
            Link::Many(_) => {
                let whole = format!("{}://{}{path}", self.url.scheme(), self.authority);
                *request.uri_mut() = whole.parse::<Uri>().map_err(odd)?;
                *request.version_mut() = Version::HTTP_2;
            }
        }
        Ok(request)
    }
}

/// The guest's headers, which were checked.
fn headers(guest: &[(String, String)]) -> Result<HeaderMap, CallError> {
    let mut headers = HeaderMap::new();
    for (name, value) in guest {
        let odd = || error::denied("egress.header.denied", format!("the header `{name}` cannot be sent"));
        // Each character is a byte: that was checked too.
        let bytes: Option<Vec<u8>> = value.chars().map(|c| u8::try_from(c).ok()).collect();
        let value = HeaderValue::from_bytes(&bytes.ok_or_else(odd)?).map_err(|_| odd())?;
        headers.append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| odd())?, value);
    }
    Ok(headers)
}
