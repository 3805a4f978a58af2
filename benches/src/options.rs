use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// What to measure and how long to take over it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long to take.
    pub mode: Mode,
    /// Measure only the groups whose name starts with this: `start`, `call`, ...
    pub only: Option<String>,
    /// The `isolith` binary; its cold start is measured by running a program with it.
    pub exe: Option<PathBuf>,
    /// A command that, with one more argument, calls [`child`](crate::child()) with that argument and prints what it
    /// returns. Without it, what needs a process of its own is left out.
    pub child: Option<Vec<OsString>>,
    /// What a person types to measure: rows name it together with their group.
    pub command: String,
}

impl Default for Options {
    fn default() -> Self {
        Options { mode: Mode::Full, only: None, exe: None, child: None, command: "isolith bench".into() }
    }
}

/// How long to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// About ten seconds; good for a look.
    Quick,
    /// About a minute; good for a document.
    Full,
}

impl Mode {
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Mode::Quick => quick,
            Mode::Full => full,
        }
    }
}
