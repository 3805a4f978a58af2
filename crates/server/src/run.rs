//! One run, as everyone sees it who has to do with it: whoever waits, listens, answers or stops.

use crate::caller::Caller;
use crate::error::Refusal;
use crate::runs::now;
use isolith_core::{
    Answer, Ask, BoxFuture, CallId, Host, HostCall, HostReply, Json, Keeper, Outcome, OutputSink, RunId, SessionName,
    Stream, Timestamp, ToolName, Verdict,
};
use isolith_gate::Approvals;
use isolith_runner::Lineage;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) caller: Arc<Caller>,
    pub(crate) created: Timestamp,
    /// What kind of process goes on with it.
    pub(crate) keeper: Keeper,
    /// The session whose files and keys it has.
    pub(crate) session: Option<SessionName>,
    pub(crate) cancel: CancellationToken,
    /// What its spans belong to, as long as this process has it.
    pub(crate) lineage: Option<Lineage>,
    /// Whether the store has it.
    pub(crate) stored: AtomicBool,
    /// Held while that is looked at and changed.
    pub(crate) storing: tokio::sync::Mutex<()>,
    /// Whether someone will ask for it by its name, however it ends.
    pub(crate) named: AtomicBool,
    /// When it last moved on, in microseconds.
    changed: AtomicU64,
    /// What someone is asked about.
    pub(crate) approvals: Arc<Approvals>,
    /// Cancelled when it is to leave memory as soon as it can.
    hurry: Mutex<CancellationToken>,
    state: Mutex<State>,
    stage: watch::Sender<Stage>,
}

#[derive(Default)]
struct State {
    /// Calls that the client has to answer.
    open: BTreeMap<CallId, Open>,
    /// All calls below this number were made.
    made: u32,
    /// It left memory, or is about to: answers wait here until it is back.
    left: bool,
    /// It is in the store, and nobody has it in hand.
    asleep: bool,
    listeners: Vec<(u64, Arc<dyn Listener>)>,
    next_listener: u64,
    /// Answers to its first calls, known before it makes them.
    known: VecDeque<HostReply>,
    /// Lines it has written since it was started here, and how many it had when it was given the last known answer.
    lines: usize,
    lines_before: usize,
    chain: Option<Chain>,
    /// When it left memory with someone listening, whose waiting counts; and when its time is up.
    waits: Option<(Instant, Instant)>,
}

/// Finds a run again by what its client sends: the program, and the answers it was given.
#[derive(Clone)]
pub(crate) struct Chain {
    pub(crate) base: [u8; 32],
    pub(crate) answered: [u8; 32],
}

impl Chain {
    /// The name of a run that has made this many calls.
    pub(crate) fn key(&self, made: usize) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.base).update(&self.answered).update(&(made as u64).to_le_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

struct Open {
    name: ToolName,
    args: Option<Json>,
    reply: Option<HostReply>,
    waker: Option<Waker>,
}

/// How far a run is.
#[derive(Clone)]
pub(crate) enum Stage {
    Running,
    /// It is suspended, and waits for this.
    Waiting(Arc<str>, Awaited),
    Ended(Arc<str>),
    /// It could not be run, or not to its end, and not for a reason of its own.
    Refused(Refusal),
}

/// What a suspended run waits for.
#[derive(Clone, Debug)]
pub(crate) struct Awaited {
    /// Answers of its client to these calls.
    pub(crate) calls: Arc<[CallId]>,
    /// Someone's word about these.
    pub(crate) asks: Arc<[CallId]>,
}

impl Awaited {
    /// Only its time.
    pub(crate) fn nobody(&self) -> bool {
        self.calls.is_empty() && self.asks.is_empty()
    }
}

impl Stage {
    fn event(&self) -> Event<'_> {
        match self {
            Stage::Running => Event::Progress("running"),
            Stage::Waiting(..) => Event::Progress("suspended"),
            Stage::Ended(outcome) => Event::Ended(outcome),
            Stage::Refused(refusal) => Event::Refused(refusal),
        }
    }

    /// Whether it goes on without anyone: it is at work, or sleeps until its time comes.
    pub(crate) fn goes_on(&self) -> bool {
        match self {
            Stage::Running => true,
            Stage::Waiting(_, awaited) => awaited.nobody(),
            Stage::Ended(_) | Stage::Refused(_) => false,
        }
    }
}

/// What happens in a run.
pub(crate) enum Event<'a> {
    Output {
        stream: Stream,
        text: &'a str,
        at_ms: u64,
    },
    Call {
        id: CallId,
        name: &'a ToolName,
        args: Option<&'a Json>,
    },
    /// Someone has to agree to a call.
    Ask(&'a Ask),
    /// It was suspended, or goes on.
    Progress(&'static str),
    Ended(&'a str),
    Refused(&'a Refusal),
}

/// Someone who wants to know at once. Told from inside a run, so it must not block.
pub(crate) trait Listener: Send + Sync {
    fn hear(&self, run: &RunId, event: &Event<'_>);
}

/// What becomes of an answer.
pub(crate) enum Taken {
    /// The run has it, or will when it is back.
    Yes,
    /// The run has to be woken for it.
    Wake,
    Twice,
    Unknown,
    Over,
}

impl Run {
    pub(crate) fn new(id: RunId, caller: Arc<Caller>, created: Timestamp, keeper: Keeper) -> Run {
        let stage = watch::Sender::new(Stage::Running);
        let (cancel, stored) = (CancellationToken::new(), AtomicBool::new(false));
        let (storing, named, changed) = (Default::default(), AtomicBool::new(false), now().as_micros().into());
        let (approvals, hurry, state) = (Arc::default(), Mutex::default(), Mutex::default());
        Run {
            id,
            caller,
            created,
            keeper,
            session: None,
            cancel,
            lineage: None,
            stored,
            storing,
            named,
            changed,
            approvals,
            hurry,
            state,
            stage,
        }
    }

    /// The same, in a session.
    pub(crate) fn within(self, session: Option<SessionName>) -> Run {
        Run { session, ..self }
    }

    /// The same, in the store.
    pub(crate) fn asleep(
        self,
        outcome: Arc<str>,
        open: Vec<(CallId, ToolName, Option<Json>)>,
        answers: Vec<(CallId, HostReply)>,
        asks: Vec<(Ask, Option<Verdict>)>,
    ) -> Run {
        let run = self;
        run.stored.store(true, Ordering::Release);
        run.approvals.put(asks);
        {
            let mut state = run.lock();
            (state.left, state.asleep) = (true, true);
            for (id, name, args) in open {
                state.made = state.made.max(id.0 + 1);
                state.open.insert(id, Open { name, args, reply: None, waker: None });
            }
            for (id, reply) in answers {
                if let Some(open) = state.open.get_mut(&id) {
                    open.reply = Some(reply);
                }
            }
            let awaited = run.awaited(&state);
            run.stage.send_replace(Stage::Waiting(outcome, awaited));
        }
        run
    }

    /// A run that is over.
    pub(crate) fn over(id: RunId, caller: Arc<Caller>, created: Timestamp, outcome: Arc<str>, keeper: Keeper) -> Run {
        let run = Run::new(id, caller, created, keeper);
        run.stage.send_replace(Stage::Ended(outcome));
        run
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage.borrow().clone()
    }

    /// When it last moved on, or came into this process's hands.
    pub(crate) fn changed(&self) -> Timestamp {
        Timestamp::from_micros(self.changed.load(Ordering::Relaxed))
    }

    /// Waits until it ended or waits for its client.
    pub(crate) async fn stop(&self) -> Stage {
        let mut stages = self.stage.subscribe();
        let stopped = stages.wait_for(|stage| !stage.goes_on()).await;
        stopped.map_or(Stage::Running, |stage| stage.clone())
    }

    pub(crate) fn listen(&self, listener: Arc<dyn Listener>) -> u64 {
        let mut state = self.lock();
        // Whoever comes late is told how it stands and what is open.
        for (id, open) in state.open.iter().filter(|(_, open)| open.reply.is_none()) {
            listener.hear(&self.id, &Event::Call { id: *id, name: &open.name, args: open.args.as_ref() });
        }
        for ask in self.approvals.open() {
            listener.hear(&self.id, &Event::Ask(&ask));
        }
        listener.hear(&self.id, &self.stage.borrow().event());
        state.next_listener += 1;
        let number = state.next_listener;
        state.listeners.push((number, listener));
        number
    }

    /// Gives it the answers to its first calls, and how it is found again after them.
    pub(crate) fn prefill(&self, chain: Chain, known: Vec<HostReply>) {
        let mut state = self.lock();
        (state.chain, state.known) = (Some(chain), known.into());
    }

    /// How it is found again, having made so many calls.
    pub(crate) fn continuation(&self, made: usize) -> Option<String> {
        self.lock().chain.as_ref().map(|chain| chain.key(made))
    }

    pub(crate) fn lines_before_results(&self) -> usize {
        self.lock().lines_before
    }

    pub(crate) fn unlisten(&self, number: u64) {
        self.lock().listeners.retain(|(other, _)| *other != number);
    }

    pub(crate) fn is_watched(&self) -> bool {
        !self.lock().listeners.is_empty()
    }

    fn tell(&self, state: &State, event: &Event<'_>) {
        state.listeners.iter().for_each(|(_, listener)| listener.hear(&self.id, event));
    }

    /// Takes an answer from the client.
    pub(crate) fn answer(&self, id: CallId, reply: HostReply) -> Taken {
        let mut state = self.lock();
        if matches!(*self.stage.borrow(), Stage::Ended(_) | Stage::Refused(_)) {
            return Taken::Over;
        }
        let made = state.made;
        let held: usize = state.open.values().filter_map(|open| Some(open.reply.as_ref()?.bytes())).sum();
        let Some(open) = state.open.get_mut(&id) else {
            return if id.0 < made { Taken::Twice } else { Taken::Unknown };
        };
        if open.reply.is_some() {
            return Taken::Twice;
        }
        open.reply = Some(within(reply, held));
        if let Some(waker) = open.waker.take() {
            waker.wake();
        }
        match state.asleep {
            true => Taken::Wake,
            false => Taken::Yes,
        }
    }

    /// Takes answers to all open calls of a sleeping run, or none. With them it is found by another chain.
    pub(crate) fn answer_all(&self, replies: &[(CallId, HostReply)], chain: Chain) -> bool {
        let mut state = self.lock();
        let open = |id: &CallId| state.open.get(id).is_some_and(|open| open.reply.is_none());
        if !state.asleep || !replies.iter().all(|(id, _)| open(id)) {
            return false;
        }
        for (id, reply) in replies {
            if let Some(open) = state.open.get_mut(id) {
                open.reply = Some(reply.clone());
            }
        }
        state.chain = Some(chain);
        true
    }

    /// Takes a sleeping run in hand, which only one can do.
    pub(crate) fn wake(&self) -> bool {
        let mut state = self.lock();
        if !state.asleep {
            return false;
        }
        state.asleep = false;
        self.move_on(&state, Stage::Running);
        true
    }

    /// It is about to go on: what was answered is delivered from here on. Gives the time it waited, where that counts.
    pub(crate) fn is_back(&self) -> Duration {
        self.approvals.is_back();
        let mut state = self.lock();
        state.left = false;
        state.waits.take().map_or(Duration::ZERO, |(since, _)| since.elapsed())
    }

    /// Takes a run in hand whose client is there and has let its time run out. Whose client is away waits for it.
    pub(crate) fn take_overdue(&self) -> bool {
        let mut state = self.lock();
        let overdue = state.waits.is_some_and(|(_, end)| end <= Instant::now());
        if !state.asleep || !overdue || state.listeners.is_empty() {
            return false;
        }
        state.asleep = false;
        true
    }

    /// It is in the store, with this much of its time left. False when an answer came meanwhile: then it is to go on at once.
    pub(crate) fn settle(&self, outcome: Arc<str>, open: &[CallId], left: Duration) -> bool {
        let mut state = self.lock();
        state.open.retain(|id, _| open.contains(id));
        if state.open.values().any(|open| open.reply.is_some()) || self.approvals.any_said() {
            return false;
        }
        (state.left, state.asleep) = (true, true);
        let awaited = self.awaited(&state);
        let now = Instant::now();
        // People take their time, and it is not the program's.
        let counts = !state.listeners.is_empty() && awaited.asks.is_empty();
        state.waits = if counts { now.checked_add(left).map(|end| (now, end)) } else { None };
        self.move_on(&state, Stage::Waiting(outcome, awaited));
        true
    }

    pub(crate) fn end(&self, stage: Stage) {
        let mut state = self.lock();
        state.open.clear();
        self.approvals.clear();
        state.asleep = false;
        self.move_on(&state, stage);
    }

    fn move_on(&self, state: &State, stage: Stage) {
        self.tell(state, &stage.event());
        self.changed.store(now().as_micros(), Ordering::Relaxed);
        self.stage.send_replace(stage);
    }

    /// Shows the calls that wait for the client as the client is to make them: someone may have agreed to other arguments.
    pub(crate) fn amend(&self, outcome: &mut Outcome) {
        let state = self.lock();
        for pending in &mut outcome.waiting_for {
            if let (HostCall::Tool { args, .. }, Some(open)) = (&mut pending.call, state.open.get(&pending.id)) {
                args.clone_from(&open.args);
            }
        }
    }

    fn awaited(&self, state: &State) -> Awaited {
        Awaited { calls: state.unanswered(), asks: self.approvals.open().iter().map(|ask| ask.id).collect() }
    }

    /// What tells a run that is taken in hand to leave memory.
    pub(crate) fn hurry_with(&self, all: &CancellationToken) -> CancellationToken {
        let token = all.child_token();
        *self.hurry.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// Someone is asked, which takes its time: the run had better wait outside memory.
    pub(crate) fn asked(&self, ask: &Ask) {
        self.tell(&self.lock(), &Event::Ask(ask));
        self.hurry.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// Whether it is in the store, and nobody has it in hand.
    pub(crate) fn is_asleep(&self) -> bool {
        self.lock().asleep
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// THREAT[T-SERVER-014]: many large answers at once, before the program has taken any of them, would fill our memory.
/// An answer, if there is room for it beside those that wait to be taken.
fn within(reply: HostReply, held: usize) -> HostReply {
    if held + reply.bytes() <= ANSWERS_BYTES_MAX {
        return reply;
    }
    let message = format!("answers that wait to be taken have more than {} MiB together", ANSWERS_BYTES_MAX >> 20);
    HostReply::failed_as("tool.too_large", "RangeError", message)
}

/// Of one run.
const ANSWERS_BYTES_MAX: usize = 64 << 20;

impl State {
    fn unanswered(&self) -> Arc<[CallId]> {
        self.open.iter().filter(|(_, open)| open.reply.is_none()).map(|(id, _)| *id).collect()
    }
}

/// The client's functions, as the gate calls them.
pub(crate) struct ClientTools(pub(crate) Arc<Run>);

impl Host for ClientTools {
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        let HostCall::Tool { name, args } = call else {
            return Box::pin(std::future::ready(HostReply::failed("Error", "a client has tools only").into()));
        };
        {
            let mut state = self.0.lock();
            state.made = state.made.max(id.0 + 1);
            if !state.open.contains_key(&id) {
                let known = state.known.pop_front();
                if known.is_some() {
                    state.lines_before = state.lines;
                } else {
                    self.0.tell(&state, &Event::Call { id, name: &name, args: args.as_ref() });
                }
                state.open.insert(id, Open { name, args, reply: known, waker: None });
            }
        }
        Box::pin(std::future::poll_fn(move |cx| {
            let mut state = self.0.lock();
            if state.left {
                return Poll::Pending;
            }
            let Some(open) = state.open.get_mut(&id) else { return Poll::Pending };
            match open.reply.take() {
                Some(reply) => {
                    state.open.remove(&id);
                    Poll::Ready(reply.into())
                }
                None => {
                    open.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }

    fn waits(&self, _call: &HostCall) -> bool {
        true
    }

    /// Only if no answer is on its way in. From then on answers wait until the run is back.
    fn leave(&self, unanswered: &[CallId]) -> bool {
        let mut state = self.0.lock();
        let open = |id: &CallId| state.open.get(id).is_some_and(|open| open.reply.is_none());
        let all = unanswered.iter().all(open);
        state.left |= all;
        all
    }
}

/// Tells listeners what a run writes.
pub(crate) struct Told(pub(crate) Arc<Run>);

impl OutputSink for Told {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        let mut state = self.0.lock();
        state.lines += 1;
        if !state.listeners.is_empty() {
            let at_ms = at.since(self.0.created).as_millis() as u64;
            self.0.tell(&state, &Event::Output { stream, text: &text, at_ms });
        }
    }
}
