//! Runs that outlive the process that started them, and the answers that came for them meanwhile.

mod approvals;
mod read;
mod reply;
mod rows;
mod writer;

use crate::migrations::RUNS;
use crate::readers::Readers;
use crate::{StoreError, database};
use isolith_core::{
    Approval, BoxFuture, CallId, CallerId, Heard, HostReply, Keeper, RunId, RunRecord, RunStore, SessionName,
    StoreProblem, Timestamp, Word,
};
use read::{Found, Most};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use writer::{EXPIRE_RUNS, Request, Write, Writer, Written};

/// How many writes wait. Futures of more wait for room before theirs is taken.
const QUEUE_WRITES_MAX: usize = 1024;
/// The most that is read by whoever polls; more is read on a thread where that holds nobody up.
const AT_ONCE_BYTES_MAX: usize = 128 << 10;
/// The longest name of a caller or a run.
const NAME_BYTES_MAX: usize = 256;
/// The longest continuation.
const CONTINUATION_BYTES_MAX: usize = 4 << 10;
/// The largest outcome. With the largest state beside it, it is still within what SQLite keeps in one row.
const OUTCOME_BYTES_MAX: usize = 256 << 20;
/// The largest suspended state.
const SUSPENDED_BYTES_MAX: usize = 512 << 20;
/// The largest answer.
const REPLY_BYTES_MAX: usize = 256 << 20;
/// The most calls that can be open.
const OPEN_CALLS_MAX: usize = 1 << 20;

/// Runs in one SQLite file, written by a thread of its own.
///
/// Writes that come close together are committed together, in the order they came. A future that is dropped before there was room
/// for its write writes nothing; after that the write is made, whether or not anyone still waits for it. Small reads are done at
/// once by whoever polls. Futures are polled within a Tokio runtime. Dropping the store writes what is left.
pub struct Runs {
    readers: Arc<Readers>,
    writes: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Runs {
    pub(crate) fn open(path: &Path) -> Result<Runs, StoreError> {
        let writer = Writer::new(database::open(path, &RUNS)?, path.to_owned());
        let (writes, queue) = mpsc::channel(QUEUE_WRITES_MAX);
        let thread = std::thread::Builder::new().name("isolith-runs".into()).spawn(move || writer.run(queue));
        let thread = thread.map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        Ok(Runs { readers: Arc::new(Readers::new(path)), writes: Some(writes), thread: Some(thread) })
    }

    async fn write(&self, write: Write) -> Written {
        let gone = || StoreProblem("the writer of the runs is gone".into());
        let writes = self.writes.as_ref().ok_or_else(gone)?;
        let (done, wait) = oneshot::channel();
        writes.send(Request { write, done }).await.map_err(|_| gone())?;
        wait.await.map_err(|_| gone())?
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&Connection, Most) -> Found<T> + Send + 'static,
    ) -> Result<T, StoreProblem> {
        let problem = |error: StoreError| StoreProblem(error.to_string());
        let small = self.readers.read(|db| read(db, Most(AT_ONCE_BYTES_MAX))).map_err(problem)?;
        if let Some(found) = small {
            return Ok(found);
        }
        let readers = self.readers.clone();
        let all = tokio::task::spawn_blocking(move || readers.read(|db| read(db, Most(usize::MAX))));
        let found = all.await.map_err(|_| StoreProblem("reading the runs was given up".into()))?;
        found.map_err(problem)?.ok_or_else(|| StoreProblem("a run is larger than anything".into()))
    }
}

impl RunStore for Runs {
    fn add(&self, record: RunRecord) -> BoxFuture<'_, Result<bool, StoreProblem>> {
        Box::pin(async move {
            check(&record)?;
            Ok(self.write(Write::Add(Box::new(record))).await? > 0)
        })
    }

    fn put(&self, record: RunRecord, open: Vec<CallId>) -> BoxFuture<'_, Result<(), StoreProblem>> {
        Box::pin(async move {
            check(&record)?;
            within("the calls that are open", open.len(), OPEN_CALLS_MAX)?;
            self.write(Write::Put(Box::new(record), open)).await.map(|_| ())
        })
    }

    fn get(&self, caller: &CallerId, run: &RunId) -> BoxFuture<'_, Result<Option<RunRecord>, StoreProblem>> {
        let (caller, run) = (caller.clone(), run.clone());
        Box::pin(self.read(move |db, most| read::get(db, &caller, &run, most)))
    }

    fn find(&self, caller: &CallerId, continuation: &str) -> BoxFuture<'_, Result<Option<RunRecord>, StoreProblem>> {
        let (caller, continuation) = (caller.clone(), continuation.to_owned());
        Box::pin(self.read(move |db, most| read::find(db, &caller, &continuation, most)))
    }

    fn list(
        &self,
        caller: &CallerId,
        session: Option<&SessionName>,
        before: Option<(Timestamp, &RunId)>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<RunRecord>, StoreProblem>> {
        let (caller, session) = (caller.clone(), session.cloned());
        let before = before.map(|(created, run)| (created, run.clone()));
        Box::pin(self.read(move |db, most| {
            let before = before.as_ref().map(|(created, run)| (*created, run));
            read::list(db, &caller, session.as_ref(), before, limit, most)
        }))
    }

    fn answer(
        &self,
        caller: &CallerId,
        run: &RunId,
        call: CallId,
        reply: HostReply,
    ) -> BoxFuture<'_, Result<bool, StoreProblem>> {
        let (caller, run) = (caller.clone(), run.clone());
        Box::pin(async move {
            within("an answer", reply.bytes(), REPLY_BYTES_MAX)?;
            Ok(self.write(Write::Answer { caller, run, call, reply }).await? > 0)
        })
    }

    fn answers(&self, caller: &CallerId, run: &RunId) -> BoxFuture<'_, Result<Vec<(CallId, HostReply)>, StoreProblem>> {
        let (caller, run) = (caller.clone(), run.clone());
        Box::pin(self.read(move |db, most| read::answers(db, &caller, &run, most)))
    }

    fn approvals(
        &self,
        caller: Option<&CallerId>,
        run: Option<&RunId>,
    ) -> BoxFuture<'_, Result<Vec<Approval>, StoreProblem>> {
        let (caller, run) = (caller.cloned(), run.cloned());
        Box::pin(self.read(move |db, most| approvals::list(db, caller.as_ref(), run.as_ref(), most)))
    }

    fn decide(&self, word: Word) -> BoxFuture<'_, Result<Heard, StoreProblem>> {
        Box::pin(async move {
            let bytes = word.verdict.args.as_ref().map_or(0, |args| args.text().len());
            within("a word", bytes, REPLY_BYTES_MAX)?;
            Ok(approvals::heard(self.write(Write::Decide(Box::new(word))).await?))
        })
    }

    fn begin(&self, caller: &CallerId, run: &RunId, call: CallId) -> BoxFuture<'_, Result<bool, StoreProblem>> {
        let (caller, run) = (caller.clone(), run.clone());
        Box::pin(async move { Ok(self.write(Write::Begin { caller, run, call }).await? > 0) })
    }

    fn decided(&self, keeper: Keeper) -> BoxFuture<'_, Result<Vec<(CallerId, RunId)>, StoreProblem>> {
        Box::pin(self.read(move |db, _| approvals::decided(db, keeper)))
    }

    fn unfinished(&self, after: Option<(CallerId, RunId)>) -> BoxFuture<'_, Result<Vec<RunRecord>, StoreProblem>> {
        Box::pin(self.read(move |db, most| read::unfinished(db, after.as_ref(), most)))
    }

    fn expire(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreProblem>> {
        Box::pin(async move {
            // A little at a time, so that other writes come in between.
            let mut gone = 0;
            loop {
                let some = self.write(Write::Expire(now)).await?;
                gone += some;
                if some < u64::from(EXPIRE_RUNS) {
                    return Ok(gone);
                }
            }
        })
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // The writer ends when nothing can come any more, after it wrote what came.
        self.writes = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Refuses what is larger than anything that should be kept.
fn check(record: &RunRecord) -> Result<(), StoreProblem> {
    for name in [&record.caller.0, &record.run.0] {
        if name.is_empty() {
            return Err(StoreProblem("a run without a name, or of nobody, cannot be kept".into()));
        }
        within("a name", name.len(), NAME_BYTES_MAX)?;
    }
    within("a continuation", record.continuation.as_ref().map_or(0, String::len), CONTINUATION_BYTES_MAX)?;
    within("the calls that someone is asked about", record.asks.len(), OPEN_CALLS_MAX)?;
    within("an outcome", record.outcome.text().len(), OUTCOME_BYTES_MAX)?;
    within("a suspended state", record.suspended.as_ref().map_or(0, Vec::len), SUSPENDED_BYTES_MAX)
}

fn within(what: &str, size: usize, most: usize) -> Result<(), StoreProblem> {
    if size <= most { Ok(()) } else { Err(StoreProblem(format!("{what} of {size} is more than {most}"))) }
}
