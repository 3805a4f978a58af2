//! One SQLite file: made private, opened, brought up to date, and told apart from what is not ours.

use crate::StoreError;
use crate::migrations::Schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long between two attempts at what SQLite itself does not wait for.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// `ISOL`: says whose file it is.
const APPLICATION_ID: i32 = 0x4953_4f4c;
/// How many statements a connection keeps prepared.
const STATEMENTS_KEPT: usize = 32;
/// How large the log of changes may stay after it was worked off.
const WAL_BYTES_KEPT: u32 = 8 << 20;

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Reading,
    Writing,
}

/// Opens a file for writing, and makes it or brings it up to date where that is needed.
pub(crate) fn open(path: &Path, schema: &Schema) -> Result<Connection, StoreError> {
    make_private(path).map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
    let mut connection = connect(path, Use::Writing)?;
    migrate(&mut connection, path, schema)?;
    Ok(connection)
}

/// One more connection to a file that was opened.
pub(crate) fn connect(path: &Path, purpose: Use) -> Result<Connection, StoreError> {
    retry(path, || {
        // Each connection belongs to one thread at a time, so SQLite need not lock it.
        let flags =
            OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        // THREAT[T-KV-001]: a file can be swapped or damaged on purpose. Nothing that is in it is run.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        // A plan that depends on what is bound is made anew each time, which takes longer than a read.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        match purpose {
            Use::Reading => connection.pragma_update(None, "query_only", true)?,
            Use::Writing => {
                keep_log(&connection)?;
                // Acknowledged means durable: each commit is on disk before it returns.
                connection.pragma_update(None, "synchronous", "FULL")?;
                connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
            }
        }
        Ok(connection)
    })
}

/// Has changes written to a log.
fn keep_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut mode = String::new();
    // To the last row: SQLite answers with the new mode, and then writes it down. A disk that fails there would go unnoticed, and commits
    // would be what they are without a log: the removal of a journal, which nobody waits for and which is undone when the machine stops.
    connection.pragma(None, "journal_mode", "WAL", |row| {
        mode = row.get(0)?;
        Ok(())
    })?;
    if mode == "wal" {
        return Ok(());
    }
    let failed = rusqlite::ffi::Error { code: ErrorCode::SystemIoFailure, extended_code: rusqlite::ffi::SQLITE_IOERR };
    Err(rusqlite::Error::SqliteFailure(failed, Some("a log of changes cannot be kept beside it".into())))
}

/// Reads all of a file and says whether it is sound.
pub(crate) fn check(path: &Path, schema: &Schema) -> Result<(), StoreError> {
    open_checked(path, schema).map(|_| ())
}

/// Opens a file for writing and reads all of it first.
pub(crate) fn open_checked(path: &Path, schema: &Schema) -> Result<Connection, StoreError> {
    let connection = open(path, schema)?;
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict.map_err(|error| StoreError::of(path, error))?.as_str() {
        "ok" => Ok(connection),
        _ => Err(StoreError::Damaged(path.to_owned())),
    }
}

/// Copies a file as it is at one moment to where nothing is. The copy is there whole, and on disk, or not at all.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let unfinished = to.with_extension("unfinished");
    let cannot = |source: io::Error| StoreError::File { path: unfinished.clone(), source };
    let _ = std::fs::remove_file(&unfinished);
    make_private(&unfinished).map_err(cannot)?;
    let copied = (|| {
        let source = connect(from, Use::Reading)?;
        let mut target = blank(&unfinished).map_err(|error| StoreError::of(&unfinished, error))?;
        let backup = rusqlite::backup::Backup::new(&source, &mut target);
        let backup = backup.map_err(|error| StoreError::of(from, error))?;
        // All pages in one step: whoever writes meanwhile writes to the log, and nothing has to be begun again.
        backup.run_to_completion(i32::MAX, BUSY_PAUSE, None).map_err(|error| StoreError::of(from, error))
    })();
    let placed = copied.and_then(|()| {
        std::fs::File::open(&unfinished).and_then(|file| file.sync_all()).map_err(cannot)?;
        std::fs::hard_link(&unfinished, to).map_err(|source| StoreError::File { path: to.to_owned(), source })
    });
    let _ = std::fs::remove_file(&unfinished);
    placed?;
    let folder = to.parent().unwrap_or(to);
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot)
}

/// A database that nobody will see unless all of it is there: nothing is written beside it, and it is waited for once, as a file.
fn blank(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    Ok(connection)
}

// SQLite gives its other files the mode of this one.
fn make_private(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(|_| ()),
    }
    let mode = std::fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn migrate(connection: &mut Connection, path: &Path, schema: &Schema) -> Result<(), StoreError> {
    let of = |error| StoreError::of(path, error);
    let latest = schema.steps.len();
    if state(connection).map_err(of)? == (APPLICATION_ID, latest) {
        return Ok(());
    }
    // Looked at again within the transaction: another process may be doing the same.
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
    let (application, version) = state(&change).map_err(of)?;
    let tables: i64 = change.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(of)?;
    match application {
        APPLICATION_ID if version > latest => return Err(StoreError::Newer(path.to_owned())),
        APPLICATION_ID => {}
        0 if tables == 0 => {}
        _ => return Err(StoreError::Foreign(path.to_owned())),
    }
    for step in schema.steps.iter().skip(version) {
        change.execute_batch(step).map_err(of)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID).map_err(of)?;
    change.pragma_update(None, "user_version", latest as i64).map_err(of)?;
    change.commit().map_err(of)
}

fn state(connection: &Connection) -> rusqlite::Result<(i32, usize)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, usize::try_from(version).unwrap_or(usize::MAX)))
}

/// Tries again while another process is in the way. Changing the journal's mode is not waited for by SQLite itself.
fn retry<T>(path: &Path, attempt: impl Fn() -> rusqlite::Result<T>) -> Result<T, StoreError> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
                    && started.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(BUSY_PAUSE);
            }
            other => return other.map_err(|error| StoreError::of(path, error)),
        }
    }
}

/// What was kept was right when it was put; if it is not any more, then the file is not what it was.
pub(crate) fn corrupt() -> rusqlite::Error {
    let damaged = rusqlite::ffi::Error {
        code: rusqlite::ErrorCode::DatabaseCorrupt,
        extended_code: rusqlite::ffi::SQLITE_CORRUPT,
    };
    rusqlite::Error::SqliteFailure(damaged, None)
}

/// The moment it is, for dates that people read.
pub(crate) fn now() -> isolith_core::Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    isolith_core::Timestamp::default().after(since)
}
