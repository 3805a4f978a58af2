//! Programs in V8, step by step.

mod common;

use common::{body, calls, engine, run, start, turn, value};
use isolith_core::{BindingName, Engine, HostCall, HostReply, Json, Limits, Step};
use isolith_v8::Options;
use std::sync::Arc;

#[tokio::test]
async fn a_program_gives_its_value() {
    let engine = engine(Options::default());
    assert_eq!(run(&engine, "return 1 + 1", Limits::default()).await, value("2"));
    assert_eq!(run(&engine, "return [await 5, typeof fetch, Date.now()]", Limits::default()).await, value("[5,\"undefined\",1000]"));
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
    assert!(matches!(&made[0].call, HostCall::Tool { args: Some(args), .. } if args.text() == r#"{"x":1}"#), "{made:?}");
    let made = calls(&mut *isolate, turn(vec![(made[0].id, HostReply::Value { json: Some(json(r#"{"y":40}"#)) })])).await;
    let last = isolate.advance(turn(vec![(made[0].id, HostReply::Value { json: Some(json("2")) })])).await.unwrap();
    assert_eq!(last, Step::Done(value("42"), Vec::new()));
}
