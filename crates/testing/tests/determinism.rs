//! Equal programs, seeds and times give equal runs: the same outcome, and the same memory, bit for bit. In one process,
//! in another process, and in whatever place of the pool a run finds itself.

use isolith_core::{
    CallId, Engine, EngineError, Form, Grant, HostCall, HostReply, Isolate, Json, Limits, OutputSink, Program, Seed,
    Start, Step, Stream, Suspended, Timestamp, Turn,
};
use isolith_runner::Runner;
use isolith_testing::{Case, Fixtures, Tool, engines, run, steady};
use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

type Failed = Box<dyn Error>;

/// Where a child process is to write what it found.
const CHILD: &str = "ISOLITH_DETERMINISM_CHILD";
const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
const SEED: u64 = 7;

/// A program that uses what could differ, and waits three times: random numbers, tables with objects as keys, garbage,
/// regular expressions, big numbers, floats, dates, errors with stacks, timers, calls in flight.
const PROGRAM: &str = r#"
const keys = Array.from({ length: 300 }, (_, i) => ({ i }));
const weak = new WeakMap(keys.map(k => [k, Math.random()]));
const map = new Map(keys.map(k => [k, crypto.randomUUID()]));
let text = "";
for (const [k, v] of map) text += v.replace(/-/g, () => String(weak.get(k)).slice(2, 6));
for (let i = 0; i < 20; i++) keys[i] = new Array(2000).fill({ garbage: i });
const big = 3n ** 2000n, sum = Float64Array.from(keys, (_, i) => Math.sin(i) ** 1.5).reduce((a, b) => a + (b || 0), 0);
const stack = (() => { try { null.x; } catch (e) { return e.stack; } })();
const date = new Date().toISOString();
setTimeout(() => {}, 86400000);
const first = await tools.first({ text, date, sum });
const sorted = [...text].sort(() => Math.random() - 0.5).join("");
const bytes = crypto.getRandomValues(new Uint8Array(16));
const rest = await Promise.all([tools.second([sorted, first]), tools.second(bytes)]);
await new Promise(resolve => setTimeout(resolve, 10));
return [text.length, sorted, String(big), stack, date, rest, performance.now()];
"#;

/// The same for the runner, with output and with calls that fail.
const CASE: &str = r#"//! time = 1700000000000
//! seed = 7
//! tools = ["echo", "fail", "inc", "body"]
console.log(Math.random(), crypto.randomUUID(), new Date());
const failing = tools.fail("no").catch(e => console.error(e.message));
await Promise.all([tools.echo({ a: Math.random() }), failing, tools.inc()]);
const body = await tools.body({ bytes: 100000 });
await new Promise(resolve => setTimeout(resolve, 5000));
console.log(Date.now(), performance.now(), (await body.bytes()).length);
throw new RangeError("done at " + new Date().toISOString());
//> error: thrown RangeError
"#;

struct Unheard;

impl OutputSink for Unheard {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn engine() -> Result<Arc<dyn Engine>, Failed> {
    engines()?.into_iter().next().ok_or_else(|| "there is no engine".into())
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}

async fn fresh(engine: &dyn Engine, seed: u64) -> Result<Box<dyn Isolate>, Failed> {
    let grants = ["first", "second"].map(|name| isolith_core::BindingName::new(name).map(Grant::tool));
    let start = Start {
        limits: Limits::default(),
        bindings: isolith_core::Bindings::of(&grants.into_iter().collect::<Result<Vec<_>, _>>()?),
        ambient: isolith_core::Ambient::default(),
        input: None,
        args: Vec::new(),
        seed: Seed::from_number(seed),
        sink: Arc::new(Unheard),
        must_suspend: false,
    };
    Ok(engine.start(&Program::new("main.js", PROGRAM, Form::Body), start).await?)
}

/// A run taken to its end, with its state at each of its waits.
#[derive(Clone, PartialEq)]
struct Traced {
    states: Vec<Vec<u8>>,
    steps: Vec<String>,
}

/// What a run is like from its start to its end.
async fn trace(engine: &dyn Engine, seed: u64) -> Result<Traced, Failed> {
    follow(&mut *fresh(engine, seed).await?, Vec::new()).await
}

/// Goes on from where an isolate stands. The host answers everything, last call first.
async fn follow(isolate: &mut dyn Isolate, mut replies: Vec<(CallId, HostReply)>) -> Result<Traced, Failed> {
    let mut traced = Traced { states: Vec::new(), steps: Vec::new() };
    let mut now = NOW;
    loop {
        let step = isolate.advance(Turn { now, wall_left: Duration::from_secs(30), replies }).await?;
        traced.steps.push(format!("{step:?}"));
        let Step::Calls(calls) = step else { return Ok(traced) };
        traced.states.push(memory(&isolate.suspend().await?)?);
        let tools = || calls.iter().rev().filter(|pending| matches!(pending.call, HostCall::Tool { .. }));
        replies = tools().map(|pending| (pending.id, answer(&pending.call))).collect();
        if replies.is_empty() {
            // Nothing but a timer is left.
            let wake = calls.iter().find_map(|pending| match pending.call {
                HostCall::Sleep { until } => Some((pending.id, until)),
                _ => None,
            });
            let (id, until) = wake.ok_or("the run waits for nothing")?;
            now = until;
            replies = vec![(id, HostReply::Value { json: None })];
        }
    }
}

fn answer(call: &HostCall) -> HostReply {
    HostReply::Value { json: Json::of(&format!("{call:?}").len()).ok() }
}

/// Where in the body of a suspended run the time it has computed stands: all that two equal runs may differ in.
const CPU_USED: std::ops::Range<usize> = 15 * 8..16 * 8;
/// What comes before the body: magic, format, image, checksum, and the length of the body.
const HEADER_BYTES: usize = 4 + 4 + 32 + 32;

/// What a suspended run of `quickjs` holds, unpacked: counters and every block of memory that differs from the image.
fn memory(suspended: &Suspended) -> Result<Vec<u8>, Failed> {
    let packed = suspended.0.get(HEADER_BYTES..).ok_or("it is too short")?;
    let (length, packed) = packed.split_first_chunk::<8>().ok_or("it is too short")?;
    let mut body = zstd::bulk::decompress(packed, usize::try_from(u64::from_le_bytes(*length))?)?;
    body.get_mut(CPU_USED).ok_or("it is too short")?.fill(0);
    Ok(body)
}

fn same(first: &Traced, second: &Traced) -> Result<(), Failed> {
    for (number, (a, b)) in first.steps.iter().zip(&second.steps).enumerate() {
        if a != b {
            return Err(format!("step {number} differs:\n{a}\n{b}").into());
        }
    }
    for (number, (a, b)) in first.states.iter().zip(&second.states).enumerate() {
        if a != b {
            let at = a.iter().zip(b).position(|(a, b)| a != b);
            return Err(
                format!("memory at wait {number} differs: {} and {} bytes, first at {at:?}", a.len(), b.len()).into()
            );
        }
    }
    if first == second { Ok(()) } else { Err("one run has more steps".into()) }
}

async fn outcome(engine: Arc<dyn Engine>) -> Result<String, Failed> {
    let case = Case::parse("determinism/outcome.js", CASE)?;
    let fixtures = Arc::new(Fixtures::new([Tool::Echo, Tool::Fail, Tool::Inc, Tool::Body]));
    let outcome = run(&Runner::new(engine), case.plan()?, &fixtures).await?;
    Ok(serde_json::to_string(&steady(&case, outcome))?)
}

#[test]
fn the_program_waits_as_often_as_it_should() -> Result<(), Failed> {
    let engine = engine()?;
    let traced = block_on(trace(&*engine, SEED))??;
    assert_eq!(traced.states.len(), 3);
    assert!(traced.steps.last().is_some_and(|end| end.starts_with("Done(Value")), "{:?}", traced.steps.last());
    Ok(())
}

#[test]
fn another_seed_is_another_run() -> Result<(), Failed> {
    let engine = engine()?;
    let (first, second) =
        block_on(async { Ok::<_, Failed>((trace(&*engine, SEED).await?, trace(&*engine, SEED + 1).await?)) })??;
    assert!(same(&first, &second).is_err());
    assert_ne!(first.states, second.states);
    Ok(())
}

#[test]
fn equal_runs_have_equal_memory_at_every_wait() -> Result<(), Failed> {
    let engine = engine()?;
    block_on(async {
        let first = trace(&*engine, SEED).await?;
        for _ in 0..20 {
            same(&first, &trace(&*engine, SEED).await?)?;
        }
        Ok(())
    })?
}

#[test]
fn the_place_in_the_pool_makes_no_difference() -> Result<(), Failed> {
    let engine = engine()?;
    block_on(async {
        let first = trace(&*engine, SEED).await?;
        // Every isolate that stays alive takes a place, so each run below is in another one: fresh places, and places
        // that other programs have used before.
        let mut others = Vec::new();
        for number in 0..40 {
            let mut other = fresh(&*engine, number).await?;
            let turn = Turn { now: NOW, wall_left: Duration::from_secs(30), replies: Vec::new() };
            other.advance(turn).await?;
            others.push(other);
            if number % 3 == 0 {
                others.remove(others.len() / 2);
            }
            same(&first, &trace(&*engine, SEED).await?)?;
        }
        Ok(())
    })?
}

#[test]
fn engines_of_one_process_make_no_difference() -> Result<(), Failed> {
    let (one, other) = (engine()?, engine()?);
    block_on(async { same(&trace(&*one, SEED).await?, &trace(&*other, SEED).await?) })?
}

#[test]
fn threads_make_no_difference() -> Result<(), Failed> {
    let engine = engine()?;
    let first = block_on(trace(&*engine, SEED))??;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || {
                block_on(trace(&*engine, SEED)).and_then(|traced| traced).map_err(|e| e.to_string())
            })
        })
        .collect();
    for thread in threads {
        same(&first, &thread.join().map_err(|_| "a thread died")??)?;
    }
    Ok(())
}

#[test]
fn a_resumed_run_goes_on_as_if_nothing_had_been() -> Result<(), Failed> {
    let engine = engine()?;
    block_on(async {
        let whole = trace(&*engine, SEED).await?;
        let mut isolate = fresh(&*engine, SEED).await?;
        let step = isolate.advance(Turn { now: NOW, wall_left: Duration::from_secs(30), replies: Vec::new() }).await?;
        let Step::Calls(calls) = step else { return Err("it does not wait".into()) };
        let suspended = isolate.suspend().await?;
        // Twice from the same state: a fork is the same run again.
        for _ in 0..2 {
            let mut resumed = engine.resume(&suspended, Arc::new(Unheard)).await?;
            assert!(memory(&resumed.suspend().await?)? == whole.states[0], "memory differs right after resuming");
            let replies = calls.iter().filter(|pending| matches!(pending.call, HostCall::Tool { .. }));
            let replies = replies.map(|pending| (pending.id, answer(&pending.call))).collect();
            let rest = follow(&mut *resumed, replies).await?;
            let expected = Traced { states: whole.states[1..].to_vec(), steps: whole.steps[1..].to_vec() };
            same(&expected, &rest)?;
        }
        Ok(())
    })?
}

#[test]
fn outcomes_of_equal_runs_are_equal() -> Result<(), Failed> {
    let engine = engine()?;
    let (first, second) =
        block_on(async { Ok::<_, EngineError>((outcome(Arc::clone(&engine)).await, outcome(engine).await)) })??;
    assert_eq!(first?, second?);
    Ok(())
}

/// What a process finds when it runs everything once.
fn findings() -> Result<Vec<u8>, Failed> {
    let engine = engine()?;
    let (traced, outcome) =
        block_on(async { Ok::<_, Failed>((trace(&*engine, SEED).await?, outcome(engine).await?)) })??;
    let mut all = outcome.into_bytes();
    traced.steps.iter().for_each(|step| all.extend(step.as_bytes()));
    traced.states.iter().for_each(|state| all.extend(state));
    Ok(all)
}

/// Does nothing unless it is asked to by the test below, from another process.
#[test]
fn a_child_writes_what_it_finds() -> Result<(), Failed> {
    match std::env::var_os(CHILD) {
        Some(path) => Ok(std::fs::write(path, findings()?)?),
        None => Ok(()),
    }
}

#[test]
fn processes_make_no_difference() -> Result<(), Failed> {
    let own = findings()?;
    let folder = tempfile::tempdir()?;
    for number in 0..3 {
        let path = folder.path().join(format!("child-{number}"));
        let output = Command::new(std::env::current_exe()?)
            .args(["--exact", "a_child_writes_what_it_finds"])
            .env(CHILD, &path)
            .env("TZ", "Pacific/Chatham")
            .env("LC_ALL", "de_DE.UTF-8")
            .output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(std::fs::read(&path)? == own, "process {number} found something else");
    }
    Ok(())
}
