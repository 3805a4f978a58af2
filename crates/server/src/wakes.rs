//! When sleeping runs want to be woken.

use isolith_core::{CallerId, RunId, Timestamp};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct Wakes {
    all: Mutex<BTreeSet<(Timestamp, CallerId, RunId)>>,
}

impl Wakes {
    pub(crate) fn add(&self, at: Timestamp, caller: CallerId, run: RunId) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).insert((at, caller, run));
    }

    /// Those whose time has come. A run that was woken for something else meanwhile is awake, or waits for another moment.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<(CallerId, RunId)> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        while all.first().is_some_and(|(at, _, _)| *at <= now) {
            due.extend(all.pop_first().map(|(_, caller, run)| (caller, run)));
        }
        due
    }
}
