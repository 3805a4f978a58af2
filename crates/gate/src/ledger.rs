//! What a run has used up, and what someone agreed to.

use crate::means::{Approver, Question};
use isolith_core::{Admitted, Budget, CallError, Grant, Refusal};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A call that is not made, with the grant that would have allowed it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: CallError,
    pub(crate) wanted: String,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused { error: refusal.to_error(), wanted: refusal.wanted.to_string() }
    }
}

/// Counts of one run. A program that was invoked counts against its caller's budgets too.
#[derive(Default)]
pub(crate) struct Ledger {
    spent: Mutex<BTreeMap<String, u32>>,
    agreed: Mutex<BTreeSet<String>>,
    caller: Option<Arc<Ledger>>,
}

impl Ledger {
    pub(crate) fn under(caller: Arc<Ledger>) -> Ledger {
        Ledger { caller: Some(caller), ..Ledger::default() }
    }

    /// Takes up counts from before the run left memory.
    pub(crate) fn already(&self, grants: &[Grant], used: impl Iterator<Item = String>) {
        for label in used {
            for budget in grants.iter().filter(|grant| grant.to_string() == label).flat_map(|grant| &grant.budgets) {
                self.count(budget, 1);
            }
        }
    }

    /// Lets an admitted call pass: counts it, and asks whoever has to be asked.
    pub(crate) async fn pass<'a>(
        &self,
        decision: Result<Admitted<'a>, Refusal>,
        approver: &dyn Approver,
        question: impl FnOnce() -> Question,
    ) -> Result<&'a Grant, Refused> {
        let admitted = decision?;
        if let Some(label) = admitted.asks.map(Grant::to_string)
            && !lock(&self.agreed).contains(&label)
        {
            let question = Question { grant: label.clone(), ..question() };
            let what = question.what.clone();
            if !approver.ask(question).await {
                let message = format!("{what} has to be agreed to by someone, and was not: `{label}`");
                return Err(refused(admitted.grant, message));
            }
            lock(&self.agreed).insert(label);
        }
        // Spent before it is done: calls side by side must not pass on one count.
        for (n, budget) in admitted.budgets.iter().enumerate() {
            if !self.spend(budget) {
                admitted.budgets[..n].iter().for_each(|budget| self.give_back(budget));
                let message = format!("`{}` may be used {} times, and was", budget.of, budget.calls);
                return Err(refused(admitted.grant, message));
            }
        }
        Ok(admitted.grant)
    }

    fn spend(&self, budget: &Budget) -> bool {
        if let Some((caller, of)) = self.callers(budget) {
            return caller.spend(&Budget { of, calls: budget.calls });
        }
        let mut spent = lock(&self.spent);
        let count = spent.entry(budget.of.clone()).or_default();
        if *count >= budget.calls {
            return false;
        }
        *count += 1;
        true
    }

    fn give_back(&self, budget: &Budget) {
        match self.callers(budget) {
            Some((caller, of)) => caller.give_back(&Budget { of, calls: budget.calls }),
            None => self.count(budget, -1),
        }
    }

    fn count(&self, budget: &Budget, by: i32) {
        let mut spent = lock(&self.spent);
        let count = spent.entry(budget.of.clone()).or_default();
        *count = count.saturating_add_signed(by);
    }

    /// Narrowing marks a ceiling's budgets: for an invoked program the ceiling is its caller.
    fn callers(&self, budget: &Budget) -> Option<(&Ledger, String)> {
        Some((self.caller.as_deref()?, budget.of.strip_prefix("operator ")?.to_owned()))
    }
}

fn refused(grant: &Grant, message: String) -> Refused {
    let wanted = grant.power.to_string();
    let kind = wanted.split(':').next().unwrap_or_default();
    let error = CallError { name: "DeniedError".into(), message, code: Some(format!("{kind}.denied")) };
    Refused { error, wanted }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
