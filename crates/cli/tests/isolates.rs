//! Isolates on another isolith: what is refused, what is lost, and what nobody can make it do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

#[path = "isolates/hostile.rs"]
mod hostile;
#[path = "isolates/states.rs"]
mod states;

use isolith_core::{
    Ambient, BindingName, Bindings, CallId, End, Engine, EngineError, ErrorKind, Form, HostReply, Isolate, Json,
    Limits, OutputSink, Program, Seed, Start, Step, Stream, Timestamp, Turn,
};
use isolith_remote::{ConnectError, ItsLimits, Remote, Worker};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::process::has_workers;
use support::server::{Served, key, serve};
use support::wire::wire;
use support::{command, folder};
use tokio::runtime::Runtime;

/// Nothing here takes as long as this, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl OutputSink for Lines {
    fn write(&self, _: Stream, text: String, _: Timestamp) {
        self.0.lock().unwrap().push(text);
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn url(server: &Served) -> String {
    format!("http://{}", server.address)
}

fn program(code: &str) -> Program {
    Program::new("x.js", code, Form::Body)
}

fn start(limits: Limits) -> (Start, Arc<Lines>) {
    let lines = Arc::new(Lines::default());
    let bindings = Bindings { tools: vec![BindingName::new("echo").unwrap()], ..Bindings::default() };
    let sink = Arc::clone(&lines) as _;
    let (ambient, seed) = (Ambient::default(), Seed::from_number(1));
    (Start { limits, bindings, ambient, input: None, args: Vec::new(), seed, sink, must_suspend: false }, lines)
}

fn turn(replies: &[(u32, &str)]) -> Turn {
    let reply = |(id, json): &(u32, &str)| {
        (CallId(*id), HostReply::Value { json: Some(Json::from_text((*json).into()).unwrap()) })
    };
    let replies = replies.iter().map(reply).collect();
    Turn { now: Timestamp::from_micros(1), wall_left: Duration::from_secs(30), replies }
}

async fn begin(engine: &dyn Engine, code: &str) -> Result<(Box<dyn Isolate>, Arc<Lines>), EngineError> {
    let (start, lines) = start(Limits::default());
    Ok((engine.start(&program(code), start).await?, lines))
}

#[track_caller]
fn value(step: Result<Step, EngineError>) -> String {
    match step.unwrap() {
        Step::Done(End::Value(Some(json)), _) => json.text().to_owned(),
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_caller_needs_a_key_for_isolates() {
    let folder = folder();
    let (runs, isolates) = (key(&folder, &["runs"]), key(&folder, &["isolates", "--scope", "isolates"]));
    let server = serve(&folder, &[]);
    let connect = |key: Option<&str>| runtime().block_on(Remote::connect(&url(&server), key));
    for (key, expected) in [(None, 401), (Some("isk_wrong"), 401), (Some(runs.as_str()), 403)] {
        match connect(key).err() {
            Some(ConnectError::Refused { status, .. }) => assert_eq!(status, expected),
            other => panic!("{other:?}"),
        }
    }
    assert!(connect(Some(&isolates)).is_ok());
    let plain = server.get("/v1/isolates", &isolates);
    assert_eq!((plain.status, plain.code().as_str()), (426, "socket.upgrade"));
}

#[test]
fn limits_are_those_of_the_key_at_most() {
    let folder = folder();
    folder.write("policy.toml", "[limits]\ncpu = \"50ms\"\nmemory = \"16MiB\"\n");
    let key = key(&folder, &["small", "--scope", "isolates", "--policy", "policy.toml"]);
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), Some(&key)).await.unwrap();
        for (code, kind) in [
            ("while (true) {}", ErrorKind::CpuLimit),
            ("const all = []; while (true) all.push(new Uint8Array(1 << 20))", ErrorKind::MemoryLimit),
        ] {
            let (mut isolate, _) = begin(&engine, code).await.unwrap();
            match isolate.advance(turn(&[])).await.unwrap() {
                Step::Done(End::Failed(failure), _) => assert_eq!(failure.kind, kind, "{failure:?}"),
                step => panic!("{step:?}"),
            }
        }
    });
}

#[test]
fn isolates_have_the_walls_that_a_policy_wants_or_are_refused() {
    let folder = folder();
    let policies = [("auto", "engine = \"auto\""), ("walled", "isolation = \"process\""), ("v8", "engine = \"v8\"")];
    let [auto, walled, v8] = policies.map(|(name, policy)| {
        let file = format!("{name}.toml");
        folder.write(&file, policy);
        key(&folder, &[name, "--scope", "isolates", "--policy", &file])
    });
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        // In this order: what makes workers keeps some ready for the next.
        for (key, apart) in [(auto, false), (walled, true)] {
            let engine = Remote::connect(&url(&server), Some(&key)).await.unwrap();
            let (mut isolate, _) = begin(&engine, "return await tools.echo(1)").await.unwrap();
            assert!(matches!(isolate.advance(turn(&[])).await.unwrap(), Step::Calls(_)));
            assert_eq!(has_workers(server.pid()), apart);
            assert_eq!(value(isolate.advance(turn(&[(0, "7")])).await), "7");
        }
        let engine = Remote::connect(&url(&server), Some(&v8)).await.unwrap();
        let refused = begin(&engine, "return 1").await.err().unwrap();
        assert!(refused.to_string().contains("isolates under a policy that names `v8`"), "{refused}");
    });
}

#[test]
fn a_limit_that_no_message_has_room_for_is_refused() {
    let folder = folder();
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let (start, _) = start(Limits { value_bytes: 64 << 20, ..Limits::default() });
        let refused = engine.start(&program("return 1"), start).await.err().unwrap();
        assert!(matches!(refused, EngineError::Unsupported(_)), "{refused}");
        // What has room for it comes back whole.
        let (start, _) = self::start(Limits { value_bytes: 20 << 20, payload_bytes: 20 << 20, ..Limits::default() });
        let code =
            "const text = 'x'.repeat(15 << 20); const back = await tools.echo(text); return back === text && text";
        let mut isolate = engine.start(&program(code), start).await.unwrap();
        let Step::Calls(calls) = isolate.advance(turn(&[])).await.unwrap() else { panic!("it ended") };
        let isolith_core::HostCall::Tool { args: Some(args), .. } = &calls[0].call else { panic!("{calls:?}") };
        let args = args.text().to_owned();
        assert_eq!(value(isolate.advance(turn(&[(0, &args)])).await), args);
    });
}

#[test]
fn output_is_there_before_its_step_and_in_order() {
    let folder = folder();
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let code = "for (let i = 0; i < 500; i++) console.log(i); await tools.echo(); console.log('end'); return 1";
        let (mut isolate, lines) = begin(&engine, code).await.unwrap();
        assert!(matches!(isolate.advance(turn(&[])).await.unwrap(), Step::Calls(_)));
        let expected: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        assert_eq!(*lines.0.lock().unwrap(), expected);
        assert_eq!(value(isolate.advance(turn(&[(0, "1")])).await), "1");
        assert_eq!(lines.0.lock().unwrap().last().unwrap(), "end");
        assert!(isolate.usage().calls == 1 && isolate.usage().memory_peak_bytes > 0, "{:?}", isolate.usage());
        assert!(matches!(isolate.advance(turn(&[])).await, Err(EngineError::Ended)));
    });
}

#[test]
fn a_server_that_dies_in_the_middle_is_an_error_and_nothing_hangs() {
    let (folder, began) = (folder(), Instant::now());
    let server = serve(&folder, &[]);
    let runtime = runtime();
    runtime.block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let (mut waiting, _) = begin(&engine, "await tools.echo(); return 1").await.unwrap();
        assert!(matches!(waiting.advance(turn(&[])).await.unwrap(), Step::Calls(_)));
        let (mut computing, _) = begin(&engine, "while (true) {}").await.unwrap();
        let step = tokio::spawn(async move { computing.advance(turn(&[])).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.kill();
        assert!(matches!(step.await.unwrap(), Err(EngineError::Internal { .. })));
        assert!(matches!(waiting.suspend().await, Err(EngineError::Internal { .. })));
        assert!(matches!(waiting.advance(turn(&[(0, "1")])).await, Err(EngineError::Internal { .. })));
        assert!(matches!(begin(&engine, "return 1").await, Err(EngineError::Internal { .. })));
    });
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_lost_connection_loses_its_isolates_and_the_next_opens_another() {
    let folder = folder();
    let server = serve(&folder, &["--live-runs", "2", "--live-runs-per-caller", "2"]);
    let wire = wire(server.address);
    runtime().block_on(async {
        let engine = Remote::connect(&format!("http://{}", wire.address), None).await.unwrap();
        for round in 0..3 {
            let (mut first, _) = begin(&engine, "await tools.echo(); return 1").await.unwrap();
            let (mut second, _) = begin(&engine, "while (true) {}").await.unwrap();
            assert!(matches!(first.advance(turn(&[])).await.unwrap(), Step::Calls(_)));
            let step = tokio::spawn(async move { second.advance(turn(&[])).await });
            tokio::task::yield_now().await;
            wire.cut();
            assert!(matches!(step.await.unwrap(), Err(EngineError::Internal { .. })), "{round}");
            assert!(matches!(first.advance(turn(&[(0, "1")])).await, Err(EngineError::Internal { .. })), "{round}");
            // Both places are free again, or this would not come through.
            let (mut third, _) = begin(&engine, "return 40 + 2").await.unwrap();
            assert_eq!(value(third.advance(turn(&[])).await), "42");
        }
    });
}

#[test]
fn an_abandoned_step_stops_the_guest_and_frees_its_place() {
    let folder = folder();
    let server = serve(&folder, &["--live-runs", "1"]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        for _ in 0..3 {
            let (mut isolate, _) = begin(&engine, "while (true) {}").await.unwrap();
            let step = tokio::time::timeout(Duration::from_millis(30), isolate.advance(turn(&[]))).await;
            assert!(step.is_err());
            assert!(matches!(isolate.advance(turn(&[])).await, Err(EngineError::Ended)));
        }
        let (mut isolate, _) = begin(&engine, "return 1").await.unwrap();
        assert_eq!(value(isolate.advance(turn(&[])).await), "1");
    });
}

#[test]
fn isolates_that_start_at_once_do_not_get_in_each_others_way() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let mut all = tokio::task::JoinSet::new();
        for task in 0..16 {
            let engine = engine.clone();
            all.spawn(async move {
                for round in 0..50 {
                    let code = format!("return [{task}, {round}, await tools.echo({round})]");
                    let (mut isolate, _) = begin(&engine, &code).await.unwrap();
                    isolate.advance(turn(&[])).await.unwrap();
                    let value = value(isolate.advance(turn(&[(0, &task.to_string())])).await);
                    assert_eq!(value, format!("[{task},{round},{task}]"));
                }
            });
        }
        while let Some(joined) = all.join_next().await {
            joined.unwrap();
        }
    });
}

/// Our own door for TanStack's driver is a Worker too, and a better one: nothing is run twice.
#[test]
fn a_worker_can_be_an_isolith() {
    let folder = folder();
    let key = key(&folder, &["driver"]);
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let (url, key) = (format!("{}/v1/code-mode", url(&server)), format!("Bearer {key}"));
        let worker = Worker::new(&url, Some(&key), ItsLimits::Trusted).unwrap();
        let code = "let n = 0; console.log('same'); \
            try { n = await tools.echo({ a: [1] }); } catch { return 'caught' } \
            console.log('same'); console.error('two'); \
            return [n, await Promise.all([external_echo(1), tools.echo(2)]), input]";
        let (mut start, lines) = start(Limits::default());
        start.input = Some(Json::from_text(r#"{"__proto__":1}"#.into()).unwrap());
        let mut isolate = worker.start(&program(code), start).await.unwrap();
        let Step::Calls(first) = isolate.advance(turn(&[])).await.unwrap() else { panic!("it ended") };
        assert_eq!(first.len(), 1);
        let Step::Calls(both) = isolate.advance(turn(&[(0, "7")])).await.unwrap() else { panic!("it ended") };
        assert_eq!(both.len(), 2);
        assert_eq!(isolate.advance(turn(&[(2, "9")])).await.unwrap(), Step::Calls(vec![]));
        assert_eq!(value(isolate.advance(turn(&[(1, "8")])).await), r#"[7,[8,9],{"__proto__":1}]"#);
        assert_eq!(*lines.0.lock().unwrap(), ["same", "same", "two"]);
        let nobody = Worker::new(&url, None, ItsLimits::Trusted).unwrap();
        let (start, _) = self::start(Limits::default());
        let mut isolate = nobody.start(&program("return 1"), start).await.unwrap();
        assert!(matches!(isolate.advance(turn(&[])).await, Err(EngineError::Internal { .. })));
    });
}

#[test]
fn the_command_line_runs_programs_elsewhere() {
    let (there, here) = (folder(), folder());
    let key = key(&there, &["cli", "--scope", "isolates"]);
    let server = serve(&there, &[]);
    let url = url(&server);
    let run = |args: &[&str]| {
        let mut command = command(args);
        command.env("ISOLITH_DATA", here.path().join("data")).env("THERE", &key).current_dir(here.path());
        support::ran(command.output().unwrap())
    };
    let elsewhere = ["--remote", &url, "--remote-key-env", "THERE"];
    let ran = run(&[&["eval", "console.log('hi'); return 6 * 7"], &elsewhere[..]].concat());
    ran.is(0, "hi\n42\n", "");
    here.write("tool.js", "return await tools.cat({ a: 1 })");
    let ran = run(&[&["run", "tool.js", "--tool", "cat=cat"], &elsewhere[..]].concat());
    assert_eq!((ran.code, ran.stdout.contains("a: 1") || ran.stdout.contains("\"a\"")), (0, true), "{ran:?}");
    here.write("sleep.js", "await new Promise(done => setTimeout(done, 100)); return 'awake'");
    let ran = run(&[&["run", "sleep.js", "--suspend", "state"], &elsewhere[..]].concat());
    assert_eq!(ran.code, 75, "{ran:?}");
    let ran = run(&[&["resume", "state"], &elsewhere[..]].concat());
    assert_eq!((ran.code, ran.stdout.contains("awake")), (0, true), "{ran:?}");
    // What another engine suspended is not for this one.
    let ran = run(&["resume", "state"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = run(&["eval", "1", "--remote", &url]);
    assert!(ran.code == 2 && ran.stderr.contains("401"), "{ran:?}");
    let ran = run(&["eval", "1", "--remote", "http://10.255.255.1", "--remote-key-env", "THERE"]);
    assert!(ran.code == 2 && ran.stderr.contains("no TLS"), "{ran:?}");
    let ran = run(&["eval", "1", "--worker", "http://127.0.0.1:1"]);
    assert!(ran.code == 2 && ran.stderr.contains("--trust-worker-limits"), "{ran:?}");
}

/// `cargo test … --test isolates -- --ignored --nocapture` prints how long a step takes there and back.
#[test]
#[ignore = "a measurement"]
fn how_long_a_round_takes() {
    let folder = folder();
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let local = isolith_quickjs::QuickJs::new(isolith_quickjs::Options::default()).unwrap();
        let both: [&dyn Engine; 2] = [&engine, &local];
        for engine in both {
            let (mut rounds, mut starts) = (Vec::new(), Vec::new());
            for _ in 0..50 {
                let (mut isolate, _) = begin(engine, "while (true) await tools.echo(1)").await.unwrap();
                isolate.advance(turn(&[])).await.unwrap();
                for id in 0..40 {
                    let began = Instant::now();
                    isolate.advance(turn(&[(id, "1")])).await.unwrap();
                    rounds.push(began.elapsed());
                }
            }
            for _ in 0..500 {
                let began = Instant::now();
                let (mut isolate, _) = begin(engine, "return 1").await.unwrap();
                value(isolate.advance(turn(&[])).await);
                starts.push(began.elapsed());
            }
            for (name, all) in [("advance", &mut rounds), ("start to value", &mut starts)] {
                all.sort();
                let at = |part: usize| all[all.len() * part / 100];
                println!("{} {name}: median {:?}, p99 {:?}", engine.name(), at(50), at(99));
            }
        }
    });
}
