//! Decisions about the calls of a recorded run, made once more from its grants alone.

use isolith_core::{Admitted, Bindings, Builtin, Grant, HostCall, Power, Refusal, judge, judge_request};
use isolith_runner::{Made, Recorded};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is decided about a call before anyone is asked or anything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Allowed,
    Asked,
    Refused,
}

impl Word {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Word::Allowed => "allowed",
            Word::Asked => "asked",
            Word::Refused => "refused",
        }
    }
}

/// A decision and its reasons.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Decision {
    pub(crate) decision: Word,
    /// The grant that covers the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grant: Option<Grant>,
    /// The grant that wants someone to be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asks: Option<String>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The smallest grant that would allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wanted: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) budgets: Vec<Counted>,
}

/// A budget and what was used of it before this call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Counted {
    pub(crate) of: String,
    pub(crate) calls: u32,
    pub(crate) used: u32,
}

/// Decides about one call after the other, and counts.
pub(crate) struct Decider<'a> {
    grants: &'a [Grant],
    spent: BTreeMap<String, u32>,
}

impl<'a> Decider<'a> {
    pub(crate) fn new(grants: &'a [Grant]) -> Decider<'a> {
        Decider { grants, spent: BTreeMap::new() }
    }

    /// Nothing for a call that no grant has a say about.
    pub(crate) fn call(&mut self, call: &HostCall) -> Option<Decision> {
        judge(self.grants, call).map(|decided| self.count(decided))
    }

    /// The same for a request that a redirect led to, as a receipt names it: `GET https://…`.
    fn request(&mut self, what: &str) -> Option<Decision> {
        let (method, url) = what.split_once(' ')?;
        judge_request(self.grants, method, url).map(|decided| self.count(decided))
    }

    /// The same for a part of the language, which is there or not.
    fn builtin(&self, builtin: Builtin) -> Decision {
        let grant = Grant::allow(Power::Builtin(builtin));
        let is_there = Bindings::of(self.grants).builtins.contains(&builtin);
        let (decision, why) = match is_there {
            true => (Word::Allowed, None),
            false => (Word::Refused, Some(format!("not granted: `{grant}` would allow it"))),
        };
        let wanted = (!is_there).then(|| grant.to_string());
        Decision { decision, grant: is_there.then_some(grant), asks: None, why, wanted, budgets: Vec::new() }
    }

    fn count(&mut self, decided: Result<Admitted<'a>, Refusal>) -> Decision {
        let admitted = match decided {
            Ok(admitted) => admitted,
            Err(refusal) => {
                let (why, wanted) = (Some(refusal.why), Some(refusal.wanted.to_string()));
                let (grant, asks, budgets) = (None, None, Vec::new());
                return Decision { decision: Word::Refused, grant, asks, why, wanted, budgets };
            }
        };
        let used = |of: &str| self.spent.get(of).copied().unwrap_or_default();
        let counted = admitted.budgets.iter();
        let budgets: Vec<Counted> =
            counted.map(|b| Counted { of: b.of.clone(), calls: b.calls, used: used(&b.of) }).collect();
        let spent = budgets.iter().find(|budget| budget.used >= budget.calls);
        let why = spent.map(|budget| format!("`{}` may be used {} times, and was", budget.of, budget.calls));
        let decision = match (&why, admitted.ask) {
            (Some(_), _) => Word::Refused,
            (None, true) => Word::Asked,
            (None, false) => Word::Allowed,
        };
        if why.is_none() {
            budgets.iter().for_each(|budget| *self.spent.entry(budget.of.clone()).or_default() += 1);
        }
        let (grant, asks) = (Some(admitted.grant.clone()), admitted.asks.map(ToString::to_string));
        Decision { decision, grant, asks, why, wanted: None, budgets }
    }
}

/// What two lists of grants say about the parts of the language that a run asked for.
pub(crate) fn compare_builtins(recorded: &Recorded, before: &Decider<'_>, after: &Decider<'_>) -> Vec<Compared> {
    let asked = Bindings::of(&recorded.header.requested).builtins.into_iter();
    let both = |builtin: Builtin| Compared {
        what: format!("`{builtin}`"),
        before: before.builtin(builtin),
        after: after.builtin(builtin),
    };
    asked.map(both).collect()
}

/// What was asked for, and what two lists of grants say about it.
pub(crate) struct Compared {
    pub(crate) what: String,
    pub(crate) before: Decision,
    pub(crate) after: Decision,
}

/// Decides about one call, and where it was redirected to, by two lists of grants. Nothing of a call that is not known.
pub(crate) fn compare(
    recorded: &Recorded,
    made: &Made,
    before: &mut Decider<'_>,
    after: &mut Decider<'_>,
) -> Option<Vec<Compared>> {
    let call = made.call()?;
    let mut all = Vec::new();
    let mut add = |what: String, both: (Option<Decision>, Option<Decision>)| {
        if let (Some(before), Some(after)) = both {
            all.push(Compared { what, before, after });
        }
    };
    add(made.label(), (before.call(&call), after.call(&call)));
    if matches!(call, HostCall::Fetch(_)) {
        for act in recorded.acts(made.id).iter().skip(1) {
            add(act.what.clone(), (before.request(&act.what), after.request(&act.what)));
        }
    }
    Some(all)
}
