use serde::{Deserialize, Serialize};
use std::fmt;

/// The part of a site below one path: `/v1` is itself and what is below it, `/v1/` only what is below.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPrefix(String);

impl PathPrefix {
    /// Reads `/v1`, `/v1/` or `/v1/*`, which is the same as `/v1/`.
    pub fn new(text: &str) -> Result<Self, String> {
        let whole = text.strip_suffix('*').filter(|rest| rest.ends_with('/')).unwrap_or(text);
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '*' | '?' | '#' | '\\' | '"' | '<' | '>' | ',');
        let wrong = |why: &str| Err(format!("`{text}` is not a path prefix: {why}"));
        match whole {
            _ if !whole.starts_with('/') => wrong("it has to start with `/`"),
            _ if whole.contains('*') => wrong("`*` can only stand for all that follows a `/`"),
            _ if !whole.chars().all(plain) => {
                wrong("it may hold ASCII as it stands in a URL, and no `?`, `#`, `,` or `\\`")
            }
            _ if whole.split('/').any(is_dots) => wrong("`.` and `..` lead elsewhere"),
            _ => Ok(PathPrefix(whole.to_owned())),
        }
    }

    /// Whether `path`, as a URL has it, lies here.
    pub fn covers(&self, path: &str) -> bool {
        match path.strip_prefix(&*self.0) {
            Some(rest) => rest.is_empty() || self.0.ends_with('/') || rest.starts_with('/'),
            None => false,
        }
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

/// Whether a path segment means this folder or the one above, in any spelling that a server might undo.
pub(crate) fn is_dots(segment: &str) -> bool {
    let segment = segment.split(';').next().unwrap_or_default();
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
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
        ] {
            assert_eq!(covers(prefix, path), expected, "{prefix} {path}");
        }
        for bad in ["", "v1", "/a*", "/a/*/b", "/a/../b", "/a/%2e%2E/b", "/a?b", "/ä", "/a b", "/a/..;x/b"] {
            assert!(PathPrefix::new(bad).is_err(), "{bad}");
        }
    }
}
