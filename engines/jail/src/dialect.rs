use isolith_core::{CallId, HostReply, Limits, Program, Start, Suspended, SuspendedError, Timestamp, Usage};
use std::error::Error;
use std::time::Duration;

/// In which words an engine tells its worker what to do: its own two ends agree on them, and nobody else reads them.
///
/// What a worker says has one form for all engines, because that is not believed and has to be checked.
pub trait Dialect: Send + Sync {
    /// Writes what begins a run.
    fn start(
        &self,
        program: &Program,
        start: &Start,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Writes what a turn brings. No reply is larger than a call may bring.
    fn turn(&self, now: Timestamp, replies: &[(CallId, HostReply)], out: &mut Vec<u8>);

    /// How many threads a worker has: as many can use up its time at once, and it can make no other.
    fn threads(&self) -> u32;

    /// The most memory that a worker of a run with these limits lets itself have, besides what it begins with.
    fn memory_bytes(&self, limits: &Limits) -> u64;

    /// How runs leave memory and come back, where they can.
    fn suspending(&self) -> Option<&dyn Suspending> {
        None
    }
}

/// How runs of an engine leave memory and come back.
pub trait Suspending: Sync {
    /// The state of a run, out of what its worker says of it and of what was counted here.
    ///
    /// The worker's part is memory of the program and nothing else: no limit and no usage is taken from it.
    fn suspended(&self, said: &[u8], counted: &Counted) -> Result<Suspended, SuspendedError>;

    /// What was counted, and what the worker is to be told.
    fn resumed(&self, suspended: &Suspended, out: &mut Vec<u8>) -> Result<Counted, SuspendedError>;
}

/// What a supervisor knows of a run by itself.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// What the run may use.
    pub limits: Limits,
    /// What it has used.
    pub usage: Usage,
    /// What it has computed.
    pub cpu_used: Duration,
    /// What it has written, each piece with what it costs besides.
    pub output_bytes: u64,
}
