//! What people say about calls that a grant asks about: taken, kept, and given to the run.

use crate::caller::Household;
use crate::error::Refusal;
use crate::run::Run;
use crate::runs::{Runs, now};
use axum::http::StatusCode;
use isolith_core::{Ask, BoxFuture, CallId, CallerId, Consent, Heard, Json, Outcome, RunId, RunStore, Verdict, Word};
use isolith_gate::Desk;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Questions of a run with what was said, and the grants that someone agreed to for all of it.
pub(crate) type Words = (Vec<(Ask, Option<Verdict>)>, Vec<String>);

/// What stands behind the questions of one run.
pub(crate) struct RunDesk {
    pub(crate) run: Arc<Run>,
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) household: Arc<dyn Household>,
}

impl Desk for RunDesk {
    fn asked(&self, ask: &Ask) {
        self.run.asked(ask);
    }

    fn begin(&self, call: CallId) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            if !self.run.stored.load(Ordering::Acquire) {
                return true;
            }
            let begun = self.store.begin(&self.run.caller.id, &self.run.id, call).await;
            begun.unwrap_or_else(|error| {
                tracing::error!(%error, "taking up a word");
                false
            })
        })
    }

    fn always(&self, program: &str, grant: &str) -> bool {
        self.household.consented(&self.run.caller.id, program, grant)
    }

    fn remember(&self, program: &str, grant: &str) {
        if let Err(error) = self.household.consent(&self.run.caller.id, program, grant) {
            tracing::error!(%error, "keeping a consent");
        }
    }
}

/// All calls of a suspended run that have no answer, from its client or from someone who is asked.
fn unanswered(outcome: &Json) -> Vec<CallId> {
    let Ok(outcome) = outcome.parse::<Outcome>() else { return Vec::new() };
    let pending = outcome.waiting_for.iter().map(|pending| pending.id);
    pending.chain(outcome.approvals.iter().map(|ask| ask.id)).collect()
}

impl Runs {
    /// What was asked and said about a run, as it is kept. `outcome` is how it stands.
    pub(crate) async fn words(&self, caller: &CallerId, run: &RunId, outcome: &Json) -> Result<Words, Refusal> {
        let kept = self.store.approvals(Some(caller), Some(run)).await;
        let kept = kept.map_err(|error| Refusal::internal("finding what was said", &error))?;
        let for_all = |said: &isolith_core::Said| said.verdict.consent != Consent::Once;
        // What the run has not taken up yet is said to it when it asks, and kept for good where that was meant.
        let agreed = kept.iter().filter(|one| one.begun && one.said.as_ref().is_some_and(for_all));
        let agreed = agreed.map(|one| one.ask.grant.clone()).collect();
        // A call that has its answer is not made again: whoever waited for it to take up its word would wait without end. One that
        // was begun and never came to an end is among those that the run waits for, and is told so.
        let waits = unanswered(outcome);
        let open = kept.into_iter().filter(|one| waits.contains(&one.ask.id));
        Ok((open.map(|one| (one.ask, one.said.map(|said| said.verdict))).collect(), agreed))
    }

    /// Takes someone's word about a call. It is on disk before they are told, if the run is.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        run: &Arc<Run>,
        call: CallId,
        verdict: Verdict,
        by: &str,
    ) -> Result<(), Refusal> {
        let ask = run.approvals.open().into_iter().find(|ask| ask.id == call);
        if let Some(ask) = &ask {
            verdict.check(ask).map_err(|message| Refusal::invalid(message).at("approvals"))?;
        }
        let heard = match run.stored.load(Ordering::Acquire) {
            true => {
                let (caller, id) = (run.caller.id.clone(), run.id.clone());
                let word = Word { caller, run: id, call, ask, verdict: verdict.clone(), by: by.into(), at: now() };
                let heard = self.store.decide(word).await;
                let heard = heard.map_err(|error| Refusal::internal("keeping a word", &error))?;
                if heard == Heard::Yes {
                    // A run that is about to leave finds it here and stays.
                    run.approvals.decide(call, &verdict);
                }
                heard
            }
            false => run.approvals.decide(call, &verdict),
        };
        tracing::info!(run = %run.id, call = call.0, ?heard, by, decision = ?verdict.decision, "a word about a call");
        let refuse =
            |status, code, message: &str| Err(Refusal::new(status, code, format!("call {}: {message}", call.0)));
        match heard {
            Heard::Yes => {
                self.wake(run);
                Ok(())
            }
            Heard::Twice => refuse(StatusCode::CONFLICT, "approval.answered", "someone was earlier"),
            Heard::Late => refuse(StatusCode::GONE, "approval.expired", "its time is over, and the answer was no"),
            Heard::Unknown => refuse(StatusCode::NOT_FOUND, "approval.unknown", "nobody is asked about it"),
        }
    }
}
