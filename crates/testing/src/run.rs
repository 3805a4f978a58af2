use crate::{Case, Fixtures};
use isolith_core::{Outcome, OutputSink, Stream, Timestamp};
use isolith_runner::{Attend, Plan, RunError, Runner};
use std::sync::Arc;

/// Output has its place in the outcome; nobody watches it come.
struct Unwatched;

impl OutputSink for Unwatched {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

/// Runs one plan to its end against fixtures, and says to them that it is over.
pub async fn run(runner: &Runner, plan: Plan, fixtures: &Arc<Fixtures>) -> Result<Outcome, RunError> {
    let attend = Attend::new(Arc::clone(fixtures) as _, Arc::new(Unwatched));
    let ended = runner.run(plan, attend).await;
    fixtures.close();
    ended.map(|ended| ended.outcome)
}

/// An outcome without what may differ between two equal runs: how long things took. Under a live clock, when output was
/// written is such a thing too.
pub fn steady(case: &Case, mut outcome: Outcome) -> Outcome {
    outcome.usage.wall_us = 0;
    outcome.usage.cpu_us = 0;
    outcome.calls.iter_mut().for_each(|call| call.duration_us = 0);
    if case.header.time_ms.is_none() {
        outcome.outputs.iter_mut().for_each(|output| output.at_ms = 0);
    }
    outcome
}
