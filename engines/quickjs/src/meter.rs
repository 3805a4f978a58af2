use isolith_core::ErrorKind;
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

// THREAT[T-LIMIT-003]: a program that ignores the request to stop (a native loop, a `finally`) is cut off by a trap.
/// After a guest was asked to stop: how much longer it may compute before it is cut off. In between it can still say
/// where it was.
const GRACE: Duration = Duration::from_millis(25);

/// What a run has computed, and when that is enough.
///
/// Only one thread at a time computes for a run, but not always the same one: hence atomics without ordering.
pub(crate) struct Meter {
    cpu_limit: Duration,
    /// The instant that deadlines are counted from.
    base: Instant,
    used_ns: AtomicU64,
    entered_ns: AtomicU64,
    deadline_ns: AtomicU64,
    asked: AtomicU8,
    asked_at_ns: AtomicU64,
}

/// What to do with a guest that was just looked at.
pub(crate) enum Verdict {
    Go,
    Ask,
    CutOff,
}

const NOT_ASKED: u8 = 0;
const ASKED_CPU: u8 = 1;
const ASKED_WALL: u8 = 2;

impl Meter {
    pub(crate) fn new(cpu_limit: Duration, used: Duration) -> Meter {
        Meter {
            cpu_limit,
            base: Instant::now(),
            used_ns: AtomicU64::new(nanos(used)),
            entered_ns: AtomicU64::new(0),
            deadline_ns: AtomicU64::new(u64::MAX),
            asked: AtomicU8::new(NOT_ASKED),
            asked_at_ns: AtomicU64::new(0),
        }
    }

    pub(crate) fn set_wall_left(&self, left: Duration) {
        self.deadline_ns.store(nanos(self.base.elapsed()).saturating_add(nanos(left)), Relaxed);
    }

    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.used_ns.load(Relaxed))
    }

    /// Looks at a computing guest.
    pub(crate) fn look(&self) -> Verdict {
        let used = self.used_ns.load(Relaxed) + thread_cpu_ns().saturating_sub(self.entered_ns.load(Relaxed));
        let late = nanos(self.base.elapsed()) > self.deadline_ns.load(Relaxed);
        if self.asked.load(Relaxed) != NOT_ASKED {
            let over = used > self.asked_at_ns.load(Relaxed) + nanos(GRACE);
            return if over { Verdict::CutOff } else { Verdict::Go };
        }
        let why = match (used > nanos(self.cpu_limit), late) {
            (true, _) => ASKED_CPU,
            (false, true) => ASKED_WALL,
            (false, false) => return Verdict::Go,
        };
        self.asked.store(why, Relaxed);
        self.asked_at_ns.store(used, Relaxed);
        Verdict::Ask
    }

    /// Which limit made us ask the guest to stop.
    pub(crate) fn why(&self) -> Option<ErrorKind> {
        match self.asked.load(Relaxed) {
            ASKED_CPU => Some(ErrorKind::CpuLimit),
            ASKED_WALL => Some(ErrorKind::Timeout),
            _ => None,
        }
    }

    /// Runs a future with its computing on the meter.
    pub(crate) async fn measure<F: Future>(&self, work: F) -> F::Output {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|cx| {
            let entered = thread_cpu_ns();
            self.entered_ns.store(entered, Relaxed);
            let polled = work.as_mut().poll(cx);
            self.used_ns.fetch_add(thread_cpu_ns().saturating_sub(entered), Relaxed);
            polled
        })
        .await
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
