//! Going through a proxy, if the operator says so.

use super::{NetError, error};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isolith_core::{CallError, Target};
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Host, Url};
use zeroize::Zeroizing;

/// The most a proxy may say before the connection is there.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// A proxy that tunnels (`CONNECT`).
pub(super) struct Proxy {
    pub(super) host: Host,
    pub(super) port: u16,
    authorization: Option<Zeroizing<String>>,
}

/// Which proxy is used for what.
#[derive(Default)]
pub(super) struct Proxies {
    https: Option<Proxy>,
    http: Option<Proxy>,
    /// Hosts that are reached without: `*`, or names with everything below them, or addresses.
    direct: Vec<String>,
}

impl Proxies {
    /// `env`, a URL, or nothing. `variable` reads the environment, and is asked only for `env`.
    // THREAT[T-EGRESS-010]: a variable left in the environment sends requests through somebody else's machine.
    pub(super) fn new(setting: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Proxies, NetError> {
        let either = |name: &str| variable(name).or_else(|| variable(&name.to_lowercase())).filter(|v| !v.is_empty());
        let proxy = |url: Option<String>| url.map(|url| Proxy::parse(&url)).transpose();
        match setting {
            None => Ok(Proxies::default()),
            Some("env") => Ok(Proxies {
                https: proxy(either("HTTPS_PROXY"))?,
                http: proxy(either("HTTP_PROXY"))?,
                direct: either("NO_PROXY")
                    .unwrap_or_default()
                    .split(',')
                    .map(|host| host.trim().trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase())
                    .filter(|host| !host.is_empty())
                    .collect(),
            }),
            Some(url) => {
                let url = Some(url.to_owned());
                Ok(Proxies { https: proxy(url.clone())?, http: proxy(url)?, direct: Vec::new() })
            }
        }
    }

    /// The proxy for a request, if there is one.
    pub(super) fn of(&self, target: &Target) -> Option<&Proxy> {
        let host = target.host().to_string();
        let below = |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        if self.direct.iter().any(|name| name == "*" || below(name)) {
            return None;
        }
        if target.is_https() { self.https.as_ref() } else { self.http.as_ref() }
    }
}

impl Proxy {
    fn parse(text: &str) -> Result<Proxy, NetError> {
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let mut url =
            Url::parse(&whole).map_err(|error| NetError::Proxy { url: "…".into(), why: error.to_string() })?;
        let authorization = (!url.username().is_empty()).then(|| {
            let plain = |text: &str| {
                let text = text.replace('+', "%2B");
                let decoded = url::form_urlencoded::parse(text.as_bytes()).next();
                Zeroizing::new(decoded.map(|(text, _)| text.into_owned()).unwrap_or_default())
            };
            let (user, password) = (plain(url.username()), plain(url.password().unwrap_or_default()));
            Zeroizing::new(STANDARD.encode(Zeroizing::new(format!("{}:{}", *user, *password)).as_bytes()))
        });
        let _ = (url.set_username(""), url.set_password(None));
        if url.scheme() != "http" {
            return Err(NetError::Proxy { url: url.to_string(), why: "only `http:` proxies are spoken to".into() });
        }
        let host = url.host().map(|host| host.to_owned());
        let host = host.ok_or_else(|| NetError::Proxy { url: url.to_string(), why: "it names no host".into() })?;
        Ok(Proxy { host, port: url.port_or_known_default().unwrap_or(80), authorization })
    }

    /// Asks for a connection to `address`. The proxy is told the checked address, so that it looks nothing up itself.
    pub(super) async fn tunnel(&self, stream: &mut TcpStream, address: SocketAddr) -> Result<(), CallError> {
        let broken = |why: String| error::network("egress.connect", format!("the proxy did not connect: {why}"));
        let mut request = Zeroizing::new(format!("CONNECT {address} HTTP/1.1\r\nhost: {address}\r\n"));
        if let Some(authorization) = &self.authorization {
            request.push_str("proxy-authorization: Basic ");
            request.push_str(authorization);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await.map_err(|error| broken(error.to_string()))?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == HEAD_BYTES_MAX {
                return Err(broken("its answer is too long".into()));
            }
            // Byte by byte: what comes next belongs to the server behind it.
            head.push(stream.read_u8().await.map_err(|error| broken(error.to_string()))?);
        }
        let status = head.split(|b| *b == b' ').nth(1).and_then(|status| std::str::from_utf8(status).ok());
        match status {
            Some(status) if status.len() == 3 && status.starts_with('2') => Ok(()),
            Some(status) if status.len() == 3 => Err(broken(format!("it answered {}", status.escape_debug()))),
            _ => Err(broken("it does not speak HTTP".into())),
        }
    }

    /// Where it is, when it is given as an address.
    pub(super) fn literal(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_counts_only_when_asked_for() {
        let environment = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://u:p%40@proxy.corp:3128".to_owned()),
            "http_proxy" => Some("10.0.0.1:80".to_owned()),
            "NO_PROXY" => Some("internal.example, .corp,127.0.0.1".to_owned()),
            _ => None,
        };
        let of = |proxies: &Proxies, url: &str| {
            proxies.of(&Target::parse(url).unwrap()).map(|proxy| format!("{}:{}", proxy.host, proxy.port))
        };
        let none = Proxies::new(None, environment).unwrap_or_default();
        assert_eq!(of(&none, "https://a.example/"), None);
        let env = Proxies::new(Some("env"), environment).unwrap_or_default();
        for (url, proxy) in [
            ("https://a.example/", Some("proxy.corp:3128")),
            ("http://a.example/", Some("10.0.0.1:80")),
            ("https://internal.example/", None),
            ("https://x.internal.example/", None),
            ("https://notinternal.example/", Some("proxy.corp:3128")),
            ("https://x.corp/", None),
            ("http://127.0.0.1/", None),
        ] {
            assert_eq!(of(&env, url).as_deref(), proxy, "{url}");
        }
        assert_eq!(env.https.unwrap().authorization.unwrap().as_str(), STANDARD.encode("u:p@"));
        let told = Proxies::new(Some("http://p:1"), environment).unwrap_or_default();
        assert_eq!(of(&told, "https://internal.example/").as_deref(), Some("p:1"));
        for bad in ["socks5://p", "https://p", "http://", "http://u:secret@"] {
            let error = Proxies::new(Some(bad), environment).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
