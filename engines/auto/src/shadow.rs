//! What a run writes, on the engine that it is on and on the one that is tried.

use isolith_core::{OutputSink, Stream, Timestamp};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What stands for everything that was written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pieces: u64,
    sum: [u8; 32],
}

impl Mark {
    fn add(&mut self, stream: Stream, text: &str, at: Timestamp) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.sum).update(&[u8::from(stream == Stream::Stderr)]);
        hasher.update(&at.as_micros().to_le_bytes()).update(text.as_bytes());
        (self.pieces, self.sum) = (self.pieces + 1, *hasher.finalize().as_bytes());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on what is written, and remembers what stands for it.
pub(crate) struct Tee {
    to: Arc<dyn OutputSink>,
    /// Nothing was written yet in this turn.
    is_new_turn: AtomicBool,
    marks: Mutex<Marks>,
}

#[derive(Default)]
struct Marks {
    all: Mark,
    /// What there was before the first piece of the last turn that wrote any.
    before: Mark,
}

impl Tee {
    pub(crate) fn new(to: Arc<dyn OutputSink>) -> Tee {
        Tee { to, is_new_turn: AtomicBool::new(true), marks: Mutex::default() }
    }

    /// Every turn begins with this, and most write nothing: so it takes no lock.
    pub(crate) fn begin_turn(&self) {
        self.is_new_turn.store(true, Relaxed);
    }

    pub(crate) fn mark(&self) -> Mark {
        lock(&self.marks).all
    }

    /// What stands for everything that was written before this turn.
    pub(crate) fn mark_before(&self) -> Mark {
        let marks = lock(&self.marks);
        if self.is_new_turn.load(Relaxed) { marks.all } else { marks.before }
    }
}

impl OutputSink for Tee {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        let mut marks = lock(&self.marks);
        if self.is_new_turn.swap(false, Relaxed) {
            marks.before = marks.all;
        }
        marks.all.add(stream, &text, at);
        drop(marks);
        self.to.write(stream, text, at);
    }
}

/// Swallows what was written before, as long as it is the same, and passes on what comes behind it.
pub(crate) struct Shadow {
    to: Arc<dyn OutputSink>,
    goal: Mark,
    written: Mutex<Written>,
    differs: Notify,
}

#[derive(Default)]
struct Written {
    mark: Mark,
    /// Everything from before is told again: from here on new things may come.
    caught_up: bool,
    through: bool,
    passed_on: bool,
    differs: bool,
}

impl Shadow {
    /// `goal` is what was written before.
    pub(crate) fn new(to: Arc<dyn OutputSink>, goal: Mark) -> Shadow {
        Shadow { to, goal, written: Mutex::default(), differs: Notify::new() }
    }

    pub(crate) fn mark(&self) -> Mark {
        lock(&self.written).mark
    }

    /// From here on it may write more than what was written before.
    pub(crate) fn caught_up(&self) {
        let mut written = lock(&self.written);
        written.caught_up = true;
        written.through = written.mark == self.goal;
    }

    /// Whether all that was written before has been written again.
    pub(crate) fn is_through(&self) -> bool {
        lock(&self.written).through
    }

    /// Whether anybody has seen anything of it.
    pub(crate) fn was_seen(&self) -> bool {
        lock(&self.written).passed_on
    }

    /// Returns when it wrote something else.
    pub(crate) async fn differs(&self) {
        self.differs.notified().await;
    }
}

impl OutputSink for Shadow {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        let mut written = lock(&self.written);
        if written.differs {
            return;
        }
        if written.through {
            written.passed_on = true;
            drop(written);
            return self.to.write(stream, text, at);
        }
        written.mark.add(stream, &text, at);
        if written.mark.pieces < self.goal.pieces {
            return;
        }
        if written.mark != self.goal {
            written.differs = true;
            self.differs.notify_one();
        }
        written.through = written.mark == self.goal && written.caught_up;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>);

    impl OutputSink for Seen {
        fn write(&self, _: Stream, text: String, _: Timestamp) {
            lock(&self.0).push(text);
        }
    }

    fn say(sink: &dyn OutputSink, text: &str) {
        sink.write(Stream::Stdout, text.to_owned(), Timestamp::default());
    }

    fn after(texts: &[&str]) -> (Arc<Seen>, Mark) {
        let seen = Arc::new(Seen::default());
        let tee = Tee::new(Arc::clone(&seen) as Arc<dyn OutputSink>);
        texts.iter().for_each(|text| say(&tee, text));
        (seen, tee.mark())
    }

    #[test]
    fn what_was_written_before_a_turn_is_known_in_it() {
        let tee = Tee::new(Arc::new(Seen::default()));
        say(&tee, "a");
        let first = tee.mark();
        assert_eq!(tee.mark_before(), Mark::default());
        for _ in 0..2 {
            tee.begin_turn();
            assert_eq!(tee.mark_before(), first);
        }
        say(&tee, "b");
        say(&tee, "c");
        assert_eq!(tee.mark_before(), first);
        assert_ne!(tee.mark(), first);
    }

    #[test]
    fn what_was_written_before_is_not_written_again() {
        let (seen, goal) = after(&["a", "b"]);
        let shadow = Shadow::new(Arc::clone(&seen) as Arc<dyn OutputSink>, goal);
        say(&shadow, "a");
        shadow.caught_up();
        assert!(!shadow.is_through());
        say(&shadow, "b");
        assert!(shadow.is_through() && !shadow.was_seen());
        say(&shadow, "c");
        assert_eq!(*lock(&seen.0), ["a", "b", "c"]);
    }

    #[test]
    fn something_else_is_noticed_and_not_passed_on() {
        for other in [&["a", "x", "c"][..], &["b", "a", "c"]] {
            let (seen, goal) = after(&["a", "b"]);
            let shadow = Shadow::new(Arc::clone(&seen) as Arc<dyn OutputSink>, goal);
            shadow.caught_up();
            other.iter().for_each(|text| say(&shadow, text));
            assert!(!shadow.is_through() && !shadow.was_seen());
            assert_eq!(*lock(&seen.0), ["a", "b"]);
        }
    }

    #[test]
    fn more_than_before_is_not_passed_on_before_it_has_caught_up() {
        let (seen, goal) = after(&["a"]);
        let shadow = Shadow::new(Arc::clone(&seen) as Arc<dyn OutputSink>, goal);
        say(&shadow, "a");
        say(&shadow, "b");
        shadow.caught_up();
        say(&shadow, "c");
        assert!(!shadow.is_through());
        assert_eq!(*lock(&seen.0), ["a"]);
    }
}
