//! The loop that everything else is a wrapper around: advance the isolate, perform what it asked, deliver the replies.

use crate::clock::{Clock, Time};
use crate::journal::Journal;
use crate::plan::Patience;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use isolith_core::{
    Act, Answer, BoxFuture, CallId, CallOutcome, CallRecord, End, EngineError, ErrorKind, Failure, FetchCall, Host,
    HostCall, HostReply, Isolate, Limits, PendingCall, Step, Timestamp, Turn,
};
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Beyond its wall limit an engine has this long to stop by itself, and to say where the program was.
const STOP_GRACE: Duration = Duration::from_millis(500);
// THREAT[T-STATE-003]: nothing acts after the result is out.
/// Calls that a program made and did not wait for have this long to finish once it has ended; then they are dropped.
const LINGER: Duration = Duration::from_millis(100);

// THREAT[T-LIMIT-004]: many large replies at once would fill the host's memory before the guest's limit sees any of them.
/// Calls in flight to begin with; small replies widen this up to the limit, large ones narrow it.
const WINDOW: usize = 16;
/// A reply up to this size says that more calls may be in flight.
const SMALL_REPLY_BYTES: usize = 64 << 10;
/// One turn delivers no more than this, or one reply.
const TURN_BYTES: usize = 1 << 20;
/// A run that is to leave memory and cannot yet tries again after this.
const LEAVE_PAUSE: Duration = Duration::from_millis(50);
/// One reply may be this part of the guest's memory: it has to hold the text and what is made of it.
const REPLY_PART_OF_MEMORY: u64 = 8;

/// One run in progress.
pub(crate) struct Drive {
    pub(crate) isolate: Box<dyn Isolate>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) cancel: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) patience: Option<Patience>,
    /// Where it may be suspended at all, it is as soon as it can be once this is cancelled.
    pub(crate) leave: CancellationToken,
    /// Writes everything down that the guest is told, where that is wanted.
    pub(crate) journal: Option<Box<Journal>>,
    /// Each call that exercises a grant.
    pub(crate) records: Vec<CallRecord>,
    /// Made, and not being performed yet.
    pub(crate) queue: VecDeque<PendingCall>,
    /// The one wake-up the guest wants.
    pub(crate) sleep: Option<(CallId, Timestamp)>,
    in_flight: JoinSet<(CallId, Answer)>,
    /// Calls that only wait for someone outside. Nothing is gained by a task for each of them.
    waiting: FuturesUnordered<BoxFuture<'static, Answered>>,
    /// Calls that were done as soon as they were begun.
    done: VecDeque<(CallId, HostReply)>,
    window: usize,
    performing: HashMap<CallId, Performing>,
    /// After so many turns its state is kept, where that is wanted.
    pub(crate) checkpoint_every: Option<u32>,
    since_checkpoint: u32,
}

/// A call that is being performed.
struct Performing {
    /// Where its record is.
    record: Option<usize>,
    since: Instant,
    /// A request, without what it carries: it is named when it turns out that its answer does not.
    unnamed: Option<Box<FetchCall>>,
    /// What to ask again if the run leaves memory first.
    call: Option<HostCall>,
}

/// What came of a call, or how it broke.
type Answered = Result<(CallId, Answer), String>;

/// How the loop ended.
pub(crate) enum Stop {
    Ended(End),
    /// It only waits, and is to do that outside memory.
    Suspend,
    /// It goes on, but its state is to be kept first.
    Checkpoint,
}

impl Drive {
    pub(crate) fn new(
        isolate: Box<dyn Isolate>,
        host: Arc<dyn Host>,
        cancel: CancellationToken,
        clock: Clock,
        limits: Limits,
        patience: Option<Patience>,
        leave: CancellationToken,
    ) -> Drive {
        Drive {
            isolate,
            host,
            cancel,
            clock,
            limits,
            patience,
            leave,
            journal: None,
            records: Vec::new(),
            queue: VecDeque::new(),
            sleep: None,
            in_flight: JoinSet::new(),
            waiting: FuturesUnordered::new(),
            done: VecDeque::new(),
            window: WINDOW,
            performing: HashMap::new(),
            checkpoint_every: None,
            since_checkpoint: 0,
        }
    }

    /// Runs to the end, or to where it is to be kept.
    pub(crate) async fn run(&mut self, begin: Begin) -> Result<Stop, EngineError> {
        let mut step = match begin {
            Begin::Fresh => self.advance(Vec::new()).await?,
            Begin::Waiting => Step::Calls(Vec::new()),
            Begin::After(step) => step,
        };
        loop {
            match step {
                Step::Calls(calls) => self.accept(calls),
                Step::Done(end, calls) => {
                    self.accept(calls);
                    self.linger().await;
                    return Ok(Stop::Ended(end));
                }
            }
            // A reply that is there and was not delivered is in no state, and in no journal.
            if self.done.is_empty() && self.checkpoint_every.is_some_and(|every| self.since_checkpoint >= every) {
                self.since_checkpoint = 0;
                return Ok(Stop::Checkpoint);
            }
            let replies = match self.wait().await {
                Ok(replies) => replies,
                Err(stop) => return Ok(self.stopped(stop).await),
            };
            self.since_checkpoint += 1;
            step = self.advance(replies).await?;
        }
    }

    /// Every call without a reply, in their order: what a state that is kept now has to ask for again.
    pub(crate) fn unanswered(&self) -> Vec<PendingCall> {
        let performing = self.performing.iter().filter_map(|(id, one)| Some((*id, one.call.clone()?)));
        let mut all: Vec<PendingCall> = performing.map(|(id, call)| PendingCall { id, call }).collect();
        all.extend(self.queue.iter().cloned());
        all.sort_unstable_by_key(|pending| pending.id);
        all
    }

    async fn advance(&mut self, replies: Vec<(CallId, HostReply)>) -> Result<Step, EngineError> {
        let wall_left = self.wall_left();
        let turn = Turn { now: self.clock.now(), wall_left, replies };
        if let Some(journal) = &mut self.journal {
            journal.turn(&turn)?;
        }
        let step = tokio::select! {
            biased;
            step = self.isolate.advance(turn) => step?,
            () = self.cancel.cancelled() => Step::Done(cancelled(), Vec::new()),
            () = tokio::time::sleep(wall_left + STOP_GRACE) => Step::Done(timeout(), Vec::new()),
        };
        if let Some(journal) = &mut self.journal {
            journal.step(&step)?;
        }
        Ok(step)
    }

    fn wall_left(&self) -> Duration {
        self.limits.wall.saturating_sub(self.clock.elapsed())
    }

    /// Takes calls in the order the guest made them.
    fn accept(&mut self, calls: Vec<PendingCall>) {
        for pending in calls {
            match pending.call {
                HostCall::Sleep { until } => self.sleep = Some((pending.id, until)),
                // A request may wait for the rest of its body, so what goes on with a body never waits for a place.
                ref call if !call.exercises() => self.begin(pending),
                _ => self.queue.push_back(pending),
            }
        }
        self.perform();
    }

    /// Starts as many of the queued calls as may be in flight.
    fn perform(&mut self) {
        let all = self.limits.calls_in_flight as usize;
        while let Some(next) = self.queue.front() {
            let performed = self.in_flight.len() + self.done.len();
            let room = performed + self.waiting.len() < all && (performed < self.window || self.host.waits(&next.call));
            if !room {
                return;
            }
            let Some(pending) = self.queue.pop_front() else { return };
            self.begin(pending);
        }
    }

    fn begin(&mut self, PendingCall { id, call }: PendingCall) {
        // A request's answer says which grants it used. To find them beforehand is to decide about it twice, for nothing unless the
        // run ends before the answer comes.
        let unnamed = match &call {
            HostCall::Fetch(fetch) => Some(Box::new(fetch.bare())),
            _ => None,
        };
        let described =
            if unnamed.is_some() { Some((String::new(), String::new())) } else { self.host.describe(&call) };
        let record = described.map(|(grant, what)| {
            self.records.push(CallRecord { grant, what, outcome: CallOutcome::Waiting, duration_us: 0 });
            self.records.len() - 1
        });
        let kept = self.patience.is_some() || self.checkpoint_every.is_some();
        let (again, waits) = (kept.then(|| call.clone()), self.host.waits(&call));
        self.performing.insert(id, Performing { record, since: Instant::now(), unnamed, call: again });
        let host = Arc::clone(&self.host);
        let most = self.limits.payload_bytes.min(self.limits.memory_bytes / REPLY_PART_OF_MEMORY) as usize;
        let mut performed: BoxFuture<'static, (CallId, Answer)> = Box::pin(async move {
            let Answer { reply, acts } = host.call(id, call).await;
            (id, Answer { reply: bounded(reply, most), acts })
        });
        // Most tools answer at once; only those that have something to do meanwhile are worth a task of their own.
        match now_or_later(&mut performed) {
            Now::Ready((id, answer)) => {
                let reply = self.record(id, answer);
                self.done.push_back((id, reply));
            }
            Now::Later if waits => self.waiting.push(Box::pin(async move {
                let caught = AssertUnwindSafe(performed).catch_unwind().await;
                caught.map_err(|_| "a tool panicked".to_owned())
            })),
            Now::Later => {
                self.in_flight.spawn(performed);
            }
            Now::Panicked => self.waiting.push(Box::pin(std::future::ready(Err("a tool panicked".to_owned())))),
        }
    }

    /// Waits until there is something to deliver.
    async fn wait(&mut self) -> Result<Vec<(CallId, HostReply)>, Stop> {
        self.perform();
        if !self.done.is_empty() {
            return self.check_time().map(|()| self.take_done());
        }
        let only_sleeps = !self.is_performing() && self.queue.is_empty();
        if let (true, Some((id, until))) = (only_sleeps, self.sleep) {
            let wait = self.clock.until(until);
            if self.patience.is_some_and(|p| matches!(self.clock.time(), Time::Live) && wait > p.timer)
                && self.isolate.can_suspend()
                && self.host.leave(&[])
            {
                return Err(Stop::Suspend);
            }
            if wait.is_zero() {
                self.clock.reach(until);
                self.sleep = None;
                // Zero timers in a loop must not keep the thread from everyone else.
                tokio::task::yield_now().await;
                return self.check_time().map(|()| vec![(id, HostReply::Value { json: None })]);
            }
        }
        let mut patience = self.patience.map_or(Duration::MAX, |patience| patience.outside);
        loop {
            let wall_left = self.wall_left();
            let timer = match self.sleep {
                // Virtual time stands still while calls are being performed.
                Some((_, until)) if matches!(self.clock.time(), Time::Live) => self.clock.until(until),
                _ => Duration::MAX,
            };
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Stop::Ended(cancelled())),
                () = tokio::time::sleep(wall_left) => return Err(Stop::Ended(timeout())),
                Some(first) = next_answer(&mut self.in_flight, &mut self.waiting) => return self.collect(first),
                () = tokio::time::sleep(timer), if self.sleep.is_some() => {
                    let sleep = self.sleep.take();
                    return Ok(sleep.map(|(id, _)| (id, HostReply::Value { json: None })).into_iter().collect());
                }
                () = enough(patience, &self.leave), if self.patience.is_some() => {
                    if self.may_leave() {
                        return Err(Stop::Suspend);
                    }
                    patience = LEAVE_PAUSE;
                }
            }
        }
    }

    fn is_performing(&self) -> bool {
        !(self.in_flight.is_empty() && self.waiting.is_empty())
    }

    /// Whether everything the run waits for can be asked for again later.
    fn may_leave(&self) -> bool {
        let unanswered: Vec<CallId> = self.performing.keys().copied().collect();
        // A timer that is due soon is not worth leaving for, unless everyone has to.
        let timer = self.patience.map_or(Duration::ZERO, |patience| patience.timer);
        let soon = |(_, until): (CallId, Timestamp)| self.clock.until(until) <= timer;
        let live = matches!(self.clock.time(), Time::Live);
        let stays = live && self.sleep.is_some_and(soon) && !self.leave.is_cancelled();
        !stays && self.isolate.can_suspend() && self.host.leave(&unanswered)
    }

    fn check_time(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Ended(cancelled()));
        }
        if self.wall_left().is_zero() { Err(Stop::Ended(timeout())) } else { Ok(()) }
    }

    /// What was done at once, in the order in which it was asked.
    fn take_done(&mut self) -> Vec<(CallId, HostReply)> {
        let (mut replies, mut bytes) = (Vec::new(), 0);
        while bytes < TURN_BYTES
            && let Some((id, reply)) = self.done.pop_front()
        {
            bytes += reply.bytes();
            self.adapt(reply.bytes());
            replies.push((id, reply));
        }
        self.perform();
        replies
    }

    /// The reply that woke us and all others that are there, in the order in which they came.
    fn collect(&mut self, first: Answered) -> Result<Vec<(CallId, HostReply)>, Stop> {
        let (mut replies, mut bytes) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(joined) = next {
            let (id, answer) = joined.map_err(|error| {
                // A panic in a tool ends this run and no other.
                let message = format!("performing a call failed: {error}");
                Stop::Ended(End::Failed(Failure::of(ErrorKind::Internal, "HostFailure", message)))
            })?;
            let reply = self.record(id, answer);
            bytes += reply.bytes();
            self.adapt(reply.bytes());
            replies.push((id, reply));
            next = match bytes < TURN_BYTES {
                true => next_answer(&mut self.in_flight, &mut self.waiting).now_or_never().flatten(),
                false => None,
            };
        }
        self.perform();
        Ok(replies)
    }

    /// How many calls may be in flight, given what they bring.
    fn adapt(&mut self, bytes: usize) {
        if bytes <= SMALL_REPLY_BYTES {
            self.window = (self.window * 2).min(self.limits.calls_in_flight as usize);
        } else {
            let fit = self.limits.memory_bytes / (REPLY_PART_OF_MEMORY * bytes as u64);
            self.window = self.window.min((fit as usize).max(1));
        }
    }

    /// Writes down how a call went, and gives what is for the guest.
    fn record(&mut self, id: CallId, Answer { reply, acts }: Answer) -> HostReply {
        let performing = self.performing.remove(&id);
        let Some(Performing { record: Some(at), since, unnamed, .. }) = performing else { return reply };
        if acts.is_empty() {
            self.name(at, unnamed);
        }
        let duration_us = since.elapsed().as_micros() as u64;
        let outcome = match &reply {
            HostReply::Failed { error } if error.is_refusal() => CallOutcome::Denied,
            HostReply::Failed { .. } => CallOutcome::Failed,
            HostReply::Value { .. } | HostReply::Body { .. } | HostReply::Bytes { .. } | HostReply::Response { .. } => {
                CallOutcome::Ok
            }
        };
        if let Some(record) = self.records.get_mut(at) {
            (record.outcome, record.duration_us) = (outcome, duration_us);
            if let Some(journal) = &mut self.journal {
                let own = || vec![Act { grant: record.grant.clone(), what: record.what.clone(), outcome }];
                journal.decided(id, if acts.is_empty() { own() } else { acts.clone() });
            }
        }
        // The host knows better which grants were used: one call can be several acts, as redirects are.
        for (n, Act { grant, what, outcome }) in acts.into_iter().enumerate() {
            let record = CallRecord { grant, what, outcome, duration_us };
            match self.records.get_mut(at) {
                Some(first) if n == 0 => *first = record,
                _ => self.records.push(record),
            }
        }
        reply
    }

    /// Gives a record the name that its answer did not bring.
    fn name(&mut self, at: usize, unnamed: Option<Box<FetchCall>>) {
        let Some(described) = unnamed.and_then(|fetch| self.host.describe(&HostCall::Fetch(fetch))) else { return };
        if let Some(record) = self.records.get_mut(at) {
            (record.grant, record.what) = described;
        }
    }

    /// Lets calls finish that nobody waits for. What is not done by then is not done: nothing acts after the result.
    async fn linger(&mut self) {
        let deadline = tokio::time::sleep(LINGER.min(self.wall_left()));
        tokio::pin!(deadline);
        loop {
            self.done.clear(); // nobody waits for these replies any more
            self.perform();
            if !self.is_performing() && self.queue.is_empty() {
                break;
            }
            if !self.is_performing() {
                continue;
            }
            tokio::select! {
                biased;
                Some(answered) = next_answer(&mut self.in_flight, &mut self.waiting) => {
                    if let Ok((id, answer)) = answered {
                        drop(self.record(id, answer));
                    }
                }
                () = &mut deadline => break,
                () = self.cancel.cancelled() => break,
            }
        }
        self.abandon().await;
    }

    async fn stopped(&mut self, stop: Stop) -> Stop {
        match stop {
            Stop::Ended(_) => self.abandon().await,
            Stop::Suspend => self.park().await,
            Stop::Checkpoint => {}
        }
        stop
    }

    /// Gives up on calls that will be made again, in their order, before any that were not begun.
    async fn park(&mut self) {
        self.waiting.clear();
        self.in_flight.shutdown().await;
        let unnamed: Vec<_> = self.performing.values().map(|one| (one.record, one.unnamed.clone())).collect();
        for (record, unnamed) in unnamed {
            record.into_iter().for_each(|at| self.name(at, unnamed.clone()));
        }
        let mut again: Vec<(CallId, HostCall)> =
            self.performing.drain().filter_map(|(id, performing)| Some((id, performing.call?))).collect();
        again.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        again.into_iter().for_each(|(id, call)| self.queue.push_front(PendingCall { id, call }));
    }

    async fn abandon(&mut self) {
        self.waiting.clear();
        // Waits until they are really gone; a tool that blocks its thread is not waited for without end.
        let _ = tokio::time::timeout(LINGER, self.in_flight.shutdown()).await;
        for (_, Performing { record, unnamed, .. }) in std::mem::take(&mut self.performing) {
            record.into_iter().for_each(|at| self.name(at, unnamed.clone()));
        }
        for record in self.records.iter_mut().filter(|r| r.outcome == CallOutcome::Waiting) {
            record.outcome = CallOutcome::Cancelled;
        }
    }
}

/// The next call that is answered; nothing when there is none to wait for.
async fn next_answer(
    in_flight: &mut JoinSet<(CallId, Answer)>,
    waiting: &mut FuturesUnordered<BoxFuture<'static, Answered>>,
) -> Option<Answered> {
    tokio::select! {
        biased;
        Some(answered) = waiting.next() => Some(answered),
        Some(joined) = in_flight.join_next() => Some(joined.map_err(|error| error.to_string())),
        else => None,
    }
}

/// Where a run takes up.
pub(crate) enum Begin {
    Fresh,
    Waiting,
    /// With what the guest did last.
    After(Step),
}

/// A reply that is too large is dropped where it is made.
fn bounded(reply: HostReply, most: usize) -> HostReply {
    match reply.bytes() {
        bytes if bytes > most => {
            HostReply::failed("RangeError", format!("the reply is {bytes} bytes, but one call may bring {most}"))
        }
        _ => reply,
    }
}

/// Returns when a run has waited long enough to leave memory, or has to hurry.
async fn enough(patience: Duration, leave: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(patience) => {}
        () = leave.cancelled(), if patience > LEAVE_PAUSE => {}
    }
}

enum Now<T> {
    Ready(T),
    Later,
    Panicked,
}

/// Polls a future once, before anyone waits for it; whoever waits later polls it again.
fn now_or_later<T>(future: &mut BoxFuture<'static, T>) -> Now<T> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| future.as_mut().poll(&mut cx)));
    match polled {
        Ok(std::task::Poll::Ready(value)) => Now::Ready(value),
        Ok(std::task::Poll::Pending) => Now::Later,
        Err(_) => Now::Panicked,
    }
}

fn timeout() -> End {
    End::Failed(Failure::of(ErrorKind::Timeout, "Timeout", "the program took longer than its time limit"))
}

fn cancelled() -> End {
    End::Failed(Failure::of(ErrorKind::Cancelled, "Cancelled", "the run was cancelled"))
}
