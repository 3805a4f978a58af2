//! Whom a run asks that can wait outside memory: its questions are kept, and a word about them may come at any time.

use crate::book::now;
use crate::ledger::lock;
use crate::means::{Approver, Question};
use isolith_core::{Ask, BoxFuture, CallId, Consent, Heard, Verdict};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// What stands behind the questions of one run.
pub trait Desk: Send + Sync {
    /// Someone is to be asked.
    fn asked(&self, ask: &Ask);

    /// Takes a word up before it is acted on. False when that was done before.
    fn begin(&self, call: CallId) -> BoxFuture<'_, bool>;

    /// Whether someone agreed for good to what a grant asks about in exactly this program.
    fn always(&self, program: &str, grant: &str) -> bool;

    /// Keeps that they did.
    fn remember(&self, program: &str, grant: &str);
}

/// The questions of one run.
#[derive(Default)]
pub struct Approvals {
    state: Mutex<State>,
}

/// Whom a gate asks: whoever looks at the questions.
pub struct Asking<D> {
    /// The questions.
    pub approvals: Arc<Approvals>,
    /// What stands behind them.
    pub desk: D,
    /// How long someone may take.
    pub patience: Duration,
}

#[derive(Default)]
struct State {
    open: BTreeMap<CallId, Open>,
    /// The run has left memory, or is about to: words wait until it is back.
    left: bool,
}

struct Open {
    ask: Ask,
    verdict: Option<Verdict>,
    /// The run has it, and makes the call.
    taken: bool,
    waker: Option<Waker>,
}

impl Approvals {
    /// Questions of a run that is not in memory, with what was said about them.
    pub fn put(&self, asks: impl IntoIterator<Item = (Ask, Option<Verdict>)>) {
        let mut state = lock(&self.state);
        for (ask, verdict) in asks {
            let open = state.open.entry(ask.id).or_insert(Open { ask, verdict: None, taken: false, waker: None });
            open.verdict = open.verdict.take().or(verdict);
            open.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Someone's word. What is good for the whole run answers all that the same grant asks.
    pub fn decide(&self, call: CallId, verdict: &Verdict) -> Heard {
        let mut state = lock(&self.state);
        let Some(open) = state.open.get(&call) else { return Heard::Unknown };
        if open.verdict.is_some() {
            return Heard::Twice;
        }
        if open.ask.expires_us <= now() {
            return Heard::Late;
        }
        let grant = open.ask.grant.clone();
        let all = verdict.consent != Consent::Once;
        for open in state.open.values_mut().filter(|open| open.verdict.is_none()) {
            if open.ask.id == call || (all && open.ask.grant == grant) {
                open.verdict = Some(verdict.clone());
                open.waker.take().into_iter().for_each(Waker::wake);
            }
        }
        Heard::Yes
    }

    /// Whether there is a word that the run has not taken up.
    pub fn any_said(&self) -> bool {
        lock(&self.state).open.values().any(|open| open.verdict.is_some() && !open.taken)
    }

    /// What was said about calls that have no answer yet: the run has not taken it up, or has and waits for whoever brings the tool.
    pub fn said(&self) -> Vec<(Ask, Verdict)> {
        let state = lock(&self.state);
        state.open.values().filter_map(|open| Some((open.ask.clone(), open.verdict.clone()?))).collect()
    }

    /// The run is back: what was said is delivered from here on, also about calls that are made again.
    pub fn is_back(&self) {
        let mut state = lock(&self.state);
        state.left = false;
        state.open.values_mut().for_each(|open| open.taken = false);
        state.open.values_mut().filter_map(|open| open.waker.take()).for_each(Waker::wake);
    }

    /// Nothing is asked any more.
    pub fn clear(&self) {
        lock(&self.state).open.clear();
    }

    /// What waits for a word.
    pub fn open(&self) -> Vec<Ask> {
        lock(&self.state).open.values().filter(|open| open.verdict.is_none()).map(|open| open.ask.clone()).collect()
    }
}

impl<D: Desk> Asking<D> {
    async fn word(&self, call: CallId, program: &str) -> Verdict {
        let questions = &self.approvals.state;
        let expires = lock(questions).open.get(&call).map(|open| open.ask.expires_us).unwrap_or_default();
        let said = std::future::poll_fn(|cx| {
            let mut state = lock(&self.approvals.state);
            let left = state.left;
            match state.open.get_mut(&call) {
                Some(Open { verdict: Some(verdict), taken, .. }) if !left => {
                    *taken = true;
                    Poll::Ready(verdict.clone())
                }
                Some(open) => {
                    open.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                None => Poll::Pending,
            }
        });
        let Ok(verdict) = tokio::time::timeout(expires.since(now()), said).await else {
            lock(questions).open.remove(&call);
            return Verdict::deny(Some("nobody answered in time".into()));
        };
        // THREAT[T-APPROVAL-001]: a process that dies after a call was begun must not begin it again.
        let first = self.desk.begin(call).await;
        let open = lock(questions).open.get(&call).map(|open| open.ask.clone());
        if !first {
            let reason = "it was begun before a process ended, and whether it was done is not known";
            return Verdict::deny(Some(reason.into()));
        }
        if let (Consent::Always, Some(open)) = (verdict.consent, open) {
            self.desk.remember(program, &open.grant);
        }
        verdict
    }
}

impl<D: Desk> Approver for Asking<D> {
    fn ask(&self, question: Question) -> BoxFuture<'_, Verdict> {
        let Question { call, program, grant, what, args, .. } = question;
        if self.desk.always(&program, &grant) {
            return Box::pin(std::future::ready(Verdict::approve(Consent::Run)));
        }
        let Some(call) = call else {
            let reason = "nobody can be asked in the middle of this: it belongs to a program that another invoked, to a redirect, \
                or to a request whose body is streamed";
            return Box::pin(std::future::ready(Verdict::deny(Some(reason.into()))));
        };
        let fresh = {
            let mut state = lock(&self.approvals.state);
            match state.open.contains_key(&call) {
                true => None,
                false => {
                    let asked = now();
                    let ask =
                        Ask { id: call, grant, what, args, asked_us: asked, expires_us: asked.after(self.patience) };
                    state.open.insert(call, Open { ask: ask.clone(), verdict: None, taken: false, waker: None });
                    Some(ask)
                }
            }
        };
        fresh.iter().for_each(|ask| self.desk.asked(ask));
        Box::pin(async move { self.word(call, &program).await })
    }

    fn leave(&self, asked: &[CallId]) -> bool {
        let mut state = lock(&self.approvals.state);
        let waits = |id: &CallId| state.open.get(id).is_some_and(|open| open.verdict.is_none());
        let all = asked.iter().all(waits);
        state.left |= all;
        all
    }

    fn stay(&self) {
        let mut state = lock(&self.approvals.state);
        state.left = false;
        state.open.values_mut().filter_map(|open| open.waker.take()).for_each(Waker::wake);
    }

    fn done(&self, call: CallId) {
        lock(&self.approvals.state).open.remove(&call);
    }

    fn open(&self) -> Vec<Ask> {
        self.approvals.open()
    }
}
