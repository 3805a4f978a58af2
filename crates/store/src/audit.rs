//! The audit log: every exercise of a grant and every refusal, found again later.

mod lines;
mod query;
mod queue;
mod rows;
mod writer;

use crate::StoreError;
use crate::database::{self, Use};
use crate::migrations::AUDIT;
use isolith_core::{AuditLog, AuditRow, BoxFuture};
pub use query::AuditQuery;
use queue::Queue;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use writer::{Message, Writer};

/// How many rows are kept.
const ROWS_MAX: u64 = 1_000_000;
/// For how long.
const AGE_MAX: Duration = Duration::from_secs(90 * 24 * 3600);

/// What is kept of the log. Older rows go first, in small batches.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// At most this many rows.
    pub rows: u64,
    /// None older than this.
    pub age: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { rows: ROWS_MAX, age: AGE_MAX }
    }
}

/// The audit log in one SQLite file, written by a thread of its own.
///
/// Rows that come close together are committed together. [`AuditLog::record`] returns at once unless the queue is full; then it
/// waits for room, so that no row is lost. Dropping the log writes what is left.
pub struct Audit {
    path: PathBuf,
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    recorded: AtomicU64,
    // How many of the recorded rows are committed.
    flushed: Arc<AtomicU64>,
    reader: Mutex<Option<rusqlite::Connection>>,
}

impl Audit {
    pub(crate) fn open(path: &Path) -> Result<Audit, StoreError> {
        let connection = database::open(path, &AUDIT)?;
        let queue = Arc::new(Queue::default());
        let own = Arc::clone(&queue);
        let flushed = Arc::new(AtomicU64::new(0));
        let writer = Writer::new(connection, path.to_owned(), flushed.clone());
        let thread = std::thread::Builder::new().name("isolith-audit".into()).spawn(move || writer.run(&own));
        let thread = thread.map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        Ok(Audit {
            path: path.to_owned(),
            queue,
            thread: Some(thread),
            recorded: AtomicU64::new(0),
            flushed,
            reader: Mutex::default(),
        })
    }

    /// Writes every row to this file too, as one line of JSON each, behind what is there.
    pub fn with_lines(self, path: impl AsRef<Path>) -> Result<Audit, StoreError> {
        let lines = lines::Lines::open(path.as_ref())?;
        self.send(Message::Lines(lines));
        Ok(self)
    }

    /// Keeps more or less than usual.
    pub fn with_retention(self, retention: Retention) -> Audit {
        self.send(Message::Retention(retention));
        self
    }

    /// The rows that meet the query, the newest last. What is not flushed yet is not among them.
    pub fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRow>, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match reader.take() {
            Some(connection) => connection,
            None => database::connect(&self.path, Use::Reading)?,
        };
        let found = query.run(&connection).map_err(|error| StoreError::of(&self.path, error));
        *reader = Some(connection);
        found
    }

    /// As [`AuditLog::flush`], for whoever has a thread to wait on.
    pub fn flush_blocking(&self) -> Result<(), String> {
        self.asked_to_flush().map_or(Ok(()), |wait| wait.blocking_recv().unwrap_or_else(|_| gone()))
    }

    /// What tells how it went. Nothing when all is written: most runs do nothing that is written down, and should not wait for anybody.
    fn asked_to_flush(&self) -> Option<oneshot::Receiver<Result<(), String>>> {
        if self.flushed.load(Ordering::Acquire) >= self.recorded.load(Ordering::Acquire) {
            return None;
        }
        let (done, wait) = oneshot::channel();
        // When nobody takes it, its other end is gone, and that is the answer.
        self.send(Message::Flush(done));
        Some(wait)
    }

    fn send(&self, message: Message) -> bool {
        self.queue.send(message)
    }
}

impl AuditLog for Audit {
    fn record(&self, row: AuditRow) {
        // Counted first: a row that cannot be sent is one that flushing has to complain about.
        self.recorded.fetch_add(1, Ordering::Release);
        self.send(Message::Row(Box::new(rows::bounded(row))));
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), String>> {
        let asked = self.asked_to_flush();
        Box::pin(async {
            match asked {
                Some(wait) => wait.await.unwrap_or_else(|_| gone()),
                None => Ok(()),
            }
        })
    }
}

fn gone() -> Result<(), String> {
    Err("the writer of the audit log is gone".into())
}

impl Drop for Audit {
    fn drop(&mut self) {
        // The writer ends when nothing can come any more, after it wrote what came.
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
