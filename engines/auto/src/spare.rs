use crate::history::History;
use std::sync::{Mutex, PoisonError};

/// How many are kept, and how large they may be.
const KEPT_MAX: usize = 16;
const BYTES_MAX: usize = 4 << 20;

/// Histories of runs that are over, without what was in them: memory that is asked for anew has to be cleared by the system, and a
/// program that calls a tool some hundred times would spend more on that than on what is written there.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<History>>);

impl Spare {
    pub(crate) fn take(&self) -> History {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&self, mut history: History) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX && history.room_bytes() <= BYTES_MAX {
            history.clear();
            kept.push(history);
        }
    }
}
