use crate::{
    Ambient, Answer, Ask, Bindings, BoxFuture, Builtin, CallId, Digest, ErrorKind, HostCall, HostReply, Json, Limits,
    PendingCall, Program, RanOn, Stream, Suspended, SuspendedError, Timestamp, Usage,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// A way to run programs. One engine serves many runs at once.
pub trait Engine: Send + Sync {
    /// A short, stable name: `quickjs`, `v8`.
    fn name(&self) -> &'static str;

    /// What the engine is built from. Equal images, programs and turns give equal outcomes.
    fn image(&self) -> Digest;

    /// What of the language it can give to a program that it is granted to.
    fn builtins(&self) -> &'static [Builtin] {
        &[]
    }

    /// Whether it can bring back what an engine of this name has suspended.
    fn resumes(&self, engine: &str) -> bool {
        engine == self.name()
    }

    /// Makes one fresh isolate that can reach the world only through its steps. No code of the program has run yet.
    ///
    /// Waits while the engine is full, for a bounded time and in a bounded queue, then says [`EngineError::Busy`].
    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>>;

    /// Brings back a run that [`Isolate::suspend`] took out of memory, here or in another process.
    ///
    /// Its limits and usage come back with it. The same state may be resumed more than once: that is a fork.
    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>>;
}

/// One running program. Nothing happens to the world inside [`advance`](Isolate::advance).
pub trait Isolate: Send {
    /// Delivers replies, in their order, and runs until the program ends or only waits for the host.
    ///
    /// Dropping the future stops the guest; the isolate then answers every call with an error.
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>>;

    /// The whole state, to be resumed later, in another process or on another machine.
    ///
    /// Valid between two steps. The isolate itself stays as it is. Dropping the future before its end may leave nothing to go on with.
    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>>;

    /// Whether the state can be had at all: a process cannot be put on disk.
    fn can_suspend(&self) -> bool {
        true
    }

    /// Whether it computes in another process, whose time passes while nobody here looks.
    fn computes_elsewhere(&self) -> bool {
        false
    }

    /// What the run has used so far. Wall time is the runner's to know and stays zero here.
    fn usage(&self) -> Usage;

    /// What it takes place on.
    fn ran_on(&self) -> RanOn;
}

/// Performs what guests ask. Policy, audit, journal and replay are all hosts that wrap another.
pub trait Host: Send + Sync {
    /// Performs one call, or refuses it: a refusal is a reply that the guest can catch.
    ///
    /// A run that left memory has its unanswered calls performed again, under the same ids, when it is back.
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer>;

    /// The grant a call will exercise and what it is about, as the receipt names them while the call is under way.
    fn describe(&self, call: &HostCall) -> Option<(String, String)> {
        call.label()
    }

    /// Whether a call only waits for someone outside, whose answers the host bounds itself. More of these may be under way at one time
    /// than of calls whose replies could be large, and none has a task of its own: nothing is done for it while the guest computes.
    fn waits(&self, _call: &HostCall) -> bool {
        false
    }

    /// The run wants to leave memory while these calls are unanswered: they would be dropped, and performed again later.
    ///
    /// Not if anything would be lost or done twice: open bodies, a call that does more than wait. A host that agrees answers none
    /// of them any more and writes nothing down about them.
    fn leave(&self, unanswered: &[CallId]) -> bool {
        unanswered.is_empty()
    }

    /// What someone is asked about, of the calls that a run left unanswered.
    fn asks(&self) -> Vec<Ask> {
        Vec::new()
    }

    /// A text without the secrets this host knows of. Everything that leaves a run goes through here.
    fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
}

/// Where output goes as it is written. Called from inside `advance`, so it must not block.
pub trait OutputSink: Send + Sync {
    /// One piece of output, already within the run's limit.
    fn write(&self, stream: Stream, text: String, at: Timestamp);
}

/// All randomness a run will ever see grows from this.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl Seed {
    /// The seed of a run that is to be repeatable.
    pub fn from_number(number: u64) -> Self {
        Seed(*blake3::hash(&number.to_le_bytes()).as_bytes())
    }
}

/// What an isolate starts with, besides its program.
pub struct Start {
    /// What it may use.
    pub limits: Limits,
    /// The names of what it may do.
    pub bindings: Bindings,
    /// What it may know of the world besides.
    pub ambient: Ambient,
    /// Visible to the program as `input`; absent means `undefined`.
    pub input: Option<Json>,
    /// Visible to the program as globals of these names.
    pub args: Vec<(crate::BindingName, Json)>,
    /// Where `Math.random` and `crypto` come from.
    pub seed: Seed,
    /// Where output goes.
    pub sink: Arc<dyn OutputSink>,
    /// Whether it may have to leave memory, for someone's word or a client who comes back later. An engine that chooses by itself
    /// chooses one that can do that.
    pub must_suspend: bool,
}

impl Start {
    /// Whether an engine can start this: what it cannot enforce or provide, it is not to begin.
    pub fn check(&self, engine: &dyn Engine) -> Result<(), Unsupported> {
        let not = |what: String| Unsupported { engine: engine.name(), what };
        self.limits.check().map_err(|error| not(error.to_string()))?;
        match self.bindings.builtins.iter().find(|builtin| !engine.builtins().contains(builtin)) {
            Some(lacking) => Err(not(format!("`{lacking}`; `v8` with its compiler does"))),
            None => Ok(()),
        }
    }

    /// The same for another isolate of the same run.
    pub fn again(&self) -> Start {
        Start {
            limits: self.limits,
            bindings: self.bindings.clone(),
            ambient: self.ambient,
            input: self.input.clone(),
            args: self.args.clone(),
            seed: self.seed,
            sink: Arc::clone(&self.sink),
            must_suspend: self.must_suspend,
        }
    }
}

/// What the host brings to one step.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The time the guest will see until its next step.
    pub now: Timestamp,
    /// How long this step may take by the wall clock.
    pub wall_left: Duration,
    /// Answers, in the order in which the guest is to see them.
    pub replies: Vec<(CallId, HostReply)>,
}

/// Where a run stands when the guest gave control back.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It waits. These are the calls made since the last step; earlier ones may still be unanswered.
    Calls(Vec<PendingCall>),
    /// It ended. Calls it made in this last step and did not wait for come along.
    Done(End, Vec<PendingCall>),
}

/// How the guest ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It returned; nothing stands for `undefined`.
    Value(Option<Json>),
    /// It failed.
    Failed(Failure),
}

/// A failure as the engine saw it: positions are those of the code that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which of the closed set.
    pub kind: ErrorKind,
    /// The error's own name.
    pub name: String,
    /// The error's own message.
    pub message: String,
    /// Frames as the engine writes them.
    pub stack: Option<String>,
    /// A stable code the thrown error carried from a host reply.
    pub code: Option<String>,
}

impl Failure {
    /// A failure the engine itself decided on.
    pub fn of(kind: ErrorKind, name: &str, message: impl Into<String>) -> Self {
        Failure { kind, name: name.into(), message: message.into(), stack: None, code: None }
    }

    /// What a run fails with when it was stopped for a limit on time.
    pub fn stopped(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::CpuLimit => Failure::of(kind, "CpuLimit", "the program computed for longer than its CPU limit"),
            _ => Failure::of(kind, "Timeout", "the program took longer than its time limit"),
        }
    }
}

/// Why the engine could not do its part. The program is not to blame.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Every isolate is taken, and the queue is full or the wait was too long.
    #[error("the engine is busy: {live} isolates are live and {waiting} callers wait")]
    Busy {
        /// Isolates that are live.
        live: usize,
        /// Callers that wait.
        waiting: usize,
    },
    /// The engine cannot enforce or provide something that was asked for.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The state to resume is not usable.
    #[error(transparent)]
    Suspended(#[from] SuspendedError),
    /// The isolate has ended, or a step of it was abandoned.
    #[error("the isolate has ended")]
    Ended,
    /// Our fault.
    #[error("{doing}")]
    Internal {
        /// What was being done.
        doing: &'static str,
        /// What went wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Something an engine refuses because it cannot do or enforce it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("engine `{engine}` does not support {what}")]
pub struct Unsupported {
    /// Which engine.
    pub engine: &'static str,
    /// What.
    pub what: String,
}
