use crate::error::Error;
use crate::lab::Lab;
use crate::report::{Goal, Row};
use crate::sources::TRIVIAL;
use crate::stopwatch::{Stopwatch, median, quantile};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many whole runs a second, from source to outcome, and how even they are.
pub(crate) fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let measured = on_threads(lab, threads)?;
        let name = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        let runs =
            Row::new(format!("throughput.{threads}"), format!("{name}: whole runs"), measured.per_second, "runs/s");
        let even = Row::new(
            format!("throughput.{threads}.p99"),
            format!("{name}: slowest hundredth against the median"),
            measured.p99_to_median,
            "times",
        );
        let each = Row::new(
            format!("throughput.{threads}.cpu"),
            format!("{name}: CPU time of a run, waits for a core left out"),
            measured.cpu_us,
            "µs",
        );
        rows.push(if threads == 2 { runs.goal(Goal::AtLeast(10_000.0)) } else { runs });
        rows.push(even.goal(Goal::AtMost(10.0)));
        rows.push(each);
    }
    Ok(rows)
}

struct Measured {
    per_second: f64,
    cpu_us: f64,
    p99_to_median: f64,
}

fn on_threads(lab: &Lab, threads: u32) -> Result<Measured, Error> {
    let length = lab.mode.pick(Duration::from_millis(700), Duration::from_secs(2));
    let begun = Instant::now();
    let results: Vec<Result<Worked, Error>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(move || work(lab, length))).collect();
        let lost = || Err(Error::Wrong { what: "throughput", found: "a thread was lost".into() });
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| lost())).collect()
    });
    let elapsed = begun.elapsed();
    let (mut walls, mut cpu_ns) = (Vec::new(), 0);
    for result in results {
        let worked = result?;
        walls.extend(worked.wall_ns);
        cpu_ns += worked.cpu_ns;
    }
    Ok(Measured {
        per_second: walls.len() as f64 / elapsed.as_secs_f64(),
        cpu_us: cpu_ns as f64 / 1e3 / walls.len() as f64,
        p99_to_median: quantile(&walls, 0.99) / median(&walls),
    })
}

/// What one thread did.
struct Worked {
    /// Each run.
    wall_ns: Vec<u64>,
    /// All of them.
    cpu_ns: u64,
}

/// Runs one after another for as long as that.
fn work(lab: &Lab, length: Duration) -> Result<Worked, Error> {
    let runtime = crate::measure::runtime()?;
    runtime.block_on(async {
        let watch = Stopwatch::start();
        let mut wall_ns = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < length {
            let run = Instant::now();
            lab.run(TRIVIAL, &Arc::default()).await?;
            wall_ns.push(run.elapsed().as_nanos() as u64);
        }
        Ok(Worked { wall_ns, cpu_ns: watch.stop().cpu_ns })
    })
}
