use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// How workers are started: an executable whose `main` ends in [`worker::main`](crate::worker::main) when it is called like this.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The executable.
    pub program: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// Whether what it writes to its standard error is shown: V8 says there why it gives up.
    pub keep_stderr: bool,
}

impl Launch {
    /// An executable and what it is called with.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Launch {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Launch { program: program.into(), arguments, keep_stderr: false }
    }
}

/// How an engine is sized and how its workers are held.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs that can exist at one time, each in a process of its own.
    pub live: u32,
    /// Workers that are kept ready.
    pub ready: usize,
    /// Callers that may wait for a place.
    pub queue: usize,
    /// How long they wait.
    pub queue_wait: Duration,
    /// Whether a wall that does not stand is an error.
    pub jail: JailMode,
}

impl Default for Options {
    fn default() -> Self {
        Options { live: 100, ready: 2, queue: 1_000, queue_wait: Duration::from_secs(5), jail: JailMode::BestEffort }
    }
}

/// Whether workers are jailed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JailMode {
    /// As far as the kernel allows.
    #[default]
    BestEffort,
    /// A wall that does not stand is an error.
    Required,
    /// Not at all. For tests that show what the walls are good for.
    Off,
}
