//! The task that has a run in hand: from its start, or its waking, until it ends or leaves memory.

use crate::engines::Placed;
use crate::error::Refusal;
use crate::queue::Place;
use crate::run::{ClientTools, Run, Stage, Told};
use crate::runs::{Runs, now};
use crate::words::RunDesk;
use isolith_core::{
    CallId, CallOutcome, Digest, EngineError, ErrorKind, Grant, Host, Housing, Keeper, Limits, Outcome, Power, RunId,
    RunState, Status, Usage, Woken, is_sessions_own,
};
use isolith_gate::{Asking, Gate, Identity, Means};
use isolith_runner::{Again, Attend, Durable, Ended, NoTools, Plan, Recording, ResumedJournal, RunError, SuspendedRun};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A run that was woken and finds no place tries again after this.
const WAKE_PAUSE: Duration = Duration::from_millis(200);

impl Runs {
    /// Has a new run in hand.
    pub(crate) async fn first(
        self: Arc<Self>,
        run: Arc<Run>,
        (place, placed): (Place, Placed),
        mut plan: Plan,
        recording: Option<Recording>,
    ) {
        if let Some(name) = &run.session {
            plan = match self.session(&run.caller, name).await {
                Ok(session) => match with_modules(plan, session).await {
                    Ok(plan) => plan,
                    Err(ended) => return self.on(run, place, ended, None).await,
                },
                Err(refusal) => return self.over(&run, Stage::Refused(refusal)).await,
            };
        }
        let what = Gated {
            program: plan.digest(),
            limits: plan.limits,
            before: None,
            agreed: Vec::new(),
            asks: placed.can_leave(),
        };
        let host = self.gate(&run, &plan.grants, what).await;
        let (host, means) = match host {
            Ok(host) => host,
            Err(refusal) => return self.over(&run, Stage::Refused(refusal)).await,
        };
        let attend = self.attend(&run, host);
        let ended = match recording {
            Some(recording) => placed.runner.record(plan, attend, recording).await,
            None => placed.runner.run(plan, attend).await,
        };
        self.on(run, place, ended, means).await;
    }

    /// Has a run in hand that was suspended.
    pub(crate) async fn again(self: Arc<Self>, run: Arc<Run>) {
        let place = loop {
            match self.queue.enter(&run.caller.id).await {
                Ok(place) => break place,
                // What woke it is on disk, so it has time.
                Err(_) => tokio::time::sleep(WAKE_PAUSE).await,
            }
        };
        match self.resumed(&run).await {
            Ok((ended, means)) => self.on(run, place, ended, means).await,
            Err(refusal) => self.over(&run, Stage::Refused(refusal)).await,
        }
    }

    async fn resumed(&self, run: &Arc<Run>) -> Result<(Result<Ended, RunError>, Option<Means>), Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::internal("taking up a suspended run", error);
        let record = self.store.get(&run.caller.id, &run.id).await.map_err(|error| failed(&error))?;
        let record = record.ok_or_else(|| failed(&"it is not in the store"))?;
        let bytes = record.suspended.ok_or_else(|| failed(&"it has no state"))?;
        let suspended = SuspendedRun::from_bytes(&bytes).map_err(|error| failed(&error))?;
        drop(bytes);
        // The client's own functions are its own affair; everything else is held against today's policy.
        let own = |grant: &Grant| {
            matches!(&grant.power, Power::Tool(tool) if tool.is_embedders())
                || run.session.is_some() && is_sessions_own(grant)
        };
        let (tools, others): (Vec<Grant>, Vec<Grant>) = suspended.grants().iter().cloned().partition(own);
        let mut grants = run.caller.ceiling.grants(others)?.grants;
        grants.extend(tools);
        let grants: Arc<[Grant]> = grants.into();
        let (asks, agreed) = self.words(&run.caller.id, &run.id, &record.outcome).await?;
        run.approvals.put(asks);
        let before = Housing { engine: None, isolation: suspended.isolation() };
        // A run comes back into the walls that it had, and into those that are wanted by now.
        let placed = self.placed(run.caller.ceiling.housing(before)?).await?;
        let (program, limits, before) = (suspended.digest(), suspended.limits(), Some(&suspended));
        let (host, means) = self.gate(run, &grants, Gated { program, limits, before, agreed, asks: true }).await?;
        let suspended = suspended.having_waited(run.is_back());
        let again = Again { patience: Some(self.patience(run)), lineage: run.lineage.clone() };
        let going_on = self.going_on(run, &suspended);
        let (suspended, attend) = (suspended.narrowed_to(grants.to_vec()), self.attend(run, host));
        let ended = match going_on {
            Some((to, earlier)) => {
                let journal = ResumedJournal { to, durable: Durable::AtItsEnd, earlier: &earlier };
                placed.runner.resume_recording(suspended, attend, again, journal).await
            }
            None => placed.runner.resume(suspended, attend, again).await,
        };
        Ok((ended, means))
    }

    /// What became of it, until it is over or out of memory.
    async fn on(self: Arc<Self>, run: Arc<Run>, place: Place, ended: Result<Ended, RunError>, means: Option<Means>) {
        drop(place);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return self.over(&run, Stage::Refused(refusal(&error))).await,
        };
        let Ended { mut outcome, suspended } = ended;
        run.amend(&mut outcome);
        if !outcome.calls.is_empty()
            && let Some(audit) = means.and_then(|means| means.audit)
        {
            // Nobody is told how a run went before it is written down what it did.
            if let Err(error) = audit.flush().await {
                let refusal = Refusal::internal("writing the audit", &error);
                return self.over(&run, Stage::Refused(refusal)).await;
            }
        }
        let text: Arc<str> = json(&outcome).into();
        match suspended {
            None => self.over(&run, Stage::Ended(text)).await,
            Some(suspended) => self.asleep(&run, text, &outcome, &suspended).await,
        }
    }

    async fn asleep(self: Arc<Self>, run: &Arc<Run>, text: Arc<str>, outcome: &Outcome, state: &SuspendedRun) {
        let open: Vec<CallId> = outcome.waiting_for.iter().map(|pending| pending.id).collect();
        // A question that nobody answers in time is answered, and the run has to be there to hear it.
        let expires = outcome.approvals.iter().map(|ask| ask.expires_us);
        let wakes = state.wakes_at().into_iter().chain(expires).min();
        let mut record = self.record(run, RunState::Suspended, &text, Some((state.to_bytes(), wakes)));
        record.continuation = run.continuation(outcome.usage.calls as usize);
        let said = run.approvals.said().into_iter().map(|(ask, verdict)| (ask, Some(verdict)));
        record.asks = outcome.approvals.iter().map(|ask| (ask.clone(), None)).chain(said).collect();
        let last = outcome.approvals.iter().map(|ask| ask.expires_us.after(self.settings.keep));
        record.expires = last.chain([record.expires]).max().unwrap_or(record.expires);
        let storing = run.storing.lock().await;
        let kept = match run.stored.load(Ordering::Acquire) {
            true => self.store.put(record, open.clone()).await.map(|()| true),
            false => self.store.add(record).await,
        };
        run.stored.fetch_or(matches!(kept, Ok(true)), Ordering::AcqRel);
        drop(storing);
        match kept {
            Ok(true) => {}
            Ok(false) => {
                let message = format!("another run of yours is called `{}`", run.id);
                let refusal = Refusal::new(axum::http::StatusCode::CONFLICT, "run.exists", message);
                return self.over(run, Stage::Refused(refusal)).await;
            }
            Err(error) => {
                let refusal = Refusal::internal("keeping a suspended run", &error);
                return self.over(run, Stage::Refused(refusal)).await;
            }
        }
        self.metrics.suspended();
        let left = state.limits().wall.saturating_sub(Duration::from_micros(outcome.usage.wall_us));
        if run.settle(text, &open, left) {
            if let Some(at) = wakes {
                self.wakes.add(at, run.caller.id.clone(), run.id.clone());
            }
            // A cancel that came too late to be seen by the run itself.
            let before = run.stage();
            if run.cancel.is_cancelled() && run.wake() {
                self.cancel_asleep(run, &before).await;
            }
            return;
        }
        let runs = Arc::clone(&self);
        self.tasks.spawn(runs.go_on(Arc::clone(run)));
    }

    /// As [`Runs::again`], of a type that can be named where it begins itself anew.
    fn go_on(self: Arc<Self>, run: Arc<Run>) -> isolith_core::BoxFuture<'static, ()> {
        Box::pin(self.again(run))
    }

    /// Ends a run that is not in memory.
    pub(crate) async fn cancel_asleep(&self, run: &Arc<Run>, before: &Stage) {
        let outcome = ended_after(&run.id, before, ErrorKind::Cancelled, "Cancelled", "the run was cancelled");
        self.over(run, Stage::Ended(json(&outcome).into())).await;
    }

    async fn over(&self, run: &Arc<Run>, stage: Stage) {
        let _storing = run.storing.lock().await;
        if run.stored.load(Ordering::Acquire) || run.session.is_some() {
            let text = match &stage {
                Stage::Ended(text) => text.to_string(),
                _ => json(&ended_as(&run.id, ErrorKind::Internal, "Internal", "the run could not be taken to its end")),
            };
            let record = self.record(run, RunState::Ended, &text, None);
            if let Err(error) = self.store.put(record, Vec::new()).await {
                tracing::error!(%error, "keeping an outcome");
            }
        }
        self.metrics.ended(&stage);
        let refused = matches!(stage, Stage::Refused(_));
        run.end(stage);
        if refused && !run.named.load(Ordering::Acquire) {
            self.forget(run);
        } else {
            self.has_ended(run);
        }
    }

    fn attend(&self, run: &Arc<Run>, host: Arc<dyn Host>) -> Attend {
        let sink = Arc::new(Told(Arc::clone(run)));
        Attend { host, sink, cancel: run.cancel.clone(), leave: run.hurry_with(&self.leave) }
    }

    async fn gate(
        &self,
        run: &Arc<Run>,
        grants: &Arc<[Grant]>,
        Gated { program, limits, before, agreed, asks }: Gated<'_>,
    ) -> Result<(Arc<dyn Host>, Option<Means>), Refusal> {
        if grants.is_empty() {
            return Ok((Arc::new(NoTools), None));
        }
        let failed = |error: &dyn std::fmt::Display| Refusal::internal("opening a caller's stores", error);
        let mut means = self.household.means(&run.caller.id).map_err(|error| failed(&error))?;
        if let Some(name) = &run.session {
            let session = self.session(&run.caller, name).await?;
            means.tree = Some(Arc::clone(&session.open.files));
            means.kv = Some(Arc::clone(&session.open.keys));
        }
        means.tools = Arc::new(ClientTools(Arc::clone(run)));
        means.upstreams.clone_from(&self.upstreams);
        if asks {
            let (store, household) = (Arc::clone(&self.store), Arc::clone(&self.household));
            let desk = RunDesk { run: Arc::clone(run), store, household };
            let (approvals, patience) = (Arc::clone(&run.approvals), self.settings.approval);
            means.approver = Arc::new(Asking { approvals, desk, patience });
        }
        let identity = Identity { run: run.id.clone(), program: program.to_string() };
        let gate = Gate::new(Arc::clone(grants), limits, identity, means.clone())
            .map_err(|error| Refusal::invalid(error).at("grants"))?;
        let gate = match before {
            Some(before) => gate.after(before.calls()).having_agreed(agreed.into_iter()),
            None => gate,
        };
        Ok((Arc::new(gate), Some(means)))
    }
}

/// What a gate is made for.
struct Gated<'a> {
    program: Digest,
    limits: Limits,
    /// What the run did before it left memory.
    before: Option<&'a SuspendedRun>,
    /// The grants that someone agreed to for all of it.
    agreed: Vec<String>,
    /// Whether it can wait until someone has been asked.
    asks: bool,
}

/// A program with the files of its session that it imports; what is wrong with them is the program's own failure.
async fn with_modules(mut plan: Plan, session: Arc<Woken>) -> Result<Plan, Result<Ended, RunError>> {
    let find = move || {
        let grants = Arc::clone(&plan.grants);
        let mut load = |path: &str| isolith_workspace::module_text(&*session.open.files, &grants, path);
        match plan.find_modules(&mut load) {
            Ok(()) => Ok(plan),
            Err(error) => Err(Box::new(Ended::not_a_program(&plan, &error))),
        }
    };
    match tokio::task::spawn_blocking(find).await {
        Ok(found) => found.map_err(|ended| Ok(*ended)),
        Err(error) => {
            Err(Err(EngineError::Internal { doing: "finding what a program imports", source: error.into() }.into()))
        }
    }
}

/// An outcome that no isolate came to.
pub(crate) fn ended_as(id: &RunId, kind: ErrorKind, name: &str, message: &str) -> Outcome {
    let error = isolith_core::RunError {
        kind,
        name: name.into(),
        message: message.into(),
        code: None,
        stack: None,
        line: None,
        column: None,
        hint: None,
    };
    Outcome {
        run: Some(id.clone()),
        status: Status::Error,
        value: None,
        error: Some(error),
        outputs: Vec::new(),
        ran_on: None,
        usage: Usage::default(),
        calls: Vec::new(),
        grants: Vec::new(),
        narrowed: Vec::new(),
        exercised: Vec::new(),
        denied: Vec::new(),
        waiting_for: Vec::new(),
        approvals: Vec::new(),
    }
}

/// The same for a run that had come somewhere: what it wrote and did is in it.
fn ended_after(id: &RunId, before: &Stage, kind: ErrorKind, name: &str, message: &str) -> Outcome {
    let ended = ended_as(id, kind, name, message);
    let Stage::Waiting(text, _) = before else { return ended };
    let Ok(mut outcome) = serde_json::from_str::<Outcome>(text) else { return ended };
    for call in outcome.calls.iter_mut().filter(|call| call.outcome == CallOutcome::Waiting) {
        call.outcome = CallOutcome::Cancelled;
    }
    Outcome { status: ended.status, error: ended.error, waiting_for: Vec::new(), approvals: Vec::new(), ..outcome }
}

pub(crate) fn json(outcome: &Outcome) -> String {
    // Plain data of ours always has a JSON form.
    serde_json::to_string(outcome).unwrap_or_default()
}

fn refusal(error: &RunError) -> Refusal {
    match error {
        RunError::Engine(EngineError::Busy { .. }) => {
            let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
            Refusal::new(status, "busy", "every isolate is taken").retry(Duration::from_secs(1))
        }
        RunError::Engine(EngineError::Unsupported(error)) => Refusal::invalid(error.to_string()),
        RunError::Plan(error) => Refusal::invalid(error.to_string()),
        error => Refusal::internal("running a program", error),
    }
}

impl Runs {
    /// Takes up what an earlier process left behind: runs that have an answer, or whose time has come, go on.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        caller_of: impl Fn(&isolith_core::CallerId) -> Option<Arc<crate::caller::Caller>>,
    ) -> Result<u64, isolith_core::StoreProblem> {
        let (mut after, mut found) = (None, 0);
        loop {
            let page = self.store.unfinished(after.clone()).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Some((last.caller.clone(), last.run.clone()));
            for record in page {
                found += 1;
                let Some(caller) = caller_of(&record.caller) else { continue };
                if record.keeper != self.settings.keeper {
                    continue;
                }
                if record.state == RunState::Running {
                    // It may have acted on the world: it is not begun again.
                    let text = json(&ended_as(
                        &record.run,
                        ErrorKind::Internal,
                        "Interrupted",
                        "the server was stopped while it ran",
                    ));
                    let run = Run::over(record.run, caller, record.created, text.as_str().into(), record.keeper);
                    let run = run.within(record.session);
                    self.store.put(self.record(&run, RunState::Ended, &text, None), Vec::new()).await?;
                    continue;
                }
                if let Some(at) = record.wakes {
                    self.wakes.add(at, record.caller.clone(), record.run.clone());
                }
                let answered = !self.store.answers(&record.caller, &record.run).await?.is_empty();
                if answered && let Ok(run) = self.take_up(&caller, record).await {
                    self.wake(&run);
                }
            }
        }
    }

    /// Wakes runs whose time has come, and forgets what is old. Goes on until the server stops.
    pub(crate) async fn tend(
        self: Arc<Self>,
        caller_of: impl Fn(&isolith_core::CallerId) -> Option<Arc<crate::caller::Caller>>,
    ) {
        let mut tick = tokio::time::interval(TEND_EVERY);
        let mut ticks = 0_u64;
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                () = self.leave.cancelled() => return,
            }
            ticks += 1;
            for (caller, id) in self.wakes.due(now()) {
                let Some(caller) = caller_of(&caller) else { continue };
                if let Ok(run) = self.find(&caller, &id).await {
                    self.wake(&run);
                }
            }
            for run in self.overdue() {
                let message = "the program took longer than its time limit";
                let outcome = ended_after(&run.id, &run.stage(), ErrorKind::Timeout, "Timeout", message);
                self.over(&run, Stage::Ended(json(&outcome).into())).await;
            }
            if ticks.is_multiple_of(WORDS_TICKS) {
                self.hear(&caller_of).await;
            }
            self.sweep();
            self.doze();
            if ticks.is_multiple_of(EXPIRE_TICKS)
                && let Err(error) = self.store.expire(now()).await
            {
                tracing::warn!(%error, "forgetting old runs");
            }
        }
    }
}

impl Runs {
    /// Wakes runs about which something was said elsewhere: at a terminal, or by another process that shares the store.
    async fn hear(self: &Arc<Self>, caller_of: impl Fn(&isolith_core::CallerId) -> Option<Arc<crate::caller::Caller>>) {
        let decided = self.store.decided(self.settings.keeper).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "looking for what was said");
            Vec::new()
        });
        for (caller, id) in decided {
            // Only a server is alone with its store: whoever serves one client goes on with what it has in hand.
            let run = match self.settings.keeper {
                Keeper::Server => match caller_of(&caller) {
                    Some(caller) => self.find(&caller, &id).await.ok(),
                    None => None,
                },
                Keeper::Client | Keeper::Terminal => self.held(&caller, &id),
            };
            run.iter().for_each(|run| self.wake(run));
        }
    }
}

const TEND_EVERY: Duration = Duration::from_millis(100);
/// Twice a second.
const WORDS_TICKS: u64 = 5;
/// Every minute.
const EXPIRE_TICKS: u64 = 600;
