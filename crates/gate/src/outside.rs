//! Calls that wait for someone outside: a client's tool, a person. A run can leave memory meanwhile.

use crate::ledger::lock;
use isolith_core::CallId;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Which calls only wait, so that dropping them loses nothing.
#[derive(Default)]
pub(crate) struct Outside {
    waiting: Mutex<BTreeSet<CallId>>,
}

impl Outside {
    /// Waits for an answer from outside.
    pub(crate) async fn wait<T>(&self, id: CallId, answer: impl Future<Output = T>) -> T {
        lock(&self.waiting).insert(id);
        let answer = answer.await;
        lock(&self.waiting).remove(&id);
        answer
    }

    /// Whether all of these only wait, as far as can be seen from here.
    pub(crate) fn all(&self, unanswered: &[CallId]) -> bool {
        let waiting = lock(&self.waiting);
        unanswered.iter().all(|id| waiting.contains(id))
    }
}
