//! What an operator can set about a server.

use isolith_core::{Keeper, SessionName};
use std::path::PathBuf;
use std::time::Duration;

/// How much a server takes on, and for how long it waits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Runs in memory at one time.
    pub live_runs: usize,
    /// Runs of one caller in memory at one time.
    pub live_runs_per_caller: usize,
    /// Runs of one caller that wait for a place.
    pub queue_per_caller: usize,
    /// Runs of all callers that wait for a place.
    pub queue: usize,
    /// How long one waits for a place.
    pub queue_wait: Duration,
    /// How long a run that waits for its client stays in memory.
    pub hold: Duration,
    /// A timer further off than this is waited for outside memory.
    pub timer: Duration,
    /// How long a suspended run, or an outcome, is kept.
    pub keep: Duration,
    /// How long someone may take to agree to a call that a grant asks about; then the answer is no.
    pub approval: Duration,
    /// What kind of process this is: it goes on with the runs of its kind.
    pub keeper: Keeper,
    /// The session of clients over pipes: programs run in it, and MCP clients have its files as tools.
    pub session: Option<SessionName>,
    /// Whether the journal of every run is kept, so that it can be done again.
    pub record: bool,
    /// How long a request waits for an answer at most.
    pub wait: Duration,
    /// The largest body of a request.
    pub body_bytes: usize,
    /// How long a client may take to send one.
    pub body_time: Duration,
    /// How long a client may take to send a request's head, or to say nothing on a connection.
    pub idle: Duration,
    /// Connections at one time.
    pub connections: usize,
    /// What may wait to be written to one connection that is not read.
    pub outbox_bytes: usize,
    /// How long runs may take to finish or to be suspended when the server is to stop.
    pub drain: Duration,
    /// Other names than loopback's that requests may come for: `Host` is one of these.
    pub hosts: Vec<String>,
    /// The folder of this machine below which workspaces of the provider `local-directory` are; without it there are none.
    pub workspaces: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            live_runs: 512,
            live_runs_per_caller: 48,
            queue_per_caller: 1_024,
            queue: 4_096,
            queue_wait: Duration::from_secs(10),
            hold: Duration::from_millis(100),
            timer: Duration::from_secs(10),
            keep: Duration::from_secs(24 * 3600),
            approval: Duration::from_secs(7 * 24 * 3600),
            keeper: Keeper::Server,
            session: None,
            record: false,
            wait: Duration::from_secs(60),
            body_bytes: 24 << 20,
            body_time: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            connections: 20_000,
            outbox_bytes: 64 << 20,
            drain: Duration::from_secs(60),
            hosts: Vec::new(),
            workspaces: None,
        }
    }
}
