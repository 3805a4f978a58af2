//! Calls that wait for someone outside: a client's tool, a person. A run can leave memory meanwhile.

use crate::ledger::lock;
use isolith_core::CallId;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Which calls only wait, so that dropping them loses nothing.
#[derive(Default)]
pub(crate) struct Outside {
    waiting: Mutex<BTreeMap<CallId, For>>,
}

/// Whom a call waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Whoever brings the tools.
    Tool,
    /// Whoever has to agree.
    Word,
}

impl Outside {
    /// Waits for an answer from outside.
    pub(crate) async fn wait<T>(&self, id: CallId, whom: For, answer: impl Future<Output = T>) -> T {
        lock(&self.waiting).insert(id, whom);
        let answer = answer.await;
        lock(&self.waiting).remove(&id);
        answer
    }

    /// These calls by whom they wait for: tools first, words second. Nothing when one of them does more than wait.
    pub(crate) fn split(&self, unanswered: &[CallId]) -> Option<(Vec<CallId>, Vec<CallId>)> {
        let waiting = lock(&self.waiting);
        let (mut tools, mut words) = (Vec::new(), Vec::new());
        for id in unanswered {
            match waiting.get(id)? {
                For::Tool => tools.push(*id),
                For::Word => words.push(*id),
            }
        }
        Some((tools, words))
    }
}
