//! The thread that writes the log.

use super::lines::Lines;
use super::queue::Queue;
use super::{Retention, rows};
use crate::{StoreError, database};
use isolith_core::AuditRow;
use rusqlite::{Connection, TransactionBehavior};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;

/// The most rows that are held when they cannot be written. Beyond that the oldest are given up, and flushing says so.
const HELD_ROWS_MAX: usize = 16 << 10;
/// How many rows may be written between two looks at what is too old.
const PRUNE_EVERY_ROWS: u64 = 512;
/// How many rows go at a time. More than come meanwhile, so that it ends.
const PRUNE_ROWS: u64 = 2048;

/// What the writer is told.
pub(super) enum Message {
    Row(Box<AuditRow>),
    Flush(oneshot::Sender<Result<(), String>>),
    Lines(Lines),
    Retention(Retention),
}

pub(super) struct Writer {
    db: Connection,
    path: PathBuf,
    lines: Option<Lines>,
    retention: Retention,
    // Taken and not yet committed.
    held: Vec<AuditRow>,
    // Rows that are neither written nor held any more.
    lost: u64,
    lines_failed: Option<String>,
    flushed: Arc<AtomicU64>,
    since_pruned: u64,
}

impl Writer {
    pub(super) fn new(db: Connection, path: PathBuf, flushed: Arc<AtomicU64>) -> Writer {
        let retention = Retention::default();
        // The first commit looks for what became too old while nobody was writing.
        Writer {
            db,
            path,
            lines: None,
            retention,
            held: Vec::new(),
            lost: 0,
            lines_failed: None,
            flushed,
            since_pruned: PRUNE_EVERY_ROWS,
        }
    }

    /// Writes until nothing can come any more.
    pub(super) fn run(mut self, queue: &Queue) {
        // However it ends: who brings something must not wait for a writer that is gone.
        let _closing = Closing(queue);
        while let Some(messages) = queue.take() {
            let mut waiting = Vec::new();
            for message in messages {
                match message {
                    Message::Row(row) => self.held.push(*row),
                    Message::Flush(done) => waiting.push(done),
                    Message::Lines(lines) => self.lines = Some(lines),
                    Message::Retention(retention) => self.retention = retention,
                }
            }
            let written = self.commit();
            for done in waiting {
                // Whoever asked may have gone.
                let _ = done.send(written.clone());
            }
        }
    }

    fn commit(&mut self) -> Result<(), String> {
        if !self.held.is_empty() {
            if let Err(error) = self.write() {
                // They are tried again with the next ones.
                let surplus = self.held.len().saturating_sub(HELD_ROWS_MAX);
                self.held.drain(..surplus);
                self.lost += surplus as u64;
                return Err(StoreError::of(&self.path, error).to_string());
            }
            let rows = std::mem::take(&mut self.held);
            let lines = self.lines.as_mut().map_or(Ok(()), |lines| lines.write(&rows));
            match lines {
                Ok(()) => _ = self.flushed.fetch_add(rows.len() as u64, Ordering::Release),
                // Not counted as flushed, so that every flush from now on gets here and says so.
                Err(error) => self.lines_failed = Some(error.to_string()),
            }
        }
        match (self.lost, &self.lines_failed) {
            (0, None) => Ok(()),
            (0, Some(why)) => Err(format!("rows of the audit log are missing in its file of lines: {why}")),
            (lost, _) => {
                Err(format!("{lost} rows of the audit log were lost: `{}` could not be written", self.path.display()))
            }
        }
    }

    fn write(&mut self) -> rusqlite::Result<()> {
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::insert(&change, &self.held)?;
        let since_pruned = self.since_pruned + self.held.len() as u64;
        let prune = since_pruned >= PRUNE_EVERY_ROWS;
        let pruned = if prune { prune_once(&change, self.retention)? } else { 0 };
        change.commit()?;
        // When there was more than one batch of it, the next commit goes on.
        self.since_pruned = match prune {
            true if pruned < PRUNE_ROWS => 0,
            _ => since_pruned,
        };
        Ok(())
    }
}

struct Closing<'a>(&'a Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

// THREAT[T-AUDIT-003]: the age of rows is measured by this machine's clock. A row's own date can come from a run whose clock is
// a fiction, and must not make the others look old.
fn prune_once(db: &Connection, retention: Retention) -> rusqlite::Result<u64> {
    let oldest =
        database::now().as_micros().saturating_sub(u64::try_from(retention.age.as_micros()).unwrap_or(u64::MAX));
    let too_many = "DELETE FROM rows WHERE id IN
        (SELECT id FROM rows WHERE id <= (SELECT max(id) FROM rows) - ?1 ORDER BY id LIMIT ?2)";
    let too_old = "DELETE FROM rows WHERE id IN (SELECT id FROM rows WHERE at_us < ?1 ORDER BY at_us LIMIT ?2)";
    let mut gone = 0;
    for (sql, bound) in [(too_many, retention.rows), (too_old, oldest)] {
        gone += db.prepare_cached(sql)?.execute((rows::signed(bound), rows::signed(PRUNE_ROWS)))?;
    }
    Ok(gone as u64)
}
