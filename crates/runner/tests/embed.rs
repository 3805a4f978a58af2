//! Running programs from Rust, with tools of the embedder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{ErrorKind, Grant, HostReply, Json, Limits, OutputSink, RunId, Status, Stream, Timestamp};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{Attend, Plan, Runner, Tools};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

struct Silent;

impl OutputSink for Silent {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn runner() -> Runner {
    Runner::new(Arc::new(QuickJs::new(Options { live: 8, ..Options::default() }).unwrap()))
}

fn tools() -> Tools {
    Tools::default()
        .with("add", |args| {
            Box::pin(async move {
                let Some(Ok(numbers)) = args.as_ref().map(Json::parse::<Vec<f64>>) else {
                    return HostReply::failed("TypeError", "add wants a list of numbers");
                };
                HostReply::Value { json: Json::of(&numbers.iter().sum::<f64>()).ok() }
            })
        })
        .unwrap()
        .with("breaks", |_| Box::pin(async { panic!("a bug in the tool") }))
        .unwrap()
        .with("hangs", |_| Box::pin(std::future::pending()))
        .unwrap()
}

fn attend(tools: Tools) -> Attend {
    Attend::new(Arc::new(tools), Arc::new(Silent))
}

#[tokio::test]
async fn a_tool_is_called_and_the_receipt_says_so() {
    let tools = tools();
    let source = "const sum = await tools.add([1, 2]); return [sum, await external_add([sum, 0.5])]";
    let plan = Plan { grants: tools.grants(), ..Plan::new(source, "sum.js") };
    let outcome = runner().run(plan, attend(tools)).await.unwrap().outcome;
    assert_eq!(outcome.value.map(|v| v.to_string()).as_deref(), Some("[3,3.5]"));
    assert_eq!(outcome.calls.len(), 2);
    assert_eq!(outcome.exercised.iter().map(|e| (e.grant.as_str(), e.count)).collect::<Vec<_>>(), [("tool:add", 2)]);
}

#[tokio::test]
async fn without_the_grant_the_tool_does_not_exist() {
    let outcome =
        runner().run(Plan::new("return await tools.add([1])", "sum.js"), attend(tools())).await.unwrap().outcome;
    let error = outcome.error.unwrap();
    assert_eq!((error.kind, error.name.as_str()), (ErrorKind::Thrown, "TypeError"));
    assert_eq!(error.hint.as_deref(), Some("tool `add` is not granted; no tool is"));
    assert_eq!(outcome.calls, []);
}

#[tokio::test]
async fn a_panic_in_a_tool_ends_that_run_and_no_other() {
    let (runner, tools) = (runner(), tools());
    let plan = Plan { grants: tools.grants(), ..Plan::new("return await tools.breaks()", "x.js") };
    let outcome = runner.run(plan, attend(tools)).await.unwrap().outcome;
    assert_eq!(outcome.error.map(|e| e.kind), Some(ErrorKind::Internal));
    let next = runner.run(Plan::new("return 42", "x.js"), attend(Tools::default())).await.unwrap().outcome;
    assert_eq!(next.value.map(|v| v.to_string()).as_deref(), Some("42"));
}

#[tokio::test]
async fn a_run_can_be_cancelled_while_it_waits_and_while_it_computes() {
    for source in ["await tools.hangs()", "for (;;);"] {
        let tools = tools();
        let plan = Plan { grants: tools.grants(), ..Plan::new(source, "x.js") };
        let attend = attend(tools);
        let cancel = attend.cancel.clone();
        let stop = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            cancel.cancel();
        };
        let (ended, ()) = tokio::join!(async { runner().run(plan, attend).await }, stop);
        assert_eq!(ended.unwrap().outcome.error.map(|e| e.kind), Some(ErrorKind::Cancelled), "{source}");
    }
}

#[tokio::test]
async fn when_every_isolate_is_taken_callers_wait_and_then_hear_that_it_is_busy() {
    let options = Options { live: 1, queue: 1, queue_wait: Duration::from_millis(50), ..Options::default() };
    let runner = Runner::new(Arc::new(QuickJs::new(options).unwrap()));
    let held = tools();
    let plan = Plan { grants: held.grants(), ..Plan::new("await tools.hangs()", "held.js") };
    let attend_held = attend(held);
    let cancel = attend_held.cancel.clone();
    let holder = tokio::spawn({
        let runner = runner.clone();
        async move { runner.run(plan, attend_held).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let busy = runner.run(Plan::new("return 1", "x.js"), attend(Tools::default())).await;
    assert!(busy.is_err_and(|e| e.to_string().contains("the engine is busy: 1 isolates are live")));
    // Who waits gets the place as soon as it is free.
    let waiter = runner.run(Plan::new("return 1", "x.js"), attend(Tools::default()));
    let free = async { cancel.cancel() };
    let (waited, ()) = tokio::join!(waiter, free);
    assert_eq!(waited.unwrap().outcome.status, Status::Ok);
    assert_eq!(holder.await.unwrap().unwrap().outcome.status, Status::Error);
}

#[tokio::test(flavor = "current_thread")]
async fn a_run_that_computes_does_not_keep_the_thread_from_others() {
    let runner = runner();
    let spin = Plan::new("for (;;);", "spin.js");
    let attend_spin = attend(Tools::default());
    let cancel = attend_spin.cancel.clone();
    let spinning = tokio::spawn({
        let runner = runner.clone();
        async move { runner.run(spin, attend_spin).await }
    });
    tokio::time::sleep(Duration::from_millis(5)).await;
    // On this one thread, others run to their end while the first is still computing.
    for n in 0..20 {
        let other = runner.run(Plan::new(format!("return {n}"), "x.js"), attend(Tools::default())).await;
        assert_eq!(other.unwrap().outcome.value.map(|v| v.to_string()), Some(n.to_string()));
    }
    assert!(!spinning.is_finished());
    cancel.cancel();
    assert_eq!(spinning.await.unwrap().unwrap().outcome.error.map(|e| e.kind), Some(ErrorKind::Cancelled));
}

/// Runs a program whose tools stand behind a gate that holds these grants.
async fn through_a_gate(source: &str, grants: serde_json::Value) -> isolith_core::Outcome {
    let grants: Vec<Grant> = serde_json::from_value(grants).unwrap();
    let grants: Arc<[Grant]> = grants.into();
    let net = Arc::new(Net::new(NetOptions { proxy: None, ca: None }).unwrap());
    let means = Means { tools: Arc::new(tools()), ..Means::new(net, ".".into()) };
    let identity = Identity { run: RunId("test".into()), program: "test".into() };
    let gate = Gate::new(grants.clone(), Limits::default(), identity, means).unwrap();
    let attend = Attend::new(Arc::new(gate), Arc::new(Silent));
    runner().run(Plan { grants, ..Plan::new(source, "sum.js") }, attend).await.unwrap().outcome
}

#[tokio::test]
async fn a_gate_holds_the_embedders_own_tools_to_their_grants() {
    let source = "return await tools.add([1, 2])";
    let numbers = json!({ "type": "array", "items": { "type": "number" }, "maxItems": 2 });
    let granted = json!([{ "kind": "tool", "name": "add", "input": numbers, "calls": 1 }]);
    let outcome = through_a_gate(source, granted.clone()).await;
    assert_eq!(outcome.value.map(|v| v.to_string()).as_deref(), Some("3"));
    assert_eq!(outcome.exercised.iter().map(|e| (e.grant.as_str(), e.count)).collect::<Vec<_>>(), [("tool:add", 1)]);

    let code = |outcome: isolith_core::Outcome| outcome.error.and_then(|error| error.code);
    let refusals = [
        ("await tools.add([1]); await tools.add([1])", granted.clone(), "tool.denied"),
        ("await tools.add([1, 2, 3])", granted, "tool.invalid_input"),
        (source, json!([{ "kind": "tool", "name": "add", "args": { "0": ">= 5" } }]), "tool.denied"),
        (source, json!(["tool:add", "deny tool:add"]), "tool.denied"),
        (source, json!(["ask tool:add"]), "tool.denied"),
    ];
    for (source, grants, expected) in refusals {
        assert_eq!(code(through_a_gate(source, grants.clone()).await).as_deref(), Some(expected), "{source} {grants}");
    }
}
