use crate::engine::{NAME, Shared};
use crate::image::{Entry, Live};
use crate::meter::Meter;
use crate::pages;
use crate::protocol::{self, Status};
use crate::suspend::State;
use isolith_core::{
    BoxFuture, CallId, End, EngineError, ErrorKind, Failure, HostReply, Isolate, Limits, OutputSink, Program, RanOn,
    Start, Step, Suspended, Turn, Usage,
};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Trap;

/// One run of a program in the engine `quickjs`.
pub(crate) struct QuickJsIsolate {
    // Fields drop in order: the instance gives its slot back before the place for one becomes free.
    live: Live,
    shared: Arc<Shared>,
    meter: Arc<Meter>,
    next: Next,
    _place: OwnedSemaphorePermit,
}

/// A run that computed for longer than this has touched pages all over its memory. Wasmtime puts up to 32 stretches of
/// pages right by copying; a slot with more of them would take page faults in every run after, however small.
const WORN: Duration = Duration::from_millis(3);

/// What the next step has to do.
enum Next {
    Begin(Box<(Program, Start)>),
    GoOn,
    /// It ended, or a step was abandoned half-way: there is no state to go on from.
    Nothing,
}

fn internal(doing: &'static str) -> impl FnOnce(wasmtime::Error) -> EngineError {
    move |source| EngineError::Internal { doing, source: source.into() }
}

impl QuickJsIsolate {
    pub(crate) fn fresh(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        program: &Program,
        start: Start,
    ) -> Result<Self, EngineError> {
        let live = instantiate(&shared, start.limits, Duration::ZERO, Arc::clone(&start.sink))?;
        let meter = Arc::clone(&live.store.data().meter);
        let next = Next::Begin(Box::new((program.clone(), start)));
        Ok(QuickJsIsolate { live, shared, meter, next, _place: place })
    }

    pub(crate) fn resumed(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        state: &State,
        sink: Arc<dyn OutputSink>,
    ) -> Result<Self, EngineError> {
        let mut live = instantiate(&shared, state.limits, state.cpu_used, sink)?;
        state.restore(&mut live)?;
        let meter = Arc::clone(&live.store.data().meter);
        Ok(QuickJsIsolate { live, shared, meter, next: Next::GoOn, _place: place })
    }

    async fn step(&mut self, turn: Turn) -> Result<Step, EngineError> {
        // Taken out first: if this future is dropped before its end, nothing is left to go on with.
        let (entry, message) = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Begin(begin) => {
                let (program, start) = *begin;
                let test262 = self.shared.options.test262;
                (Entry::Start, protocol::start_message(&program, &start, turn.now, test262))
            }
            Next::GoOn => (Entry::Turn, self.turn_message(&turn)),
            Next::Nothing => return Err(EngineError::Ended),
        };
        let guest = self.live.store.data_mut();
        guest.now = turn.now;
        guest.used.bytes_in += message.len() as u64;
        self.meter.set_wall_left(turn.wall_left);
        let status = {
            let _turn = self.shared.computing.acquire().await.map_err(|_| EngineError::Ended)?;
            let _ticking = self.shared.ticker.computing();
            let exports = *self.shared.image.exports();
            self.meter.measure(self.live.enter(&exports, &message, entry)).await
        };
        let calls = std::mem::take(&mut self.live.store.data_mut().calls);
        match status.map(Status::from_guest) {
            Ok(Some(Status::Pending)) => {
                self.next = Next::GoOn;
                Ok(Step::Calls(calls))
            }
            Ok(Some(Status::Ended)) => Ok(Step::Done(self.end(), calls)),
            Ok(None) => Ok(Step::Done(broken("the guest lost its way"), calls)),
            Err(error) => Ok(Step::Done(End::Failed(self.trapped(&error)), calls)),
        }
    }

    fn turn_message(&mut self, turn: &Turn) -> Vec<u8> {
        let held = &mut self.live.store.data_mut().held;
        turn.replies.iter().for_each(|(id, _)| held.answered(*id));
        let most = self.live.store.data().limits.payload_bytes as usize;
        if turn.replies.iter().all(|(_, reply)| reply.bytes() <= most) {
            return protocol::turn_message(turn.now, &turn.replies);
        }
        let bounded: Vec<(CallId, HostReply)> = turn
            .replies
            .iter()
            .map(|(id, reply)| match reply.bytes() {
                bytes if bytes > most => {
                    let message = format!("the reply is {bytes} bytes, but one call may bring {most}");
                    (*id, HostReply::failed("RangeError", message))
                }
                _ => (*id, reply.clone()),
            })
            .collect();
        protocol::turn_message(turn.now, &bounded)
    }

    fn end(&mut self) -> End {
        let Some((kind, data)) = self.live.store.data_mut().end.take() else {
            return broken("the guest ended without saying how");
        };
        protocol::read_end(kind, &data, self.meter.why()).unwrap_or_else(|| broken("the guest's end makes no sense"))
    }

    fn trapped(&mut self, error: &wasmtime::Error) -> Failure {
        if let Some(stop) = self.live.store.data_mut().stop.take() {
            return stop;
        }
        match (error.downcast_ref::<Trap>(), self.meter.why()) {
            (Some(Trap::Interrupt), Some(why)) => Failure::stopped(why),
            (Some(Trap::StackOverflow), _) => {
                Failure::of(ErrorKind::StackOverflow, "RangeError", "Maximum call stack size exceeded")
            }
            _ => Failure::of(ErrorKind::Internal, "EngineFailure", format!("the engine failed: {error}")),
        }
    }

    fn state(&mut self) -> Result<Suspended, EngineError> {
        if !matches!(self.next, Next::GoOn) {
            return Err(EngineError::Ended);
        }
        let base = self.shared.image.base().map_err(internal("reading the image"))?;
        let stack_pointer = self.live.stack_pointer(self.shared.image.exports()).map_err(internal("suspending"))?;
        if stack_pointer != base.stack_pointer {
            return Err(EngineError::Internal { doing: "suspending", source: "the guest's stack is in use".into() });
        }
        Ok(State::take(base, &self.live, self.meter.used())?.write())
    }
}

fn broken(message: &str) -> End {
    End::Failed(Failure::of(ErrorKind::Internal, "EngineFailure", message))
}

fn instantiate(
    shared: &Shared,
    limits: Limits,
    cpu_used: Duration,
    sink: Arc<dyn OutputSink>,
) -> Result<Live, EngineError> {
    let meter = Arc::new(Meter::new(limits.cpu, cpu_used));
    shared.image.instantiate(limits, meter, sink).map_err(internal("making an isolate"))
}

impl Drop for QuickJsIsolate {
    fn drop(&mut self) {
        if self.meter.used() > WORN {
            pages::release(self.live.memory.data_mut(&mut self.live.store));
        }
    }
}

impl Isolate for QuickJsIsolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(self.step(turn))
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        Box::pin(ready(self.state()))
    }

    fn usage(&self) -> Usage {
        let used = self.live.store.data().used;
        Usage {
            wall_us: 0,
            cpu_us: self.meter.used().as_micros() as u64,
            memory_peak_bytes: self.live.memory.data_size(&self.live.store) as u64,
            calls: used.calls,
            bytes_in: used.bytes_in,
            bytes_out: used.bytes_out,
        }
    }

    fn ran_on(&self) -> RanOn {
        RanOn::engine(NAME)
    }
}
