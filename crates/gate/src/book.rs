//! Writing down what was done. An entry is written when it is dropped, so that none is forgotten.

use crate::redact::Redactor;
use isolith_core::{Act, AuditLog, AuditRow, CallError, CallOutcome, RunId, Timestamp};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The book of one run.
#[derive(Clone)]
pub(crate) struct Book {
    pub(crate) run: RunId,
    pub(crate) program: String,
    audit: Option<Arc<dyn AuditLog>>,
    redactor: Arc<Redactor>,
    /// The run left memory: what is not over will be written down when it is.
    closed: Arc<AtomicBool>,
}

/// One line in it.
pub(crate) struct Entry {
    audit: Option<Arc<dyn AuditLog>>,
    redactor: Arc<Redactor>,
    closed: Arc<AtomicBool>,
    row: Option<AuditRow>,
    since: Instant,
    pub(crate) bytes_in: u64,
}

impl Book {
    pub(crate) fn new(run: RunId, program: String, audit: Option<Arc<dyn AuditLog>>, redactor: Arc<Redactor>) -> Book {
        Book { run, program, audit, redactor, closed: Arc::default() }
    }

    /// Forgets the calls that are under way: they will be made again.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Begins an entry. It counts as done unless it is told otherwise.
    pub(crate) fn entry(&self, grant: String, what: String) -> Entry {
        let row = AuditRow {
            at: now(),
            run: self.run.clone(),
            program: self.program.clone(),
            grant,
            what,
            host: None,
            outcome: CallOutcome::Ok,
            error: None,
            duration_us: 0,
            bytes_out: 0,
            bytes_in: 0,
        };
        let (audit, redactor) = (self.audit.clone(), Arc::clone(&self.redactor));
        let closed = Arc::clone(&self.closed);
        Entry { audit, redactor, closed, row: Some(row), since: Instant::now(), bytes_in: 0 }
    }
}

impl Entry {
    /// What the receipt says about it.
    pub(crate) fn act(&self) -> Act {
        let row = self.row.as_ref();
        Act {
            grant: row.map_or_else(String::new, |row| row.grant.clone()),
            what: row.map_or_else(String::new, |row| row.what.clone()),
            outcome: row.map_or(CallOutcome::Ok, |row| row.outcome),
        }
    }

    pub(crate) fn what(&self) -> &str {
        self.row.as_ref().map_or("", |row| &row.what)
    }

    pub(crate) fn row(&mut self) -> Option<&mut AuditRow> {
        self.row.as_mut()
    }

    /// What it says if it is dropped before it is over.
    pub(crate) fn begun(mut self) -> Entry {
        self.row.iter_mut().for_each(|row| row.outcome = CallOutcome::Cancelled);
        self
    }

    pub(crate) fn over(&mut self) {
        self.row.iter_mut().for_each(|row| row.outcome = CallOutcome::Ok);
    }

    pub(crate) fn sent(mut self, bytes: u64) -> Entry {
        if let Some(row) = &mut self.row {
            row.bytes_out = bytes;
        }
        self
    }

    pub(crate) fn failed(&mut self, error: &CallError) {
        if let Some(row) = &mut self.row {
            row.outcome = if error.is_refusal() { CallOutcome::Denied } else { CallOutcome::Failed };
            row.error = Some(error.message.clone());
        }
    }

    /// The entry of something that was refused names what would have allowed it.
    pub(crate) fn refused(mut self, error: &CallError, wanted: String) -> Entry {
        self.failed(error);
        if let Some(row) = &mut self.row {
            row.grant = wanted;
        }
        self
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(mut row) = self.row.take() {
            if row.outcome == CallOutcome::Cancelled && self.closed.load(Ordering::Acquire) {
                return;
            }
            row.bytes_in = self.bytes_in;
            if row.duration_us == 0 {
                row.duration_us = self.since.elapsed().as_micros() as u64;
            }
            // A program that was shown a secret may have asked for something with it in its name.
            for text in [&mut row.grant, &mut row.what].into_iter().chain(row.error.as_mut()) {
                if let Cow::Owned(clean) = self.redactor.text(text) {
                    *text = clean;
                }
            }
            tracing::debug!(run = %row.run, grant = row.grant, what = row.what, outcome = ?row.outcome, "call");
            if let Some(audit) = &self.audit {
                audit.record(row);
            }
        }
    }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
