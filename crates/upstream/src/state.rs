//! When a server that does not work is tried again.

use std::time::{Duration, Instant};

/// The pause after the first failure. It doubles with each that follows.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Failures in a row, and until when nothing is tried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    failures: u32,
    until: Option<Instant>,
}

impl Pauses {
    /// It could not be started.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + pause(self.failures));
    }

    /// It died. One that had answered before is started again at once; so is any other, the first time.
    pub(crate) fn died(&mut self, had_answered: bool, now: Instant) {
        self.failures = if had_answered { 0 } else { self.failures.saturating_add(1) };
        self.until = Some(now + pause(self.failures.saturating_sub(1)));
    }

    /// How long nothing is tried yet.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        self.until?.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

fn pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        failures => (PAUSE_MIN * (1 << (failures - 1).min(10))).min(PAUSE_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_it_works() {
        let (mut pauses, now) = (Pauses::default(), Instant::now());
        let mut seconds = || {
            pauses.failed(now);
            pauses.left(now).map_or(0, |left| left.as_secs())
        };
        let grown: Vec<u64> = (0..8).map(|_| seconds()).collect();
        assert_eq!(grown, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses.left(now + PAUSE_MAX), None);

        let mut pauses = Pauses::default();
        let mut died = |answered: bool| {
            pauses.died(answered, now);
            pauses.left(now).map_or(0, |left| left.as_secs())
        };
        assert_eq!([died(false), died(false), died(false), died(true), died(false)], [0, 1, 2, 0, 0]);
    }
}
