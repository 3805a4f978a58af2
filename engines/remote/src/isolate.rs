use crate::engine::{NAME, Shared};
use crate::link::Link;
use crate::peer::{Answer, Expect, lost};
use crate::state;
use isolith_core::wire::request;
use isolith_core::{BoxFuture, EngineError, Isolate, RanOn, Step, Suspended, Turn, Usage};
use std::sync::Arc;
use std::time::Duration;

/// The other side stops a step by itself when its time is over; this is for one that does not, and for the way there and back.
const STEP_GRACE: Duration = Duration::from_secs(10);
/// How long a state may take to be made and to come here.
const SUSPEND_TIME: Duration = Duration::from_secs(30);

/// One run of a program on another isolith.
pub(crate) struct RemoteIsolate {
    held: Held,
    usage: Usage,
    next: Next,
}

/// What the isolate is good for.
#[derive(PartialEq, Eq)]
enum Next {
    /// No code of it has run.
    Begin,
    GoOn,
    /// It ended, or a step was abandoned half-way.
    Nothing,
}

/// An isolate over there. Whoever drops this lets it go, whatever it is doing.
pub(crate) struct Held {
    pub(crate) link: Arc<Link>,
    pub(crate) isolate: u64,
    /// Carries the connection: it stays for as long as an isolate needs it.
    pub(crate) _engine: Arc<Shared>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.link.release(self.isolate);
    }
}

/// Stops the guest when what was asked of it is abandoned, not only when the isolate is dropped.
struct Abandoned<'a>(Option<&'a Held>);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.0 {
            held.link.release(held.isolate);
        }
    }
}

impl RemoteIsolate {
    pub(crate) fn fresh(held: Held, usage: Usage) -> RemoteIsolate {
        RemoteIsolate { held, usage, next: Next::Begin }
    }

    pub(crate) fn resumed(held: Held, usage: Usage) -> RemoteIsolate {
        RemoteIsolate { held, usage, next: Next::GoOn }
    }

    async fn step(&mut self, turn: Turn) -> Result<Step, EngineError> {
        // Taken out first: if this future is dropped before its end, nothing is left to go on with.
        if std::mem::replace(&mut self.next, Next::Nothing) == Next::Nothing {
            return Err(EngineError::Ended);
        }
        let Held { link, isolate, .. } = &self.held;
        let mut abandoned = Abandoned(Some(&self.held));
        let message = request::advance(*isolate, &turn);
        let patience = turn.wall_left.saturating_add(STEP_GRACE);
        match link.ask(*isolate, message, Expect::Step, patience).await? {
            Answer::Step(step, usage) => {
                self.usage = usage;
                if matches!(step, Step::Calls(_)) {
                    self.next = Next::GoOn;
                    abandoned.0 = None;
                }
                Ok(step)
            }
            Answer::Begun(_) | Answer::State(_) => Err(lost("the other side answers something else")),
        }
    }

    async fn state(&mut self) -> Result<Suspended, EngineError> {
        if self.next != Next::GoOn {
            return Err(EngineError::Ended);
        }
        let Held { link, isolate, .. } = &self.held;
        let tally = link.peer.tally(*isolate).ok_or_else(|| lost("the connection is lost"))?;
        // As with a step: whoever does not wait for it ends it.
        self.next = Next::Nothing;
        let mut abandoned = Abandoned(Some(&self.held));
        let answer = link.ask(*isolate, request::suspend(*isolate), Expect::State, SUSPEND_TIME).await;
        // Why there is none is also why there is no next step, and that says it.
        (self.next, abandoned.0) = (Next::GoOn, None);
        match answer? {
            Answer::State(sealed) => Ok(state::write(&tally, &sealed)),
            Answer::Begun(_) | Answer::Step(..) => Err(lost("the other side answers something else")),
        }
    }
}

impl Isolate for RemoteIsolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(self.step(turn))
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        Box::pin(self.state())
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn ran_on(&self) -> RanOn {
        RanOn::engine(NAME)
    }
}
