//! The thread that writes runs: what came while it was busy goes into one transaction, so a wait for the disk serves many.

use super::rows::{self, Existing, micros};
use super::{approvals, reply};
use crate::StoreError;
use isolith_core::{CallId, CallerId, HostReply, RunId, RunRecord, StoreProblem, Timestamp, Word};
use rusqlite::{Connection, TransactionBehavior};
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// The most writes of one commit.
const BATCH_WRITES_MAX: usize = 512;
/// From how many bytes on a commit takes no more writes.
const BATCH_BYTES_MAX: usize = 16 << 20;
/// How many runs one write forgets.
pub(super) const EXPIRE_RUNS: u32 = 128;

/// One change.
pub(super) enum Write {
    Add(Box<RunRecord>),
    Put(Box<RunRecord>, Vec<CallId>),
    Answer {
        caller: CallerId,
        run: RunId,
        call: CallId,
        reply: HostReply,
    },
    /// Comes to a number of [`approvals::heard`].
    Decide(Box<Word>),
    Begin {
        caller: CallerId,
        run: RunId,
        call: CallId,
    },
    /// Forgets up to [`EXPIRE_RUNS`].
    Expire(Timestamp),
}

/// What a change came to, when it was made: how many runs or answers it concerned.
pub(super) type Written = Result<u64, StoreProblem>;

/// A change, and who waits for it.
pub(super) struct Request {
    pub(super) write: Write,
    pub(super) done: oneshot::Sender<Written>,
}

pub(super) struct Writer {
    db: Connection,
    path: PathBuf,
}

impl Writer {
    pub(super) fn new(db: Connection, path: PathBuf) -> Writer {
        Writer { db, path }
    }

    /// Writes until nothing can come any more.
    pub(super) fn run(mut self, mut queue: mpsc::Receiver<Request>) {
        while let Some(first) = queue.blocking_recv() {
            let mut bytes = first.write.bytes();
            let mut batch = vec![first];
            while batch.len() < BATCH_WRITES_MAX && bytes < BATCH_BYTES_MAX {
                let Ok(next) = queue.try_recv() else { break };
                bytes += next.write.bytes();
                batch.push(next);
            }
            self.commit(batch);
        }
    }

    /// Makes all changes, and tells everyone afterwards.
    fn commit(&mut self, batch: Vec<Request>) {
        let answers = match self.attempt(&batch) {
            Ok(counts) => counts.into_iter().map(Ok).collect(),
            // One that cannot be made must not take the others with it.
            Err(Failed::Write(_)) if batch.len() > 1 => batch.iter().map(|one| self.alone(one)).collect(),
            Err(Failed::Write(error) | Failed::All(error)) => vec![Err(self.problem(error)); batch.len()],
        };
        for (request, answer) in batch.into_iter().zip(answers) {
            // Whoever asked may have gone.
            let _ = request.done.send(answer);
        }
    }

    fn alone(&mut self, request: &Request) -> Written {
        match self.attempt(std::slice::from_ref(request)) {
            Ok(counts) => Ok(counts.first().copied().unwrap_or_default()),
            Err(Failed::Write(error) | Failed::All(error)) => Err(self.problem(error)),
        }
    }

    fn attempt(&mut self, batch: &[Request]) -> Result<Vec<u64>, Failed> {
        // Immediate: whoever looks in order to write has to be alone from the start.
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Failed::All)?;
        let counts = batch.iter().map(|request| request.write.perform(&change)).collect::<rusqlite::Result<_>>();
        let counts = counts.map_err(Failed::Write)?;
        change.commit().map_err(Failed::All)?;
        Ok(counts)
    }

    fn problem(&self, error: rusqlite::Error) -> StoreProblem {
        match error {
            rusqlite::Error::QueryReturnedNoRows => StoreProblem(NO_RUN.into()),
            error => StoreProblem(StoreError::of(&self.path, error).to_string()),
        }
    }
}

const NO_RUN: &str = "an answer came for a run that is not kept (any more)";

/// Which part of a batch did not work.
enum Failed {
    /// One of the changes: the others may work without it.
    Write(rusqlite::Error),
    /// The transaction, so trying again with less would be the same again.
    All(rusqlite::Error),
}

impl Write {
    fn bytes(&self) -> usize {
        match self {
            Write::Add(record) | Write::Put(record, _) => {
                record.outcome.text().len() + record.suspended.as_ref().map_or(0, Vec::len)
            }
            Write::Answer { reply, .. } => reply.bytes(),
            Write::Decide(_) | Write::Begin { .. } | Write::Expire(_) => 0,
        }
    }

    fn perform(&self, db: &Connection) -> rusqlite::Result<u64> {
        match self {
            Write::Add(record) => {
                let added = rows::write(db, record, Existing::Keep)?;
                if added {
                    approvals::put(db, record)?;
                }
                Ok(u64::from(added))
            }
            Write::Put(record, open) => {
                rows::write(db, record, Existing::Replace)?;
                close(db, &record.caller, &record.run, open)?;
                approvals::put(db, record)?;
                Ok(1)
            }
            Write::Answer { caller, run, call, reply } => answer(db, caller, run, *call, reply),
            Write::Decide(word) => approvals::decide(db, word),
            Write::Begin { caller, run, call } => approvals::begin(db, caller, run, *call),
            Write::Expire(now) => expire(db, *now),
        }
    }
}

/// Forgets what was answered to calls that are not open any more.
fn close(db: &Connection, caller: &CallerId, run: &RunId, open: &[CallId]) -> rusqlite::Result<()> {
    let open: Vec<String> = open.iter().map(|call| call.0.to_string()).collect();
    let sql = "DELETE FROM answers WHERE caller = ?1 AND run = ?2 AND call NOT IN (SELECT value FROM json_each(?3))";
    db.prepare_cached(sql)?.execute((&caller.0, &run.0, format!("[{}]", open.join(","))))?;
    Ok(())
}

/// Keeps an answer, once. Without its run it would never be forgotten, so then it is an error.
fn answer(db: &Connection, caller: &CallerId, run: &RunId, call: CallId, reply: &HostReply) -> rusqlite::Result<u64> {
    let exists = "SELECT 1 FROM runs WHERE caller = ?1 AND run = ?2";
    db.prepare_cached(exists)?.query_row((&caller.0, &run.0), |_| Ok(()))?;
    let (kind, content) = reply::columns(reply);
    let sql =
        "INSERT INTO answers (caller, run, call, kind, content) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let kept = db.prepare_cached(sql)?.execute((&caller.0, &run.0, call.0, kind, content.as_deref()))?;
    Ok(kept as u64)
}

fn expire(db: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
    let sql = "SELECT id, caller, run FROM runs WHERE expires_us <= ?1 ORDER BY expires_us LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_map((micros(now), EXPIRE_RUNS), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let over: Vec<(i64, String, String)> = found.collect::<rusqlite::Result<_>>()?;
    for (id, caller, run) in &over {
        db.prepare_cached("DELETE FROM answers WHERE caller = ?1 AND run = ?2")?.execute((caller, run))?;
        db.prepare_cached("DELETE FROM approvals WHERE caller = ?1 AND run = ?2")?.execute((caller, run))?;
        db.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([id])?;
    }
    Ok(over.len() as u64)
}
