use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest binding name.
const NAME_BYTES_MAX: usize = 64;

/// The name through which a guest exercises a grant: an ASCII identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BindingName(String);

/// A name that cannot stand in a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` cannot name a {what}: use up to 64 ASCII letters, digits, `_` or `$`, not starting with a digit{more}"
)]
pub struct InvalidName {
    name: String,
    what: &'static str,
    more: &'static str,
}

impl InvalidName {
    /// A tool's name, which may have a namespace.
    pub(super) fn of_tool(name: String) -> Self {
        // Whoever writes no dot hears nothing of namespaces.
        let more = if name.contains('.') { ", on both sides of one dot" } else { "" };
        InvalidName { name, what: if more.is_empty() { "binding" } else { "tool" }, more }
    }
}

impl BindingName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
        let name = name.into();
        let ok = BindingName::is_valid(&name);
        if ok { Ok(BindingName(name)) } else { Err(InvalidName { name, what: "binding", more: "" }) }
    }

    /// Whether text is such a name.
    pub(super) fn is_valid(name: &str) -> bool {
        // `tools.__proto__` is never a property of its own.
        BindingName::may_begin(name) && name != "__proto__"
    }

    /// Whether a name may begin like this.
    pub(super) fn may_begin(name: &str) -> bool {
        !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BindingName {
    type Error = InvalidName;
    fn try_from(name: String) -> Result<Self, InvalidName> {
        BindingName::new(name)
    }
}

impl From<BindingName> for String {
    fn from(name: BindingName) -> String {
        name.0
    }
}

impl fmt::Display for BindingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers() {
        for good in ["a", "get_weather", "$x", "_1", "constructor"] {
            assert!(BindingName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "a-b", "a.b", "ä", "a b", "__proto__", &"x".repeat(65)] {
            assert!(BindingName::new(bad).is_err(), "{bad}");
        }
    }
}
