use crate::grant::{hex_pair, is_dots, named};
use std::borrow::Cow;
use std::fmt;
use url::{Host, Position, Url};

/// The longest URL that is looked at.
const URL_BYTES_MAX: usize = 64 << 10;
/// Escapes of escapes are undone this often in the search for tricks.
pub(crate) const DECODE_ROUNDS: usize = 4;
/// Characters that some servers turn into `/`, `\\`, `.` or `..` before they look.
const LIKE_SLASHES_AND_DOTS: [char; 11] = [
    '\u{ff0f}', '\u{ff3c}', '\u{ff0e}', '\u{2024}', '\u{2025}', '\u{fe52}', '\u{fe68}', '\u{2044}', '\u{2215}',
    '\u{29f8}', '\u{2216}',
];

/// Where a request goes, in its one form. What is checked is what is sent: the request is built from this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    path_is_plain: bool,
}

/// A URL that no request is made to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTarget {
    /// It is not a URL.
    #[error("this is not a URL that can be fetched: {0}")]
    NotAUrl(String),
    /// Its scheme leads to no server.
    #[error("`{0}:` is not `https:` or `http:`")]
    Scheme(String),
    /// It names a user or a password.
    #[error("a URL may not hold a user or a password")]
    User,
    /// Its host cannot be looked up.
    #[error("`{0}` is not the name of a host")]
    Host(String),
    /// Port 0.
    #[error("there is no port 0")]
    Port,
    /// Far too long.
    #[error("the URL is {0} bytes long, and may be {URL_BYTES_MAX}")]
    Long(usize),
}

impl Target {
    /// Reads a URL as browsers do, and refuses what could be taken for something else.
    pub fn parse(text: &str) -> Result<Self, InvalidTarget> {
        if text.len() > URL_BYTES_MAX {
            return Err(InvalidTarget::Long(text.len()));
        }
        Target::of(Url::parse(text).map_err(|error| InvalidTarget::NotAUrl(error.to_string()))?)
    }

    /// Where a redirect from here leads.
    pub fn join(&self, location: &str) -> Result<Self, InvalidTarget> {
        if location.len() > URL_BYTES_MAX {
            return Err(InvalidTarget::Long(location.len()));
        }
        Target::of(self.url.join(location).map_err(|error| InvalidTarget::NotAUrl(error.to_string()))?)
    }

    fn of(mut url: Url) -> Result<Self, InvalidTarget> {
        if !matches!(url.scheme(), "https" | "http") {
            return Err(InvalidTarget::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidTarget::User);
        }
        if url.port() == Some(0) {
            return Err(InvalidTarget::Port);
        }
        let odd = |text: &str| InvalidTarget::Host(text.chars().take(100).collect());
        let host = match url.host() {
            Some(Host::Domain(name)) => {
                let plain = named(name).ok_or_else(|| odd(name))?;
                if plain != name {
                    url.set_host(Some(&plain)).map_err(|_| odd(&plain))?;
                }
                Host::Domain(plain)
            }
            Some(Host::Ipv4(address)) => Host::Ipv4(address),
            Some(Host::Ipv6(address)) => Host::Ipv6(address),
            None => return Err(odd("")),
        };
        url.set_fragment(None);
        let path_is_plain = is_plain(url.path());
        Ok(Target { url, host, path_is_plain })
    }

    /// The whole URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host, in its one form.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The same as text, as a URL has it: an IPv6 address stands in brackets.
    pub fn host_text(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The host and the port, where that is not the usual one.
    pub fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// The port, given or usual.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Whether it is encrypted.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The path, starting with `/`.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Whether two requests go to the same place: what is meant for one may be told to the other.
    pub fn same_origin(&self, other: &Target) -> bool {
        self.is_https() == other.is_https() && self.host == other.host && self.port() == other.port()
    }

    /// Whether the path means the same to every server: no escape in it stands for `/`, `\` or a dot that leads up, however
    /// often it is undone. Only such a path can be held against a prefix.
    pub fn path_is_plain(&self) -> bool {
        self.path_is_plain
    }
}

fn is_plain(path: &str) -> bool {
    let mut path = Cow::Borrowed(path.as_bytes());
    for round in 0..DECODE_ROUNDS {
        // What is not UTF-8 may be an overlong form of a slash or a dot.
        let Ok(text) = std::str::from_utf8(&path) else { return false };
        let odd = |c: char| c == '\\' || c.is_control() || LIKE_SLASHES_AND_DOTS.contains(&c);
        if text.contains(odd) || text.split('/').any(is_dots) || has_wide_escape(&path) {
            return false;
        }
        if !path.contains(&b'%') {
            return true;
        }
        let (decoded, slashes) = undo_escapes(&path);
        if slashes {
            return false;
        }
        if decoded == *path {
            return true;
        }
        // Deeper than anyone writes in good faith.
        if round + 1 == DECODE_ROUNDS {
            return false;
        }
        path = Cow::Owned(decoded);
    }
    true
}

/// Whether there is an escape of the kind that only some servers know: `%u002f`.
fn has_wide_escape(bytes: &[u8]) -> bool {
    let wide =
        |window: &[u8]| matches!(window, [b'%', b'u' | b'U', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit));
    bytes.windows(6).any(wide)
}

/// Undoes percent escapes once, and says whether one of them was a slash of either kind.
pub(crate) fn undo_escapes(bytes: &[u8]) -> (Vec<u8>, bool) {
    let (mut out, mut slashes, mut i) = (Vec::with_capacity(bytes.len()), false, 0);
    while i < bytes.len() {
        let escape = bytes[i..].strip_prefix(b"%").and_then(hex_pair);
        match escape {
            Some(byte) => {
                slashes |= byte == b'/' || byte == b'\\';
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    (out, slashes)
}

impl fmt::Display for Target {
    /// Without the query, which may hold what is nobody else's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url[..Position::AfterPath])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_one_form() {
        let shown = |url: &str| Target::parse(url).map(|t| t.to_string()).map_err(|e| e.to_string());
        for (url, form) in [
            ("https://API.Example.com./a?b#c", "https://api.example.com/a"),
            ("http://127.1:80/", "http://127.0.0.1/"),
            ("http://0x7f000001/", "http://127.0.0.1/"),
            ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://h/a/../b/%2e%2e/c", "https://h/c"),
            ("https:\\\\h\\x", "https://h/x"),
        ] {
            assert_eq!(shown(url), Ok(form.to_owned()), "{url}");
        }
        for bad in [
            "",
            "x",
            "/a",
            "ftp://h/",
            "data:,x",
            "https://u@h/",
            "https://u:p@h/",
            "https://h:0/",
            "https://",
            "https://a..b/",
            "https://h:65616/",
            "https://h:+80/",
            "https://[::1%25lo]/",
            "https://*.example.com/",
            "https://a,b.example/",
            "https://a;b.example/",
            "https://a&b.example/",
            "https://xn--example-.com/",
        ] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tricks_in_paths_are_seen() {
        let plain = |path: &str| Target::parse(&format!("https://h{path}")).unwrap().path_is_plain();
        for path in ["/", "/a/b", "/a%20b", "/a;v=1/b", "/100%25", "/%C3%A4", "/a%zz", "/..a/b..", "/a,b"] {
            assert!(plain(path), "{path}");
        }
        for path in [
            "/a%2fb",
            "/a%2Fb",
            "/a%5cb",
            "/a%252fb",
            "/a/%252e%252e/b",
            "/a/%25252e./b",
            "/a/..;/b",
            "/a/..%3bx/b",
            "/a%00b",
            "/a%0d%0ab",
            "/a%09b",
            "/a/..%20/b",
            "/a%c0%afb",
            "/a/%c0%ae%c0%ae/b",
            "/a%ef%bc%8fb",
            "/a/\u{2025}/b",
            "/a%u002fb",
            "/a%25u002fb",
            "/a%2%66b",
            "/%2%65%2%65/b",
        ] {
            assert!(!plain(path), "{path}");
        }
    }
}
