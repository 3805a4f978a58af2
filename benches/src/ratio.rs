//! Two engines in one process, in turns of some milliseconds: tells a few hundredths apart where processes differ by more, by how
//! their memory happens to lie and by what else the machine does meanwhile.

use std::time::{Duration, Instant};

/// A turn is at least this long.
const TURN: Duration = Duration::from_millis(4);
/// The least number of pairs of turns.
const PAIRS_MIN: usize = 25;

/// How many times as long as `other` one `own` takes: the median over pairs of turns, for `ms` milliseconds.
pub(crate) async fn ratio<E>(
    ms: u64,
    mut own: impl AsyncFnMut() -> Result<(), E>,
    mut other: impl AsyncFnMut() -> Result<(), E>,
) -> Result<f64, E> {
    let mut count = 1u32;
    while turn(count, &mut own).await? + turn(count, &mut other).await? < 2 * TURN {
        count = count.saturating_mul(2);
    }
    let mut ratios = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(ms) || ratios.len() < PAIRS_MIN {
        // There and back, so that neither always comes after the other.
        let (ours, theirs) = if ratios.len() % 2 == 0 {
            let ours = turn(count, &mut own).await?;
            (ours, turn(count, &mut other).await?)
        } else {
            let theirs = turn(count, &mut other).await?;
            (turn(count, &mut own).await?, theirs)
        };
        ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios[ratios.len() / 2])
}

async fn turn<E>(count: u32, once: &mut impl AsyncFnMut() -> Result<(), E>) -> Result<Duration, E> {
    let begun = Instant::now();
    for _ in 0..count {
        once().await?;
    }
    Ok(begun.elapsed())
}
