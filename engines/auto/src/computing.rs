use isolith_core::{BoxFuture, EngineError, Isolate, Step, Turn};
use rustix::time::{ClockId, clock_gettime};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// A step in progress, and what it has computed.
///
/// It comes back with nothing when that is more than was allowed, and can be gone on with then. Most steps are over when they are
/// first looked at, so that look is not timed: what a clock would show is at most one slice of the engine's.
pub(crate) struct Computing<'a> {
    step: BoxFuture<'a, Result<Step, EngineError>>,
    pub(crate) spent: Duration,
    most: Duration,
    /// When it was first seen that it takes longer.
    since: Option<Instant>,
    /// Of an engine that computes elsewhere: within a step it does nothing else, so that time is what it computes.
    elsewhere: bool,
    enough: Option<Pin<Box<Sleep>>>,
}

impl<'a> Computing<'a> {
    pub(crate) fn new(isolate: &'a mut dyn Isolate, turn: Turn, most: Duration) -> Computing<'a> {
        let elsewhere = isolate.computes_elsewhere();
        Computing { step: isolate.advance(turn), spent: Duration::ZERO, most, since: None, elsewhere, enough: None }
    }

    /// Allows it so much more.
    pub(crate) fn allow(&mut self, more: Duration) {
        (self.most, self.enough) = (self.spent.saturating_add(more), None);
    }

    /// How long it has been seen to take.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    #[cold]
    fn seen_to_take_longer<T>(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.since = Some(Instant::now());
        if self.is_enough(cx) { Poll::Ready(None) } else { Poll::Pending }
    }

    #[cold]
    fn poll_again(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Step, EngineError>>> {
        if self.most.is_zero() {
            return Poll::Ready(None);
        }
        let before = thread_time();
        let polled = self.step.as_mut().poll(cx);
        self.spent += thread_time().saturating_sub(before);
        match polled {
            Poll::Ready(step) => Poll::Ready(Some(step)),
            Poll::Pending if self.is_enough(cx) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Whether it has computed as much as it may. If not, and nobody here would see it, someone is woken when it has.
    fn is_enough(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.elsewhere {
            return self.spent >= self.most;
        }
        self.spent = self.elapsed();
        let left = self.most.saturating_sub(self.spent);
        let enough = self.enough.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
        left.is_zero() || enough.as_mut().poll(cx).is_ready()
    }
}

impl Future for Computing<'_> {
    type Output = Option<Result<Step, EngineError>>;

    /// Within whoever awaits it: a frame more costs each turn of every run, and nearly all are over at the first look.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.since.is_some() || self.most.is_zero() {
            return self.poll_again(cx);
        }
        match self.step.as_mut().poll(cx) {
            Poll::Ready(step) => Poll::Ready(Some(step)),
            Poll::Pending => self.seen_to_take_longer(cx),
        }
    }
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
