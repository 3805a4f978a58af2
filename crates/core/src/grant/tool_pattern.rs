use super::tool_name::RESERVED;
use super::{BindingName, InvalidName, ToolName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which tools a grant is about: `search`, `github.create_issue`, `github.create_*`, `github.*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ToolPattern {
    /// This one.
    Exact(ToolName),
    /// Those of a namespace whose names begin like this; all of them when nothing is said.
    Below {
        /// The namespace.
        namespace: BindingName,
        /// How their names begin.
        prefix: String,
    },
}

/// Text that names no tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    /// It is no name, and no pattern either.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A star where none may be.
    #[error(
        "`{0}` names no tools: a star stands at the end, behind a namespace and a dot, as in `github.*` or `github.create_*`"
    )]
    Star(String),
    /// The namespace that is everyone's.
    #[error("`{0}`: `tools` cannot be a namespace of tools: `tools.search` and `tools.describe` come with every other")]
    Reserved(String),
}

impl ToolPattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let dotted = text.split_once('.');
        if dotted.is_some_and(|(namespace, _)| namespace == RESERVED) {
            return Err(InvalidPattern::Reserved(text.to_owned()));
        }
        if !text.contains('*') {
            return Ok(ToolPattern::Exact(ToolName::new(text)?));
        }
        let wrong = || InvalidPattern::Star(text.to_owned());
        let (namespace, rest) = dotted.ok_or_else(wrong)?;
        let prefix = rest.strip_suffix('*').ok_or_else(wrong)?;
        if !prefix.is_empty() && !BindingName::may_begin(prefix) {
            return Err(wrong());
        }
        Ok(ToolPattern::Below { namespace: BindingName::new(namespace)?, prefix: prefix.to_owned() })
    }

    /// Every tool of a namespace.
    pub fn all_of(namespace: BindingName) -> Self {
        ToolPattern::Below { namespace, prefix: String::new() }
    }

    /// Whether a tool is one of these.
    pub fn covers(&self, name: &ToolName) -> bool {
        match self {
            ToolPattern::Exact(own) => own == name,
            ToolPattern::Below { namespace, prefix } => {
                name.namespace() == Some(namespace.as_str()) && name.function().starts_with(prefix.as_str())
            }
        }
    }

    /// The namespace it is about, if it is about one.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            ToolPattern::Exact(name) => name.namespace(),
            ToolPattern::Below { namespace, .. } => Some(namespace.as_str()),
        }
    }

    /// The one tool it names, if it names one.
    pub fn exact(&self) -> Option<&ToolName> {
        match self {
            ToolPattern::Exact(name) => Some(name),
            ToolPattern::Below { .. } => None,
        }
    }

    /// Which tools are among both.
    pub fn and(&self, other: &ToolPattern) -> Option<ToolPattern> {
        match (self, other) {
            (ToolPattern::Exact(name), pattern) | (pattern, ToolPattern::Exact(name)) => {
                pattern.covers(name).then(|| ToolPattern::Exact(name.clone()))
            }
            (ToolPattern::Below { namespace, prefix }, ToolPattern::Below { namespace: theirs, prefix: other }) => {
                let longer = if prefix.len() >= other.len() { prefix } else { other };
                let both =
                    namespace == theirs && longer.starts_with(prefix.as_str()) && longer.starts_with(other.as_str());
                both.then(|| ToolPattern::Below { namespace: namespace.clone(), prefix: longer.clone() })
            }
        }
    }

    /// Whether some tool is among both.
    pub fn meets(&self, other: &ToolPattern) -> bool {
        self.and(other).is_some()
    }

    /// How narrow it is: one tool before a long beginning, that before a short one.
    pub(crate) fn narrowness(&self) -> usize {
        match self {
            ToolPattern::Exact(_) => usize::MAX,
            ToolPattern::Below { prefix, .. } => prefix.len(),
        }
    }
}

impl From<ToolName> for ToolPattern {
    fn from(name: ToolName) -> ToolPattern {
        ToolPattern::Exact(name)
    }
}

impl From<BindingName> for ToolPattern {
    fn from(name: BindingName) -> ToolPattern {
        ToolPattern::Exact(name.into())
    }
}

impl FromStr for ToolPattern {
    type Err = InvalidPattern;
    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        ToolPattern::new(text)
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = InvalidPattern;
    fn try_from(text: String) -> Result<Self, InvalidPattern> {
        ToolPattern::new(&text)
    }
}

impl From<ToolPattern> for String {
    fn from(pattern: ToolPattern) -> String {
        pattern.to_string()
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolPattern::Exact(name) => write!(f, "{name}"),
            ToolPattern::Below { namespace, prefix } => write!(f, "{namespace}.{prefix}*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ToolPattern {
        ToolPattern::new(text).unwrap()
    }

    #[test]
    fn patterns_cover_what_they_begin() {
        for (text, name, covered) in [
            ("search", "search", true),
            ("search", "search.x", false),
            ("github.create_issue", "github.create_issue", true),
            ("github.create_issue", "github.create_issues", false),
            ("github.*", "github.create_issue", true),
            ("github.*", "github", false),
            ("github.*", "githubs.x", false),
            ("github.*", "Github.x", false),
            ("github.create_*", "github.create_issue", true),
            ("github.create_*", "github.create_", true),
            ("github.create_*", "github.create", false),
            ("github.create_*", "gitlab.create_issue", false),
        ] {
            assert_eq!(pattern(text).covers(&ToolName::new(name).unwrap()), covered, "{text} {name}");
            assert_eq!(pattern(text).to_string(), text);
        }
    }

    #[test]
    fn two_patterns_leave_the_narrower_or_nothing() {
        for (one, two, both) in [
            ("a", "a", Some("a")),
            ("a", "b", None),
            ("a", "a.*", None),
            ("g.*", "g.x", Some("g.x")),
            ("g.*", "g.x*", Some("g.x*")),
            ("g.x*", "g.xy*", Some("g.xy*")),
            ("g.x*", "g.y*", None),
            ("g.x*", "h.x*", None),
            ("g.x*", "g.y", None),
        ] {
            assert_eq!(pattern(one).and(&pattern(two)), both.map(pattern), "{one} {two}");
            assert_eq!(pattern(two).and(&pattern(one)), both.map(pattern), "{two} {one}");
        }
        let narrower = ["g.xyz", "g.xy*", "g.x*", "g.*"].map(|text| pattern(text).narrowness());
        assert!(narrower.is_sorted_by(|a, b| a > b), "{narrower:?}");
    }

    #[test]
    fn stars_stand_at_the_end_of_a_namespace() {
        for bad in ["*", "a*", "*.a", "a*.b", "a.*b", "a.b*c", "a.**", "a.b.*", "a.-*", "a.1*", "1.*", ".*", "a. *"] {
            assert!(ToolPattern::new(bad).is_err(), "{bad}");
        }
        for taken in ["tools.*", "tools.search", "tools.x"] {
            assert_eq!(ToolPattern::new(taken), Err(InvalidPattern::Reserved(taken.into())));
        }
    }
}
