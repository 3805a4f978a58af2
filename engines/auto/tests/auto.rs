//! Runs that change engines on the way. This executable is the worker of both engines as well, when it is called as one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod programs;

use isolith_auto::{Auto, Make};
use isolith_core::{
    Answer, BoxFuture, CallId, End, Engine, EngineError, ErrorKind, Failure, Grant, Host, HostCall, Isolate, Outcome,
    OutputSink, Program, RanOn, Start, Step, Suspended, Turn, Unsupported, Usage,
};
use isolith_quickjs::QuickJs;
use isolith_runner::{Attend, Patience, Plan, Runner, Time};
use isolith_testing::{Fixtures, check, conformance, conformance_root, run};
use isolith_v8::{Launch, Options, V8, install};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

const WORKER: &str = "be-a-worker";
const QUICKJS_WORKER: &str = "be-a-worker-of-quickjs";
/// Tried in every turn, before the first engine does anything.
const ALWAYS: Duration = Duration::ZERO;
/// Tried in every turn but the first.
const SECOND_TURN: Duration = Duration::from_nanos(1);

type Test = fn(&Bench);

/// Both engines, and runs on them.
#[derive(Clone)]
struct Bench {
    runtime: Arc<Runtime>,
    quickjs: Arc<dyn Engine>,
    v8: Arc<dyn Engine>,
    /// QuickJS in processes.
    process: Arc<dyn Engine>,
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(WORKER) => return isolith_jail::worker::main(isolith_v8::worker::V8_INSIDE),
        Some(QUICKJS_WORKER) => return isolith_jail::worker::main(isolith_quickjs::process::QUICKJS_INSIDE),
        _ => {}
    }
    let arguments = Arguments::from_args();
    let bench = Bench::new();
    let mut trials = suite(&bench);
    let tests: [(&str, Test); 14] = [
        ("a run that computes for long changes over", changes_over),
        ("a run that computes little stays", stays),
        ("what was written before is not written again", writes_once),
        ("no call is made twice", calls_once),
        ("engines that differ keep a run where it is", a_difference_keeps_it),
        ("without a faster engine it goes on", without),
        ("an engine that fails in the attempt leaves the run alone", a_failing_one),
        ("a run that may have to leave memory stays", may_leave),
        ("what only the faster engine has is begun there", begins_there),
        ("one that cannot leave memory waits for its timers in it", waits_in_memory),
        ("an engine in a process is changed over from as well", from_a_process),
        ("what an attempt has cost counts against the limit", attempts_count),
        ("a run that is stopped after it changed over says so", stopped_after),
        ("every run is one that one engine alone would have made", one_of_both),
    ];
    for (name, test) in tests {
        let bench = bench.clone();
        trials.push(Trial::test(name, move || {
            test(&bench);
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

impl Bench {
    fn new() -> Bench {
        let installed = install::cached();
        let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let launch = |verb| Launch::new(std::env::current_exe().expect("this executable"), &[verb]);
        let v8 = V8::start(&installed.expect("V8 can be fetched by pip"), launch(WORKER), Options::default());
        let (v8, quickjs) = (v8.expect("the engine starts"), QuickJs::new(isolith_quickjs::Options::default()));
        let options = isolith_jail::Options::default();
        let process = isolith_quickjs::process::jailed(launch(QUICKJS_WORKER), options).expect("workers");
        let (quickjs, process) = (Arc::new(quickjs.expect("an engine")), Arc::new(process));
        Bench { quickjs, process, v8: Arc::new(v8), runtime: Arc::new(runtime) }
    }

    fn auto(&self, after: Duration) -> Arc<dyn Engine> {
        let v8 = Arc::clone(&self.v8);
        with(self, after, Arc::new(move || Ok(Arc::clone(&v8))))
    }

    fn run(&self, engine: &Arc<dyn Engine>, plan: Plan) -> (Outcome, Vec<String>) {
        self.run_with(engine, plan, |host| Attend::new(host, Arc::new(Unwatched)))
    }

    fn run_with(
        &self,
        engine: &Arc<dyn Engine>,
        plan: Plan,
        attend: impl FnOnce(Arc<dyn Host>) -> Attend,
    ) -> (Outcome, Vec<String>) {
        let host = Arc::new(Noted::default());
        let attend = attend(Arc::clone(&host) as Arc<dyn Host>);
        let runner = Runner::new(Arc::clone(engine));
        let ended = self.runtime.block_on(self.runtime.spawn(async move { runner.run(plan, attend).await }));
        let calls = host.0.lock().unwrap().clone();
        (ended.expect("no panic").expect("an outcome").outcome, calls)
    }
}

fn with(bench: &Bench, after: Duration, make: Make) -> Arc<dyn Engine> {
    Arc::new(Auto::new(Arc::clone(&bench.quickjs), make, after))
}

/// Echoes, and notes what it was asked for.
#[derive(Default)]
struct Noted(Mutex<Vec<String>>);

impl Host for Noted {
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        let HostCall::Tool { name, args } = call else { panic!("only tools are granted here") };
        let text = args.as_ref().map_or("undefined", |args| args.text());
        self.0.lock().unwrap().push(format!("{} {name} {text}", id.0));
        Box::pin(std::future::ready(isolith_core::HostReply::Value { json: args }.into()))
    }
}

struct Unwatched;

impl OutputSink for Unwatched {
    fn write(&self, _: isolith_core::Stream, _: String, _: isolith_core::Timestamp) {}
}

fn plan(source: &str) -> Plan {
    let mut plan = Plan::new(source, "main.js");
    plan.grants = vec![Grant::tool(isolith_core::ToolName::new("echo").expect("a name"))].into();
    plan.time = Time::Virtual(isolith_core::Timestamp::from_micros(1_767_225_600_000_000));
    plan.seed = Some(7);
    plan.limits.cpu = Duration::from_secs(60);
    plan.limits.wall = Duration::from_secs(120);
    plan
}

fn json(text: &str) -> Option<isolith_core::Json> {
    Some(isolith_core::Json::from_text(text.into()).expect("JSON"))
}

fn ran_on(outcome: &Outcome) -> RanOn {
    outcome.ran_on.clone().expect("it ran on something")
}

/// The whole suite, with the other engine tried at once and after the first turn. What may differ in V8 may differ here.
fn suite(bench: &Bench) -> Vec<Trial> {
    let differences = std::fs::read_to_string(conformance_root().join("differences-v8.toml")).expect("the table");
    let cases = conformance(&conformance_root()).expect("the suite");
    let mut trials = Vec::new();
    for (word, after) in [("at once", ALWAYS), ("after a turn", SECOND_TURN)] {
        let runner = Runner::new(bench.auto(after));
        for (path, case) in &cases {
            let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name);
            if differences.contains(&format!("\"{name}\"")) {
                continue;
            }
            let case = Arc::new(case.as_ref().expect("a case").clone());
            let (runner, runtime) = (runner.clone(), Arc::clone(&bench.runtime));
            trials.push(Trial::test(format!("{word}: {name}"), move || {
                let fixtures = Fixtures::new(case.header.tools.iter().copied());
                let fixtures = Arc::new(fixtures.with_namespaces(case.header.namespaces.clone()));
                let plan = case.plan()?;
                let outcome = runtime.block_on(runtime.spawn(async move { run(&runner, plan, &fixtures).await }))??;
                check(&case, &outcome).map_err(Failed::from)
            }));
        }
    }
    trials
}

const HEAVY: &str = "let sum = 0; for (let i = 0; i < 3e7; i++) sum = (sum * 31 + i) | 0; return sum";

fn changes_over(bench: &Bench) {
    let (outcome, _) = bench.run(&bench.auto(Duration::from_millis(50)), plan(HEAVY));
    let (alone, _) = bench.run(&bench.v8, plan(HEAVY));
    assert_eq!(outcome.value, alone.value, "{outcome:?}");
    let ran_on = ran_on(&outcome);
    let switch = ran_on.switch.expect("an attempt");
    assert!(ran_on.engine == "v8" && switch.taken_over && switch.why.is_none());
    // What the first engine computed is counted as well.
    assert!(switch.after_cpu_us >= 50_000 && outcome.usage.cpu_us >= switch.after_cpu_us);
    assert!(ran_on.jail.is_some());
}

fn stays(bench: &Bench) {
    let (outcome, _) = bench.run(&bench.auto(Duration::from_secs(30)), plan("return await tools.echo(1)"));
    assert_eq!(ran_on(&outcome), RanOn::engine("quickjs"));
}

fn writes_once(bench: &Bench) {
    let source = format!(
        "console.log('one'); await tools.echo(1); console.error('two'); console.log('three');
         const value = (() => {{ {HEAVY} }})(); console.log('four'); return value"
    );
    for after in [ALWAYS, SECOND_TURN, Duration::from_millis(20)] {
        let (outcome, _) = bench.run(&bench.auto(after), plan(&source));
        let texts: Vec<&str> = outcome.outputs.iter().map(|output| output.text.as_str()).collect();
        assert_eq!(texts, ["one", "two", "three", "four"], "{after:?}");
        assert_eq!(ran_on(&outcome).engine, "v8", "{after:?}");
    }
}

fn calls_once(bench: &Bench) {
    let source = format!(
        "const all = []; for (let i = 0; i < 20; i++) all.push(await tools.echo({{ i, r: Math.random(), t: Date.now() }}));
         const [a, b] = await Promise.all([tools.echo('a'), tools.echo('b')]);
         const value = (() => {{ {HEAVY} }})(); return [all, a, b, await tools.echo(value)]"
    );
    let (alone, wanted) = bench.run(&bench.quickjs, plan(&source));
    assert_eq!(wanted.len(), 23);
    for after in [ALWAYS, SECOND_TURN, Duration::from_millis(1), Duration::from_millis(20)] {
        let (outcome, calls) = bench.run(&bench.auto(after), plan(&source));
        assert_eq!(calls, wanted, "{after:?}");
        assert_eq!(outcome.value, alone.value, "{after:?}");
        assert_eq!(outcome.usage.calls, 23);
        assert_eq!(ran_on(&outcome).engine, "v8", "{after:?}");
    }
}

fn a_difference_keeps_it(bench: &Bench) {
    // The text of a stack is each engine's own.
    let source = format!("const text = await tools.echo(new Error('x').stack); {HEAVY} + text.length");
    let (alone, wanted) = bench.run(&bench.quickjs, plan(&source));
    let (outcome, calls) = bench.run(&bench.auto(Duration::from_millis(20)), plan(&source));
    let ran_on = ran_on(&outcome);
    let switch = ran_on.switch.expect("an attempt");
    assert!(ran_on.engine == "quickjs" && !switch.taken_over, "{switch:?}");
    assert!(switch.why.is_some_and(|why| why.contains("in turn 0 it asks for something else")));
    assert_eq!((outcome.value, calls), (alone.value, wanted));
    // The same for what was written in the very turn that takes long.
    let source = format!("console.log(new Error('x').stack); {HEAVY}");
    let (alone, _) = bench.run(&bench.quickjs, plan(&source));
    let (outcome, _) = bench.run(&bench.auto(Duration::from_millis(20)), plan(&source));
    assert_eq!(outcome.outputs, alone.outputs);
    assert!(outcome.ran_on.is_some_and(|ran_on| ran_on.engine == "quickjs" && ran_on.switch.is_some()));
}

fn without(bench: &Bench) {
    let engine = with(bench, Duration::from_millis(5), Arc::new(|| Err("there is none".into())));
    let (outcome, _) = bench.run(&engine, plan(HEAVY));
    let switch = ran_on(&outcome).switch.expect("an attempt");
    assert_eq!((ran_on(&outcome).engine.as_ref(), switch.why.as_deref()), ("quickjs", Some("there is none")));
    assert!(outcome.value.is_some());
}

/// An engine whose process dies under its run.
struct Dying {
    engine: Arc<dyn Engine>,
    /// Not when the run ends, but before it does anything.
    at_once: bool,
    /// What it says that it has computed, besides what it has.
    more_cpu: Duration,
}

struct Dead {
    isolate: Box<dyn Isolate>,
    at_once: bool,
    more_cpu: Duration,
}

impl Engine for Dying {
    fn name(&self) -> &'static str {
        "dying"
    }

    fn image(&self) -> isolith_core::Digest {
        self.engine.image()
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        let Dying { at_once, more_cpu, .. } = *self;
        Box::pin(async move {
            let isolate = self.engine.start(program, start).await?;
            Ok(Box::new(Dead { isolate, at_once, more_cpu }) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        _: &'a Suspended,
        _: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async { Err(Unsupported { engine: "dying", what: "coming back".into() }.into()) })
    }
}

impl Isolate for Dead {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        Box::pin(async move {
            let step = self.isolate.advance(turn).await?;
            let failure = Failure::of(ErrorKind::Internal, "EngineFailure", "the worker died");
            let dies = self.at_once || matches!(step, Step::Done(..));
            Ok(if dies { Step::Done(End::Failed(failure), Vec::new()) } else { step })
        })
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        Box::pin(async { Err(EngineError::Ended) })
    }

    fn usage(&self) -> Usage {
        let usage = self.isolate.usage();
        Usage { cpu_us: usage.cpu_us + self.more_cpu.as_micros() as u64, ..usage }
    }

    fn ran_on(&self) -> RanOn {
        RanOn::engine("dying")
    }
}

fn dying(bench: &Bench, after: Duration, at_once: bool, more_cpu: Duration) -> Arc<dyn Engine> {
    let engine = Arc::clone(&bench.v8);
    let make = move || Ok(Arc::new(Dying { engine: Arc::clone(&engine), at_once, more_cpu }) as Arc<dyn Engine>);
    with(bench, after, Arc::new(make))
}

fn a_failing_one(bench: &Bench) {
    let engine = dying(bench, Duration::from_millis(5), false, Duration::ZERO);
    let (outcome, _) = bench.run(&engine, plan(HEAVY));
    let (alone, _) = bench.run(&bench.quickjs, plan(HEAVY));
    assert_eq!(outcome.value, alone.value);
    assert_eq!(ran_on(&outcome).switch.and_then(|switch| switch.why).as_deref(), Some("the worker died"));
    // What was seen of it cannot be taken back: then its end is the run's.
    let seen = format!("const value = (() => {{ {HEAVY} }})(); console.log('seen'); return value");
    let (outcome, _) = bench.run(&engine, plan(&seen));
    assert_eq!(outcome.outputs.len(), 1);
    assert_eq!(outcome.error.map(|error| error.kind), Some(ErrorKind::Internal));
}

fn may_leave(bench: &Bench) {
    let mut plan = plan(HEAVY);
    plan.must_suspend = true;
    let (outcome, _) = bench.run(&bench.auto(Duration::from_millis(5)), plan.clone());
    assert_eq!(ran_on(&outcome), RanOn::engine("quickjs"));
    // V8 alone says that it cannot.
    let runner = Runner::new(Arc::clone(&bench.v8));
    let attend = Attend::new(Arc::new(Noted::default()), Arc::new(Unwatched));
    let refused = bench.runtime.block_on(runner.run(plan, attend));
    assert!(refused.is_err_and(|error| error.to_string().contains("waiting outside memory")));
}

fn begins_there(bench: &Bench) {
    let mut plan = plan("return [typeof WebAssembly, await tools.echo(1)]");
    let (outcome, _) = bench.run(&bench.auto(Duration::from_secs(30)), plan.clone());
    assert_eq!((outcome.value.clone(), ran_on(&outcome)), (json(r#"["undefined",1]"#), RanOn::engine("quickjs")));
    plan.grants = [&plan.grants[..], &["builtin:WebAssembly".parse().expect("a grant")]].concat().into();
    let (outcome, calls) = bench.run(&bench.auto(Duration::from_secs(30)), plan.clone());
    assert_eq!((outcome.value.clone(), ran_on(&outcome).engine.as_ref()), (json(r#"["object",1]"#), "v8"));
    assert_eq!(calls.len(), 1);
    // What has neither says so: without the faster one, and where a run may have to leave memory.
    let none = with(bench, ALWAYS, Arc::new(|| Err("there is none".into())));
    let leaves = Plan { must_suspend: true, ..plan.clone() };
    for (engine, plan, words) in [
        (none, plan, "engine `auto` does not support `WebAssembly` here: there is none"),
        (bench.auto(ALWAYS), leaves, "engine `quickjs` does not support `WebAssembly`"),
    ] {
        let attend = Attend::new(Arc::new(Noted::default()), Arc::new(Unwatched));
        let refused = bench.runtime.block_on(Runner::new(engine).run(plan, attend));
        assert!(refused.is_err_and(|error| error.to_string().starts_with(words)), "{words}");
    }
}

fn waits_in_memory(bench: &Bench) {
    // As on a server, where whoever waits for long leaves memory if that can be.
    let patience = Patience { timer: Duration::ZERO, outside: Duration::MAX };
    let later = "await new Promise((done) => setTimeout(done, 200)); return 'later'";
    // The clock moves between turns: a timer that is set in a long one would be due at its end.
    let source = format!("const value = (() => {{ {HEAVY} }})(); await tools.echo(value); {later} + value");
    for engine in [&bench.v8, &bench.auto(Duration::from_millis(5))] {
        let plan = Plan { patience: Some(patience), time: Time::Live, ..plan(&source) };
        let (outcome, _) = bench.run(engine, plan);
        assert_eq!((outcome.error.is_none(), ran_on(&outcome).engine.as_ref()), (true, "v8"), "{outcome:?}");
    }
    let plan = Plan { patience: Some(patience), time: Time::Live, ..plan(later) };
    let (outcome, _) = bench.run(&bench.quickjs, plan);
    assert_eq!(outcome.status, isolith_core::Status::Suspended, "{outcome:?}");
}

fn from_a_process(bench: &Bench) {
    let v8 = Arc::clone(&bench.v8);
    let make: Make = Arc::new(move || Ok(Arc::clone(&v8)));
    let engine: Arc<dyn Engine> = Arc::new(Auto::new(Arc::clone(&bench.process), make, Duration::from_millis(20)));
    let (outcome, _) = bench.run(&engine, plan(HEAVY));
    let (ran_on, (alone, _)) = (ran_on(&outcome), bench.run(&bench.v8, plan(HEAVY)));
    assert_eq!((outcome.value, ran_on.engine.as_ref()), (alone.value, "v8"), "{ran_on:?}");
    let switch = ran_on.switch.expect("an attempt");
    assert!(switch.taken_over && switch.after_cpu_us >= 20_000, "{switch:?}");
    assert!(outcome.usage.cpu_us > alone.usage.cpu_us / 2, "{:?}", outcome.usage);
}

fn attempts_count(bench: &Bench) {
    // In the turn in which it was tried, and in one that follows.
    let endless = "await tools.echo(1); for (;;);";
    for (source, after, left) in [(HEAVY, Duration::from_millis(5), 0), (endless, ALWAYS, 200)] {
        let plan = plan(source);
        let limit = plan.limits.cpu;
        let engine = dying(bench, after, after.is_zero(), limit - Duration::from_millis(left));
        let (outcome, _) = bench.run(&engine, plan);
        assert_eq!(outcome.error.map(|error| error.kind), Some(ErrorKind::CpuLimit));
        let spent = Duration::from_micros(outcome.usage.cpu_us);
        assert!(spent >= limit && spent < limit * 3 / 2, "{spent:?}");
    }
}

/// Stops a run as soon as it writes something.
struct Stopping(CancellationToken);

impl OutputSink for Stopping {
    fn write(&self, _: isolith_core::Stream, _: String, _: isolith_core::Timestamp) {
        self.0.cancel();
    }
}

fn stopped_after(bench: &Bench) {
    let source = format!("const value = (() => {{ {HEAVY} }})(); console.log('seen', value); for (;;);");
    let (outcome, _) = bench.run_with(&bench.auto(Duration::from_millis(20)), plan(&source), |host| {
        let cancel = CancellationToken::new();
        Attend { cancel: cancel.clone(), ..Attend::new(host, Arc::new(Stopping(cancel))) }
    });
    assert_eq!(outcome.outputs.len(), 1, "{outcome:?}");
    let ran_on = ran_on(&outcome);
    assert!(ran_on.engine == "v8" && ran_on.switch.is_some_and(|switch| switch.taken_over), "{outcome:?}");
    assert!(outcome.usage.cpu_us >= 20_000, "{outcome:?}");
}

/// Whatever the engines do differently, an `auto` run asks for, writes and gives what the engine that its receipt names would have by
/// itself. Programs are made of the very things that differ.
fn one_of_both(bench: &Bench) {
    let (mut on_quickjs, mut on_v8) = (0, 0);
    for seed in 0..120 {
        let source = programs::program(seed);
        let after = [ALWAYS, SECOND_TURN, Duration::from_micros(300), Duration::from_millis(3)][seed as usize % 4];
        let (outcome, calls) = bench.run(&bench.auto(after), plan(&source));
        let engine = ran_on(&outcome).engine;
        let alone = if engine == "v8" { &bench.v8 } else { &bench.quickjs };
        let (wanted, wanted_calls) = bench.run(alone, plan(&source));
        let essence = |outcome: &Outcome| {
            let error = outcome.error.as_ref().map(|error| (error.kind, error.message.clone(), error.line));
            (outcome.value.clone(), outcome.outputs.clone(), error, outcome.usage.calls)
        };
        assert_eq!(calls, wanted_calls, "seed {seed} on {engine}: {source}");
        assert_eq!(essence(&outcome), essence(&wanted), "seed {seed} on {engine}: {source}");
        *(if engine == "v8" { &mut on_v8 } else { &mut on_quickjs }) += 1;
    }
    // The test would say nothing if one of them never happened.
    assert!(on_quickjs > 5 && on_v8 > 5, "{on_quickjs} stayed, {on_v8} changed over");
}
