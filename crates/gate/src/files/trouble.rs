//! What the system says, in words that know only the guest's paths.

use isolith_core::{FilesError, FilesReason};
use rustix::io::Errno;
use std::io;

// THREAT[T-FILES-008]: the system's own messages can hold paths of the host, so only its error numbers are used.
pub(super) fn trouble(error: io::Error) -> FilesError {
    let Some(errno) = Errno::from_io_error(&error) else {
        return match error.kind() {
            // What cap-std says when a path leads out; the system's refusals have a number.
            io::ErrorKind::PermissionDenied => FilesReason::Denied("it leads out of the granted place"),
            kind => FilesReason::Io(kind.to_string()),
        }
        .into();
    };
    match errno {
        Errno::NOENT => FilesReason::NotFound,
        Errno::EXIST => FilesReason::Exists,
        Errno::NOTEMPTY => FilesReason::NotEmpty,
        Errno::NOTDIR => FilesReason::NotAFolder,
        Errno::ISDIR => FilesReason::NotAFile("a folder"),
        // A pipe that nobody reads, a socket.
        Errno::NXIO | Errno::OPNOTSUPP => FilesReason::NotAFile("something special"),
        Errno::LOOP => FilesReason::Denied("it is a link, or leads through too many"),
        Errno::XDEV => FilesReason::Io("the two places are on different file systems".into()),
        Errno::NOSPC | Errno::DQUOT => FilesReason::Io("there is no space left".into()),
        Errno::ACCESS | Errno::PERM => FilesReason::Io("the user that isolith runs as may not".into()),
        Errno::INVAL => FilesReason::Io("that cannot be done with it".into()),
        _ => FilesReason::Io(error.kind().to_string()),
    }
    .into()
}
