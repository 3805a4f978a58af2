//! Everything that came to a run from outside, in the order in which it was delivered.
//!
//! One record before each turn with what is delivered, one behind it with what the guest did, one at the end with the hash of the
//! outcome. That is enough to do the run again without doing anything.

mod hash;
mod record;
mod reply;

pub(crate) use hash::{Asked, Outputs, outcome_hash};
pub(crate) use record::Origin;
pub use record::{Delivered, Ending, Header, JournalError, Made, Recorded, RecordedTurn, Undelivered};
use record::{Record, Stepped, Turned};

use crate::capture::Capture;
use crate::resume::SuspendedRun;
use isolith_core::{
    Act, CallId, Digest, EngineError, Grant, Host, HostCall, HostReply, Json, Mark, Outcome, PendingCall, Recorder,
    Step, StoreProblem, Turn,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where a run is to be recorded, and what only its caller knows of it.
pub struct Recording {
    /// Takes the records.
    pub to: Box<dyn Recorder>,
    /// What was asked for the run, before it was narrowed.
    pub requested: Vec<Grant>,
    /// When it is on disk.
    pub durable: Durable,
    /// Keeps its state now and then, where taking it up again is not to take as long as it took.
    pub checkpoints: Option<Checkpoints>,
}

/// Keeps the state of a run every so many turns. What is kept is worth nothing without the journal.
#[derive(Clone)]
pub struct Checkpoints {
    /// After how many turns.
    pub every: u32,
    /// Takes the state. One that cannot be kept costs time later, and nothing else.
    pub to: Arc<dyn Fn(&SuspendedRun) + Send + Sync>,
}

/// When the records of a run are on disk. They are given to the system at once: this is about a machine that stops, not a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// Before the program sees what was recorded.
    EachTurn,
    /// Before anyone is told how it ended.
    AtItsEnd,
}

/// The journal of a suspended run, to go on with.
pub struct ResumedJournal<'a> {
    /// Takes the records, behind the earlier ones.
    pub to: Box<dyn Recorder>,
    /// When they are on disk.
    pub durable: Durable,
    /// What it holds.
    pub earlier: &'a Recorded,
}

/// The journal of a run in progress.
pub(crate) struct Journal {
    to: Box<dyn Recorder>,
    host: Arc<dyn Host>,
    capture: Arc<Capture>,
    asked: Asked,
    outputs: Outputs,
    /// Decided, and not delivered yet.
    undelivered: BTreeSet<CallId>,
    redacted: bool,
    turns: u64,
    durable: Durable,
    /// Whether a part of what was asked for is known to the records alone.
    partial: bool,
}

impl Journal {
    pub(crate) fn begin(
        (to, durable): (Box<dyn Recorder>, Durable),
        host: Arc<dyn Host>,
        capture: Arc<Capture>,
        header: Header,
    ) -> Result<Journal, EngineError> {
        let (asked, outputs, undelivered) = (Asked::default(), Outputs::default(), BTreeSet::new());
        let mut journal = Journal {
            to,
            host,
            capture,
            asked,
            outputs,
            undelivered,
            redacted: false,
            turns: 0,
            durable,
            partial: false,
        };
        journal.append(&Record::Start(Box::new(header)))?;
        Ok(journal)
    }

    /// Goes on with what another process began.
    pub(crate) fn resume(
        ResumedJournal { to, durable, earlier }: ResumedJournal<'_>,
        host: Arc<dyn Host>,
        capture: Arc<Capture>,
    ) -> Journal {
        let outputs = Outputs::of(capture.outputs_from(0).iter());
        let (asked, redacted, turns) = (earlier.asked(), earlier.redacted, earlier.turns_in_all());
        let (undelivered, partial) = (BTreeSet::new(), earlier.before.turns > 0);
        Journal { to, host, capture, asked, outputs, undelivered, redacted, turns, durable, partial }
    }

    /// How many turns it holds: a suspended run knows by this that the journal is its own.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Where it ends so far.
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.to.mark()
    }

    pub(crate) fn is_redacted(&self) -> bool {
        self.redacted
    }

    /// Writes down what the guest is about to see.
    pub(crate) fn turn(&mut self, turn: &Turn) -> Result<(), EngineError> {
        let deliver = |(id, reply): &(CallId, HostReply)| Delivered::new(*id, reply, self.asked.acts(*id));
        let replies: Vec<Delivered> = turn.replies.iter().map(deliver).collect();
        for (id, _) in &turn.replies {
            self.undelivered.remove(id);
        }
        self.turns += 1;
        self.append(&Record::Turn(Turned { now: turn.now, replies }))?;
        if self.durable == Durable::EachTurn { self.to.sync().map_err(failed) } else { Ok(()) }
    }

    /// Writes down what it did then.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), EngineError> {
        let (calls, ended) = match step {
            Step::Calls(calls) => (calls, false),
            Step::Done(_, calls) => (calls, true),
        };
        let made = calls.iter().map(|call| self.made(call)).collect();
        for output in &self.capture.outputs_from(self.outputs.count()) {
            self.outputs.add(output);
        }
        let outputs = self.outputs.to_string();
        self.append(&Record::Step(Stepped { made, ended, outputs }))
    }

    /// Takes note of what was done for a call.
    pub(crate) fn decided(&mut self, id: CallId, acts: Vec<Act>) {
        let clean = |text: &str| self.host.scrub(text).into_owned();
        let clean = |act: Act| Act { grant: clean(&act.grant), what: clean(&act.what), ..act };
        self.asked.decided(id, acts.into_iter().map(clean).collect());
        self.undelivered.insert(id);
    }

    /// Returns when everything so far is on disk.
    pub(crate) fn sync(&mut self) -> Result<(), EngineError> {
        self.to.sync().map_err(failed)
    }

    pub(crate) fn suspended(&mut self) -> Result<(), EngineError> {
        self.clean()?;
        self.append(&Record::Suspended { turns: self.turns, redacted: self.redacted })?;
        self.to.sync().map_err(failed)
    }

    /// Writes down how it ended. `scrubbed` says that the outcome is not what the program made.
    pub(crate) fn end(&mut self, outcome: &Outcome, scrubbed: bool) -> Result<(), EngineError> {
        self.redacted |= scrubbed || self.capture.was_scrubbed();
        self.clean()?;
        self.complete()?;
        let undelivered = std::mem::take(&mut self.undelivered).into_iter();
        let undelivered =
            undelivered.map(|id| Undelivered { id, acts: self.asked.acts(id).to_vec() }).collect::<Vec<_>>();
        let ending = Ending {
            hash: outcome_hash(outcome, &self.asked).to_string(),
            status: outcome.status,
            error: outcome.error.as_ref().map(|error| error.kind),
            undelivered,
            redacted: self.redacted,
        };
        self.append(&Record::End(ending))?;
        self.to.sync().map_err(failed)
    }

    /// Reads what was asked for before a state was kept, which nobody needed until now.
    fn complete(&mut self) -> Result<(), EngineError> {
        if !std::mem::take(&mut self.partial) {
            return Ok(());
        }
        let mut records = Vec::new();
        let mut look = |record: &str| {
            records.push(record.to_owned());
            None
        };
        self.to.rewrite(&mut look).map_err(failed)?;
        if let Ok(whole) = Recorded::read(&records) {
            let later = std::mem::replace(&mut self.asked, whole.asked());
            self.asked.extend(later);
        }
        Ok(())
    }

    fn made(&mut self, pending: &PendingCall) -> Made {
        let call = self.scrubbed_call(&pending.call);
        self.asked.made(pending.id, &pending.call);
        Made { id: pending.id, ..call }
    }

    fn scrubbed_call(&mut self, call: &HostCall) -> Made {
        let made = Made::new(call);
        let Some(text) = &made.call else { return made };
        match self.host.scrub(text.text()) {
            Cow::Borrowed(_) => made,
            Cow::Owned(clean) => {
                self.redacted = true;
                // What a digest was made of can be guessed from it.
                Made { digest: Digest::of(&clean).to_string(), call: Json::from_text(clean).ok(), ..made }
            }
        }
    }

    // THREAT[T-REPLAY-001]: a journal holds what a program was told, and it may have been told a secret.
    fn append(&mut self, record: &Record) -> Result<(), EngineError> {
        let text = serde_json::to_string(record).map_err(|error| internal(error.into()))?;
        match scrub(&*self.host, &text) {
            None => self.to.append(&text),
            Some(clean) => {
                self.redacted = true;
                // Said at once: a process that is killed has no end in which to say it.
                self.to.append(&clean).and_then(|()| self.to.append(Record::REDACTED))
            }
        }
        .map_err(failed)
    }

    /// Secrets become known as they are used: what was written before may hold one.
    fn clean(&mut self) -> Result<(), EngineError> {
        let (host, mut found) = (Arc::clone(&self.host), false);
        let mut change = |record: &str| {
            let clean = scrub(&*host, record);
            found |= clean.is_some();
            clean
        };
        let rewritten = self.to.rewrite(&mut change).map_err(failed);
        self.redacted |= found;
        rewritten
    }
}

/// A record without secrets, if it has any. Where one looked like a part of the record itself, nothing of that is left.
fn scrub(host: &dyn Host, record: &str) -> Option<String> {
    let Cow::Owned(clean) = host.scrub(record) else { return None };
    let readable = serde_json::from_str::<Record>(&clean).is_ok();
    Some(if readable { clean } else { Record::LOST.into() })
}

fn failed(problem: StoreProblem) -> EngineError {
    internal(problem.into())
}

fn internal(source: Box<dyn std::error::Error + Send + Sync>) -> EngineError {
    EngineError::Internal { doing: "writing the journal", source }
}
