//! One isolate for another isolith: from its place in the queue until it ends, is let go or was idle for too long.

use super::seal::{Head, Sealed};
use super::{Begin, Line, Order, Waiting};
use crate::app::App;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::queue::Place;
use isolith_core::wire::{CONTENT_BYTES_MAX, MESSAGE_BYTES_MAX, event};
use isolith_core::{
    End, EngineError, ErrorKind, Failure, Housing, Isolate, Limits, OutputSink, PendingCall, Step, Stream,
    SuspendedError, Timestamp, Turn, Unsupported,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Receiver;

/// An isolate that nobody asks anything for so long is let go: its place is for others.
const IDLE_TIME: Duration = Duration::from_secs(600);
/// Beyond its time an engine has this long to stop by itself, and to say where the program was.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// The way here and back takes time that is not the program's. Whoever asks counts without it, and is the first to stop.
const LATE: Duration = Duration::from_secs(5);
/// What a message holds besides a state.
const ENVELOPE_BYTES: usize = 1 << 10;

/// What an isolate's task knows.
pub(super) struct Life {
    pub(super) app: Arc<App>,
    pub(super) caller: Arc<Caller>,
    pub(super) line: Line,
    pub(super) isolate: u64,
    pub(super) busy: Arc<AtomicBool>,
}

/// An isolate that is there. Fields drop in order: its place becomes free when it is gone.
struct Live {
    isolate: Box<dyn Isolate>,
    limits: Limits,
    /// When its time is over, waiting included.
    deadline: Instant,
    _place: Place,
}

struct Sink(Line, u64);

impl OutputSink for Sink {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        self.0.tell(event::output(self.1, stream, &text, at));
    }
}

impl Life {
    pub(super) async fn run(self, begin: Begin, waiting: Waiting, mut orders: Receiver<Order>) {
        let mut live = match self.begin(begin, waiting).await {
            Ok(live) => live,
            Err(error) => return self.fail(&error),
        };
        self.answer(event::started(self.isolate, live.isolate.usage())).await;
        loop {
            let left = live.left().saturating_add(LATE);
            let Ok(Some(order)) = tokio::time::timeout(IDLE_TIME.min(left), orders.recv()).await else { return };
            match order {
                Order::Advance(turn) => match live.advance(turn).await {
                    Ok(Step::Calls(calls)) => {
                        self.tell(&calls).await;
                        self.answer(event::waiting(self.isolate, live.isolate.usage())).await;
                    }
                    Ok(Step::Done(end, calls)) => {
                        self.tell(&calls).await;
                        let message = event::done(self.isolate, &end, live.isolate.usage());
                        // It is over for everyone who waits for its place before its client knows.
                        drop(live);
                        return self.answer(message).await;
                    }
                    Err(error) => return self.fail(&error),
                },
                Order::Suspend => match self.suspend(&mut live).await {
                    Ok(sealed) => self.answer(event::suspended(self.isolate, &sealed)).await,
                    Err(error) => return self.fail(&error),
                },
            }
        }
    }

    async fn begin(&self, begin: Begin, waiting: Waiting) -> Result<Live, EngineError> {
        let Life { app, caller, .. } = self;
        let runner = self.runner().await?;
        let engine = runner.engine();
        caller.spend().map_err(|refusal| self.busy(&refusal))?;
        let sink = Arc::new(Sink(self.line.clone(), self.isolate));
        // What cannot be begun anyway does not take anybody's place.
        let begin = match begin {
            Begin::Resume(bytes) => Ready::Resume(self.open(&bytes)?),
            Begin::Start(program, mut opening) => {
                opening.limits = self.narrowed(opening.limits)?;
                opening.ambient = caller.ceiling.ambient(opening.ambient);
                Ready::Start(program, opening)
            }
        };
        let place = app.runs.queue.enter(&caller.id).await.map_err(|refusal| self.busy(&refusal))?;
        drop(waiting);
        let (isolate, Head { limits, wall_left }) = match begin {
            Ready::Start(program, opening) => {
                let limits = opening.limits;
                let isolate = engine.start(&program, opening.with(sink)).await?;
                (isolate, Head { limits, wall_left: limits.wall })
            }
            Ready::Resume(Sealed { head, state }) => (engine.resume(&state, sink).await?, head),
        };
        Ok(Live { isolate, limits, deadline: Instant::now() + wall_left, _place: place })
    }

    // THREAT[T-REMOTE-007]: a caller whose policy wants more walls has them here too.
    /// What its isolates are made by. They can leave memory, so there is no choice of engine.
    async fn runner(&self) -> Result<isolith_runner::Runner, EngineError> {
        let unsupported = |what: String| EngineError::from(Unsupported { engine: "remote", what });
        let housing =
            self.caller.ceiling.housing(Housing::default()).map_err(|refusal| unsupported(refusal.message))?;
        let housing =
            housing.that_suspends().ok_or_else(|| unsupported("isolates under a policy that names `v8`".into()))?;
        let placed = self.app.runs.placed(housing).await;
        Ok(placed.map_err(|refusal| unsupported(refusal.message))?.runner)
    }

    /// What the caller may have at most, and what a message has room for.
    fn narrowed(&self, requested: Limits) -> Result<Limits, Unsupported> {
        let limits = self.caller.ceiling.limits(requested);
        let limits = Limits {
            payload_bytes: limits.payload_bytes.min(CONTENT_BYTES_MAX),
            value_bytes: limits.value_bytes.min(CONTENT_BYTES_MAX),
            output_bytes: limits.output_bytes.min(CONTENT_BYTES_MAX),
            ..limits
        };
        limits.check().map_err(|error| Unsupported { engine: "remote", what: error.to_string() })?;
        Ok(limits)
    }

    fn open(&self, bytes: &[u8]) -> Result<Sealed, EngineError> {
        let sealed = self.app.states.open(&self.caller.id, bytes)?;
        // Its limits are part of its state: if less is allowed by now, it cannot go on.
        if self.narrowed(sealed.head.limits)? != sealed.head.limits {
            let what = "a run with higher limits than are allowed by now".into();
            return Err(Unsupported { engine: "remote", what }.into());
        }
        Ok(sealed)
    }

    async fn suspend(&self, live: &mut Live) -> Result<Vec<u8>, EngineError> {
        let state = live.isolate.suspend().await?;
        let limit = MESSAGE_BYTES_MAX - ENVELOPE_BYTES;
        if state.0.len() > limit {
            return Err(SuspendedError::TooLarge { bytes: state.0.len() as u64, limit: limit as u64 }.into());
        }
        let head = Head { limits: live.limits, wall_left: live.left() };
        let failed = || EngineError::Internal { doing: "sealing a state", source: "it cannot be sealed".into() };
        self.app.states.seal(&self.caller.id, head, &state).ok_or_else(failed)
    }

    async fn tell(&self, calls: &[PendingCall]) {
        for call in calls {
            self.line.tell_in_turn(event::call(self.isolate, call)).await;
        }
    }

    /// The end of a request: the next may come.
    async fn answer(&self, message: Vec<u8>) {
        self.busy.store(false, Ordering::Release);
        self.line.tell_in_turn(message).await;
    }

    fn fail(&self, error: &EngineError) {
        if let EngineError::Internal { doing, source } = error {
            tracing::error!(%source, "an isolate for another isolith: {doing}");
        }
        self.line.tell(event::failed(self.isolate, error));
    }

    fn busy(&self, refusal: &Refusal) -> EngineError {
        tracing::debug!(code = refusal.code, "an isolate for another isolith has no place");
        let (live, waiting) = self.app.runs.queue.load();
        EngineError::Busy { live, waiting }
    }
}

/// What was checked, before it has a place.
enum Ready {
    Start(isolith_core::Program, Box<isolith_core::wire::Opening>),
    Resume(Sealed),
}

impl Live {
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    async fn advance(&mut self, turn: Turn) -> Result<Step, EngineError> {
        let wall_left = turn.wall_left.min(self.left());
        let step = self.isolate.advance(Turn { wall_left, ..turn });
        match tokio::time::timeout(wall_left + STOP_GRACE, step).await {
            Ok(step) => step,
            Err(_) => {
                let message = "the program took longer than its time limit";
                let failure = Failure::of(ErrorKind::Timeout, "Timeout", message);
                Ok(Step::Done(End::Failed(failure), Vec::new()))
            }
        }
    }
}
