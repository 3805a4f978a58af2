//! Spaces of keys, with versions, expiry and quotas.

mod check;
mod read;
mod write;

use crate::StoreError;
use crate::database::{self, Use};
use crate::migrations::{KV, Schema};
use isolith_core::{BindingName, BoxFuture, CallError, HostReply, Json, KeySpaces, KvOp, Timestamp};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How many connections for reading are kept while nobody reads.
const READERS_KEPT: usize = 8;

/// Key spaces in one SQLite file.
///
/// Reads are done at once by whoever polls. Writes are done by one connection, on a thread where waiting for the disk holds
/// nobody up; a write that has begun is finished even if nobody waits for it any more.
#[derive(Clone)]
pub struct Kv {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

/// Why an operation was not done.
enum Problem {
    /// The guest asked for what cannot be.
    Guest(CallError),
    /// The database is in the way.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Problem {
        Problem::Database(error)
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Problem {
        Problem::Guest(error)
    }
}

type Answer = Result<Json, Problem>;

impl Kv {
    pub(crate) fn open(path: &Path) -> Result<Kv, StoreError> {
        Kv::within(path, &KV)
    }

    /// In a file that holds other things too.
    pub(crate) fn within(path: &Path, schema: &Schema) -> Result<Kv, StoreError> {
        let writer = Mutex::new(database::open(path, schema)?);
        Ok(Kv { shared: Arc::new(Shared { path: path.to_owned(), writer, readers: Mutex::default() }) })
    }

    /// Performs one operation on the calling thread, and waits for the disk where it writes.
    pub fn perform_now(&self, space: &BindingName, quota_bytes: u64, op: &KvOp, now: Timestamp) -> HostReply {
        let shared = &self.shared;
        let answer = check::check(op).map_err(Problem::from).and_then(|()| match op {
            KvOp::Get { keys } => shared.reading(|db| read::get(db, space, keys, now)),
            KvOp::List { prefix, cursor, limit } => {
                shared.reading(|db| read::list(db, space, prefix, cursor.as_deref(), *limit, now))
            }
            KvOp::Put { key, value, ttl_ms, metadata, expect } => {
                let expires = ttl_ms.map(|ttl| now.after(std::time::Duration::from_millis(ttl)));
                let entry =
                    write::Entry { key, value: value.text(), metadata: metadata.as_ref().map(Json::text), expires };
                shared.writing(|db| write::put(db, space, quota_bytes, &entry, *expect, now))
            }
            KvOp::Delete { key, expect } => shared.writing(|db| write::delete(db, space, key, *expect, now)),
        });
        match answer {
            Ok(json) => HostReply::Value { json: Some(json) },
            Err(Problem::Guest(error)) => HostReply::Failed { error },
            Err(Problem::Database(error)) => HostReply::failed_as("kv.io", "Error", shared.excuse(error)),
        }
    }
}

impl KeySpaces for Kv {
    fn perform(&self, space: BindingName, quota_bytes: u64, op: KvOp, now: Timestamp) -> BoxFuture<'_, HostReply> {
        Box::pin(async move {
            match op.access() {
                isolith_core::Access::Read => self.perform_now(&space, quota_bytes, &op, now),
                isolith_core::Access::Write => {
                    let kv = self.clone();
                    let write = move || kv.perform_now(&space, quota_bytes, &op, now);
                    let lost = |_| HostReply::failed_as("kv.io", "Error", "the write was given up");
                    tokio::task::spawn_blocking(write).await.unwrap_or_else(lost)
                }
            }
        })
    }
}

impl Shared {
    fn reading(&self, read: impl FnOnce(&Connection) -> Answer) -> Answer {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => database::connect(&self.path, Use::Reading).map_err(|error| unusable(&error))?,
        };
        let answer = read(&connection);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS_KEPT {
            readers.push(connection);
        }
        answer
    }

    fn writing(&self, write: impl FnOnce(&mut Connection) -> Answer) -> Answer {
        // A transaction that was left by a panic was rolled back when it was dropped, so the connection is fine.
        write(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the guest is told: what kind of thing is wrong, and nothing about the host's files.
    fn excuse(&self, error: rusqlite::Error) -> String {
        unusable(&StoreError::of(&self.path, error)).message
    }
}

fn unusable(error: &StoreError) -> CallError {
    let why = match error {
        StoreError::Damaged(_) => "its database is damaged; `isolith doctor` says which file",
        StoreError::Busy(_) => "its database is in use by another process",
        StoreError::Database { source, .. } if source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) => {
            "the disk is full"
        }
        _ => "its database cannot be read or written",
    };
    CallError {
        name: "Error".into(),
        message: format!("the key space cannot be used: {why}"),
        code: Some("kv.io".into()),
    }
}
