use crate::account::Account;
use crate::dialect::{Counted, Suspending};
use crate::engine::Shared;
use crate::frame::{self, Said, Told};
use crate::protocol;
use crate::supervisor::{Heard, Lease, LeaseError, Most};
use crate::walls::{Jail, WallReport};
use isolith_core::{
    BoxFuture, End, EngineError, ErrorKind, Failure, Isolate, JailReceipt, Limits, MissingWall, OutputSink,
    PendingCall, Program, RanOn, Start, Step, Suspended, SuspendedError, Turn, Usage,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

// THREAT[T-LIMIT-003]: a program that ignores the request to stop is killed with its process.
/// After a worker was asked to stop: how long it may take to say where it was.
const GRACE: Duration = Duration::from_millis(250);
/// Between two looks at a worker that may have used up its time.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// How long a worker may take to say what memory its program has. Whoever asks waits on the spot.
const SUSPEND_TIME: Duration = Duration::from_secs(2);
/// What a worker may hold that it lets itself have and the kernel does not count: stacks, and code that a compiler has made.
const UNCOUNTED_BYTES: u64 = 64 << 20;
/// Bytes of a state besides the memory of its program.
const STATE_BYTES: usize = 64;

/// One run of a program in a jailed process.
pub(crate) struct JailedIsolate {
    // Fields drop in order: before its place becomes free, the worker is told to end. One that has said that it is over is ended in a
    // quiet moment, so that there can be somewhat more processes than places.
    lease: Lease,
    jail: Arc<Jail>,
    next: Next,
    account: Account,
    /// What the worker had computed when it was taken, and what the run had before.
    cpu_before: Duration,
    cpu_earlier: Duration,
    shared: Arc<Shared>,
    _place: OwnedSemaphorePermit,
}

/// What the next step has to do.
enum Next {
    Begin(Box<(Program, Start)>),
    /// To tell the worker what memory it has, and to go on from there.
    Resume(Vec<u8>),
    GoOn,
    /// It ended, or a step was abandoned half-way.
    Nothing,
}

/// How a step went, as far as one message of the worker tells.
enum Standing {
    Goes,
    Waits,
    Ended(End),
}

impl JailedIsolate {
    pub(crate) fn fresh(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        worker: (Lease, Arc<Jail>),
        program: &Program,
        start: Start,
    ) -> JailedIsolate {
        let account = Account::new(start.limits, Arc::clone(&start.sink), shared.kind.memory_step_bytes);
        let next = Next::Begin(Box::new((program.clone(), start)));
        JailedIsolate::new(shared, place, worker, account, Duration::ZERO, next)
    }

    pub(crate) fn resumed(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        worker: (Lease, Arc<Jail>),
        counted: Counted,
        frame: Vec<u8>,
        sink: Arc<dyn OutputSink>,
    ) -> JailedIsolate {
        let account = Account::again(&counted, sink, shared.kind.memory_step_bytes);
        JailedIsolate::new(shared, place, worker, account, counted.cpu_used, Next::Resume(frame))
    }

    /// Writes the frame that brings a run back, and gives what was counted of it.
    pub(crate) fn resumed_frame(
        suspending: &dyn Suspending,
        suspended: &Suspended,
        out: &mut Vec<u8>,
    ) -> Result<Counted, SuspendedError> {
        let at = frame::open(out, Told::Resume as u8);
        let counted = suspending.resumed(suspended, out)?;
        frame::close(out, at);
        Ok(counted)
    }

    fn new(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        (mut lease, jail): (Lease, Arc<Jail>),
        account: Account,
        cpu_earlier: Duration,
        next: Next,
    ) -> JailedIsolate {
        let dialect = &shared.kind.dialect;
        lease.bound(most(&account.limits, dialect.suspending().is_some()));
        let memory_bytes = dialect.memory_bytes(&account.limits).saturating_add(UNCOUNTED_BYTES);
        shared.watch.over(&lease, lease.began_with_bytes().saturating_add(memory_bytes));
        let cpu_before = lease.cpu_time().unwrap_or_default();
        JailedIsolate { lease, jail, next, account, cpu_before, cpu_earlier, shared, _place: place }
    }

    async fn step(&mut self, turn: Turn) -> Result<Step, EngineError> {
        // Taken out first: if this future is dropped before its end, nothing is left to go on with.
        let frames = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Begin(begin) => {
                let mut out = Vec::new();
                let at = frame::open(&mut out, Told::Start as u8);
                let told = self.shared.kind.dialect.start(&begin.0, &begin.1, turn.now, &mut out);
                told.map_err(|source| EngineError::Internal { doing: "starting", source })?;
                frame::close(&mut out, at);
                out
            }
            Next::Resume(frames) => self.turn_frame(frames, &turn),
            Next::GoOn => self.turn_frame(Vec::new(), &turn),
            Next::Nothing => return Err(EngineError::Ended),
        };
        self.account.now = turn.now;
        self.account.usage.bytes_in += frames.len() as u64;
        // Whoever drops this future half-way leaves a worker that computes for nobody.
        let mut abandoned = KillOnDrop { isolate: self, armed: true };
        let end = abandoned.isolate.work(&frames, turn.wall_left).await;
        abandoned.armed = false;
        let isolate = &mut *abandoned.isolate;
        isolate.count_cpu();
        let calls = std::mem::take(&mut isolate.account.calls);
        match end {
            None => {
                isolate.next = Next::GoOn;
                Ok(Step::Calls(calls))
            }
            Some(end) => {
                // What ended may be looked at for long; a worker that did not say so itself would compute until then.
                isolate.lease.kill_unless_over();
                Ok(Step::Done(end, calls))
            }
        }
    }

    fn turn_frame(&mut self, mut out: Vec<u8>, turn: &Turn) -> Vec<u8> {
        let replies = self.account.answered(&turn.replies);
        let at = frame::open(&mut out, Told::Turn as u8);
        self.shared.kind.dialect.turn(turn.now, &replies, &mut out);
        frame::close(&mut out, at);
        out
    }

    /// Has the worker work until it waits, or ends.
    async fn work(&mut self, frames: &[u8], wall_left: Duration) -> Option<End> {
        let deadline = Instant::now() + wall_left;
        let mut stopping: Option<(ErrorKind, Instant)> = None;
        let mut rest = frames;
        loop {
            // Time is looked at before each thing that is heard: a worker that always has something to say is never waited for.
            let look_at = match self.next_look(deadline, &mut stopping) {
                Ok(look_at) => look_at,
                Err(why) => return Some(End::Failed(Failure::stopped(why))),
            };
            // Telling takes as long as the worker does not listen, and it may compute meanwhile.
            let heard = async {
                self.lease.tell(&mut rest).await?;
                self.lease.hear().await
            };
            let Ok(heard) = tokio::time::timeout_at(look_at.into(), heard).await else { continue };
            let why = stopping.map(|(why, _)| why);
            match heard.map(|heard| self.take(heard, why)) {
                Ok(Ok(Standing::Goes)) => {}
                // It came to rest just when it was asked to stop: what was decided stays.
                Ok(Ok(Standing::Waits)) => return why.map(|why| End::Failed(Failure::stopped(why))),
                Ok(Ok(Standing::Ended(end))) => return Some(end),
                Ok(Err(stop)) => return Some(End::Failed(stop)),
                Err(_) if why.is_none() && self.lease.was_too_large() => {
                    return Some(End::Failed(protocol::out_of_memory(self.account.limits.memory_bytes)));
                }
                Err(error) => return Some(lost(&error, why)),
            }
        }
    }

    /// When to look at the worker again, whatever it says until then. One whose time is over is asked to stop; an error is the limit
    /// for which one was asked that did not.
    fn next_look(
        &mut self,
        deadline: Instant,
        stopping: &mut Option<(ErrorKind, Instant)>,
    ) -> Result<Instant, ErrorKind> {
        let now = Instant::now();
        match *stopping {
            Some((why, killed_at)) if now >= killed_at => return Err(why),
            Some((_, killed_at)) => return Ok(killed_at),
            None => {}
        }
        let cpu_left = self.cpu_left();
        let why = match (cpu_left.is_zero(), now >= deadline) {
            (true, _) => ErrorKind::CpuLimit,
            (false, true) => ErrorKind::Timeout,
            (false, false) => {
                // All of its threads together cannot use up what is left in less time than that.
                let lasts = cpu_left / self.shared.kind.dialect.threads().max(1);
                return Ok(deadline.min(now + lasts.max(LOOK_AGAIN)));
            }
        };
        self.lease.stop();
        *stopping = Some((why, now + GRACE));
        Ok(now + GRACE)
    }

    fn cpu_used(&self) -> Duration {
        self.lease.cpu_time().map_or(Duration::from_micros(self.account.usage.cpu_us), |now| {
            self.cpu_earlier + now.saturating_sub(self.cpu_before)
        })
    }

    /// Notes what was computed, while there is a process that can be asked.
    fn count_cpu(&mut self) {
        self.account.usage.cpu_us = self.cpu_used().as_micros() as u64;
    }

    fn cpu_left(&self) -> Duration {
        self.account.limits.cpu.saturating_sub(self.cpu_used())
    }

    /// Takes what the worker said. An error is a limit that it has run into.
    fn take(&mut self, heard: Heard, why: Option<ErrorKind>) -> Result<Standing, Failure> {
        let account = &mut self.account;
        match heard.said {
            Said::Ready => Err(nonsense("the worker is ready twice")),
            Said::State => Err(nonsense("nobody has asked the worker for its memory")),
            Said::Output => {
                let (stream, text) = heard.content.split_first().ok_or_else(|| nonsense("the worker lost its way"))?;
                account.output(*stream, text)?;
                Ok(Standing::Goes)
            }
            Said::Call => {
                let read = protocol::read_call(&heard.content);
                let (id, call, bytes) = read.ok_or_else(|| nonsense("the worker's call makes no sense"))?;
                account.call(PendingCall { id, call }, bytes as u64)?;
                Ok(Standing::Goes)
            }
            Said::Waits => {
                let bytes = heard.content.try_into().map_err(|_| nonsense("the worker lost its way"))?;
                account.note_memory(u64::from_le_bytes(bytes));
                Ok(Standing::Waits)
            }
            Said::Ended => {
                let read = protocol::read_end(&heard.content, why, &account.limits);
                let (end, memory) = read.ok_or_else(|| nonsense("the worker's end makes no sense"))?;
                account.note_memory(memory);
                account.usage.bytes_out += heard.content.len() as u64;
                self.lease.over();
                Ok(Standing::Ended(end))
            }
        }
    }

    // THREAT[T-ENGINE-005]: a worker that was taken over writes limits or usage of its own choice into the state of its run.
    /// Asks a waiting worker for the memory of its program. Everything else of the state is what was counted here.
    async fn state(&mut self) -> Result<Suspended, EngineError> {
        let shared = Arc::clone(&self.shared);
        let suspending = shared.kind.dialect.suspending().ok_or_else(|| shared.no_suspending())?;
        // Taken out first: if this future is dropped before its end, nothing is left to go on with.
        let mut frames = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::GoOn => Vec::new(),
            Next::Resume(frames) => frames,
            other @ (Next::Begin(_) | Next::Nothing) => {
                self.next = other;
                return Err(EngineError::Ended);
            }
        };
        let at = frame::open(&mut frames, Told::Suspend as u8);
        frame::close(&mut frames, at);
        let failed = |source| EngineError::Internal { doing: "suspending", source };
        match self.lease.ask(&frames, SUSPEND_TIME).await {
            Ok(Heard { said: Said::State, content }) => {
                self.next = Next::GoOn;
                Ok(suspending.suspended(&content, &self.account.counted())?)
            }
            // Whoever says something else now, or nothing, is not to be gone on with.
            other => {
                self.lease.kill();
                let why = other.map_or_else(Into::into, |_| "the worker said something else".into());
                Err(failed(why))
            }
        }
    }
}

fn nonsense(what: &str) -> Failure {
    Failure::of(ErrorKind::Internal, "EngineFailure", what)
}

/// How a run ends whose worker is of no use any more.
fn lost(error: &LeaseError, why: Option<ErrorKind>) -> End {
    End::Failed(match why {
        Some(why) => Failure::stopped(why),
        None => Failure::of(ErrorKind::Internal, "EngineFailure", format!("the engine failed: {error}")),
    })
}

fn most(limits: &Limits, suspends: bool) -> Most {
    Most {
        output: 8usize.saturating_add(limits.output_bytes as usize),
        call: protocol::CALL_BYTES.saturating_add(limits.payload_bytes as usize),
        end: protocol::FAILURE_BYTES.saturating_add(limits.value_bytes as usize),
        state: if suspends { STATE_BYTES.saturating_add(limits.suspended_bytes as usize) } else { 0 },
    }
}

/// Kills the worker when a step is abandoned.
struct KillOnDrop<'a> {
    isolate: &'a mut JailedIsolate,
    armed: bool,
}

impl Drop for KillOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.isolate.count_cpu();
            self.isolate.lease.kill();
        }
    }
}

impl Isolate for JailedIsolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(self.step(turn))
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        Box::pin(self.state())
    }

    fn can_suspend(&self) -> bool {
        self.shared.kind.dialect.suspending().is_some()
    }

    fn computes_elsewhere(&self) -> bool {
        true
    }

    fn usage(&self) -> Usage {
        self.account.usage
    }

    fn ran_on(&self) -> RanOn {
        let missing = self.jail.missing().into_iter();
        let missing = missing.map(|WallReport { wall, missing }| MissingWall {
            wall: wall.to_string(),
            why: missing.unwrap_or_default(),
        });
        RanOn { jail: Some(JailReceipt { missing: missing.collect() }), ..RanOn::engine(self.shared.kind.name) }
    }
}
