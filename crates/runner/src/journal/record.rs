//! The records of a journal, and reading them back.

use super::hash::Asked;
use super::reply::{Reply, hex, unhex};
use crate::clock::Time;
use crate::resume::SuspendedRun;
use isolith_core::{
    Act, Ambient, BindingName, CallError, CallId, CallRecord, Digest, ErrorKind, Grant, HostCall, HostReply, Json,
    Limits, Narrowing, PendingCall, RunId, Seed, Status, Timestamp,
};
use isolith_program::ModuleSource;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The format that this build writes and reads.
const FORMAT: u32 = 1;
/// A call with more JSON than this is recorded by its digest alone.
const CALL_BYTES_MAX: usize = 64 << 10;

/// One line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    Start(Box<Header>),
    Turn(Turned),
    Step(Stepped),
    Suspended {
        turns: u64,
        redacted: bool,
    },
    End(Ending),
    /// A record of which nothing could be kept without keeping a secret.
    Lost,
    /// The record before this one is without a secret that it held.
    Redacted,
}

impl Record {
    pub(crate) const LOST: &str = "\"lost\"";
    pub(crate) const REDACTED: &str = "\"redacted\"";
}

/// What a run began with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    format: u32,
    /// Which run.
    pub run: RunId,
    /// The engine's name.
    pub engine: String,
    /// What that engine was built from.
    pub image: String,
    /// The program's name.
    pub name: String,
    /// What its author wrote.
    pub source: String,
    /// The files that came along; absent in journals from before there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleSource>,
    pub(crate) language: String,
    /// The digest of the source, and of the modules if there are any.
    pub program: String,
    /// What the run may use.
    pub limits: Limits,
    /// What it may do.
    pub grants: Vec<Grant>,
    /// What was asked for it.
    pub requested: Vec<Grant>,
    /// What of that was not, or not wholly, allowed.
    pub narrowed: Vec<Narrowing>,
    pub(crate) ambient: Ambient,
    pub(crate) time: Time,
    /// When it began.
    pub started: Timestamp,
    seed: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub(crate) input: Option<Json>,
    pub(crate) args: Vec<(BindingName, Json)>,
}

/// What is told to a header besides its plan.
pub(crate) struct Origin<'a> {
    pub(crate) engine: &'a dyn isolith_core::Engine,
    pub(crate) requested: Vec<Grant>,
    pub(crate) started: Timestamp,
    pub(crate) seed: Seed,
    pub(crate) language: &'static str,
}

impl Header {
    pub(crate) fn new(plan: &crate::Plan, run: RunId, origin: Origin<'_>) -> Header {
        Header {
            format: FORMAT,
            run,
            engine: origin.engine.name().into(),
            image: origin.engine.image().to_string(),
            name: plan.name.clone(),
            source: plan.source.clone(),
            modules: plan.modules.clone(),
            language: origin.language.into(),
            program: plan.digest().to_string(),
            limits: plan.limits,
            grants: plan.grants.to_vec(),
            requested: origin.requested,
            narrowed: plan.narrowed.clone(),
            ambient: plan.ambient,
            time: plan.time,
            started: origin.started,
            seed: hex(&origin.seed.0),
            input: plan.input.clone(),
            args: plan.args.clone(),
        }
    }

    /// What the program saw as `input`.
    pub fn input(&self) -> Option<&Json> {
        self.input.as_ref()
    }

    pub(crate) fn seed(&self) -> Option<Seed> {
        Some(Seed(unhex(&self.seed)?.try_into().ok()?))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turned {
    pub(crate) now: Timestamp,
    pub(crate) replies: Vec<Delivered>,
}

/// One reply, as it was delivered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivered {
    /// To which call.
    pub id: CallId,
    reply: Reply,
    /// What was done for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Act>,
}

impl Delivered {
    pub(crate) fn new(id: CallId, reply: &HostReply, acts: &[Act]) -> Delivered {
        Delivered { id, reply: reply.into(), acts: acts.to_vec() }
    }

    pub(crate) fn reply(&self) -> Option<HostReply> {
        self.reply.to_host()
    }

    /// Why the call was refused or failed, if it was.
    pub fn error(&self) -> Option<&CallError> {
        match &self.reply {
            Reply::Failed(error) => Some(error),
            _ => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stepped {
    pub(crate) made: Vec<Made>,
    pub(crate) ended: bool,
    pub(crate) outputs: String,
}

/// A call that the program made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// Which one.
    pub id: CallId,
    /// The digest of all of it.
    pub digest: String,
    /// The call without the bytes it carries; nothing when even that is large, or held a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Json>,
    /// The grant it would use and what it is about, where the call is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) named: Option<(String, String)>,
    /// How many bytes it carries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

impl Made {
    /// A call as it is recorded, under no name yet.
    pub(crate) fn new(call: &HostCall) -> Made {
        let (bare, bytes) = apart(call);
        // Plain data of ours always has a JSON form.
        let text = serde_json::to_string(&bare).unwrap_or_default();
        let carried = if bytes.is_empty() { String::new() } else { Digest::of(&hex(bytes)).to_string() };
        let digest = Digest::of(&format!("{carried}{text}")).to_string();
        let kept = (text.len() <= CALL_BYTES_MAX).then(|| Json::from_text(text).ok()).flatten();
        let named = call.label().filter(|_| kept.is_none() && call.exercises());
        Made { id: CallId(0), digest, call: kept, named, bytes: bytes.len() as u64 }
    }

    /// The call, where it is known.
    pub fn call(&self) -> Option<HostCall> {
        self.call.as_ref()?.parse().ok()
    }

    /// In a few words.
    pub fn label(&self) -> String {
        match self.call() {
            Some(HostCall::Sleep { until }) => format!("a timer for {}", until.as_micros()),
            Some(call) => call.label().map_or_else(|| "a body".into(), |(_, what)| what),
            None => {
                self.named.clone().map_or_else(|| format!("a call of digest {:.16}", self.digest), |(_, what)| what)
            }
        }
    }
}

/// A call without the bytes it carries, and these.
fn apart(call: &HostCall) -> (HostCall, &[u8]) {
    match call {
        HostCall::Files { op, bytes } => (HostCall::Files { op: op.clone(), bytes: Vec::new() }, bytes),
        HostCall::WriteBody { request, bytes, last } => {
            (HostCall::WriteBody { request: *request, bytes: Vec::new(), last: *last }, bytes)
        }
        HostCall::Fetch(fetch) => {
            let body = fetch.body.as_deref().unwrap_or_default();
            let bare = isolith_core::FetchCall {
                headers: fetch.headers.clone(),
                redirect: fetch.redirect,
                streamed: fetch.streamed,
                body: fetch.body.as_ref().map(|_| Vec::new()),
                ..fetch.bare()
            };
            (HostCall::Fetch(Box::new(bare)), body)
        }
        call => (call.clone(), &[]),
    }
}

/// How a recorded run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// What its outcome hashes to.
    pub hash: String,
    /// How.
    pub status: Status,
    /// Of which kind its error is, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorKind>,
    /// What was done for calls whose reply came too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<Undelivered>,
    pub(crate) redacted: bool,
}

impl Ending {
    /// Whether it was ended by a clock or from outside, and not by what the program did.
    pub fn came_from_outside(&self) -> bool {
        use ErrorKind::{Cancelled, CpuLimit, Internal, Timeout};
        matches!(self.error, Some(Timeout | CpuLimit | Cancelled | Internal))
    }
}

/// What was done for a call that nobody waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undelivered {
    /// Which call.
    pub id: CallId,
    /// What was done.
    pub acts: Vec<Act>,
}

/// One turn of a recorded run.
#[derive(Clone, Debug)]
pub struct RecordedTurn {
    /// The time that the guest saw.
    pub now: Timestamp,
    /// What was delivered, in this order.
    pub replies: Vec<Delivered>,
    /// What the guest did then; nothing when it was not heard of again.
    pub(crate) step: Option<(Vec<Made>, bool, String)>,
}

impl RecordedTurn {
    /// The calls that the guest made in this turn.
    pub fn made(&self) -> &[Made] {
        self.step.as_ref().map_or(&[], |(made, ..)| made)
    }
}

/// A run as its journal tells it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What it began with.
    pub header: Header,
    /// Its turns.
    pub turns: Vec<RecordedTurn>,
    /// How it ended; nothing when it was cut off, or is suspended.
    pub end: Option<Ending>,
    /// Whether it waits outside memory, with so many turns behind it.
    pub suspended: Option<u64>,
    /// Whether it was told a secret, which the journal leaves out.
    pub redacted: bool,
    /// What is known of the turns before these, where a state that was kept has them.
    pub(crate) before: Before,
}

/// A beginning that was not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    pub(crate) turns: u64,
    /// Asked there, and not answered.
    open: Vec<Made>,
    /// Done there.
    calls: Vec<CallRecord>,
}

/// Why a journal cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Not records of a run, or not in their order.
    #[error("record {0} of the journal makes no sense [replay.damaged]")]
    Damaged(usize),
    /// Written by another version.
    #[error("the journal has format {0}, and this build reads {FORMAT} [replay.format]")]
    Format(u32),
    /// The record was left out, because it could not be kept without a secret.
    #[error("record {0} held nothing but a secret, and was not kept [replay.redacted]")]
    Lost(usize),
}

impl Recorded {
    /// Reads the records of a journal.
    pub fn read(records: &[String]) -> Result<Recorded, JournalError> {
        #[derive(Deserialize)]
        struct Any {
            start: Versioned,
        }
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }
        let first = records.first().ok_or(JournalError::Damaged(1))?;
        if let Ok(Any { start: Versioned { format } }) = serde_json::from_str(first)
            && format != FORMAT
        {
            return Err(JournalError::Format(format));
        }
        let mut recorded: Option<Recorded> = None;
        for (number, text) in (1..).zip(records) {
            let record = serde_json::from_str(text).map_err(|_| JournalError::Damaged(number))?;
            let fits = match (&mut recorded, record) {
                (_, Record::Lost) => return Err(JournalError::Lost(number)),
                (recorded @ None, Record::Start(header)) => {
                    *recorded = Some(Recorded::of(*header));
                    true
                }
                (Some(recorded), record) => recorded.take(record),
                (None, _) => false,
            };
            if !fits {
                return Err(JournalError::Damaged(number));
            }
        }
        recorded.ok_or(JournalError::Damaged(1))
    }

    /// Reads the first record and those behind the place that a state knows of; everything in between is in the state.
    pub fn read_after(records: &[String], state: &SuspendedRun) -> Result<Recorded, JournalError> {
        let (first, rest) = records.split_first().ok_or(JournalError::Damaged(1))?;
        let mut recorded = Recorded::read(std::slice::from_ref(first))?;
        let made = |pending: PendingCall| Made { id: pending.id, ..Made::new(&pending.call) };
        recorded.before = Before {
            turns: state.recorded().unwrap_or_default(),
            open: state.saved.waiting_for().into_iter().map(made).collect(),
            calls: state.saved.calls.clone(),
        };
        recorded.redacted = state.saved.redacted;
        for (number, text) in (2..).zip(rest) {
            let record = serde_json::from_str(text).map_err(|_| JournalError::Damaged(number))?;
            if matches!(record, Record::Lost) {
                return Err(JournalError::Lost(number));
            }
            if !recorded.take(record) {
                return Err(JournalError::Damaged(number));
            }
        }
        Ok(recorded)
    }

    /// Whether it was read from its beginning.
    pub fn is_whole(&self) -> bool {
        self.before.turns == 0
    }

    /// How many turns it has in all.
    pub(crate) fn turns_in_all(&self) -> u64 {
        self.before.turns + self.turns.len() as u64
    }

    fn of(header: Header) -> Recorded {
        let (turns, before) = (Vec::new(), Before::default());
        Recorded { header, turns, end: None, suspended: None, redacted: false, before }
    }

    /// Takes the next record; false when it cannot come here.
    fn take(&mut self, record: Record) -> bool {
        if self.end.is_some() {
            return false;
        }
        let waits = self.turns.last().is_some_and(|turn| turn.step.is_none());
        match record {
            Record::Turn(Turned { now, replies }) if !waits => {
                self.turns.push(RecordedTurn { now, replies, step: None });
                self.suspended = None;
            }
            Record::Step(Stepped { made, ended, outputs }) => match self.turns.last_mut() {
                Some(turn) if turn.step.is_none() => turn.step = Some((made, ended, outputs)),
                _ => return false,
            },
            Record::Suspended { turns, redacted } if turns == self.turns_in_all() => {
                self.suspended = Some(turns);
                self.redacted |= redacted;
            }
            Record::End(ending) => {
                self.redacted |= ending.redacted;
                (self.end, self.suspended) = (Some(ending), None);
            }
            Record::Redacted => self.redacted = true,
            Record::Start(_) | Record::Turn(_) | Record::Suspended { .. } | Record::Lost => return false,
        }
        true
    }

    /// What was done, as receipts tell it.
    pub fn calls(&self) -> Vec<CallRecord> {
        let acts = self.turns.iter().flat_map(|turn| &turn.replies).flat_map(|delivered| &delivered.acts);
        let record = |act: &Act| CallRecord {
            grant: act.grant.clone(),
            what: act.what.clone(),
            outcome: act.outcome,
            duration_us: 0,
        };
        self.before.calls.iter().cloned().chain(acts.map(record)).collect()
    }

    /// The calls that the program made, in their order.
    pub fn made(&self) -> impl Iterator<Item = &Made> {
        self.before.open.iter().chain(self.turns.iter().flat_map(RecordedTurn::made))
    }

    /// What was answered, in the order in which the program was told, each with its call.
    pub fn answers(&self) -> Vec<(&Made, HostReply)> {
        let made: BTreeMap<CallId, &Made> = self.made().map(|made| (made.id, made)).collect();
        let all = self.turns.iter().flat_map(|turn| &turn.replies);
        all.filter_map(|delivered| Some((*made.get(&delivered.id)?, delivered.reply()?))).collect()
    }

    /// The reply to a call, if it was delivered.
    pub fn delivered(&self, id: CallId) -> Option<&Delivered> {
        self.turns.iter().flat_map(|turn| &turn.replies).find(|delivered| delivered.id == id)
    }

    /// What was done for a call.
    pub fn acts(&self, id: CallId) -> &[Act] {
        let late = || self.end.iter().flat_map(|end| &end.undelivered).find(|late| late.id == id);
        match self.delivered(id) {
            Some(delivered) => &delivered.acts,
            None => late().map_or(&[], |late| &late.acts),
        }
    }

    /// What was asked for and done, as far as it is recorded.
    pub(crate) fn asked(&self) -> Asked {
        let mut asked = Asked::default();
        for made in self.made() {
            let label = made.call().filter(HostCall::exercises).and_then(|call| call.label());
            if let Some(label) = label.or_else(|| made.named.clone()) {
                asked.made_as(made.id, label);
            }
        }
        for delivered in self.turns.iter().flat_map(|turn| &turn.replies) {
            if !delivered.acts.is_empty() {
                asked.decided(delivered.id, delivered.acts.clone());
            }
        }
        asked
    }
}

/// A field that is there, be it `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
