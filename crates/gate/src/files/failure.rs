//! What went wrong with a file, in words that know only the guest's paths.

use isolith_core::{CallError, GuestPath};
use rustix::io::Errno;
use std::io;

/// Why something was not done, and with what where that is not the path that was asked for.
#[derive(Debug)]
pub(super) struct Problem {
    reason: Reason,
    path: Option<GuestPath>,
}

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Reason {
    NotFound,
    Exists,
    NotAFile(&'static str),
    NotAFolder,
    NotEmpty,
    Denied(&'static str),
    Quota { used: u64, wanted: u64, allowed: u64 },
    TooLarge { bytes: u64, most: u64 },
    InvalidCursor,
    Io(String),
}

impl Problem {
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self.reason, Reason::NotFound | Reason::NotAFolder)
    }

    /// The same, with another path than the one that was asked for.
    pub(super) fn about(mut self, path: &GuestPath) -> Self {
        self.path.get_or_insert_with(|| path.clone());
        self
    }

    pub(super) fn to_error(&self, asked: &GuestPath) -> CallError {
        let path = self.path.as_ref().unwrap_or(asked);
        let (name, code, message) = match &self.reason {
            Reason::NotFound => ("NotFoundError", "not_found", format!("there is no `{path}`")),
            Reason::Exists => ("Error", "exists", format!("`{path}` is there already")),
            Reason::NotAFile(what) => ("Error", "not_a_file", format!("`{path}` is {what}, not a file")),
            Reason::NotAFolder => ("Error", "not_a_folder", format!("`{path}`, or what leads to it, is not a folder")),
            Reason::NotEmpty => {
                ("Error", "not_empty", format!("`{path}` is a folder that is not empty: remove it with `recursive`"))
            }
            Reason::Denied(why) => ("DeniedError", "denied", format!("`{path}` cannot be used: {why}")),
            Reason::Quota { used, wanted, allowed } => {
                let what = format!("{wanted} bytes more than the {used} this run has written");
                ("RangeError", "quota", format!("`{path}` was not written: {what} would pass the {allowed} allowed"))
            }
            Reason::TooLarge { bytes, most } => {
                ("RangeError", "too_large", format!("`{path}` would have {bytes} bytes, and a file may have {most}"))
            }
            Reason::InvalidCursor => ("TypeError", "invalid", format!("the cursor is not from a list of `{path}`")),
            Reason::Io(why) => ("Error", "io", format!("`{path}` could not be used: {why}")),
        };
        CallError { name: name.into(), message, code: Some(format!("files.{code}")) }
    }
}

impl From<Reason> for Problem {
    fn from(reason: Reason) -> Problem {
        Problem { reason, path: None }
    }
}

// THREAT[T-FILES-008]: the system's own messages can hold paths of the host, so only its error numbers are used.
impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        let Some(errno) = Errno::from_io_error(&error) else {
            return match error.kind() {
                // What cap-std says when a path leads out; the system's refusals have a number.
                io::ErrorKind::PermissionDenied => Reason::Denied("it leads out of the granted place"),
                kind => Reason::Io(kind.to_string()),
            }
            .into();
        };
        match errno {
            Errno::NOENT => Reason::NotFound,
            Errno::EXIST => Reason::Exists,
            Errno::NOTEMPTY => Reason::NotEmpty,
            Errno::NOTDIR => Reason::NotAFolder,
            Errno::ISDIR => Reason::NotAFile("a folder"),
            // A pipe that nobody reads, a socket.
            Errno::NXIO | Errno::OPNOTSUPP => Reason::NotAFile("something special"),
            Errno::LOOP => Reason::Denied("it is a link, or leads through too many"),
            Errno::XDEV => Reason::Io("the two places are on different file systems".into()),
            Errno::NOSPC | Errno::DQUOT => Reason::Io("there is no space left".into()),
            Errno::ACCESS | Errno::PERM => Reason::Io("the user that isolith runs as may not".into()),
            Errno::INVAL => Reason::Io("that cannot be done with it".into()),
            _ => Reason::Io(error.kind().to_string()),
        }
        .into()
    }
}
