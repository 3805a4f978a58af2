use isolith_core::{ErrorKind, Outcome, Status};
use std::process::ExitCode;

/// How the process ends. The numbers are a promise to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The program ran and returned.
    Ok = 0,
    /// The program failed.
    Failed = 1,
    /// Something was asked for that makes no sense.
    Usage = 2,
    /// Our fault.
    Internal = 70,
    /// The program waits and can be resumed.
    Suspended = 75,
    /// The program was stopped for a limit on time.
    TimedOut = 124,
    /// Policy refused what the program did, and it did not cope.
    Denied = 126,
}

impl Exit {
    pub(crate) fn of(outcome: &Outcome) -> Exit {
        match (outcome.status, outcome.error.as_ref().map(|e| e.kind)) {
            (Status::Ok, _) => Exit::Ok,
            (Status::Suspended, _) => Exit::Suspended,
            (Status::Error, Some(ErrorKind::Timeout | ErrorKind::CpuLimit)) => Exit::TimedOut,
            (Status::Error, Some(ErrorKind::Denied)) => Exit::Denied,
            (Status::Error, Some(ErrorKind::Internal)) => Exit::Internal,
            (Status::Error, _) => Exit::Failed,
        }
    }

    /// The exit of several runs together: the worst of them, where only our own fault is worse than a failure.
    pub(crate) fn with(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Ok, other) => other,
            (own, Exit::Ok) => own,
            (Exit::Internal, _) | (_, Exit::Internal) => Exit::Internal,
            (own, other) if own == other => own,
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
