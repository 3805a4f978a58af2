//! Timing as the peers do it: whole batches, by the clock of the whole process, so that no engine's helpers go uncounted.
//! Shared with the peers in Rust; the harness of the peers on Node does the same.

use crate::job::Times;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// A batch is at least this long.
const BATCH: Duration = Duration::from_millis(10);
/// Slow things are measured in at least this many batches, whatever the time.
const BATCHES_MIN: usize = 5;

/// The process's clock and the wall's.
pub(crate) struct Moment {
    cpu_ns: u64,
    wall: Instant,
}

impl Moment {
    pub(crate) fn now() -> Moment {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Moment { cpu_ns: cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs(), wall: Instant::now() }
    }

    /// What one of `count` equal things took that were done since.
    pub(crate) fn each(&self, count: u32) -> Times {
        let now = Moment::now();
        let part = |ns: u64| ns as f64 / 1e3 / f64::from(count.max(1));
        let wall = now.wall.duration_since(self.wall).as_nanos() as u64;
        Times { cpu_us: part(now.cpu_ns.saturating_sub(self.cpu_ns)), wall_us: part(wall) }
    }
}

/// Batches of `once` for `ms` milliseconds, after a fifth of that to warm up; the median, divided by `each`.
pub(crate) async fn batches<E>(ms: u64, each: u32, mut once: impl AsyncFnMut() -> Result<(), E>) -> Result<Times, E> {
    let length = Duration::from_millis(ms);
    let mut count = 1u32;
    let warm = Instant::now();
    while warm.elapsed() < length / 5 {
        let begun = Instant::now();
        for _ in 0..count {
            once().await?;
        }
        if begun.elapsed() < BATCH {
            count = count.saturating_mul(2);
        }
    }
    let mut all = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < length || all.len() < BATCHES_MIN {
        let moment = Moment::now();
        for _ in 0..count {
            once().await?;
        }
        all.push(moment.each(count));
    }
    let middle = |of: fn(&Times) -> f64| {
        let mut values: Vec<f64> = all.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).map_or(f64::NAN, |value| value / f64::from(each.max(1)))
    };
    Ok(Times { cpu_us: middle(|t| t.cpu_us), wall_us: middle(|t| t.wall_us) })
}
