use super::Access;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of the file tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FilesGrant {
    /// Itself and everything below it.
    pub path: GuestPath,
    /// Whether it may be changed.
    pub access: Access,
    /// How much one run may write.
    pub quota_bytes: u64,
}

/// What one run may write unless a grant says otherwise.
pub(crate) const QUOTA_BYTES: u64 = 64 << 20;

const NAME_BYTES_MAX: usize = 255;
const LEVELS_MAX: usize = 100;

/// Where a file is, as the guest says it: names, and nothing that leads up or out.
///
/// `docs/a.md` is relative to the tree's root, `/etc/hosts` is not: they are different places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GuestPath {
    absolute: bool,
    names: Vec<String>,
}

/// A path that names no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a path: {why}", path.escape_debug())]
pub struct InvalidPath {
    path: String,
    why: &'static str,
}

impl GuestPath {
    /// Reads a path. `.` and empty names are left out; `..` is taken back, but never above the root.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        let wrong = |why| Err(InvalidPath { path: path.chars().take(200).collect(), why });
        let absolute = path.starts_with('/');
        let mut names: Vec<String> = Vec::new();
        if path.contains(['\0', '\\']) || path.chars().any(char::is_control) {
            return wrong("it holds a backslash or a control character");
        }
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." if names.pop().is_none() => return wrong("it leads above the root"),
                ".." => {}
                name if name.len() > NAME_BYTES_MAX => return wrong("a name in it is longer than 255 bytes"),
                name => names.push(name.to_owned()),
            }
            if names.len() > LEVELS_MAX {
                return wrong("it is more than 100 levels deep");
            }
        }
        Ok(GuestPath { absolute, names })
    }

    /// Whether it starts at the root of the host's tree.
    pub fn is_absolute(&self) -> bool {
        self.absolute
    }

    /// The names on the way.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether `other` is this place or below it.
    pub fn covers(&self, other: &GuestPath) -> bool {
        self.absolute == other.absolute && other.names.starts_with(&self.names)
    }

    /// The names that lead from here to `other`, when it lies here.
    pub fn below<'a>(&self, other: &'a GuestPath) -> Option<&'a [String]> {
        self.covers(other).then(|| &other.names[self.names.len()..])
    }

    /// What lies in both.
    pub(crate) fn and(&self, other: &GuestPath) -> Option<GuestPath> {
        if self.covers(other) {
            Some(other.clone())
        } else if other.covers(self) {
            Some(self.clone())
        } else {
            None
        }
    }
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.absolute, self.names.is_empty()) {
            (true, _) => write!(f, "/{}", self.names.join("/")),
            (false, true) => f.write_str("."),
            (false, false) => f.write_str(&self.names.join("/")),
        }
    }
}

impl TryFrom<String> for GuestPath {
    type Error = InvalidPath;
    fn try_from(path: String) -> Result<Self, InvalidPath> {
        GuestPath::new(&path)
    }
}

impl From<GuestPath> for String {
    fn from(path: GuestPath) -> String {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_form() {
        for (path, shown) in [
            ("docs//a.md", "docs/a.md"),
            ("./docs/./x/../a.md", "docs/a.md"),
            ("", "."),
            ("/", "/"),
            ("/etc/./hosts", "/etc/hosts"),
            ("a/..", "."),
        ] {
            assert_eq!(GuestPath::new(path).map(|p| p.to_string()), Ok(shown.to_owned()), "{path}");
        }
        let (long, deep) = ("x".repeat(256), "a/".repeat(101));
        for bad in ["..", "a/../..", "/..", "a\0b", "a\\b", "a\nb", &long, &deep] {
            assert!(GuestPath::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_place_covers_what_is_below_it() {
        let covers = |a: &str, b: &str| GuestPath::new(a).unwrap().covers(&GuestPath::new(b).unwrap());
        assert!(covers("docs", "docs/a") && covers("docs", "docs") && covers(".", "docs"));
        assert!(!covers("docs", "docsx") && !covers("docs/a", "docs") && !covers(".", "/docs"));
    }
}
