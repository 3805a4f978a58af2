use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be kept or found again. Messages name the file and what to do, and never hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder cannot be used.
    #[error("cannot use the data folder `{path}`: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The data folder could be changed by anyone.
    #[error("the data folder `{0}` can be written by everyone: `chmod o-w` it, or set ISOLITH_DATA to another")]
    Open(PathBuf),
    /// There is no home to put the data folder in.
    #[error("there is no place for the data folder: set ISOLITH_DATA, or HOME")]
    Homeless,
    /// A file is not what it should be.
    #[error("`{0}` is damaged or not a database: move it away to begin anew, or put a backup in its place")]
    Damaged(PathBuf),
    /// A file belongs to another program.
    #[error("`{0}` is the database of another program: move it away, or set ISOLITH_DATA to another folder")]
    Foreign(PathBuf),
    /// A file was written by a later version of isolith.
    #[error("`{0}` was written by a newer isolith: use that one, or set ISOLITH_DATA to another folder")]
    Newer(PathBuf),
    /// Another process does not let go of a file.
    #[error("`{0}` is in use by another process and was not released in time: try again")]
    Busy(PathBuf),
    /// A file or the folder it is in cannot be written, so it cannot be read either: whoever reads leaves a mark for those who write.
    #[error(
        "`{0}` cannot be opened: the disk has to be writable by the user that isolith runs as; ISOLITH_DATA names another folder"
    )]
    Unwritable(PathBuf),
    /// There is no room, or the disk refuses.
    #[error("cannot use `{path}`: {source}")]
    Database {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// A file cannot be read or written.
    #[error("cannot use `{path}`: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A journal is not as it was written.
    #[error(
        "the journal `{path}` was changed or is damaged: record {record} does not fit its checksum [replay.damaged]"
    )]
    Journal {
        /// Which file.
        path: PathBuf,
        /// The first record that is wrong, from 1.
        record: usize,
    },
    /// The key that secrets are encrypted with cannot be had.
    #[error("the key of the secrets cannot be used: {0}")]
    Key(String),
    /// Secrets were encrypted with another key.
    #[error(
        "the secrets in `{path}` cannot be opened with the key from {key}: it is another key, or they were altered"
    )]
    WrongKey {
        /// The file with the secrets.
        path: PathBuf,
        /// Where the key came from.
        key: String,
    },
    /// What was to be kept cannot be.
    #[error("{0}")]
    Invalid(String),
}

impl StoreError {
    /// What SQLite said, about this file.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase, PermissionDenied, ReadOnly,
        };
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => StoreError::Damaged(path.to_owned()),
            Some(DatabaseBusy | DatabaseLocked) => StoreError::Busy(path.to_owned()),
            Some(CannotOpen | PermissionDenied | ReadOnly) => StoreError::Unwritable(path.to_owned()),
            _ => StoreError::Database { path: path.to_owned(), source },
        }
    }
}
