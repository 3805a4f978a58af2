use crate::engine::{NAME, Shared, suspending};
use crate::frame::Said;
use crate::jail::{Jail, WallReport};
use crate::protocol;
use crate::supervisor::{Heard, Lease, LeaseError, Most};
use isolith_core::{
    BoxFuture, CallId, End, EngineError, ErrorKind, Failure, Isolate, JailReceipt, Limits, MissingWall, OutputSink,
    PendingCall, Program, RanOn, Start, Step, Stream, Suspended, Timestamp, Turn, Usage,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

// THREAT[T-LIMIT-003]: a program that ignores the request to stop is killed with its process.
/// After a worker was asked to stop: how long it may take to say where it was.
const GRACE: Duration = Duration::from_millis(250);
/// Between two looks at a worker that may have used up its time.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// What an unanswered call costs the host besides its arguments.
const CALL_BYTES: u64 = 256;
/// What a piece of output costs the host besides its text.
const PIECE_BYTES: u64 = 32;
/// The stream of what the engine says of its own accord. It goes to stderr if there is room.
const NOTE: u8 = 2;
/// Memory is told in steps: how much of V8's heap is in use at a moment is not the same in two equal runs.
const MEMORY_STEP_BYTES: u64 = 8 << 20;

/// One run of a program in the engine `v8`.
pub(crate) struct V8Isolate {
    // Fields drop in order: the worker is gone before its place becomes free.
    lease: Lease,
    jail: Jail,
    next: Next,
    limits: Limits,
    sink: Arc<dyn OutputSink>,
    now: Timestamp,
    cpu_before: Duration,
    calls: Vec<PendingCall>,
    held: BTreeMap<CallId, u64>,
    held_bytes: u64,
    output_bytes: u64,
    usage: Usage,
    _shared: Arc<Shared>,
    _place: OwnedSemaphorePermit,
}

/// What the next step has to do.
enum Next {
    Begin(Box<(Program, Start)>),
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

impl V8Isolate {
    pub(crate) fn new(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        (mut lease, jail): (Lease, Jail),
        program: &Program,
        start: Start,
    ) -> V8Isolate {
        let limits = start.limits;
        lease.bound(Most {
            output: 8usize.saturating_add(limits.output_bytes as usize),
            call: protocol::CALL_BYTES.saturating_add(limits.payload_bytes as usize),
            end: protocol::FAILURE_BYTES.saturating_add(limits.value_bytes as usize),
        });
        let cpu_before = lease.cpu_time().unwrap_or_default();
        V8Isolate {
            lease,
            jail,
            limits,
            sink: Arc::clone(&start.sink),
            next: Next::Begin(Box::new((program.clone(), start))),
            now: Timestamp::default(),
            cpu_before,
            calls: Vec::new(),
            held: BTreeMap::new(),
            held_bytes: 0,
            output_bytes: 0,
            usage: Usage::default(),
            _shared: shared,
            _place: place,
        }
    }

    async fn step(&mut self, turn: Turn) -> Result<Step, EngineError> {
        // Taken out first: if this future is dropped before its end, nothing is left to go on with.
        let frame = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Begin(begin) => {
                let failed =
                    |error: serde_json::Error| EngineError::Internal { doing: "starting", source: error.into() };
                protocol::start_frame(&begin.0, &begin.1, turn.now).map_err(failed)?
            }
            Next::GoOn => {
                for (id, _) in &turn.replies {
                    self.held_bytes -= self.held.remove(id).unwrap_or(0);
                }
                protocol::turn_frame(turn.now, &turn.replies, self.limits.payload_bytes)
            }
            Next::Nothing => return Err(EngineError::Ended),
        };
        self.now = turn.now;
        self.usage.bytes_in += frame.len() as u64;
        // Whoever drops this future half-way leaves a worker that computes for nobody.
        let mut abandoned = KillOnDrop { isolate: self, armed: true };
        let end = abandoned.isolate.work(&frame, turn.wall_left).await;
        abandoned.armed = false;
        let isolate = &mut *abandoned.isolate;
        isolate.usage.cpu_us = isolate.cpu_used().as_micros() as u64;
        let calls = std::mem::take(&mut isolate.calls);
        match end {
            None => {
                isolate.next = Next::GoOn;
                Ok(Step::Calls(calls))
            }
            Some(end) => {
                isolate.lease.kill();
                Ok(Step::Done(end, calls))
            }
        }
    }

    /// Has the worker work until it waits, or ends.
    async fn work(&mut self, frame: &[u8], wall_left: Duration) -> Option<End> {
        let deadline = Instant::now() + wall_left;
        let mut stopping: Option<(ErrorKind, Instant)> = None;
        // Telling may take as long as the worker does not listen, so it has the same deadline.
        let told = tokio::time::timeout(wall_left.saturating_add(GRACE), self.lease.tell(frame)).await;
        if let Ok(Err(error)) = &told {
            return Some(self.lost(error, None));
        }
        if told.is_err() {
            return Some(End::Failed(protocol::stopped(ErrorKind::Timeout)));
        }
        loop {
            let look_at = match stopping {
                Some((_, killed_at)) => killed_at,
                // One thread computes: it cannot use up what is left in less time than that.
                None => deadline.min(Instant::now() + self.cpu_left().max(LOOK_AGAIN)),
            };
            let heard = tokio::time::timeout_at(look_at.into(), self.lease.hear()).await;
            let why = stopping.map(|(why, _)| why);
            match heard {
                Ok(Ok(heard)) => match self.take(heard, why) {
                    Ok(Standing::Goes) => {}
                    // It came to rest just when it was asked to stop: what was decided stays.
                    Ok(Standing::Waits) => return why.map(|why| End::Failed(protocol::stopped(why))),
                    Ok(Standing::Ended(end)) => return Some(end),
                    Err(stop) => return Some(End::Failed(stop)),
                },
                Ok(Err(error)) => return Some(self.lost(&error, why)),
                Err(_) => match stopping {
                    Some((why, _)) => return Some(End::Failed(protocol::stopped(why))),
                    None => stopping = self.over(deadline).map(|why| (why, Instant::now() + GRACE)),
                },
            }
        }
    }

    /// Which limit on time is used up, if one is; the worker is then asked to stop.
    fn over(&mut self, deadline: Instant) -> Option<ErrorKind> {
        let why = match (self.cpu_left().is_zero(), Instant::now() >= deadline) {
            (true, _) => ErrorKind::CpuLimit,
            (false, true) => ErrorKind::Timeout,
            (false, false) => return None,
        };
        self.lease.stop();
        Some(why)
    }

    fn cpu_used(&self) -> Duration {
        self.lease
            .cpu_time()
            .map_or(Duration::from_micros(self.usage.cpu_us), |now| now.saturating_sub(self.cpu_before))
    }

    fn cpu_left(&self) -> Duration {
        self.limits.cpu.saturating_sub(self.cpu_used())
    }

    /// Takes what the worker said. An error is a limit that it has run into.
    fn take(&mut self, heard: Heard, why: Option<ErrorKind>) -> Result<Standing, Failure> {
        let nonsense = |what: &str| Failure::of(ErrorKind::Internal, "EngineFailure", what);
        match heard.said {
            Said::Ready => Err(nonsense("the worker is ready twice")),
            Said::Output => {
                let (stream, text) = heard.content.split_first().ok_or_else(|| nonsense("the worker lost its way"))?;
                self.output(*stream, text)?;
                Ok(Standing::Goes)
            }
            Said::Call => {
                let read = protocol::read_call(&heard.content);
                let (id, call, bytes) = read.ok_or_else(|| nonsense("the worker's call makes no sense"))?;
                self.call(PendingCall { id, call }, bytes as u64)?;
                Ok(Standing::Goes)
            }
            Said::Waits => {
                let bytes = heard.content.try_into().map_err(|_| nonsense("the worker lost its way"))?;
                self.note_memory(u64::from_le_bytes(bytes));
                Ok(Standing::Waits)
            }
            Said::Ended => {
                let read = protocol::read_end(&heard.content, why, self.limits.memory_bytes);
                let (end, memory) = read.ok_or_else(|| nonsense("the worker's end makes no sense"))?;
                self.note_memory(memory);
                self.usage.bytes_out += heard.content.len() as u64;
                Ok(Standing::Ended(end))
            }
        }
    }

    fn note_memory(&mut self, bytes: u64) {
        let told = bytes.min(self.limits.memory_bytes).next_multiple_of(MEMORY_STEP_BYTES);
        self.usage.memory_peak_bytes = self.usage.memory_peak_bytes.max(told);
    }

    fn call(&mut self, pending: PendingCall, bytes: u64) -> Result<(), Failure> {
        if pending.call.label().is_some() {
            self.usage.calls += 1;
            let most = self.limits.calls;
            if self.usage.calls > most {
                let message = format!("the program made more than {most} calls");
                return Err(Failure::of(ErrorKind::CallLimit, "CallLimit", message));
            }
        }
        self.usage.bytes_out += bytes;
        // THREAT[T-LIMIT-002]: arguments of calls that nobody answers would pile up in the host; they count as the guest's memory.
        self.held_bytes += bytes + CALL_BYTES;
        if self.held.insert(pending.id, bytes + CALL_BYTES).is_some() {
            return Err(Failure::of(ErrorKind::Internal, "EngineFailure", "the worker uses a number twice"));
        }
        if self.held_bytes > self.limits.memory_bytes {
            return Err(protocol::out_of_memory(self.limits.memory_bytes));
        }
        self.calls.push(pending);
        Ok(())
    }

    fn output(&mut self, stream: u8, text: &[u8]) -> Result<(), Failure> {
        let left = self.limits.output_bytes.saturating_sub(self.output_bytes);
        if stream == NOTE && text.len() as u64 > left {
            return Ok(()); // said for the author's sake: it must not end the run
        }
        // What fits is kept, also of the piece that does not fit whole.
        let fits = text.get(..left as usize).unwrap_or(text);
        self.output_bytes += text.len() as u64 + PIECE_BYTES;
        if left > 0 {
            self.usage.bytes_out += fits.len() as u64;
            let mut kept = String::from_utf8_lossy(fits).into_owned();
            if fits.len() < text.len() && kept.ends_with('\u{fffd}') {
                kept.pop(); // the cut went through a character
            }
            self.sink.write(if stream == 0 { Stream::Stdout } else { Stream::Stderr }, kept, self.now);
        }
        if fits.len() < text.len() || left == 0 {
            let message = format!("the program wrote more than {} bytes", self.limits.output_bytes);
            return Err(Failure::of(ErrorKind::OutputLimit, "OutputLimit", message));
        }
        Ok(())
    }

    /// How a run ends whose worker is of no use any more.
    fn lost(&self, error: &LeaseError, why: Option<ErrorKind>) -> End {
        End::Failed(match why {
            Some(why) => protocol::stopped(why),
            None => Failure::of(ErrorKind::Internal, "EngineFailure", format!("the engine failed: {error}")),
        })
    }
}

/// Kills the worker when a step is abandoned.
struct KillOnDrop<'a> {
    isolate: &'a mut V8Isolate,
    armed: bool,
}

impl Drop for KillOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.isolate.lease.kill();
        }
    }
}

impl Isolate for V8Isolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(self.step(turn))
    }

    fn suspend(&mut self) -> Result<Suspended, EngineError> {
        Err(suspending().into())
    }

    fn can_suspend(&self) -> bool {
        false
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn ran_on(&self) -> RanOn {
        let missing = self.jail.missing().into_iter();
        let missing = missing.map(|WallReport { wall, missing }| MissingWall {
            wall: wall.to_string(),
            why: missing.unwrap_or_default(),
        });
        RanOn { jail: Some(JailReceipt { missing: missing.collect() }), ..RanOn::engine(NAME) }
    }
}
