//! Programs in jailed processes: what they do, what they cannot, and how they leave memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

use isolith_core::{
    BindingName, Builtin, End, Engine, EngineError, ErrorKind, HostReply, Json, Limits, Step, Suspended,
    SuspendedError, Timestamp, Turn,
};
use isolith_jail::{Jailed, Launch, Options};
use isolith_quickjs::{QuickJs, process};
use isolith_testing::step::{Kept, body, calls, run, start, turn, value};
use std::sync::Arc;
use std::time::Duration;

fn engine(options: Options) -> Jailed {
    let launch = Launch { keep_stderr: true, ..Launch::new(env!("CARGO_BIN_EXE_isolith-quickjs-worker"), &[]) };
    process::jailed(launch, options).expect("the engine starts")
}

fn inside() -> QuickJs {
    QuickJs::new(isolith_quickjs::Options { live: 8, ..Default::default() }).expect("the engine starts")
}

fn limits() -> Limits {
    Limits {
        cpu: Duration::from_millis(300),
        wall: Duration::from_secs(5),
        memory_bytes: 32 << 20,
        ..Limits::default()
    }
}

fn kept() -> Arc<Kept> {
    Arc::new(Kept::default())
}

fn number(text: &str) -> HostReply {
    HostReply::Value { json: Json::from_text(text.into()).ok() }
}

/// A program that waits for a tool, with what it computed before.
const WAITS: &str = "const before = [1, 2, 3].map((x) => x * 2); console.log('before'); \
    const told = await tools.echo(before); console.log('after'); return { before, told, n: Math.random() < 2 }";

fn waits() -> isolith_core::Start {
    let mut start = start(Limits::default(), kept());
    start.bindings.tools.push(BindingName::new("echo").unwrap());
    start
}

#[tokio::test(flavor = "multi_thread")]
async fn what_quickjs_does_not_have_is_not_begun() {
    let engines: [Box<dyn Engine>; 2] = [Box::new(engine(Options::default())), Box::new(inside())];
    for engine in engines {
        let mut given = start(Limits::default(), kept());
        given.bindings.builtins.push(Builtin::WebAssembly);
        match engine.start(&body("return 1"), given).await {
            Err(EngineError::Unsupported(error)) => {
                assert_eq!(
                    error.to_string(),
                    "engine `quickjs` does not support `WebAssembly`; `v8` with its compiler does"
                );
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_programs_end_as_they_should_and_the_next_run_is_as_any() {
    let programs: &[(&str, &str, &[ErrorKind])] = &[
        ("an endless loop", "for (;;);", &[ErrorKind::CpuLimit]),
        (
            "a loop that catches everything",
            "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
            &[ErrorKind::CpuLimit],
        ),
        ("a regular expression", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", &[ErrorKind::CpuLimit]),
        ("a memory bomb", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", &[ErrorKind::MemoryLimit]),
        ("strings without end", "let s = 'x'; for (;;) s += s", &[ErrorKind::MemoryLimit, ErrorKind::Thrown]),
        ("deep recursion", "const f = () => f() + 1; return f()", &[ErrorKind::StackOverflow]),
        (
            "deep recursion of natives",
            "let o = []; for (let i = 0; i < 2e5; i++) o = [o]; return o.flat(Infinity).length",
            &[ErrorKind::StackOverflow],
        ),
        ("a flood of output", "for (;;) console.log('x'.repeat(1000))", &[ErrorKind::OutputLimit]),
        (
            "a flood of timers",
            "for (;;) setTimeout(() => {}, 1e6)",
            &[ErrorKind::Thrown, ErrorKind::CallLimit, ErrorKind::MemoryLimit, ErrorKind::CpuLimit],
        ),
        ("a value that is too large", "return 'x'.repeat(17 << 20)", &[ErrorKind::OutputLimit]),
    ];
    let engine = engine(Options::default());
    for (name, code, kinds) in programs {
        let end = tokio::time::timeout(Duration::from_secs(20), ended(&engine, code)).await.expect(name);
        match &end {
            End::Failed(failure) if kinds.contains(&failure.kind) => {}
            end => panic!("{name}: {}", format!("{end:?}").chars().take(300).collect::<String>()),
        }
        assert_eq!(run(&engine, "return 1", Limits::default()).await, value("1"), "after {name}");
    }
}

/// Until it ends: whatever it asks for is not answered.
async fn ended(engine: &dyn Engine, code: &str) -> End {
    let limits = Limits { memory_bytes: 64 << 20, ..limits() };
    let mut isolate = engine.start(&body(code), start(limits, kept())).await.expect("an isolate");
    loop {
        match isolate.advance(turn(Vec::new())).await.expect("a step") {
            Step::Done(end, _) => return end,
            Step::Calls(_) => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_stopped_says_where_it_was_and_keeps_what_it_wrote() {
    let engine = engine(Options::default());
    let sink = kept();
    let program = body("\n\nfunction spin() { console.log('here'); for (;;); }\nspin()");
    let started = start(Limits { cpu: Duration::from_millis(50), ..Limits::default() }, Arc::clone(&sink) as _);
    let mut isolate = engine.start(&program, started).await.unwrap();
    match isolate.advance(turn(Vec::new())).await.unwrap() {
        Step::Done(End::Failed(failure), _) => {
            assert_eq!(failure.kind, ErrorKind::CpuLimit);
            assert!(failure.stack.as_deref().unwrap_or_default().starts_with("    at spin (main.js:3:"), "{failure:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(sink.pieces().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_run_goes_on_in_a_process_or_out_of_it_alike() {
    let (jailed, inside) = (engine(Options::default()), inside());
    let engines: [&dyn Engine; 2] = [&jailed, &inside];
    let done = Step::Done(value(r#"{"before":[2,4,6],"told":5,"n":true}"#), Vec::new());
    for (from, to) in [(0, 0), (0, 1), (1, 0)] {
        let mut isolate = engines[from].start(&body(WAITS), waits()).await.unwrap();
        let call = calls(&mut *isolate, turn(Vec::new())).await;
        let state = isolate.suspend().await.unwrap();
        let used = isolate.usage();
        drop(isolate);
        let sink = kept();
        let mut back = engines[to].resume(&state, Arc::clone(&sink) as _).await.unwrap();
        // What a run has used comes back with it.
        assert_eq!((back.usage().calls, back.usage().bytes_out), (used.calls, used.bytes_out), "{from} to {to}");
        // Nothing has run yet, so it is the same state.
        let again = back.suspend().await.unwrap();
        let mut fork = engines[from].resume(&again, kept()).await.unwrap();
        for isolate in [&mut back, &mut fork] {
            let end = isolate.advance(turn(vec![(call[0].id, number("5"))])).await.unwrap();
            assert_eq!(end, done, "{from} to {to}");
        }
        assert_eq!(sink.pieces().len(), 1, "{from} to {to}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_too_large_is_refused_and_the_run_goes_on() {
    let engine = engine(Options::default());
    let mut start = waits();
    start.limits.suspended_bytes = 1 << 20;
    let code = "const much = new Uint8Array(4 << 20).map((_, i) => i * 7); return await tools.echo(much.length)";
    let mut isolate = engine.start(&body(code), start).await.unwrap();
    let call = calls(&mut *isolate, turn(Vec::new())).await;
    let error = isolate.suspend().await.map(|_| ()).unwrap_err();
    assert!(matches!(error, EngineError::Suspended(SuspendedError::TooLarge { .. })), "{error}");
    let end = isolate.advance(turn(vec![(call[0].id, number("3"))])).await.unwrap();
    assert_eq!(end, Step::Done(value("3"), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_usage_come_back_with_a_state_and_are_held_to() {
    let engine = engine(Options::default());
    let mut start = waits();
    start.limits.calls = 2;
    let code = "await tools.echo(1); await tools.echo(2); await tools.echo(3); return 'no'";
    let mut isolate = engine.start(&body(code), start).await.unwrap();
    let call = calls(&mut *isolate, turn(Vec::new())).await;
    let mut isolate = engine.resume(&isolate.suspend().await.unwrap(), kept()).await.unwrap();
    let call = calls(&mut *isolate, turn(vec![(call[0].id, number("1"))])).await;
    match isolate.advance(turn(vec![(call[0].id, number("1"))])).await.unwrap() {
        Step::Done(End::Failed(failure), _) => assert_eq!(failure.kind, ErrorKind::CallLimit),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_none_reaches_no_worker() {
    let engine = engine(Options::default());
    let refused = engine.resume(&Suspended(vec![1; 200]), kept()).await.map(|_| ()).unwrap_err();
    assert!(matches!(refused, EngineError::Suspended(SuspendedError::Damaged(_))), "{refused}");
    assert_eq!(engine.image(), inside().image());
    assert_eq!(engine.name(), inside().name());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_is_waited_for_and_the_receipt_names_the_jail() {
    let engine = engine(Options::default());
    let program = body("await new Promise((r) => setTimeout(r, 9)); return Date.now()");
    let mut isolate = engine.start(&program, start(Limits::default(), kept())).await.unwrap();
    let made = calls(&mut *isolate, turn(Vec::new())).await;
    let later =
        Turn { now: Timestamp::from_micros(2_000_000), ..turn(vec![(made[0].id, HostReply::Value { json: None })]) };
    assert_eq!(isolate.advance(later).await.unwrap(), Step::Done(value("2000"), Vec::new()));
    let ran_on = isolate.ran_on();
    assert_eq!((&*ran_on.engine, ran_on.jail.is_some()), ("quickjs", true));
}
