//! One connection that carries many runs and their calls both ways. A WebSocket and a pair of pipes speak the same messages.

use crate::app::App;
use crate::asked::{Asked, Table, run_id};
use crate::caller::Caller;
use crate::error::Refusal;
use crate::outbox::Outbox;
use crate::replies;
use crate::routes::approvals;
use crate::run::{Event, Listener, Run};
use crate::runs::lock;
use isolith_core::{CallId, RunId, Scope, Stream, Verdict};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// A client's end of it.
pub(crate) struct Connection {
    app: Arc<App>,
    caller: Arc<Caller>,
    outbox: Outbox,
    /// The runs that this connection hears of, by their names.
    runs: Arc<Mutex<Followed>>,
    /// Runs that wait for a place, and whether they are still wanted.
    starting: Arc<Mutex<HashMap<RunId, bool>>>,
}

/// Runs by their names, each with the number it knows this connection by.
type Followed = HashMap<RunId, (Arc<Run>, u64)>;

/// A connection may have this many runs that have not ended.
const RUNS_MAX: usize = 10_000;

impl Connection {
    pub(crate) fn new(app: Arc<App>, caller: Arc<Caller>, outbox: Outbox) -> Connection {
        outbox.push(format!("{{\"type\":\"hello\",\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION")));
        Connection { app, caller, outbox, runs: Arc::default(), starting: Arc::default() }
    }

    /// Says that a message was too large to be taken.
    pub(crate) fn too_large(&self, most: usize) {
        let message = format!("a message has at most {most} bytes");
        self.refuse(None, &Refusal::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, "request.large", message));
    }

    /// Takes one message. What may take long is done aside, so that the next is not held up.
    pub(crate) fn take(&self, message: &[u8]) {
        let mut table = match Table::read(message) {
            Ok(table) => table,
            Err(refusal) => return self.refuse(None, &refusal),
        };
        let kind: Result<Option<String>, Refusal> = table.parse("type", "a text");
        match kind.as_ref().map(Option::as_deref) {
            Ok(Some("run")) => self.run(table),
            Ok(Some("reply")) => self.reply(table),
            Ok(Some("cancel")) => self.cancel(table),
            Ok(Some("attach")) => self.attach(table),
            Ok(Some("approve")) => self.approve(table),
            Ok(Some("ping")) => self.outbox.push(&b"{\"type\":\"pong\"}"[..]),
            _ => {
                let refusal =
                    Refusal::invalid("`type` is `run`, `reply`, `approve`, `cancel`, `attach` or `ping`").at("type");
                self.refuse(None, &refusal);
            }
        }
    }

    fn run(&self, table: Table) {
        // Its name first: whatever else is wrong is said of that run.
        let id = match named_in(&table) {
            Ok(id) => id,
            Err(refusal) => return self.refuse(None, &refusal),
        };
        let asked = match Asked::read(table) {
            Ok(asked) => asked,
            Err(refusal) => return self.refuse(Some(&id), &refusal),
        };
        if lock(&self.runs).len() >= RUNS_MAX {
            let refusal = Refusal::new(
                axum::http::StatusCode::TOO_MANY_REQUESTS,
                "busy.connection",
                "too many runs on one connection",
            );
            return self.refuse(Some(&id), &refusal);
        }
        let (app, caller, ear) = (Arc::clone(&self.app), Arc::clone(&self.caller), self.ear());
        let starting = Arc::clone(&self.starting);
        lock(&starting).insert(id.clone(), false);
        tokio::spawn(async move {
            let hear = |run: &Arc<Run>| ear.follow(run);
            let started = app.runs.start(&caller, asked, false, hear).await;
            let unwanted = lock(&starting).remove(&id) == Some(true);
            match started {
                Ok(run) if unwanted => run.cancel.cancel(),
                Ok(_) => {}
                Err(refusal) => ear.outbox.push(refused(Some(&id), &refusal)),
            }
        });
    }

    fn cancel(&self, table: Table) {
        // One that waits for a place is not among the runs yet.
        if let Ok(id) = named_in(&table)
            && let Some(unwanted) = lock(&self.starting).get_mut(&id)
        {
            *unwanted = true;
            return;
        }
        self.named(table, |app, run| async move {
            app.runs.cancel(&run).await;
            Ok(())
        });
    }

    fn reply(&self, mut table: Table) {
        let named = named_in(&table).ok();
        let read = || -> Result<(RunId, CallId, isolith_core::HostReply), Refusal> {
            let id = name_of(&mut table)?;
            let call = table.parse::<u32>("call", "a call's number")?;
            let call = call.ok_or_else(|| Refusal::invalid("`call` is missing").at("call"))?;
            Ok((id, CallId(call), replies::read(table)?))
        };
        let (id, call, reply) = match read() {
            Ok(read) => read,
            Err(refusal) => return self.refuse(named.as_ref(), &refusal),
        };
        let known = lock(&self.runs).get(&id).map(|(run, _)| Arc::clone(run));
        // Most answers are for a run of this connection: those take no task of their own.
        if let Some(run) = known {
            if let Err(refusal) = self.app.runs.answer(&run, call, reply) {
                self.refuse(Some(&id), &refusal);
            }
            return;
        }
        let (app, caller, ear) = (Arc::clone(&self.app), Arc::clone(&self.caller), self.ear());
        tokio::spawn(async move {
            let done = async {
                let run = app.runs.find(&caller, &id).await?;
                app.runs.answer(&run, call, reply).map(drop)
            };
            if let Err(refusal) = done.await {
                ear.outbox.push(refused(Some(&id), &refusal));
            }
        });
    }

    /// Someone's word about a call.
    fn approve(&self, mut table: Table) {
        let named = named_in(&table).ok();
        let read = || -> Result<(RunId, CallId, Verdict), Refusal> {
            self.caller.may(Scope::Approvals)?;
            let id = name_of(&mut table)?;
            let call = table.parse::<u32>("call", "a call's number")?;
            let call = call.ok_or_else(|| Refusal::invalid("`call` is missing").at("call"))?;
            Ok((id, CallId(call), approvals::verdict(table, &["type", "run", "call"])?))
        };
        let (id, call, verdict) = match read() {
            Ok(read) => read,
            Err(refusal) => return self.refuse(named.as_ref(), &refusal),
        };
        let (app, caller, outbox) = (Arc::clone(&self.app), Arc::clone(&self.caller), self.outbox.clone());
        tokio::spawn(async move {
            let done = async {
                let run = app.runs.find(&caller, &id).await?;
                app.runs.decide(&run, call, verdict, "socket").await
            };
            if let Err(refusal) = done.await {
                outbox.push(refused(Some(&id), &refusal));
            }
        });
    }

    fn attach(&self, table: Table) {
        let ear = self.ear();
        self.named(table, |_, run| async move {
            ear.follow(&run);
            Ok(())
        });
    }

    /// Does something with a run that the message names.
    fn named<F>(&self, mut table: Table, act: impl FnOnce(Arc<App>, Arc<Run>) -> F + Send + 'static)
    where
        F: Future<Output = Result<(), Refusal>> + Send,
    {
        let named = named_in(&table).ok();
        let id = match name_of(&mut table).and_then(|id| table.finish(&["type", "run"]).map(|()| id)) {
            Ok(id) => id,
            Err(refusal) => return self.refuse(named.as_ref(), &refusal),
        };
        let (app, caller, outbox) = (Arc::clone(&self.app), Arc::clone(&self.caller), self.outbox.clone());
        tokio::spawn(async move {
            let done = async {
                let run = app.runs.find(&caller, &id).await?;
                act(Arc::clone(&app), run).await
            };
            if let Err(refusal) = done.await {
                outbox.push(refused(Some(&id), &refusal));
            }
        });
    }

    fn ear(&self) -> Ear {
        Ear { outbox: self.outbox.clone(), runs: Arc::clone(&self.runs) }
    }

    fn refuse(&self, run: Option<&RunId>, refusal: &Refusal) {
        self.outbox.push(refused(run, refusal));
    }

    /// Stops every run of this connection: nobody is left who could come back for them.
    pub(crate) fn cancel_all(&self) {
        lock(&self.runs).values().for_each(|(run, _)| run.cancel.cancel());
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let runs: Vec<(Arc<Run>, u64)> = lock(&self.runs).drain().map(|(_, followed)| followed).collect();
        runs.iter().for_each(|(run, number)| run.unlisten(*number));
    }
}

/// Tells a connection what its runs do.
#[derive(Clone)]
struct Ear {
    outbox: Outbox,
    runs: Arc<Mutex<Followed>>,
}

impl Ear {
    fn follow(&self, run: &Arc<Run>) {
        let number = run.listen(Arc::new(self.clone()));
        let before = lock(&self.runs).insert(run.id.clone(), (Arc::clone(run), number));
        if let Some((run, number)) = before {
            run.unlisten(number);
        }
    }
}

impl Listener for Ear {
    fn hear(&self, run: &RunId, event: &Event<'_>) {
        let message = match event {
            Event::Output { stream, text, at_ms } => {
                let stream = if *stream == Stream::Stdout { "stdout" } else { "stderr" };
                let text = serde_json::to_string(text).unwrap_or_default();
                format!(
                    "{{\"type\":\"output\",\"run\":\"{run}\",\"stream\":\"{stream}\",\"text\":{text},\"at_ms\":{at_ms}}}"
                )
            }
            Event::Call { id, name, args } => {
                let mut text = format!("{{\"type\":\"call\",\"run\":\"{run}\",\"call\":{},\"name\":\"{name}\"", id.0);
                if let Some(args) = args {
                    let _ = write!(text, ",\"args\":{args}");
                }
                text.push('}');
                text
            }
            Event::Ask(ask) => {
                let ask = serde_json::to_string(ask).unwrap_or_default();
                format!("{{\"type\":\"approval\",\"run\":\"{run}\",\"approval\":{ask}}}")
            }
            // Whoever answers calls on this connection sees no difference.
            Event::Progress(_) => return,
            Event::Ended(outcome) => {
                lock(&self.runs).remove(run);
                format!("{{\"type\":\"outcome\",\"run\":\"{run}\",\"outcome\":{outcome}}}")
            }
            Event::Refused(refusal) => {
                lock(&self.runs).remove(run);
                refused(Some(run), refusal)
            }
        };
        self.outbox.push(message);
    }
}

/// The run that a message names, which is left as it is.
fn named_in(table: &Table) -> Result<RunId, Refusal> {
    let name = table.0.iter().find(|(key, _)| key == "run").and_then(|(_, json)| json.parse::<String>().ok());
    run_id(name.ok_or_else(|| Refusal::invalid("`run` is missing: name it").at("run"))?)
}

fn name_of(table: &mut Table) -> Result<RunId, Refusal> {
    let name = table.parse::<String>("run", "a run's name")?;
    run_id(name.ok_or_else(|| Refusal::invalid("`run` is missing").at("run"))?)
}

fn refused(run: Option<&RunId>, refusal: &Refusal) -> String {
    let run = run.map(|run| format!("\"run\":\"{run}\",")).unwrap_or_default();
    format!("{{\"type\":\"error\",{run}\"error\":{}}}", refusal.to_json())
}
