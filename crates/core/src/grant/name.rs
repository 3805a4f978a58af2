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
#[error("`{0}` cannot name a binding: use up to 64 ASCII letters, digits, `_` or `$`, not starting with a digit")]
pub struct InvalidName(String);

impl BindingName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
        let name = name.into();
        let ok = !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
            // `tools.__proto__` is never a property of its own.
            && name != "__proto__";
        if ok { Ok(BindingName(name)) } else { Err(InvalidName(name)) }
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
