use crate::error::Error;
use crate::options::Mode;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Measures what this thread computes and what passes on the wall.
pub(crate) struct Stopwatch {
    cpu_ns: u64,
    wall: Instant,
}

/// What one stopwatch showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) cpu_ns: u64,
    pub(crate) wall_ns: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        let wall = Instant::now();
        Stopwatch { cpu_ns: thread_cpu_ns(), wall }
    }

    pub(crate) fn stop(&self) -> Sample {
        let cpu_ns = thread_cpu_ns().saturating_sub(self.cpu_ns);
        Sample { cpu_ns, wall_ns: self.wall.elapsed().as_nanos() as u64 }
    }
}

impl Sample {
    /// The part of one of `count` equal things.
    pub(crate) fn each(self, count: u64) -> Sample {
        let count = count.max(1);
        Sample { cpu_ns: self.cpu_ns / count, wall_ns: self.wall_ns / count }
    }
}

fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Many samples of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    cpu_ns: Vec<u64>,
    wall_ns: Vec<u64>,
}

impl Samples {
    pub(crate) fn push(&mut self, sample: Sample) {
        self.cpu_ns.push(sample.cpu_ns);
        self.wall_ns.push(sample.wall_ns);
    }

    pub(crate) fn cpu_us(&self) -> f64 {
        median(&self.cpu_ns) / 1e3
    }

    pub(crate) fn wall_us(&self) -> f64 {
        median(&self.wall_ns) / 1e3
    }
}

/// The middle one.
pub(crate) fn median(values: &[u64]) -> f64 {
    quantile(values, 0.5)
}

/// The value that this part of all values does not exceed.
pub(crate) fn quantile(values: &[u64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() as f64 * part) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).map_or(f64::NAN, |n| *n as f64)
}

/// How long to keep on measuring one thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    warm: Duration,
    pub(crate) series: Duration,
}

/// Slow things are measured at least this often, whatever the time.
const SAMPLES_MIN: usize = 3;
/// Enough for a median of anything, and a bound on what is kept.
const SAMPLES_MAX: usize = 200_000;

impl Effort {
    pub(crate) fn of(mode: Mode) -> Effort {
        let series = mode.pick(Duration::from_millis(200), Duration::from_millis(300));
        Effort { warm: series / 5, series }
    }

    /// Does something over and over: first unrecorded, then recorded.
    pub(crate) async fn sample(&self, mut once: impl AsyncFnMut() -> Result<Sample, Error>) -> Result<Samples, Error> {
        let warm = Instant::now();
        once().await?;
        while warm.elapsed() < self.warm {
            once().await?;
        }
        let mut samples = Samples::default();
        let begun = Instant::now();
        while (begun.elapsed() < self.series || samples.cpu_ns.len() < SAMPLES_MIN)
            && samples.cpu_ns.len() < SAMPLES_MAX
        {
            samples.push(once().await?);
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_do_not_depend_on_order() {
        let values = [5, 1, 4, 2, 3];
        assert_eq!(median(&values), 3.0);
        assert_eq!(quantile(&values, 0.99), 5.0);
        assert!(median(&[]).is_nan());
    }
}
