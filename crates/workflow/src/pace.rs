//! When the guest has taken its next step. Answers that are known beforehand are given one at a time, each after what came of the last.

use isolith_core::{Mark, Recorder, StoreProblem};
use std::sync::Arc;
use tokio::sync::watch;

/// How many steps the guest has taken.
#[derive(Debug, Default)]
pub struct Pace(watch::Sender<u64>);

impl Pace {
    /// How many so far.
    pub fn steps(&self) -> u64 {
        *self.0.borrow()
    }

    /// Returns when there are more than so many.
    pub async fn beyond(&self, steps: u64) {
        let mut watched = self.0.subscribe();
        // The sender is here, and outlives this.
        let _ = watched.wait_for(|taken| *taken > steps).await;
    }
}

/// A journal whose steps are counted.
pub(crate) struct Paced {
    /// Takes the records.
    pub to: Box<dyn Recorder>,
    /// Is told.
    pub pace: Arc<Pace>,
}

impl Recorder for Paced {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.to.append(record)?;
        if record.starts_with(r#"{"step""#) {
            self.pace.0.send_modify(|steps| *steps += 1);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        self.to.sync()
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        self.to.rewrite(change)
    }

    fn mark(&self) -> Option<Mark> {
        self.to.mark()
    }
}
