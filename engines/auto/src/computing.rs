use isolith_core::{BoxFuture, EngineError, Step};
use rustix::time::{ClockId, clock_gettime};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A step in progress, and what it has computed.
///
/// It comes back with nothing when that is more than was allowed, and can be gone on with then. Most steps are over when they are
/// first looked at, so that look is not timed: what a clock would show is at most one slice of the engine's.
pub(crate) struct Computing<'a> {
    step: BoxFuture<'a, Result<Step, EngineError>>,
    pub(crate) spent: Duration,
    pub(crate) most: Duration,
    /// When it was first seen that it takes longer.
    pub(crate) since: Option<Instant>,
}

impl<'a> Computing<'a> {
    pub(crate) fn new(step: BoxFuture<'a, Result<Step, EngineError>>, most: Duration) -> Computing<'a> {
        Computing { step, spent: Duration::ZERO, most, since: None }
    }
}

impl Future for Computing<'_> {
    type Output = Option<Result<Step, EngineError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.most.is_zero() {
            return Poll::Ready(None);
        }
        let polled = match self.since {
            None => {
                let polled = self.step.as_mut().poll(cx);
                self.since = polled.is_pending().then(Instant::now);
                polled
            }
            Some(_) => {
                let before = thread_time();
                let polled = self.step.as_mut().poll(cx);
                self.spent += thread_time().saturating_sub(before);
                polled
            }
        };
        match polled {
            Poll::Ready(step) => Poll::Ready(Some(step)),
            Poll::Pending if self.spent >= self.most => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
