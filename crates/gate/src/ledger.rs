//! What a run has used up, and what someone agreed to.

use isolith_core::{Admitted, Budget, CallError, Consent, Decision, Grant, Json, Refusal, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A call that is not made, with the grant that would have allowed it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: CallError,
    pub(crate) wanted: String,
}

/// A call that may be made.
#[derive(Debug)]
pub(crate) struct Passed<'a> {
    pub(crate) grant: &'a Grant,
    /// Its place among the grants.
    pub(crate) index: usize,
    /// What to make it with instead, where someone said so.
    pub(crate) args: Option<Json>,
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

    /// Takes up what was agreed to for the whole run before it left memory.
    pub(crate) fn agreed_before(&self, grants: impl Iterator<Item = String>) {
        lock(&self.agreed).extend(grants);
    }

    /// Whether someone has to be asked about this call, and was not yet.
    pub(crate) fn asks(&self, admitted: &Admitted<'_>) -> Option<String> {
        let label = admitted.asks?.to_string();
        (!lock(&self.agreed).contains(&label)).then_some(label)
    }

    /// Lets an admitted call pass: asks whoever has to be asked, and counts it. `again` decides about other arguments than the
    /// program's own, where someone agrees to those only.
    pub(crate) async fn pass<'a>(
        &self,
        decision: Result<Admitted<'a>, Refusal>,
        ask: impl AsyncFnOnce(String) -> (String, Verdict),
        again: impl FnOnce(&Json) -> Result<Admitted<'a>, Refusal>,
    ) -> Result<Passed<'a>, Refused> {
        let mut admitted = decision?;
        let mut args = None;
        if let Some(label) = self.asks(&admitted) {
            let (what, verdict) = ask(label.clone()).await;
            if verdict.decision == Decision::Deny {
                let reason = verdict.reason.map_or_else(|| ", and was not".into(), |reason| format!(": {reason}"));
                let message = format!("{what} has to be agreed to by someone{reason} (`{label}`)");
                return Err(refused(admitted.grant, message));
            }
            if verdict.consent != Consent::Once {
                lock(&self.agreed).insert(label);
            }
            if let Some(edited) = verdict.args {
                admitted = again(&edited)?;
                args = Some(edited);
            }
        }
        // Spent before it is done: calls side by side must not pass on one count.
        for (n, budget) in admitted.budgets.iter().enumerate() {
            if !self.spend(budget) {
                admitted.budgets[..n].iter().for_each(|budget| self.give_back(budget));
                let message = format!("`{}` may be used {} times, and was", budget.of, budget.calls);
                return Err(refused(admitted.grant, message));
            }
        }
        Ok(Passed { grant: admitted.grant, index: admitted.index, args })
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
