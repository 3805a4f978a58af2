//! The files of one session, in its SQLite file and in chunks beside it.

mod content;
mod draft;
mod history;
mod rows;

use crate::StoreError;
use crate::chunks::Chunks;
use crate::database;
use crate::migrations::SESSION;
use crate::readers::Readers;
use draft::Drafting;
use isolith_core::files::{Change, Changing, Looking, Room, Used};
use isolith_core::{FileTree, FilesError, FilesReason, GuestPath};
use rows::Rows;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use content::chunks_of;

/// The files of one session.
pub(crate) struct Workspace {
    path: PathBuf,
    // Which file it is: another of that name would be another session.
    inode: u64,
    writer: Mutex<Connection>,
    readers: Readers,
    chunks: Arc<Chunks>,
    room: Room,
}

impl Workspace {
    pub(crate) fn open(path: &Path, chunks: Arc<Chunks>, room: Room) -> Result<Workspace, StoreError> {
        // Whoever had it open last and did not come to close it left this behind.
        let unclean = path.with_extension("sqlite-wal").metadata().is_ok_and(|log| log.len() > 0);
        let writer = Mutex::new(match unclean {
            true => database::open_checked(path, &SESSION)?,
            false => database::open(path, &SESSION)?,
        });
        let found = std::fs::metadata(path).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
        Ok(Workspace { path: path.to_owned(), inode: found.ino(), writer, readers: Readers::new(path), chunks, room })
    }

    fn reading(&self, read: impl FnOnce(&Rows<'_>) -> Result<(), FilesError>) -> Result<(), FilesError> {
        let read = self.readers.with(|db| {
            // One moment for all that is read.
            let moment = db.unchecked_transaction().map_err(trouble)?;
            read(&Rows { db: &moment, chunks: &self.chunks })
        });
        read.map_err(|error| unusable(&error))?
    }

    fn writing<T>(
        &self,
        what: &str,
        write: impl FnOnce(&mut Drafting<'_>) -> Result<T, FilesError>,
    ) -> Result<T, FilesError> {
        let mut db = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // THREAT[T-SESSION-002]: what is written to a file that was removed is acknowledged and lost.
        if !std::fs::metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            return Err(FilesReason::Io("its session was removed".into()).into());
        }
        let _held = self.chunks.hold()?;
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(trouble)?;
        let mut draft = Drafting::begin(&change, &self.chunks, self.room, what)?;
        let done = write(&mut draft)?;
        draft.finish()?;
        change.commit().map_err(trouble)?;
        Ok(done)
    }
}

impl FileTree for Workspace {
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError> {
        self.reading(|rows| look(rows))
    }

    fn change(&self, what: &str, change: &mut Changing<'_>) -> Result<(), FilesError> {
        self.writing(what, |draft| change(draft))
    }

    fn history(&self, path: &GuestPath, most: usize) -> Result<Vec<Change>, FilesError> {
        let mut found = Vec::new();
        self.reading(|rows| {
            found = history::list(rows.db, path, most)?;
            Ok(())
        })?;
        Ok(found)
    }

    fn earlier(&self, path: &GuestPath, version: u64) -> Result<Option<Vec<u8>>, FilesError> {
        let mut found = None;
        self.reading(|rows| {
            found = history::earlier(rows, path, version)?;
            Ok(())
        })?;
        Ok(found)
    }

    fn undo(&self, version: Option<u64>) -> Result<(u64, Vec<String>), FilesError> {
        self.writing("undo", |draft| history::undo(draft, version))
    }

    fn used(&self) -> Result<(Used, Room), FilesError> {
        let mut used = Used::default();
        self.reading(|rows| {
            used = rows.used()?;
            Ok(())
        })?;
        Ok((used, self.room))
    }
}

/// What is told of a database that is in the way: nothing about the host's files.
fn trouble(error: rusqlite::Error) -> FilesError {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => return FilesReason::Damaged.into(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "its database is in use by another process: try again"
        }
        Some(ErrorCode::DiskFull) => "there is no space left on the disk",
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "its database cannot be written to by the user that isolith runs as"
        }
        _ => {
            let number = error.sqlite_error().map_or(0, |error| error.extended_code);
            let why = format!("its database cannot be read or written (SQLite's error {number})");
            return FilesReason::Io(why).into();
        }
    };
    FilesReason::Io(why.into()).into()
}

fn unusable(error: &StoreError) -> FilesError {
    match error {
        StoreError::Damaged(_) => FilesReason::Damaged.into(),
        StoreError::Busy(_) => FilesReason::Io("its database is in use by another process: try again".into()).into(),
        _ => FilesReason::Io("its database cannot be read or written".into()).into(),
    }
}
