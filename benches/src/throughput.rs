use crate::error::Error;
use crate::lab::Lab;
use crate::report::{Goal, Row};
use crate::sources::TRIVIAL;
use crate::stopwatch::{median, quantile};
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
        rows.push(if threads == 2 { runs.goal(Goal::AtLeast(10_000.0)) } else { runs });
        rows.push(even.goal(Goal::AtMost(10.0)));
    }
    Ok(rows)
}

struct Measured {
    per_second: f64,
    p99_to_median: f64,
}

fn on_threads(lab: &Lab, threads: u32) -> Result<Measured, Error> {
    let length = lab.mode.pick(Duration::from_millis(700), Duration::from_secs(5));
    let begun = Instant::now();
    let results: Vec<Result<Vec<u64>, Error>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(move || work(lab, length))).collect();
        let lost = || Err(Error::Wrong { what: "throughput", found: "a thread was lost".into() });
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| lost())).collect()
    });
    let elapsed = begun.elapsed();
    let mut walls = Vec::new();
    for result in results {
        walls.extend(result?);
    }
    Ok(Measured {
        per_second: walls.len() as f64 / elapsed.as_secs_f64(),
        p99_to_median: quantile(&walls, 0.99) / median(&walls),
    })
}

/// Runs one after another for as long as that, and gives how long each took.
fn work(lab: &Lab, length: Duration) -> Result<Vec<u64>, Error> {
    let runtime = crate::measure::runtime()?;
    runtime.block_on(async {
        let mut walls = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < length {
            let run = Instant::now();
            lab.run(TRIVIAL, &[]).await?;
            walls.push(run.elapsed().as_nanos() as u64);
        }
        Ok(walls)
    })
}
