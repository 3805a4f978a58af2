//! What waits for the writer. Whoever brings something wakes it only when it has nothing to do: a call that is written down
//! must not pay for waking a thread that is about to look anyway.

use super::writer::Message;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many messages wait. Whoever brings more waits until there is room: a moment's wait is better than a gap.
const MESSAGES_MAX: usize = 4096;
/// How long rows are gathered before they are committed, unless someone waits for them: so much a process that is killed can lose of
/// runs whose end nobody was told.
const GATHER: Duration = Duration::from_millis(20);
/// So many rows are not gathered any longer.
const BATCH_ROWS: usize = 1024;

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    come: Condvar,
    room: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Message>,
    closed: bool,
    writer: Writer,
}

/// What the writer is doing, as far as it matters to who has something for it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Writer {
    /// It writes, and looks again when it is done.
    #[default]
    Busy,
    /// There was nothing.
    Idle,
    /// It lets more come before it writes.
    Gathering,
}

impl Queue {
    /// Brings something. False when nobody will take it.
    pub(super) fn send(&self, message: Message) -> bool {
        let mut state = self.lock();
        while state.messages.len() >= MESSAGES_MAX && !state.closed {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        let urgent = matches!(message, Message::Flush(_)) || state.messages.len() + 1 == BATCH_ROWS;
        state.messages.push(message);
        if state.writer == Writer::Idle || (state.writer == Writer::Gathering && urgent) {
            // Told once: until it has looked, nobody else needs to.
            state.writer = if urgent { Writer::Busy } else { Writer::Gathering };
            self.come.notify_one();
        }
        true
    }

    /// All that has come, once it is time to write it. Nothing when nothing will come any more.
    pub(super) fn take(&self) -> Option<Vec<Message>> {
        let mut state = self.lock();
        while state.messages.is_empty() {
            if state.closed {
                return None;
            }
            state.writer = Writer::Idle;
            state = self.come.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let until = Instant::now() + GATHER;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let flush = || state.messages.iter().any(|message| matches!(message, Message::Flush(_)));
            if state.closed || left.is_zero() || state.messages.len() >= BATCH_ROWS || flush() {
                break;
            }
            state.writer = Writer::Gathering;
            state = self.come.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.writer = Writer::Busy;
        self.room.notify_all();
        Some(std::mem::take(&mut state.messages))
    }

    /// Nothing comes any more, or nobody takes it.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.come.notify_all();
        self.room.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::oneshot;

    fn row() -> Message {
        Message::Retention(super::super::Retention::default())
    }

    #[test]
    fn what_came_together_is_taken_together_and_a_flush_is_not_kept_waiting() {
        let queue = Arc::new(Queue::default());
        let writer = std::thread::spawn({
            let queue = Arc::clone(&queue);
            move || std::iter::from_fn(|| queue.take().map(|taken| taken.len())).collect::<Vec<_>>()
        });
        let (done, _wait) = oneshot::channel();
        let begun = Instant::now();
        assert!(queue.send(Message::Flush(done)));
        while !queue.lock().messages.is_empty() {
            std::thread::yield_now();
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
        (0..BATCH_ROWS).for_each(|_| assert!(queue.send(row())));
        queue.close();
        let taken = writer.join().unwrap();
        assert_eq!(taken.iter().sum::<usize>(), BATCH_ROWS + 1);
        assert!(!queue.send(row()), "nobody is there");
    }

    #[test]
    fn whoever_finds_it_full_waits_for_room() {
        let queue = Arc::new(Queue::default());
        (0..MESSAGES_MAX).for_each(|_| assert!(queue.send(row())));
        let late = std::thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.send(row())
        });
        let first = queue.take().unwrap().len();
        assert!(late.join().unwrap());
        queue.close();
        let rest: usize = std::iter::from_fn(|| queue.take()).map(|taken| taken.len()).sum();
        assert_eq!((first, rest), (MESSAGES_MAX, 1));
    }
}
