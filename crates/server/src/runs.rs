//! All runs of a server: those in memory, those that just ended, and the way to those in the store.

use crate::asked::{Asked, tool_grants};
use crate::caller::{Caller, Household};
use crate::engines::Others;
use crate::error::Refusal;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::run::{Chain, Run, Stage, Taken};
use crate::sessions::Awake;
use crate::settings::Settings;
use crate::trace::Adopt;
use crate::wakes::Wakes;
use axum::http::StatusCode;
use isolith_core::{
    CallId, CallerId, HostCall, HostReply, Json, Keeper, Narrowed, Outcome, RunId, RunRecord, RunState, RunStore,
    Timestamp, Woken, is_sessions_own,
};
use isolith_gate::Upstreams;
use isolith_runner::{Patience, Plan, PlanError, Runner};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Outcomes that are kept in memory for whoever asks again: no more than these, and not for longer.
const ENDED_MAX: usize = 10_000;
const ENDED_BYTES_MAX: usize = 64 << 20;
pub(crate) const ENDED_TIME: Duration = Duration::from_secs(600);

/// How long a session remembers a run.
const SESSION_RUN_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

pub(crate) struct Runs {
    pub(crate) runner: Runner,
    pub(crate) engines: Others,
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) household: Arc<dyn Household>,
    pub(crate) upstreams: Option<Arc<dyn Upstreams>>,
    pub(crate) settings: Arc<Settings>,
    /// Puts spans into the traces that requests belong to, where spans are exported.
    pub(crate) adopt: Option<Adopt>,
    pub(crate) queue: Queue,
    pub(crate) metrics: Metrics,
    pub(crate) wakes: Wakes,
    pub(crate) awake: Awake,
    /// Cancelled when everyone has to leave.
    pub(crate) leave: CancellationToken,
    pub(crate) tasks: TaskTracker,
    all: Mutex<HashMap<Key, Arc<Run>>>,
    ended: Mutex<Ended>,
}

type Key = (CallerId, RunId);

#[derive(Default)]
struct Ended {
    bytes: usize,
    order: VecDeque<(Key, usize, Instant)>,
}

impl Runs {
    pub(crate) fn new(
        (runner, engines): (Runner, Others),
        store: Arc<dyn RunStore>,
        household: Arc<dyn Household>,
        upstreams: Option<Arc<dyn Upstreams>>,
        settings: Arc<Settings>,
        adopt: Option<Adopt>,
    ) -> Arc<Runs> {
        Arc::new(Runs {
            runner,
            engines,
            store,
            household,
            upstreams,
            queue: Queue::new(Arc::clone(&settings)),
            settings,
            adopt,
            metrics: Metrics::default(),
            wakes: Wakes::default(),
            awake: Awake::default(),
            leave: CancellationToken::new(),
            tasks: TaskTracker::new(),
            all: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    /// Starts a run. `keep` puts it on disk before anyone is told of it, because nobody waits for it.
    pub(crate) async fn start(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        mut asked: Asked,
        keep: bool,
        prepare: impl FnOnce(&Arc<Run>),
    ) -> Result<Arc<Run>, Refusal> {
        if self.leave.is_cancelled() {
            return Err(stopping());
        }
        caller.spend()?;
        let lineage = asked.trace.take().zip(self.adopt.as_ref()).map(|(trace, adopt)| trace.lineage(adopt));
        let id = asked.run.clone().unwrap_or_else(|| RunId(uuid::Uuid::now_v7().to_string()));
        let session = match &asked.session {
            Some(name) => Some(self.session(caller, name).await?),
            None => None,
        };
        let mut requested = Vec::new();
        if self.settings.record {
            requested.extend(asked.manifest.grants.iter().cloned().chain(tool_grants(&asked.tools)));
        }
        if let Some(session) = session.as_deref() {
            asked.within(session)?;
        }
        let placed = self.placed(caller.ceiling.housing(asked.manifest.housing)?).await?;
        let brings_tools = !asked.tools.is_empty();
        let mut plan = self.plan(caller, asked, id.clone(), session.as_deref())?;
        let place = self.queue.enter(&caller.id).await?;
        plan.lineage.clone_from(&lineage);
        let mut run = Run::new(id.clone(), Arc::clone(caller), now(), self.settings.keeper);
        run.lineage = lineage;
        run.session = session.map(|session| session.session.clone());
        let run = Arc::new(run);
        // The name first, then the store: a name that is taken must not get a second run on disk.
        let named = Named::take(self, &run)?;
        let recording = self.recording(&run, requested)?;
        if keep {
            let record = self.record(&run, RunState::Running, &running(&id), None);
            let added = self.store.add(record).await.map_err(|error| Refusal::internal("keeping a run", &error));
            if !matches!(added, Ok(true)) {
                self.unrecorded(&run, recording);
                return Err(added.err().unwrap_or_else(|| exists(&id)));
            }
            run.stored.store(true, Ordering::Release);
        }
        self.metrics.started();
        prepare(&run);
        plan.patience = Some(self.patience(&run));
        placed.bind(&mut plan, brings_tools && !run.is_watched(), self.upstreams.is_some());
        named.keep();
        self.tasks.spawn(Arc::clone(self).first(Arc::clone(&run), (place, placed), plan, recording));
        Ok(run)
    }

    /// Keeps a run for someone who will ask for it by its name: however it ends, and on a server also after a crash.
    pub(crate) async fn keep(&self, run: &Arc<Run>) -> Result<(), Refusal> {
        run.named.store(true, Ordering::Release);
        // Where each client has a process of its own, another could not tell whether the one that runs it is still there.
        if self.settings.keeper != Keeper::Server {
            return Ok(());
        }
        let _storing = run.storing.lock().await;
        if run.stored.load(Ordering::Acquire) {
            return Ok(());
        }
        let record = match run.stage() {
            Stage::Ended(outcome) => self.record(run, RunState::Ended, &outcome, None),
            Stage::Running => self.record(run, RunState::Running, &running(&run.id), None),
            Stage::Waiting(..) | Stage::Refused(_) => return Ok(()),
        };
        match self.store.add(record).await {
            Ok(true) => run.stored.store(true, Ordering::Release),
            Ok(false) => return Err(exists(&run.id)),
            Err(error) => return Err(Refusal::internal("keeping a run", &error)),
        }
        Ok(())
    }

    fn plan(&self, caller: &Caller, mut asked: Asked, id: RunId, session: Option<&Woken>) -> Result<Plan, Refusal> {
        let mut own = Vec::new();
        if let Some(session) = session {
            // What a session has of its own is not the machine's: the scope says whether a caller has sessions.
            (own, asked.manifest.grants) = asked.manifest.grants.into_iter().partition(is_sessions_own);
            own.extend(session.own_grants(&own));
        }
        let Narrowed { mut grants, report } = caller.ceiling.grants(asked.manifest.grants)?;
        grants.extend(own);
        grants.extend(tool_grants(&asked.tools));
        let mut plan = Plan::new(asked.source, asked.name);
        plan.id = Some(id);
        plan.language = asked.language;
        plan.limits = caller.ceiling.limits(asked.manifest.limits);
        (plan.grants, plan.narrowed) = (grants.into(), report);
        (plan.input, plan.args, plan.seed) = (asked.input, asked.args, asked.seed);
        let plan = plan.with_ambient(caller.ceiling.ambient(asked.manifest.ambient));
        plan.check().map_err(|error| match error {
            PlanError::Limit(limit) => Refusal::invalid(limit.to_string()).at(format!("limits.{}", limit.name)),
            PlanError::SourceTooLarge { .. } => {
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "program.large", error.to_string()).at("program")
            }
        })?;
        Ok(plan)
    }

    /// A run that someone listens to is held for a moment when it waits: most answers come soon. One whose client answers in requests
    /// of their own leaves at once, so that it is on disk before that client is told.
    pub(crate) fn patience(&self, run: &Run) -> Patience {
        let outside = if run.is_watched() { self.settings.hold } else { Duration::ZERO };
        Patience { timer: self.settings.timer, outside }
    }

    /// One of a caller's runs, wherever it is.
    pub(crate) async fn find(&self, caller: &Arc<Caller>, id: &RunId) -> Result<Arc<Run>, Refusal> {
        let key = (caller.id.clone(), id.clone());
        if let Some(run) = lock(&self.all).get(&key) {
            return Ok(Arc::clone(run));
        }
        let failed = |error| Refusal::internal("finding a run", &error);
        let record = self.store.get(&caller.id, id).await.map_err(failed)?.ok_or_else(Refusal::no_run)?;
        self.take_up(caller, record).await
    }

    /// One of a caller's runs, if it is in memory.
    pub(crate) fn held(&self, caller: &CallerId, id: &RunId) -> Option<Arc<Run>> {
        lock(&self.all).get(&(caller.clone(), id.clone())).map(Arc::clone)
    }

    /// A run from the store. Whoever finds it first puts it where the others find it.
    pub(crate) async fn take_up(&self, caller: &Arc<Caller>, record: RunRecord) -> Result<Arc<Run>, Refusal> {
        let (id, created): (RunId, Timestamp) = (record.run, record.created);
        let outcome: Arc<str> = record.outcome.text().into();
        if record.state != RunState::Suspended {
            let over = Run::over(id, Arc::clone(caller), created, outcome, record.keeper);
            return Ok(Arc::new(over.within(record.session)));
        }
        let failed = |error| Refusal::internal("finding a run's answers", &error);
        let answers = self.store.answers(&caller.id, &id).await.map_err(failed)?;
        let (asks, _) = self.words(&caller.id, &id, &record.outcome).await?;
        let open = open_calls(&record.outcome);
        let run = Run::new(id.clone(), Arc::clone(caller), created, record.keeper).within(record.session);
        let run = run.asleep(outcome, open, answers, asks);
        let mut all = lock(&self.all);
        Ok(Arc::clone(all.entry((caller.id.clone(), id)).or_insert_with(|| Arc::new(run))))
    }

    /// Gives a run an answer. One that sleeps is woken once the answer is on disk, which the task given back says.
    pub(crate) fn answer(
        self: &Arc<Self>,
        run: &Arc<Run>,
        call: CallId,
        reply: HostReply,
    ) -> Result<Option<Kept>, Refusal> {
        let conflict = |code, message: String| Err(Refusal::new(StatusCode::CONFLICT, code, message));
        match run.answer(call, reply.clone()) {
            Taken::Yes => Ok(None),
            Taken::Wake => {
                let (runs, run) = (Arc::clone(self), Arc::clone(run));
                Ok(Some(self.tasks.spawn(async move {
                    let kept = runs.store.answer(&run.caller.id, &run.id, call, reply).await;
                    kept.map_err(|error| Refusal::internal("keeping an answer", &error))?;
                    runs.wake(&run);
                    Ok(())
                })))
            }
            Taken::Twice => conflict("call.answered", format!("call {} was answered before", call.0)),
            Taken::Unknown => {
                Err(Refusal::new(StatusCode::NOT_FOUND, "call.unknown", format!("the run made no call {}", call.0)))
            }
            Taken::Over => conflict("run.ended", "the run has ended".into()),
        }
    }

    /// Gives a sleeping run the answers to all its open calls and wakes it. False when someone else did.
    pub(crate) async fn answer_all(
        self: &Arc<Self>,
        run: &Arc<Run>,
        replies: Vec<(CallId, HostReply)>,
        chain: Chain,
    ) -> Result<bool, Refusal> {
        if !run.answer_all(&replies, chain) {
            return Ok(false);
        }
        for (call, reply) in replies {
            let kept = self.store.answer(&run.caller.id, &run.id, call, reply).await;
            kept.map_err(|error| Refusal::internal("keeping an answer", &error))?;
        }
        self.wake(run);
        Ok(true)
    }

    /// Lets a sleeping run go on.
    pub(crate) fn wake(self: &Arc<Self>, run: &Arc<Run>) {
        if run.keeper == self.settings.keeper && run.wake() {
            self.tasks.spawn(Arc::clone(self).again(Arc::clone(run)));
        }
    }

    /// Stops a run, and waits until it is over.
    pub(crate) async fn cancel(&self, run: &Arc<Run>) {
        run.cancel.cancel();
        let before = run.stage();
        if run.wake() {
            self.cancel_asleep(run, &before).await;
        }
    }

    pub(crate) fn record(
        &self,
        run: &Run,
        state: RunState,
        outcome: &str,
        suspended: Option<(Vec<u8>, Option<Timestamp>)>,
    ) -> RunRecord {
        let (suspended, wakes) = suspended.map_or((None, None), |(bytes, wakes)| (Some(bytes), wakes));
        RunRecord {
            caller: run.caller.id.clone(),
            run: run.id.clone(),
            created: run.created,
            expires: now().after(if run.session.is_some() { SESSION_RUN_KEPT } else { self.settings.keep }),
            state,
            outcome: Json::from_text(outcome.to_owned()).unwrap_or_else(|_| Json::null()),
            suspended,
            wakes,
            continuation: None,
            keeper: self.settings.keeper,
            session: run.session.clone(),
            asks: Vec::new(),
        }
    }

    /// Keeps an ended run in memory for a while.
    pub(crate) fn has_ended(&self, run: &Run) {
        let bytes = match run.stage() {
            Stage::Ended(outcome) => outcome.len(),
            _ => 0,
        };
        let mut ended = lock(&self.ended);
        ended.bytes += bytes;
        ended.order.push_back(((run.caller.id.clone(), run.id.clone()), bytes, Instant::now()));
        self.forget_ended(&mut ended);
    }

    fn forget_ended(&self, ended: &mut Ended) {
        while let Some((_, _, at)) = ended.order.front()
            && (ended.order.len() > ENDED_MAX || ended.bytes > ENDED_BYTES_MAX || at.elapsed() > ENDED_TIME)
        {
            let Some((key, bytes, _)) = ended.order.pop_front() else { return };
            ended.bytes -= bytes;
            lock(&self.all).remove(&key);
        }
    }

    /// Sleeping runs whose time is up while their clients are there.
    pub(crate) fn overdue(&self) -> Vec<Arc<Run>> {
        lock(&self.all).values().filter(|run| run.take_overdue()).map(Arc::clone).collect()
    }

    /// Forgets what nobody needs in memory: ended runs by and by, sleeping ones that nobody holds.
    pub(crate) fn sweep(&self) {
        self.forget_ended(&mut lock(&self.ended));
        // Whoever looks a run up does so under this lock: a count of one means that nobody has it in hand.
        lock(&self.all).retain(|_, run| Arc::strong_count(run) > 1 || !run.is_asleep() || run.is_watched());
    }

    /// A caller's runs in memory.
    pub(crate) fn of(&self, caller: &CallerId) -> Vec<Arc<Run>> {
        let all = lock(&self.all);
        all.iter().filter(|((owner, _), _)| owner == caller).map(|(_, run)| Arc::clone(run)).collect()
    }

    pub(crate) fn forget(&self, run: &Run) {
        lock(&self.all).remove(&(run.caller.id.clone(), run.id.clone()));
    }
}

/// Says when an answer is on disk.
pub(crate) type Kept = tokio::task::JoinHandle<Result<(), Refusal>>;

/// A run's name, taken. It is free again when whoever takes it gives up before the run is under way.
struct Named<'a> {
    runs: &'a Runs,
    run: Option<&'a Run>,
}

impl<'a> Named<'a> {
    fn take(runs: &'a Runs, run: &'a Arc<Run>) -> Result<Named<'a>, Refusal> {
        match lock(&runs.all).entry((run.caller.id.clone(), run.id.clone())) {
            Entry::Occupied(_) => Err(exists(&run.id)),
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(run));
                Ok(Named { runs, run: Some(run) })
            }
        }
    }

    fn keep(mut self) {
        self.run = None;
    }
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        self.run.iter().for_each(|run| self.runs.forget(run));
    }
}

/// The calls of a suspended run that its client has to answer.
pub(crate) fn open_calls(outcome: &Json) -> Vec<(CallId, isolith_core::ToolName, Option<Json>)> {
    let outcome: Option<Outcome> = outcome.parse().ok();
    let waiting = outcome.map(|outcome| outcome.waiting_for).unwrap_or_default();
    let tool = |pending: isolith_core::PendingCall| match pending.call {
        HostCall::Tool { name, args } => Some((pending.id, name, args)),
        _ => None,
    };
    waiting.into_iter().filter_map(tool).collect()
}

/// What is shown of a run that is under way.
pub(crate) fn running(id: &RunId) -> String {
    format!("{{\"run\":\"{id}\",\"status\":\"running\"}}")
}

pub(crate) fn now() -> Timestamp {
    Timestamp::default().after(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn stopping() -> Refusal {
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is about to stop");
    refusal.retry(Duration::from_secs(2))
}

fn exists(id: &RunId) -> Refusal {
    Refusal::new(StatusCode::CONFLICT, "run.exists", format!("you have a run `{id}` already")).at("run")
}
