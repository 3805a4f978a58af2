use isolith_core::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time a run lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    /// The real one.
    Live,
    /// Starts at this moment and moves only when everything waits: then it jumps to the next timer.
    Virtual(Timestamp),
}

/// One run's clock: what time the guest sees, and how long the run really takes.
pub(crate) struct Clock {
    time: Time,
    started: Timestamp,
    began: Instant,
    /// Real time that passed before this process took the run over.
    before: Duration,
}

impl Clock {
    pub(crate) fn start(time: Time) -> Clock {
        let started = match time {
            Time::Live => system_now(),
            Time::Virtual(at) => at,
        };
        Clock { time, started, began: Instant::now(), before: Duration::ZERO }
    }

    /// Goes on where another process stopped. Time of the suspension passes for the guest, and is not held against it.
    pub(crate) fn resume(time: Time, started: Timestamp, before: Duration) -> Clock {
        Clock { time, started, began: Instant::now(), before }
    }

    pub(crate) fn time(&self) -> Time {
        self.time
    }

    pub(crate) fn started(&self) -> Timestamp {
        self.started
    }

    pub(crate) fn now(&self) -> Timestamp {
        match self.time {
            // Never backwards, whatever the system's clock does.
            Time::Live => system_now().max(self.started),
            Time::Virtual(now) => now,
        }
    }

    /// How long to really wait for a moment; nothing in virtual time.
    pub(crate) fn until(&self, moment: Timestamp) -> Duration {
        match self.time {
            Time::Live => moment.since(self.now()),
            Time::Virtual(_) => Duration::ZERO,
        }
    }

    /// A timer is due: virtual time jumps there.
    pub(crate) fn reach(&mut self, moment: Timestamp) {
        if let Time::Virtual(now) = &mut self.time {
            *now = moment.max(*now);
        }
    }

    /// How long the run has been in memory, by the wall.
    pub(crate) fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}

fn system_now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(since.as_micros() as u64)
}
