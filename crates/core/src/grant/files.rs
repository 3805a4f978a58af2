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
const PATH_BYTES_MAX: usize = 4096;

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
    leads_out: bool,
}

impl InvalidPath {
    /// Whether it is a path, but of a place above the root.
    pub fn leads_out(&self) -> bool {
        self.leads_out
    }
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// Into what has this name.
    Into(&'a str),
    /// To the folder around.
    Up,
}

impl GuestPath {
    /// Reads a path. `.` and empty names are left out; `..` is taken back, but never above the root.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        let mut read = GuestPath { absolute: path.starts_with('/'), names: Vec::new() };
        for step in GuestPath::steps(path)? {
            match step {
                PathStep::Into(name) => read.names.push(name.to_owned()),
                PathStep::Up if read.names.pop().is_none() => {
                    return Err(InvalidPath { leads_out: true, ..invalid(path, "it leads above the root") });
                }
                PathStep::Up => {}
            }
            read.bounded()?;
        }
        Ok(read)
    }

    /// The steps that a text takes, relative to wherever it is read from: the target of a link, whose `..` mean the folders that are there.
    pub fn steps(path: &str) -> Result<Vec<PathStep<'_>>, InvalidPath> {
        if path.len() > PATH_BYTES_MAX {
            return Err(invalid(path, "it is longer than 4096 bytes"));
        }
        if path.contains(['\0', '\\']) || path.chars().any(char::is_control) {
            return Err(invalid(path, "it holds a backslash or a control character"));
        }
        let mut steps = Vec::new();
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => steps.push(PathStep::Up),
                name if name.len() > NAME_BYTES_MAX => {
                    return Err(invalid(path, "a name in it is longer than 255 bytes"));
                }
                name => steps.push(PathStep::Into(name)),
            }
        }
        Ok(steps)
    }

    /// The root of a tree.
    pub fn root() -> GuestPath {
        GuestPath { absolute: false, names: Vec::new() }
    }

    /// What has this name in here.
    pub fn child(&self, name: &str) -> Result<GuestPath, InvalidPath> {
        match GuestPath::steps(name)?.as_slice() {
            [PathStep::Into(step)] if *step == name => {}
            _ => return Err(invalid(name, "it is not one name")),
        }
        let mut child = self.clone();
        child.names.push(name.to_owned());
        child.bounded()?;
        Ok(child)
    }

    /// The same names behind other ones: where something that is below `from` is when `from` is here.
    pub fn rebased(&self, from: &GuestPath, path: &GuestPath) -> Result<GuestPath, InvalidPath> {
        let mut there = self.clone();
        there.names.extend_from_slice(from.below(path).unwrap_or_default());
        there.bounded()?;
        Ok(there)
    }

    /// The folder that it is in; nothing for a root.
    pub fn parent(&self) -> Option<GuestPath> {
        let (_, names) = self.names.split_last()?;
        Some(GuestPath { absolute: self.absolute, names: names.to_vec() })
    }

    /// Its own name; nothing for a root.
    pub fn name(&self) -> Option<&str> {
        self.names.last().map(String::as_str)
    }

    /// Whether it is a root.
    pub fn is_root(&self) -> bool {
        self.names.is_empty()
    }

    fn bounded(&self) -> Result<(), InvalidPath> {
        let bytes: usize = self.names.iter().map(|name| name.len() + 1).sum();
        match () {
            () if self.names.len() > LEVELS_MAX => Err(invalid(&self.to_string(), "it is more than 100 levels deep")),
            () if bytes > PATH_BYTES_MAX => Err(invalid(&self.to_string(), "it is longer than 4096 bytes")),
            () => Ok(()),
        }
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

fn invalid(path: &str, why: &'static str) -> InvalidPath {
    InvalidPath { path: path.chars().take(200).collect(), why, leads_out: false }
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
        let (long, deep, whole) = ("x".repeat(256), "a/".repeat(101), format!("{}/", "x".repeat(99)).repeat(41));
        for bad in ["..", "a/../..", "/..", "a\0b", "a\\b", "a\nb", &long, &deep, &whole] {
            let said = GuestPath::new(bad).unwrap_err();
            assert_eq!(said.leads_out(), bad.contains(".."), "{bad:?}");
        }
        assert!(GuestPath::new(&"a/../".repeat(1000)).is_err(), "however short what is left of it");
    }

    #[test]
    fn a_child_is_one_name_and_within_bounds() {
        let folder = GuestPath::new("docs").unwrap();
        assert_eq!(folder.child("a.md").map(|p| p.to_string()), Ok("docs/a.md".into()));
        for bad in ["", ".", "..", "a/b", "/a", "a/", "a\\b", "a\0"] {
            assert!(folder.child(bad).is_err(), "{bad:?}");
        }
        let deep = GuestPath::new(&"a/".repeat(100)).unwrap();
        assert!(deep.child("a").is_err() && deep.rebased(&folder, &folder.child("x").unwrap()).is_err());
        assert_eq!(folder.child("x").unwrap().parent(), Some(folder));
        assert_eq!(GuestPath::root().parent(), None);
    }

    #[test]
    fn a_place_covers_what_is_below_it() {
        let covers = |a: &str, b: &str| GuestPath::new(a).unwrap().covers(&GuestPath::new(b).unwrap());
        assert!(covers("docs", "docs/a") && covers("docs", "docs") && covers(".", "docs"));
        assert!(!covers("docs", "docsx") && !covers("docs/a", "docs") && !covers(".", "/docs"));
    }
}
