use super::{BindingName, InvalidName};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The namespace that is everyone's: what is said about tools, not a tool of someone.
pub(super) const RESERVED: &str = "tools";
/// What there is in it: `tools.search(query)` and `tools.describe(path)`.
const RESERVED_NAMES: [&str; 2] = ["tools.search", "tools.describe"];

/// What a tool is called by: an identifier, or two of them as `<namespace>.<function>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

impl ToolName {
    /// Checks a name. Of the namespace `tools` there is only what every namespace brings along.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
        let name = name.into();
        let ok = match name.split_once('.') {
            None => BindingName::is_valid(&name),
            Some((RESERVED, _)) => RESERVED_NAMES.contains(&name.as_str()),
            Some((namespace, function)) => BindingName::is_valid(namespace) && BindingName::is_valid(function),
        };
        if ok { Ok(ToolName(name)) } else { Err(InvalidName::of_tool(name)) }
    }

    /// The function of a namespace.
    pub fn within(namespace: &BindingName, function: &BindingName) -> Result<Self, InvalidName> {
        ToolName::new(format!("{namespace}.{function}"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the dot, if there is one.
    pub fn namespace(&self) -> Option<&str> {
        self.0.split_once('.').map(|(namespace, _)| namespace)
    }

    /// What stands behind the dot, or the whole name.
    pub fn function(&self) -> &str {
        self.0.split_once('.').map_or(&self.0, |(_, function)| function)
    }

    /// Whether it is about tools, and not one of them: `tools.search`, `tools.describe`.
    pub fn is_reserved(&self) -> bool {
        self.namespace() == Some(RESERVED)
    }
}

impl From<BindingName> for ToolName {
    fn from(name: BindingName) -> ToolName {
        ToolName(name.into())
    }
}

impl TryFrom<String> for ToolName {
    type Error = InvalidName;
    fn try_from(name: String) -> Result<Self, InvalidName> {
        ToolName::new(name)
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> String {
        name.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_identifier_or_two() {
        for (name, namespace, function) in [
            ("search", None, "search"),
            ("tools", None, "tools"),
            ("github.create_issue", Some("github"), "create_issue"),
            ("$a._1", Some("$a"), "_1"),
            ("tools.search", Some("tools"), "search"),
            ("tools.describe", Some("tools"), "describe"),
        ] {
            let read = ToolName::new(name).unwrap();
            assert_eq!((read.namespace(), read.function(), read.as_str()), (namespace, function, name));
            assert_eq!(read.is_reserved(), namespace == Some("tools"));
            let text = serde_json::to_string(&read).unwrap();
            assert_eq!(text, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<ToolName>(&text).unwrap(), read);
        }
        let long = format!("a.{}", "x".repeat(65));
        for bad in
            ["", ".", "a.", ".b", "a.b.c", "a..b", "1a.b", "a.1b", "a.b-c", "a.*", "__proto__.a", "a.__proto__", &long]
        {
            assert!(ToolName::new(bad).is_err(), "{bad}");
        }
        for taken in ["tools.x", "tools.", "tools.search.x"] {
            assert!(ToolName::new(taken).is_err(), "{taken}");
        }
    }
}
