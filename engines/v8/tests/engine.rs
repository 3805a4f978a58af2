//! Programs in V8, step by step.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use common::{body, calls, engine, run, start, turn, value};
use isolith_core::{BindingName, End, Engine, ErrorKind, HostCall, HostReply, Json, Limits, Module, Step};
use isolith_v8::Options;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_program_gives_its_value() {
    let engine = engine(Options::default());
    assert_eq!(run(&engine, "return 1 + 1", Limits::default()).await, value("2"));
    assert_eq!(
        run(&engine, "return [await 5, typeof fetch, Date.now()]", Limits::default()).await,
        value("[5,\"undefined\",1000]")
    );
}

#[tokio::test]
async fn a_tool_is_called_and_its_reply_delivered() {
    let engine = engine(Options::default());
    let mut start = start(Limits::default(), Arc::new(common::Kept::default()));
    start.bindings.tools.push(BindingName::new("echo").unwrap());
    let program = body("const a = await tools.echo({ x: 1 }); return a.y + (await external_echo(2));");
    let mut isolate = engine.start(&program, start).await.unwrap();
    let made = calls(&mut *isolate, turn(Vec::new())).await;
    let json = |text: &str| Json::from_text(text.into()).unwrap();
    assert!(
        matches!(&made[0].call, HostCall::Tool { args: Some(args), .. } if args.text() == r#"{"x":1}"#),
        "{made:?}"
    );
    let made =
        calls(&mut *isolate, turn(vec![(made[0].id, HostReply::Value { json: Some(json(r#"{"y":40}"#)) })])).await;
    let last = isolate.advance(turn(vec![(made[0].id, HostReply::Value { json: Some(json("2")) })])).await.unwrap();
    assert_eq!(last, Step::Done(value("42"), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_abandoned_stops_its_worker() {
    let engine = engine(Options { ready: 1, ..Options::default() });
    let mut isolate = engine
        .start(&common::body("for (;;);"), start(Limits::default(), Arc::new(common::Kept::default())))
        .await
        .unwrap();
    let abandoned = tokio::time::timeout(Duration::from_millis(100), isolate.advance(turn(Vec::new()))).await;
    assert!(abandoned.is_err());
    assert!(isolate.usage().cpu_us > 0, "what it has computed counts");
    assert!(matches!(isolate.advance(turn(Vec::new())).await, Err(isolith_core::EngineError::Ended)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_cannot_be_suspended_and_says_so() {
    let engine = engine(Options::default());
    let kept = Arc::new(common::Kept::default());
    let mut isolate = engine
        .start(&body("await new Promise((r) => setTimeout(r, 9))"), start(Limits::default(), kept))
        .await
        .unwrap();
    calls(&mut *isolate, turn(Vec::new())).await;
    let error = isolate.suspend().await.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "engine `v8` does not support suspending a run; record it, and replay its journal");
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_that_come_along_can_be_imported() {
    let engine = engine(Options::default());
    let module = |name: &str, code: &str| Module { name: name.into(), code: code.into() };
    let mut program = body(
        "const { double } = await import('lib/a.js'); return [double(4), await import('lib/none.js').catch((e) => e.message)]",
    );
    let modules = [
        module("lib/a.js", "import { two } from './b.js'; export const double = (x) => x * two;"),
        module("lib/b.js", "export const two = 2;"),
    ];
    program.modules = Arc::new(modules);
    let mut isolate =
        engine.start(&program, start(Limits::default(), Arc::new(common::Kept::default()))).await.unwrap();
    let end = isolate.advance(turn(Vec::new())).await.unwrap();
    assert_eq!(end, Step::Done(value(r#"[8,"module `lib/none.js` is not granted"]"#), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_compiler_programs_do_the_same() {
    let engine = engine(Options { jitless: true, ..Options::default() });
    assert_eq!(
        run(&engine, "let n = 0; for (let i = 0; i < 1e5; i++) n += i; return n", Limits::default()).await,
        value("4999950000")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_stopped_says_where_it_was() {
    let engine = engine(Options::default());
    let limits = Limits { cpu: Duration::from_millis(50), ..Limits::default() };
    match run(&engine, "\n\nfunction spin() { for (;;); }\nspin()", limits).await {
        End::Failed(failure) => {
            assert_eq!(failure.kind, ErrorKind::CpuLimit);
            assert!(failure.stack.as_deref().unwrap_or_default().starts_with("    at spin (main.js:3:"), "{failure:?}");
        }
        end => panic!("{end:?}"),
    }
}
