use std::net::IpAddr;
use url::{Host, Url};

/// Where the other side is, and what it is told so that it lets us in.
#[derive(Clone)]
pub struct Address {
    url: Url,
    host: Host<String>,
    port: u16,
    tls: bool,
    /// The value of `Authorization`.
    authorization: Option<String>,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not an address of the right kind.
    #[error("`{0}` is not an address such as `https://sandbox.example.com`")]
    Invalid(String),
    /// A key would be read by others on its way.
    #[error("`{0}` has no TLS, and a key is not sent over a network without")]
    Plain(String),
    /// A key that cannot stand in a header.
    #[error("the key is not one line of plain text")]
    Key,
}

impl Address {
    /// Reads `https://host`, `http://127.0.0.1:4747` or the same with `wss` and `ws`.
    pub fn parse(text: &str, authorization: Option<String>) -> Result<Address, AddressError> {
        let shown = || text.chars().take(200).collect::<String>();
        let invalid = || AddressError::Invalid(shown());
        let url = Url::parse(text).map_err(|_| invalid())?;
        let tls = match url.scheme() {
            "https" | "wss" => true,
            "http" | "ws" => false,
            _ => return Err(invalid()),
        };
        // Who writes a password there means it as a key, and it is not sent as one.
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(invalid());
        }
        let host = url.host().ok_or_else(invalid)?.to_owned();
        if let Some(value) = &authorization {
            if value.is_empty() || !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Err(AddressError::Key);
            }
            // THREAT[T-REMOTE-002]: whoever is on the way would read the key, and everything else.
            if !tls && !is_loopback(&host) {
                return Err(AddressError::Plain(shown()));
            }
        }
        let port = url.port().unwrap_or(if tls { 443 } else { 80 });
        Ok(Address { url, host, port, tls, authorization })
    }

    /// Another path on the same server, where the address names none.
    pub(crate) fn or_path(mut self, path: &str) -> Address {
        if self.url.path() == "/" {
            self.url.set_path(path);
        }
        self
    }

    /// `host:port`, as the header `Host` wants it.
    pub(crate) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.to_string(),
        }
    }

    /// The path with its query.
    pub(crate) fn path(&self) -> String {
        self.url.query().map_or_else(|| self.url.path().to_owned(), |query| format!("{}?{query}", self.url.path()))
    }

    pub(crate) fn host(&self) -> &Host<String> {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// Without what may be secret in it.
    pub(crate) fn shown(&self) -> String {
        format!("{}://{}{}", self.url.scheme(), self.authority(), self.url.path())
    }
}

fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => IpAddr::V6(*ip).to_canonical().is_loopback(),
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, key: Option<&str>) -> Result<String, AddressError> {
        Address::parse(text, key.map(str::to_owned)).map(|address| format!("{address:?}"))
    }

    #[test]
    fn a_key_goes_over_tls_or_stays_on_this_machine() {
        let key = Some("Bearer isk_x");
        for good in
            ["https://a.example", "wss://a.example:8443/x", "http://127.0.0.1:1", "http://localhost", "ws://[::1]:4"]
        {
            assert!(parse(good, key).is_ok(), "{good}");
        }
        for plain in ["http://a.example", "ws://10.0.0.1", "http://localhost.example", "http://0.0.0.0:1"] {
            assert!(matches!(parse(plain, key), Err(AddressError::Plain(_))), "{plain}");
            assert!(parse(plain, None).is_ok(), "{plain}");
        }
        for bad in ["", "a.example", "ftp://a", "http://user:pass@localhost", "http://a/#x", "file:///x", "http://"] {
            assert!(matches!(parse(bad, None), Err(AddressError::Invalid(_))), "{bad}");
        }
        for bad in ["", "a\nb", "ä"] {
            assert_eq!(parse("https://a", Some(bad)), Err(AddressError::Key), "{bad:?}");
        }
    }

    #[test]
    fn neither_keys_nor_queries_are_printed() {
        assert_eq!(parse("https://a.example/x?token=1", Some("Bearer secret")).unwrap(), "https://a.example/x");
    }

    #[test]
    fn a_path_that_was_given_stays() {
        let path = |text| Address::parse(text, None).unwrap().or_path("/v1/isolates").path();
        assert_eq!((path("http://a"), path("http://a/b?c=d")), ("/v1/isolates".into(), "/b?c=d".into()));
    }
}
