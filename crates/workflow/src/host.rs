//! What a workflow asks of the world: agents, people, signals, the time. Everything else is for whoever performs what was granted.

mod agent;
mod ask;
mod outside;
mod progress;

use crate::control::Control;
use crate::event::{Audience, Clean, Event, now_ms};
use crate::fault::Fault;
use crate::imported::Imported;
use crate::mail::Mailbox;
use crate::pace::Pace;
use crate::settings::Settings;
use crate::tally::Tally;
use isolith_agents::Agent;
use isolith_core::{Answer, Ask, BoxFuture, CallId, Host, HostCall, HostReply, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// The grant that workflows have by being workflows.
pub(crate) const OWN_GRANT: &str = "tool:workflow.*";
const OWN: &str = "workflow.";
pub(crate) const AGENT: &str = "workflow.agent";
pub(crate) const ASK: &str = "workflow.ask";
pub(crate) const WAIT: &str = "workflow.wait";

/// Who and what a workflow has around it.
#[derive(Clone)]
pub struct Means {
    /// Who answers prompts.
    pub agents: Arc<dyn Agent>,
    /// Performs what else was granted.
    pub inner: Arc<dyn Host>,
    /// Hears what happens.
    pub audience: Arc<dyn Audience>,
    /// Signals and answers.
    pub mail: Arc<dyn Mailbox>,
    /// Stops and pauses it.
    pub control: Arc<Control>,
    /// Answers that are known beforehand.
    pub imported: Option<Arc<Imported>>,
}

/// The host of one run.
pub(crate) struct WorkflowHost {
    pub(crate) means: Means,
    pub(crate) settings: Settings,
    pub(crate) pace: Arc<Pace>,
    places: Semaphore,
    tally: Mutex<Tally>,
    /// Questions are put one after the other.
    asking: tokio::sync::Mutex<()>,
    /// Waits for signals of one name, one after the other.
    queues: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Calls that only wait: a run may leave memory meanwhile.
    waiting: Mutex<BTreeSet<CallId>>,
}

/// What happened in the guest since its last call.
#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    events: Vec<Map<String, Value>>,
    /// Whether it is made to clean up, which goes on when everything else is stopped.
    #[serde(default)]
    cleanup: bool,
}

/// When a call is given up.
#[derive(Clone, Copy)]
struct Until {
    cleanup: bool,
}

impl WorkflowHost {
    pub(crate) fn new(means: Means, settings: Settings, tally: Tally) -> WorkflowHost {
        // Whoever watches is told no more than the journal.
        let audience = Clean { audience: means.audience, host: Arc::clone(&means.inner) };
        let means = Means { audience: Arc::new(audience), ..means };
        let places = Semaphore::new(settings.concurrency.max(1));
        let (pace, tally) = (Arc::default(), Mutex::new(tally));
        let (asking, queues, waiting) = (tokio::sync::Mutex::default(), Mutex::default(), Mutex::default());
        WorkflowHost { means, settings, pace, places, tally, asking, queues, waiting }
    }

    pub(crate) fn tell(&self, kind: &str, about: Value) {
        self.means.audience.hear(&Event::now(kind, about));
    }

    /// Passes on what the guest says happened.
    pub(crate) fn tell_all(&self, events: Vec<Map<String, Value>>) {
        for mut event in events {
            let Some(Value::String(kind)) = event.remove("type") else { continue };
            // What the host knows better is not the guest's to say.
            if matches!(kind.as_str(), "agent-queued" | "agent-failed" | "phase-started" | "log") {
                self.tell(&kind, Value::Object(event));
            }
        }
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<CallId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queues(&self) -> MutexGuard<'_, BTreeMap<String, Arc<tokio::sync::Mutex<()>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self, until: Until) -> bool {
        self.means.control.stop.is_cancelled() && !until.cleanup
    }

    /// Returns when a call is to be given up.
    async fn stopped(&self, until: Until) {
        match until.cleanup {
            true => std::future::pending().await,
            false => self.means.control.stop.cancelled().await,
        }
    }

    async fn own(&self, id: CallId, name: &str, args: Json) -> HostReply {
        let mut until = Until { cleanup: false };
        if let Ok(Told { events, cleanup }) = args.parse() {
            self.tell_all(events);
            until.cleanup = cleanup;
        }
        let done = match name {
            AGENT => self.agent(&args, until).await,
            ASK => self.ask(id, &args, until).await,
            WAIT => self.wait(id, &args, until).await,
            "workflow.now" => Ok(json!(now_ms())),
            "workflow.random" => outside::random(),
            "workflow.emit" => Ok(json!(true)),
            _ => return HostReply::failed_as("tool.unknown", "TypeError", format!("workflows have no `{name}`")),
        };
        match done {
            Ok(value) => HostReply::value(&json!({ "ok": value })),
            Err(Failed { fault, tokens: 0 }) => HostReply::value(&json!({ "error": fault })),
            Err(Failed { fault, tokens }) => HostReply::value(&json!({ "error": fault, "outputTokens": tokens })),
        }
    }
}

/// A call that came to nothing, and what it cost.
struct Failed {
    fault: Fault,
    tokens: u64,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed { fault, tokens: 0 }
    }
}

/// What is wrong with the arguments of a call that the library makes: someone else made it.
fn nonsense(error: &isolith_core::InvalidJson) -> Fault {
    Fault::of_run(format!("a call that no workflow makes: {error}"))
}

impl Host for WorkflowHost {
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        match call {
            HostCall::Tool { name, args } if name.to_string().starts_with(OWN) => Box::pin(async move {
                let reply = self.own(id, &name.to_string(), args.unwrap_or_else(Json::null)).await;
                self.waiting().remove(&id);
                reply.into()
            }),
            call => self.means.inner.call(id, call),
        }
    }

    fn describe(&self, call: &HostCall) -> Option<(String, String)> {
        if is_own(call) { call.label() } else { self.means.inner.describe(call) }
    }

    fn waits(&self, call: &HostCall) -> bool {
        is_own(call) || self.means.inner.waits(call)
    }

    fn leave(&self, unanswered: &[CallId]) -> bool {
        let waiting = self.waiting();
        let others: Vec<CallId> = unanswered.iter().filter(|id| !waiting.contains(id)).copied().collect();
        drop(waiting);
        self.means.inner.leave(&others)
    }

    fn asks(&self) -> Vec<Ask> {
        self.means.inner.asks()
    }

    fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.means.inner.scrub(text)
    }
}

fn is_own(call: &HostCall) -> bool {
    matches!(call, HostCall::Tool { name, .. } if name.to_string().starts_with(OWN))
}

/// Lets everyone else who was asked in the same step be heard first.
async fn turn_aside() {
    let mut before = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut before, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
