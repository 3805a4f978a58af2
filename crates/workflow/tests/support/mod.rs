//! A case as data: agents that answer in a time of their own, and everything that comes of a run.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "shared by tests, which fail loudly"
)]

use isolith_agents::{Agent, AgentError, Agents, Progress, Reply, Request};
use isolith_core::{BoxFuture, Json, OutputSink, Recorder, RunId, StoreProblem, Stream, Timestamp};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{NoTools, Recorded, Runner};
use isolith_workflow::{
    Around, Bundle, Control, End, Fault, Files, Finished, Heard, Imported, Letters, Means, Settings,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::oneshot;

pub(crate) fn runner() -> Runner {
    static ENGINE: OnceLock<Arc<QuickJs>> = OnceLock::new();
    Runner::new(Arc::clone(ENGINE.get_or_init(|| Arc::new(QuickJs::new(Options::default()).unwrap()))) as _)
}

/// A journal in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<Vec<String>>>);

impl Recorder for Memory {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.0.lock().unwrap().push(record.to_owned());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        Ok(())
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        for record in self.0.lock().unwrap().iter_mut() {
            *record = change(record).unwrap_or_else(|| std::mem::take(record));
        }
        Ok(())
    }
}

impl Memory {
    pub(crate) fn records(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) struct Nowhere;

impl OutputSink for Nowhere {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

/// Agents whose answers are data. Time passes only when everything waits: then the call that is ready first is answered.
pub(crate) struct Stub {
    replies: Vec<Value>,
    state: Mutex<Virtual>,
    pub(crate) calls: Mutex<Vec<Value>>,
    nth: Mutex<BTreeMap<usize, usize>>,
    started: AtomicUsize,
    in_flight: AtomicUsize,
    pub(crate) peak: AtomicUsize,
}

#[derive(Default)]
struct Virtual {
    now: u64,
    order: u64,
    waiting: Vec<(u64, u64, oneshot::Sender<()>)>,
}

impl Stub {
    pub(crate) fn new(replies: &Value) -> Arc<Stub> {
        Arc::new(Stub {
            replies: replies.as_array().cloned().unwrap_or_default(),
            state: Mutex::default(),
            calls: Mutex::default(),
            nth: Mutex::default(),
            started: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        })
    }

    fn reply(&self, seq: u64, request: &Request) -> Option<Value> {
        let nth = self.started.fetch_add(1, Ordering::SeqCst);
        self.replies
            .iter()
            .find(|reply| {
                let Some(Value::Object(wanted)) = reply.get("match") else { return true };
                wanted.iter().all(|(name, value)| match name.as_str() {
                    "label" => value == &json!(request.label),
                    "seq" => value == &json!(seq),
                    "nth" => value == &json!(nth),
                    "prompt_contains" => request.prompt.contains(value.as_str().unwrap()),
                    other => panic!("cases say nothing of `{other}`"),
                })
            })
            .cloned()
    }

    /// Answers whoever is ready first; false when nobody waits.
    fn next(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let Some(at) = (0..state.waiting.len()).min_by_key(|at| (state.waiting[*at].0, state.waiting[*at].1)) else {
            return false;
        };
        let (ready, _, done) = state.waiting.remove(at);
        state.now = state.now.max(ready);
        let _ = done.send(());
        true
    }
}

impl Agent for Stub {
    fn run(&self, request: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move {
            let seq: u64 = request.key.split(':').next().unwrap().parse().unwrap();
            let mut call = json!({ "seq": seq, "label": request.label, "prompt": request.prompt });
            for (name, value) in [
                ("schema", json!(request.schema)),
                ("model", json!(request.model)),
                ("agentType", json!(request.agent_type)),
            ] {
                if !value.is_null() {
                    call[name] = value;
                }
            }
            self.calls.lock().unwrap().push(call);
            let reply = self.reply(seq, &request).unwrap_or_else(|| json!({ "text": "" }));
            let (done, ready) = oneshot::channel();
            {
                let mut state = self.state.lock().unwrap();
                let (at, order) = (state.now + reply["delay"].as_u64().unwrap_or(1), state.order);
                state.order += 1;
                state.waiting.push((at, order, done));
            }
            let flying = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(flying, Ordering::SeqCst);
            ready.await.unwrap();
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            if let Some(fail) = reply.get("fail") {
                return Err(serde_json::from_value(fail.clone()).unwrap());
            }
            Ok(Reply {
                text: reply["text"].as_str().unwrap_or_default().to_owned(),
                data: reply.get("data").map(|data| Json::of(data).unwrap()),
                input_tokens: reply["inputTokens"].as_u64().unwrap_or(0),
                output_tokens: reply["outputTokens"].as_u64().unwrap_or(0),
                attempts: 1,
                ..Reply::default()
            })
        })
    }
}

/// A second adapter, whose calls are written down among the others.
struct Other(Arc<Stub>);

impl Agent for Other {
    fn run(&self, request: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        let text = format!("other:{}", request.label);
        let seq: u64 = request.key.split(':').next().unwrap().parse().unwrap();
        self.0.calls.lock().unwrap().push(json!({ "adapter": "other", "label": request.label, "seq": seq }));
        let reply = Reply { text, ..Reply::default() };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// Everything that came of a run.
pub(crate) struct Came {
    pub(crate) finished: Finished,
    pub(crate) events: Vec<String>,
    pub(crate) logs: Vec<String>,
    pub(crate) calls: Vec<Value>,
    pub(crate) peak: usize,
    pub(crate) records: Vec<String>,
}

impl Came {
    pub(crate) fn recorded(&self) -> Recorded {
        Recorded::read(&self.records).unwrap()
    }

    pub(crate) fn value(&self) -> Value {
        match &self.finished.end {
            End::Value(value) => value.as_ref().map_or(Value::Null, |value| value.parse().unwrap()),
            End::Failed(fault) => panic!("it failed: {fault}"),
            End::NotTakenUp(fault) => panic!("it was not taken up: {fault}"),
            End::Waits(_) => panic!("it waits"),
        }
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        match &self.finished.end {
            End::Failed(fault) | End::NotTakenUp(fault) => Some(fault),
            End::Value(_) | End::Waits(_) => None,
        }
    }
}

/// The bundle of a case.
pub(crate) fn bundle(input: &Value) -> Result<Bundle, isolith_workflow::BundleError> {
    let saved = |name: &str| input["workflows"][name].as_str().map(str::to_owned);
    let names = || input["workflows"].as_object().map_or_else(Vec::new, |all| all.keys().cloned().collect());
    let mut read = |path: &str| Ok(input["files"][path].as_str().map(str::to_owned));
    Bundle::read(
        input["source"].as_str().unwrap(),
        "case.ts",
        &mut Files { read: &mut read, saved: &saved, names: &names },
    )
}

/// Runs a case from its beginning, or from what is on record.
pub(crate) fn run(input: &Value, imported: Option<&str>, from: Option<&[String]>) -> Came {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = run_here(input, imported, from);
    runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(60), run).await.expect("it hangs") })
}

async fn run_here(input: &Value, imported: Option<&str>, from: Option<&[String]>) -> Came {
    let bundle = bundle(input).unwrap();
    let config = &input["config"];
    let settings = Settings {
        args: input.get("args").map(|args| Json::of(args).unwrap()),
        budget: config["budgetTotal"].as_u64(),
        cap: config["maxAgents"].as_u64().unwrap_or(1000) as u32,
        concurrency: config["concurrency"].as_u64().unwrap_or(8) as usize,
        mock: false,
        answers: serde_json::from_value(input.get("answers").cloned().unwrap_or_else(|| json!({}))).unwrap(),
    };
    let stub = Stub::new(&input["agents"]);
    let heard = Arc::new(Heard::default());
    let control = Arc::new(Control::default());
    if config["aborted"] == json!(true) {
        control.stop.cancel();
    }
    let means = Means {
        agents: Arc::new(Agents::new(Arc::clone(&stub) as _).with("other", Arc::new(Other(Arc::clone(&stub))))),
        inner: Arc::new(NoTools),
        audience: Arc::clone(&heard) as _,
        mail: Arc::new(Letters::default()),
        control,
        imported: imported.map(|text| Arc::new(Imported::read(text).unwrap())),
    };
    let journal = Memory::default();
    journal.0.lock().unwrap().extend(from.into_iter().flatten().cloned());
    let around = Around {
        journal: Box::new(Ticking { inner: journal.clone(), stub: Arc::clone(&stub) }),
        keep: None,
        patience: None,
        sink: Arc::new(Nowhere),
        leave: Default::default(),
    };
    let runner = runner();
    let finished = match from {
        None => {
            let run = RunId("case".into());
            isolith_workflow::run(&runner, &bundle, (run, &[], isolith_workflow::limits()), settings, means, around)
                .await
        }
        Some(records) => {
            let recorded = Recorded::read(records).unwrap();
            if !recorded.turns.is_empty() {
                tick(&stub);
            }
            isolith_workflow::take_up(&runner, &recorded, None, settings, means, around).await
        }
    };
    let events = heard.events();
    let logs = events.iter().filter(|event| event.kind == "log");
    let calls = stub.calls.lock().unwrap().clone();
    Came {
        finished: finished.unwrap(),
        logs: logs.map(|event| event.text("message").unwrap().to_owned()).collect(),
        events: events.iter().map(line).collect(),
        calls,
        peak: stub.peak.load(Ordering::SeqCst),
        records: journal.records(),
    }
}

/// An event as cases write it.
fn line(event: &isolith_workflow::Event) -> String {
    let about = event.text("key").or(event.text("phase")).or(event.text("name"));
    let about = about.filter(|_| event.kind != "log").map_or_else(String::new, |about| format!(" {about}"));
    format!("{}{about}{}", event.kind, if event.is_cached() { " cached" } else { "" })
}

/// A journal after each step of which time passes.
struct Ticking {
    inner: Memory,
    stub: Arc<Stub>,
}

impl Recorder for Ticking {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.inner.append(record)?;
        if record.starts_with(r#"{"step""#) {
            tick(&self.stub);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        Ok(())
    }

    fn rewrite(&mut self, _: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        Ok(())
    }
}

/// Answers one call once everything waits.
fn tick(stub: &Arc<Stub>) {
    let stub = Arc::clone(stub);
    tokio::spawn(async move {
        for n in 0..1000 {
            tokio::task::yield_now().await;
            // Whoever is going to wait waits by then; at the end of a run nobody does.
            if n >= 8 && stub.next() {
                return;
            }
        }
    });
}
