use crate::clock::Time;
use crate::drive::Drive;
use isolith_core::{
    CallId, CallOutcome, CallRecord, Digest, Engine, Grant, HostCall, Isolation, Limits, Mark, Output, PendingCall,
    RunId, Suspended, Timestamp,
};
use isolith_program::{Language, ModuleSource, Prepared, source_digest};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const MAGIC: &[u8; 8] = b"isolith\x01";
/// The most that the part before the engine's state can be: source, outputs and records of one run.
const HEADER_BYTES_MAX: usize = 512 << 20;

/// A run outside memory: what the engine needs to go on, and what the runner does.
///
/// It holds everything the program has seen. Store it as what it is, and never take one from a caller.
#[derive(Clone, Debug)]
pub struct SuspendedRun {
    pub(crate) saved: Saved,
    pub(crate) state: Suspended,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    pub(crate) engine: String,
    /// Whether it had a process to itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    jailed: bool,
    /// What that engine was built from; absent in what was saved before this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<RunId>,
    pub(crate) name: String,
    pub(crate) source: String,
    /// Absent in what was saved before there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) modules: Vec<ModuleSource>,
    language: String,
    pub(crate) limits: Limits,
    pub(crate) grants: Vec<Grant>,
    pub(crate) time: Time,
    pub(crate) started: Timestamp,
    wall_used_us: u64,
    pub(crate) sleep: Option<(CallId, Timestamp)>,
    pub(crate) queue: Vec<PendingCall>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) calls: Vec<CallRecord>,
    /// How many turns its journal holds, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recorded: Option<u64>,
    /// Where these end, and whether a secret is left out of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<Mark>,
    #[serde(default)]
    pub(crate) redacted: bool,
}

/// Why a suspended run cannot be taken up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuspendedRunError {
    /// Not the bytes that were written.
    #[error("this is not a suspended run, or it is damaged")]
    Damaged,
    /// Another engine's.
    #[error("the run was suspended by engine `{found}`, but this is `{own}`")]
    Engine {
        /// Whose it is.
        found: String,
        /// Ours.
        own: &'static str,
    },
}

impl SuspendedRun {
    /// The run as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain data of ours always has a JSON form.
        let header = serde_json::to_vec(&self.saved).unwrap_or_default();
        let mut out = Vec::with_capacity(16 + header.len() + self.state.0.len());
        out.extend(MAGIC);
        out.extend((header.len() as u64).to_le_bytes());
        out.extend(header);
        out.extend(&self.state.0);
        out
    }

    /// Reads a run back. The engine checks its own part when it resumes it.
    pub fn from_bytes(bytes: &[u8]) -> Result<SuspendedRun, SuspendedRunError> {
        let damaged = SuspendedRunError::Damaged;
        let rest = bytes.strip_prefix(MAGIC).ok_or(damaged.clone())?;
        let (len, rest) = rest.split_first_chunk::<8>().ok_or(damaged.clone())?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| damaged.clone())?;
        if len > HEADER_BYTES_MAX {
            return Err(damaged);
        }
        let (header, state) = rest.split_at_checked(len).ok_or(damaged.clone())?;
        let saved: Saved = serde_json::from_slice(header).map_err(|_| damaged)?;
        Ok(SuspendedRun { saved, state: Suspended(state.to_vec()) })
    }

    /// The name of the program.
    pub fn name(&self) -> &str {
        &self.saved.name
    }

    /// What the author wrote.
    pub fn source(&self) -> &str {
        &self.saved.source
    }

    /// The files that came along with it.
    pub fn modules(&self) -> &[ModuleSource] {
        &self.saved.modules
    }

    /// What names the program by its text and that of its modules.
    pub fn digest(&self) -> Digest {
        source_digest(&self.saved.source, &self.saved.modules)
    }

    /// Its name in audits.
    pub fn id(&self) -> Option<&RunId> {
        self.saved.id.as_ref()
    }

    /// What it may use.
    pub fn limits(&self) -> Limits {
        self.saved.limits
    }

    /// What stood around it. Any engine that [resumes](Engine::resumes) it will do.
    pub fn isolation(&self) -> Isolation {
        if self.saved.jailed { Isolation::Process } else { Isolation::None }
    }

    /// Takes grants away before it goes on. What was suspended with more keeps its bindings, and finds them refused.
    pub fn narrowed_to(mut self, grants: Vec<Grant>) -> SuspendedRun {
        self.saved.grants = grants;
        self
    }

    /// Counts the time it waited outside memory, where that is to count.
    pub fn having_waited(mut self, time: Duration) -> SuspendedRun {
        self.saved.wall_used_us =
            self.saved.wall_used_us.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        self
    }

    /// What it may do, as far as whoever resumes it allows that too.
    pub fn grants(&self) -> &[Grant] {
        &self.saved.grants
    }

    /// What it did so far: counts of calls go on where they stood.
    pub fn calls(&self) -> &[CallRecord] {
        &self.saved.calls
    }

    /// How many turns its journal held when it left memory, if it is recorded. Another count there means that it was resumed before.
    pub fn recorded(&self) -> Option<u64> {
        self.saved.recorded
    }

    /// Where its journal ended then: what is behind that, with this state, is all of it.
    pub fn mark(&self) -> Option<&Mark> {
        self.saved.mark.as_ref()
    }

    /// The moment the program wants to be woken, if it waits for one.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        self.saved.sleep.map(|(_, until)| until)
    }
}

impl Saved {
    pub(crate) fn new(
        engine: &dyn Engine,
        prepared: &Prepared,
        language: Language,
        drive: &Drive,
        id: Option<RunId>,
        grants: Vec<Grant>,
        outputs: &[Output],
    ) -> Saved {
        let ran_on = drive.isolate.ran_on();
        Saved {
            jailed: ran_on.jail.is_some(),
            engine: ran_on.engine.into_owned(),
            image: Some(engine.image().to_string()),
            id,
            name: prepared.program().name.to_string(),
            source: prepared.source().into(),
            modules: prepared.modules(),
            language: language_name(language).into(),
            limits: drive.limits,
            grants,
            time: drive.clock.time(),
            started: drive.clock.started(),
            wall_used_us: drive.clock.elapsed().as_micros() as u64,
            sleep: drive.sleep,
            queue: drive.unanswered(),
            outputs: outputs.to_vec(),
            // What is not answered is asked for again, and is recorded then.
            calls: drive.records.iter().filter(|record| record.outcome != CallOutcome::Waiting).cloned().collect(),
            recorded: drive.journal.as_ref().map(|journal| journal.turns()),
            mark: drive.journal.as_ref().and_then(|journal| journal.mark()),
            redacted: drive.journal.as_ref().is_some_and(|journal| journal.is_redacted()),
        }
    }

    pub(crate) fn language(&self) -> Language {
        language_named(&self.language)
    }

    pub(crate) fn wall_used(&self) -> Duration {
        Duration::from_micros(self.wall_used_us)
    }

    pub(crate) fn waiting_for(&self) -> Vec<PendingCall> {
        let sleep = self.sleep.map(|(id, until)| PendingCall { id, call: HostCall::Sleep { until } });
        sleep.into_iter().chain(self.queue.iter().cloned()).collect()
    }
}

pub(crate) fn language_named(name: &str) -> Language {
    let known = [Language::JavaScript, Language::TypeScript].into_iter();
    known.into_iter().find(|language| language_name(*language) == name).unwrap_or(Language::Auto)
}

pub(crate) fn language_name(language: Language) -> &'static str {
    match language {
        Language::Auto => "auto",
        Language::JavaScript => "javascript",
        Language::TypeScript => "typescript",
    }
}
