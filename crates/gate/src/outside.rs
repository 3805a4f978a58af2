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
    /// Waits for an answer from outside. Once the run has left, no answer comes through any more: the call is made again later.
    pub(crate) async fn wait<T>(&self, id: CallId, answer: impl Future<Output = T>) -> T {
        lock(&self.waiting).insert(id);
        let answer = answer.await;
        if !lock(&self.waiting).remove(&id) {
            std::future::pending::<()>().await;
        }
        answer
    }

    /// Whether all of these only wait. Then they wait for ever.
    pub(crate) fn leave(&self, unanswered: &[CallId]) -> bool {
        let mut waiting = lock(&self.waiting);
        let all = unanswered.iter().all(|id| waiting.contains(id));
        if all {
            waiting.clear();
        }
        all
    }
}
