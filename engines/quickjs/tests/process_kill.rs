//! `kill -9` of a worker in the middle of its run. Alone in its file: it looks at all processes below this one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

use isolith_core::{BindingName, End, Engine, ErrorKind, HostReply, Json, Limits, Start, Step};
use isolith_jail::{Launch, Options};
use isolith_quickjs::process;
use isolith_testing::step::{Kept, body, calls, descendants, run, start, turn, value};
use std::sync::Arc;
use std::time::Duration;

const WAITS: &str = "const before = [1, 2, 3].map((x) => x * 2); return [before, await tools.echo(1)]";

fn waits() -> Start {
    let mut start = start(Limits::default(), Arc::new(Kept::default()));
    start.bindings.tools.push(BindingName::new("echo").unwrap());
    start
}

/// The process that comes to those that are known.
async fn another(known: &[i32]) -> i32 {
    for _ in 0..400 {
        let new: Vec<i32> = descendants().into_iter().map(|(pid, _)| pid).filter(|pid| !known.contains(pid)).collect();
        if let [pid] = new[..] {
            return pid;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no other worker stands ready: {:?}", descendants());
}

fn kill(pid: i32) {
    assert!(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_takes_its_own_run_and_no_other() {
    let launch = Launch::new(env!("CARGO_BIN_EXE_isolith-quickjs-worker"), &[]);
    let engine = process::jailed(launch, Options { ready: 1, ..Options::default() }).unwrap();
    let zygote = descendants()[0].0;
    let first = another(&[zygote]).await;
    let mut neighbour = engine.start(&body(WAITS), waits()).await.unwrap();
    let its = calls(&mut *neighbour, turn(Vec::new())).await;
    let second = another(&[zygote, first]).await;
    let mut victim = engine.start(&body(WAITS), waits()).await.unwrap();
    let asked = calls(&mut *victim, turn(Vec::new())).await;
    kill(second);
    let reply = || HostReply::Value { json: Json::from_text("7".into()).ok() };
    match victim.advance(turn(vec![(asked[0].id, reply())])).await.unwrap() {
        Step::Done(End::Failed(failure), _) => {
            assert_eq!(failure.kind, ErrorKind::Internal, "{failure:?}");
            assert!(failure.message.contains("the worker died"), "{failure:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(victim.suspend().await.is_err());
    let end = neighbour.advance(turn(vec![(its[0].id, reply())])).await.unwrap();
    assert_eq!(end, Step::Done(value("[[2,4,6],7]"), Vec::new()));
    assert_eq!(run(&engine, "return 1", Limits::default()).await, value("1"));
    // One that is killed while it waits cannot say what memory it has.
    let mut waiting = engine.start(&body(WAITS), waits()).await.unwrap();
    calls(&mut *waiting, turn(Vec::new())).await;
    let all: Vec<i32> = descendants().into_iter().map(|(pid, _)| pid).filter(|pid| *pid != zygote).collect();
    all.iter().for_each(|pid| kill(*pid));
    assert!(waiting.suspend().await.is_err());
    assert!(matches!(waiting.advance(turn(Vec::new())).await, Err(isolith_core::EngineError::Ended)));
    // The kernel takes a moment, in which one that stood ready still looks alive.
    for _ in 0..400 {
        if descendants().iter().all(|(pid, _)| !all.contains(pid)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(run(&engine, "return 1", Limits::default()).await, value("1"));
}
