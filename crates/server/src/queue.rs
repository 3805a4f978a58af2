//! Places for runs, given out fairly: whoever asks for many waits behind themselves, not in front of others.

use crate::error::Refusal;
use crate::settings::Settings;
use axum::http::StatusCode;
use isolith_core::CallerId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// The places that there are.
#[derive(Clone)]
pub(crate) struct Queue {
    state: Arc<Mutex<State>>,
    settings: Arc<Settings>,
}

#[derive(Default)]
struct State {
    taken: usize,
    waiting: usize,
    callers: HashMap<CallerId, Line>,
    /// Callers who wait and could have a place, in the order of their turns.
    turns: VecDeque<CallerId>,
}

/// One caller's.
#[derive(Default)]
struct Line {
    taken: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// A run's place. Whoever drops it makes room.
pub(crate) struct Place {
    queue: Queue,
    caller: CallerId,
}

impl Queue {
    pub(crate) fn new(settings: Arc<Settings>) -> Queue {
        Queue { state: Arc::default(), settings }
    }

    /// Waits for a place, for a bounded time and in a bounded line.
    pub(crate) async fn enter(&self, caller: &CallerId) -> Result<Place, Refusal> {
        let waiting = {
            let mut state = self.lock();
            let State { taken, waiting, callers, turns } = &mut *state;
            let line = callers.entry(caller.clone()).or_default();
            let free = *taken < self.settings.live_runs && line.taken < self.settings.live_runs_per_caller;
            if free && line.waiting.is_empty() && (turns.is_empty() || *waiting == 0) {
                (*taken, line.taken) = (*taken + 1, line.taken + 1);
                return Ok(self.place(caller));
            }
            if line.waiting.len() >= self.settings.queue_per_caller {
                let message = format!("{} of your runs wait already", line.waiting.len());
                return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy.caller", message).retry(RETRY));
            }
            if *waiting >= self.settings.queue {
                self.forget_idle(&mut state, caller);
                return Err(busy());
            }
            let (sender, receiver) = oneshot::channel();
            line.waiting.push_back(sender);
            *waiting += 1;
            if line.waiting.len() == 1 {
                turns.push_back(caller.clone());
            }
            self.give_out(&mut state);
            receiver
        };
        // Whoever gives up leaves an entry that is passed over when its turn comes.
        match tokio::time::timeout(self.settings.queue_wait, waiting).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(busy()),
        }
    }

    fn place(&self, caller: &CallerId) -> Place {
        Place { queue: self.clone(), caller: caller.clone() }
    }

    /// Gives free places to those whose turn it is.
    fn give_out(&self, state: &mut State) {
        let mut passed = 0;
        while state.taken < self.settings.live_runs && passed < state.turns.len() {
            let Some(caller) = state.turns.pop_front() else { return };
            let Some(line) = state.callers.get_mut(&caller) else { continue };
            if line.taken >= self.settings.live_runs_per_caller {
                // Keeps its turn until one of its own runs ends.
                state.turns.push_back(caller);
                passed += 1;
                continue;
            }
            while let Some(next) = line.waiting.pop_front() {
                state.waiting -= 1;
                if next.is_closed() {
                    continue;
                }
                (state.taken, line.taken) = (state.taken + 1, line.taken + 1);
                if let Err(unwanted) = next.send(self.place(&caller)) {
                    // It gave up in this very moment. Dropping its place would take the lock that we hold.
                    std::mem::forget(unwanted);
                    (state.taken, line.taken) = (state.taken - 1, line.taken - 1);
                    continue;
                }
                break;
            }
            if line.waiting.is_empty() {
                self.forget_idle(state, &caller);
            } else {
                state.turns.push_back(caller);
            }
            passed = 0;
        }
    }

    fn forget_idle(&self, state: &mut State, caller: &CallerId) {
        if state.callers.get(caller).is_some_and(|line| line.taken == 0 && line.waiting.is_empty()) {
            state.callers.remove(caller);
        }
    }

    /// How many runs have a place, and how many wait for one.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = self.lock();
        (state.taken, state.waiting)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.taken -= 1;
        if let Some(line) = state.callers.get_mut(&self.caller) {
            line.taken -= 1;
        }
        self.queue.forget_idle(&mut state, &self.caller);
        self.queue.give_out(&mut state);
    }
}

/// When to come again.
const RETRY: Duration = Duration::from_secs(1);

fn busy() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "every place is taken").retry(RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn queue(live: usize, per_caller: usize) -> Queue {
        let settings = Settings {
            live_runs: live,
            live_runs_per_caller: per_caller,
            queue_per_caller: 3,
            queue: 5,
            ..Settings::default()
        };
        Queue::new(Arc::new(settings))
    }

    fn caller(name: &str) -> CallerId {
        CallerId(name.into())
    }

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn a_caller_with_many_runs_does_not_keep_another_from_its_turn() {
        let queue = queue(1, 10);
        let (busy, quiet) = (caller("busy"), caller("quiet"));
        let first = queue.enter(&busy).await.unwrap();
        let (mut second, mut third, mut other) =
            (pin!(queue.enter(&busy)), pin!(queue.enter(&busy)), pin!(queue.enter(&quiet)));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none() && poll(other.as_mut()).is_none());
        drop(first);
        let place = poll(second.as_mut()).unwrap().unwrap();
        assert!(poll(other.as_mut()).is_none());
        drop(place);
        assert!(poll(third.as_mut()).is_none(), "it is the other's turn");
        drop(poll(other.as_mut()).unwrap().unwrap());
        drop(poll(third.as_mut()).unwrap().unwrap());
        assert_eq!(queue.load(), (0, 0));
        assert!(queue.lock().callers.is_empty());
    }

    #[tokio::test]
    async fn lines_are_bounded_and_whoever_gives_up_is_passed_over() {
        let queue = queue(1, 1);
        let (a, b) = (caller("a"), caller("b"));
        let place = queue.enter(&a).await.unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(queue.enter(&a))).collect();
        waiting.iter_mut().for_each(|one| assert!(poll(one.as_mut()).is_none()));
        let full = queue.enter(&a).await.err().unwrap();
        assert_eq!((full.code, full.status), ("busy.caller", StatusCode::TOO_MANY_REQUESTS));
        let mut others: Vec<_> = (0..2).map(|_| Box::pin(queue.enter(&b))).collect();
        others.iter_mut().for_each(|one| assert!(poll(one.as_mut()).is_none()));
        assert_eq!(queue.enter(&b).await.err().unwrap().code, "busy");
        waiting.drain(..2);
        drop(place);
        drop(poll(waiting[0].as_mut()).unwrap().unwrap());
        drop(poll(others[0].as_mut()).unwrap().unwrap());
        drop(poll(others[1].as_mut()).unwrap().unwrap());
        assert_eq!(queue.load(), (0, 0));
    }

    #[tokio::test]
    async fn a_caller_at_its_own_limit_waits_while_others_pass() {
        let queue = queue(3, 1);
        let (a, b) = (caller("a"), caller("b"));
        let first = queue.enter(&a).await.unwrap();
        let mut second = pin!(queue.enter(&a));
        assert!(poll(second.as_mut()).is_none());
        let other = queue.enter(&b).await.unwrap();
        drop(other);
        assert!(poll(second.as_mut()).is_none());
        drop(first);
        assert!(poll(second.as_mut()).is_some());
    }
}
