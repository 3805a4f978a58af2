use crate::error::Error;
use crate::on;
use crate::options::Mode;
use crate::stopwatch::Effort;
use isolith_core::{
    Ambient, Answer, BindingName, Bindings, BoxFuture, CallId, End, Engine, Form, Grant, Host, HostCall, HostReply,
    Isolate, Json, Limits, Outcome, OutputSink, PendingCall, Program, RunId, Seed, Start, Step, Stream, Suspended,
    Timestamp, Turn,
};
use isolith_runner::{Attend, Plan, Recording, Runner};
use std::sync::Arc;
use std::time::Duration;

/// One engine, and the ways of using it that measurements share.
#[derive(Clone)]
pub(crate) struct Lab {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) runner: Runner,
    pub(crate) mode: Mode,
    sink: Arc<dyn OutputSink>,
    host: Arc<dyn Host>,
}

/// An isolate that waits.
pub(crate) struct Idle {
    pub(crate) isolate: Box<dyn Isolate>,
    pub(crate) waits_for: CallId,
}

/// More than any measured program calls.
const CALLS_MAX: u32 = 1_000_000;
/// Longer than any measured program takes.
const TIME_MAX: Duration = Duration::from_secs(600);

impl Lab {
    /// A lab in which this many isolates can live.
    pub(crate) fn new(live: u32, mode: Mode) -> Result<Lab, Error> {
        Ok(Lab::on(Arc::new(on::quickjs(live)?), mode))
    }

    /// A lab with this engine.
    pub(crate) fn on(engine: Arc<dyn Engine>, mode: Mode) -> Lab {
        let runner = Runner::new(Arc::clone(&engine));
        Lab { engine, runner, mode, sink: Arc::new(Silence), host: Arc::new(Echo) }
    }

    pub(crate) fn effort(&self) -> Effort {
        Effort::of(self.mode)
    }

    /// A fresh isolate that has not begun yet.
    pub(crate) async fn start(&self, program: &Program, grants: &[Grant]) -> Result<Box<dyn Isolate>, Error> {
        let start = Start {
            limits: limits(),
            bindings: Bindings::of(grants),
            ambient: Ambient::default(),
            input: None,
            args: Vec::new(),
            seed: Seed([7; 32]),
            sink: Arc::clone(&self.sink),
            must_suspend: false,
        };
        Ok(self.engine.start(program, start).await?)
    }

    /// An isolate that waits for the answer to its first call.
    pub(crate) async fn idle(&self, program: &Program, grants: &[Grant]) -> Result<Idle, Error> {
        let mut isolate = self.start(program, grants).await?;
        match isolate.advance(turn(Vec::new())).await? {
            Step::Calls(calls) if calls.len() == 1 => Ok(Idle { isolate, waits_for: calls[0].id }),
            other => Err(Error::wrong("an idle isolate", &other)),
        }
    }

    /// An isolate made of a suspended run.
    pub(crate) async fn resume(&self, suspended: &Suspended) -> Result<Box<dyn Isolate>, Error> {
        Ok(self.engine.resume(suspended, Arc::clone(&self.sink)).await?)
    }

    /// From nothing to a value and to nothing again, on the engine alone.
    pub(crate) async fn value(&self, program: &Program) -> Result<Json, Error> {
        let mut isolate = self.start(program, &[]).await?;
        match isolate.advance(turn(Vec::new())).await? {
            Step::Done(End::Value(Some(json)), _) => Ok(json),
            other => Err(Error::wrong("a fresh isolate", &other)),
        }
    }

    /// From the author's source to an outcome, as every door of the product does it.
    pub(crate) async fn run(&self, source: &str, grants: &Arc<[Grant]>) -> Result<Json, Error> {
        self.run_through(source, grants, limits(), Arc::clone(&self.host)).await
    }

    /// The same, with calls answered by another host.
    pub(crate) async fn run_through(
        &self,
        source: &str,
        grants: &Arc<[Grant]>,
        limits: Limits,
        host: Arc<dyn Host>,
    ) -> Result<Json, Error> {
        let plan = Plan { limits, grants: Arc::clone(grants), ..Plan::new(source, "bench.ts") };
        let attend = Attend::new(host, Arc::clone(&self.sink));
        value(self.runner.run(plan, attend).await?.outcome)
    }

    /// The same with a journal.
    pub(crate) async fn record(
        &self,
        source: &str,
        grants: &Arc<[Grant]>,
        host: Arc<dyn Host>,
        run: RunId,
        recording: Recording,
    ) -> Result<Json, Error> {
        let plan = Plan { id: Some(run), grants: Arc::clone(grants), ..Plan::new(source, "bench.ts") };
        let attend = Attend::new(host, Arc::clone(&self.sink));
        value(self.runner.record(plan, attend, recording).await?.outcome)
    }

    /// Tools that give their argument back.
    pub(crate) fn echoing(&self) -> Arc<dyn Host> {
        Arc::clone(&self.host)
    }
}

fn value(outcome: Outcome) -> Result<Json, Error> {
    let failed = || Error::Wrong { what: "a whole run", found: format!("{:?}", outcome.error) };
    outcome.value.clone().ok_or_else(failed)
}

pub(crate) fn body(code: impl Into<Arc<str>>) -> Program {
    Program::new("bench.ts", code, Form::Body)
}

pub(crate) fn tools(names: &[&str]) -> Result<Arc<[Grant]>, Error> {
    names.iter().map(|name| Ok(Grant::tool(BindingName::new(*name)?))).collect()
}

pub(crate) fn turn(replies: Vec<(CallId, HostReply)>) -> Turn {
    Turn { now: Timestamp::from_micros(1_700_000_000_000_000), wall_left: TIME_MAX, replies }
}

/// What a tool that gives back its argument answers.
pub(crate) fn echo(call: PendingCall) -> (CallId, HostReply) {
    (call.id, answer(call.call))
}

fn answer(call: HostCall) -> HostReply {
    match call {
        HostCall::Tool { args, .. } => HostReply::Value { json: args },
        _ => HostReply::failed("Error", "only tools here"),
    }
}

fn limits() -> Limits {
    Limits { wall: TIME_MAX, cpu: TIME_MAX, calls: CALLS_MAX, ..Limits::default() }
}

struct Echo;

impl Host for Echo {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(answer(call).into()))
    }
}

struct Silence;

impl OutputSink for Silence {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}
