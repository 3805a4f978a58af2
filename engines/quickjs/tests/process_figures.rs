//! What a process costs: `cargo test --release -p isolith-quickjs --test process_figures -- --ignored --nocapture --test-threads 1`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

use isolith_core::{BindingName, Engine, HostReply, Json, Limits, Step};
use isolith_jail::{Jailed, Launch, Options};
use isolith_quickjs::{QuickJs, process};
use isolith_testing::step::{Kept, body, calls, run, start, turn, value};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn jailed(ready: usize) -> Jailed {
    let launch = Launch::new(env!("CARGO_BIN_EXE_isolith-quickjs-worker"), &[]);
    process::jailed(launch, Options { ready, ..Options::default() }).unwrap()
}

fn told(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what}: {:?} median, {:?} p99, {} times", at(0.5), at(0.99), times.len());
}

async fn trivial(engine: &dyn Engine) -> Duration {
    let began = Instant::now();
    assert_eq!(run(engine, "return 1 + 1", Limits::default()).await, value("2"));
    began.elapsed()
}

/// From a program to its outcome, where a worker stands ready, and the same without a process: some one after the other, then a pause
/// in which new workers take their places.
async fn a_trivial_run() {
    const AT_ONCE: usize = 8;
    let (jailed, inside) = (jailed(2 * AT_ONCE), QuickJs::new(Default::default()).unwrap());
    let (mut apart, mut here) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        for (engine, times) in [(&jailed as &dyn Engine, &mut apart), (&inside, &mut here)] {
            tokio::time::sleep(Duration::from_millis(50)).await;
            for _ in 0..AT_ONCE {
                times.push(trivial(engine).await);
            }
        }
    }
    told("a trivial run in a process, with warm workers", apart);
    told("a trivial run without", here);
    // One at a time, when everything has been idle: what is cold is part of it.
    let (mut apart, mut here) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        for (engine, times) in [(&jailed as &dyn Engine, &mut apart), (&inside, &mut here)] {
            tokio::time::sleep(Duration::from_millis(20)).await;
            times.push(trivial(engine).await);
        }
    }
    told("one alone in a process", apart);
    told("one alone without", here);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn a_trivial_run_on_two_threads() {
    a_trivial_run().await;
}

#[tokio::test]
#[ignore = "takes its time and tells figures"]
async fn a_trivial_run_on_one_thread() {
    a_trivial_run().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn runs_one_after_the_other_without_a_pause() {
    for ready in [1, 4, 16] {
        let engine = jailed(ready);
        let (count, began) = (2_000u32, Instant::now());
        let each: Vec<_> = (0..4)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move {
                    for _ in 0..count / 4 {
                        trivial(&engine).await;
                    }
                })
            })
            .collect();
        for one in each {
            one.await.unwrap();
        }
        let seconds = began.elapsed().as_secs_f64();
        println!("{ready} ready, 4 at a time: {:.0} runs a second", f64::from(count) / seconds);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn a_tool_call_and_a_suspension() {
    let engine = jailed(2);
    let mut start = start(Limits { calls: 100_000, ..Limits::default() }, Arc::new(Kept::default()));
    start.bindings.tools.push(BindingName::new("echo").unwrap());
    let program = body("let n = 0; for (let i = 0; i < 3000; i++) n += await tools.echo(i); return n");
    let mut isolate = engine.start(&program, start).await.unwrap();
    let mut made = calls(&mut *isolate, turn(Vec::new())).await;
    let (mut times, mut suspended) = (Vec::new(), Vec::new());
    let mut state = None;
    loop {
        let began = Instant::now();
        let reply = HostReply::Value { json: Json::from_text("1".into()).ok() };
        match isolate.advance(turn(vec![(made[0].id, reply)])).await.unwrap() {
            Step::Calls(calls) => made = calls,
            Step::Done(end, _) => {
                assert_eq!(end, value("3000"));
                break;
            }
        }
        times.push(began.elapsed());
        if times.len() % 10 == 0 {
            let began = Instant::now();
            state = Some(isolate.suspend().await.unwrap());
            suspended.push(began.elapsed());
        }
    }
    told("a tool call", times);
    told("a suspension", suspended);
    println!("{} bytes of state", state.unwrap().0.len());
}
