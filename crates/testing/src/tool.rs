use isolith_core::{BindingName, Grant, InvalidName};
use serde::Deserialize;

/// The fixture tools that programs of the suites can be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// `echo(x)` gives x back.
    Echo,
    /// `fail(text)` fails with that message.
    Fail,
    /// `hang()` never answers.
    Hang,
    /// `slow({ms})` answers after that time, with nothing.
    Slow,
    /// `big({bytes})` is a string of that length.
    Big,
    /// `inc()` counts up from 1.
    Inc,
    /// `proto()` is an object with keys `__proto__` and `constructor`.
    Proto,
    /// `nul()` is `"a\0b"`.
    Nul,
    /// `body({bytes})` is a body of that size, which the host holds.
    Body,
}

impl Tool {
    /// All of them.
    pub const ALL: [Tool; 9] =
        [Tool::Echo, Tool::Fail, Tool::Hang, Tool::Slow, Tool::Big, Tool::Inc, Tool::Proto, Tool::Nul, Tool::Body];

    /// The name in the guest.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Echo => "echo",
            Tool::Fail => "fail",
            Tool::Hang => "hang",
            Tool::Slow => "slow",
            Tool::Big => "big",
            Tool::Inc => "inc",
            Tool::Proto => "proto",
            Tool::Nul => "nul",
            Tool::Body => "body",
        }
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What a program needs to be given to call it.
    pub fn grant(self) -> Result<Grant, InvalidName> {
        Ok(Grant::tool(BindingName::new(self.name())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_headers_and_in_the_guest_are_the_same() {
        for tool in Tool::ALL {
            assert_eq!(serde_json::from_value::<Tool>(tool.name().into()).ok(), Some(tool));
            assert_eq!(Tool::named(tool.name()), Some(tool));
            assert!(tool.grant().is_ok());
        }
    }
}
