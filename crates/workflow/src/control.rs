//! What can be done to a run from outside while it goes on.

use crate::fault::Fault;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Stops, pauses and ends a run.
#[derive(Debug, Default)]
pub struct Control {
    /// Agents are called no more, and those that work are given up; the script hears of it and may clean up.
    pub stop: CancellationToken,
    /// The run ends here and now.
    pub end: CancellationToken,
    paused: watch::Sender<bool>,
    fatal: Mutex<Option<Fault>>,
}

impl Control {
    /// Lets no further agent begin, until it is let again.
    pub fn pause(&self, paused: bool) {
        self.paused.send_replace(paused);
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }

    /// Returns when agents may begin.
    pub(crate) async fn gate(&self) {
        let mut watched = self.paused.subscribe();
        // The sender is here, and outlives this.
        let _ = watched.wait_for(|paused| !paused).await;
    }

    /// Ends the run with a fault that no script can catch.
    pub(crate) fn fail(&self, fault: Fault) {
        self.fatal.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        self.end.cancel();
    }

    /// What ended it, if that was us.
    pub(crate) fn fatal(&self) -> Option<Fault> {
        self.fatal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
