use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The part of a site below one path: `/v1` is itself and what is below it, `/v1/` only what is below.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPrefix(String);

/// Characters that stand in a URL's path as they are, besides letters and digits. Those with a meaning here are missing.
const AS_IT_IS: &[u8] = b"-._~!$&'()+=:@/[]|";
/// Those of them whose escapes mean the same everywhere, as letters and digits do.
const UNRESERVED: &[u8] = b"-._~";

impl PathPrefix {
    /// Reads `/v1`, `/v1/` or `/v1/*`, which is the same as `/v1/`.
    ///
    /// A prefix has one spelling: what can be written as it is, is; and nothing is in it that servers read differently.
    pub fn new(text: &str) -> Result<Self, String> {
        let whole = text.strip_suffix('*').filter(|rest| rest.ends_with('/')).unwrap_or(text);
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'%' || AS_IT_IS.contains(&b);
        let wrong = |why: &str| Err(format!("`{text}` is not a path prefix: {why}"));
        match whole {
            _ if !whole.starts_with('/') => wrong("it has to start with `/`"),
            _ if whole.contains('*') => wrong("`*` can only stand for all that follows a `/`"),
            _ if whole.contains("//") => wrong("`//` is taken for `/` by some servers and not by others"),
            _ if whole.contains(';') => wrong("what follows a `;` counts with some servers and not with others"),
            _ if !whole.bytes().all(plain) => {
                wrong("it may hold ASCII as it stands in a URL, and no `?`, `#`, `,`, `{` or `\\`")
            }
            _ if whole.split('/').any(is_dots) => wrong("`.` and `..` lead elsewhere"),
            // Twice: what is undone may end an escape of an escape, as in `%256%31`.
            _ => check_escapes(whole)
                .map(|()| one_spelling(whole))
                .and_then(|one| check_escapes(&one).map(|()| PathPrefix(one)))
                .or_else(wrong),
        }
    }

    /// Whether `path`, as a URL has it, lies here.
    pub fn covers(&self, path: &str) -> bool {
        let one = if path.contains('%') { Cow::Owned(one_spelling(path)) } else { Cow::Borrowed(path) };
        match one.strip_prefix(&*self.0) {
            Some(rest) => rest.is_empty() || self.0.ends_with('/') || rest.starts_with('/'),
            None => false,
        }
    }

    /// Whether some server could take `path` for one that lies here: escapes undone, doubled slashes and parameters left
    /// out. What is forbidden is forbidden in these spellings too, and in upper and lower case if `fold`.
    pub(crate) fn touches(&self, path: &str, fold: bool) -> bool {
        let (own, own_open) = loosely(&self.0, fold);
        let (other, open) = loosely(path, fold);
        other.starts_with(&own) && (!own_open || open || other.len() > own.len())
    }

    /// In lower case.
    pub(crate) fn folded(&self) -> Option<PathPrefix> {
        PathPrefix::new(&self.0.to_lowercase()).ok()
    }

    /// What lies below both.
    pub fn and(&self, other: &PathPrefix) -> Option<PathPrefix> {
        if self.covers(&other.0) {
            Some(other.clone())
        } else if other.covers(&self.0) {
            Some(self.clone())
        } else {
            None
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Refuses escapes that have no business in a prefix.
fn check_escapes(path: &str) -> Result<(), &'static str> {
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('%') {
        let byte = hex_pair(after.as_bytes()).ok_or("`%` takes two hexadecimal digits: write `%25` for itself")?;
        let after = &after[2..];
        match byte {
            b'/' | b'\\' | b';' | 0..0x20 | 0x7f => {
                return Err("an escape in it means different things to different servers");
            }
            b'%' if hex_pair(after.as_bytes()).is_some() => return Err("it holds an escape of an escape"),
            _ if AS_IT_IS.contains(&byte) && !UNRESERVED.contains(&byte) => {
                return Err("a character is escaped that can be written as it is");
            }
            _ => {}
        }
        rest = after;
    }
    Ok(())
}

/// A path with the escapes undone that mean the same either way, and the others in upper case (RFC 3986, 6.2.2). One with a
/// broken escape stays as it is: undoing others could make a whole one of it.
fn one_spelling(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        let Some(byte) = hex_pair(after.as_bytes()) else { return path.to_owned() };
        out.push_str(before);
        if byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        rest = &after[2..];
    }
    out + rest
}

/// The names in a path as the most lenient server would read them, and whether it ends in a slash.
fn loosely(path: &str, fold: bool) -> (Vec<String>, bool) {
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..crate::target::DECODE_ROUNDS {
        bytes = crate::target::undo_escapes(&bytes).0;
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if fold {
        text = text.to_lowercase();
    }
    let names: Vec<&str> = text.split('/').map(|name| name.split(';').next().unwrap_or_default()).collect();
    let open = names.last().is_some_and(|name| name.is_empty());
    (names.into_iter().filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect(), open)
}

/// The byte that two hexadecimal digits at the start stand for.
pub(crate) fn hex_pair(text: &[u8]) -> Option<u8> {
    let digit = |b: &u8| char::from(*b).to_digit(16);
    match text {
        [high, low, ..] => Some((digit(high)? * 16 + digit(low)?) as u8),
        _ => None,
    }
}

/// Whether a path segment means this folder or the one above, in any spelling that a server might undo.
pub(crate) fn is_dots(segment: &str) -> bool {
    let segment = segment.split(';').next().unwrap_or_default();
    if !segment.contains(['.', '%']) {
        return false;
    }
    let plain = segment.to_ascii_lowercase().replace("%2e", ".").replace("%20", " ");
    matches!(plain.trim(), "." | "..")
}

impl TryFrom<String> for PathPrefix {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        PathPrefix::new(&text)
    }
}

impl From<PathPrefix> for String {
    fn from(path: PathPrefix) -> String {
        path.0
    }
}

impl fmt::Display for PathPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ban_holds_in_every_spelling() {
        let touches = |prefix: &str, path: &str| PathPrefix::new(prefix).unwrap().touches(path, true);
        for path in
            ["/admin", "/Admin/x", "/%61dmin", "/%2561dmin", "//admin", "/admin;x=1/y", "/;a/admin", "/admin%zz/../x"]
        {
            assert_eq!(touches("/admin", path), path != "/admin%zz/../x", "{path}");
        }
        for path in ["/administrator", "/x/admin", "/", "/adm"] {
            assert!(!touches("/admin", path), "{path}");
        }
        assert!(touches("/v1/", "/v1//") && touches("/v1/", "/v1/;x") && !touches("/v1/", "/v1"));
    }

    #[test]
    fn prefixes_end_at_segments() {
        let covers = |prefix: &str, path: &str| PathPrefix::new(prefix).unwrap().covers(path);
        for (prefix, path, expected) in [
            ("/v1", "/v1", true),
            ("/v1", "/v1/a", true),
            ("/v1", "/v10", false),
            ("/v1/", "/v1", false),
            ("/v1/*", "/v1/a/b", true),
            ("/v1/*", "/v2/a", false),
            ("/", "/anything", true),
            ("/*", "/", true),
            ("/v1", "/%761/a", true),
            ("/%761", "/v1/a", true),
            ("/a%c3%a4", "/a%C3%A4/x", true),
            ("/a%20b", "/a%2%30b", false),
            ("/v1", "//v1", false),
            ("/v1", "/v1;x", false),
            ("/v1", "/V1", false),
        ] {
            assert_eq!(covers(prefix, path), expected, "{prefix} {path}");
        }
        for bad in [
            "",
            "v1",
            "/a*",
            "/a/*/b",
            "/a/../b",
            "/a/%2e%2E/b",
            "/a?b",
            "/ä",
            "/a b",
            "/a/..;x/b",
            "/a;b",
            "/a//b",
            "/{id}",
            "/a%2fb",
            "/a%2Bb",
            "/a%zz",
            "/a%2541",
            "/a%254%31",
            "/a%00",
            "/a%3bx",
            "/a/.. /",
        ] {
            assert!(PathPrefix::new(bad).is_err(), "{bad}");
        }
    }
}
