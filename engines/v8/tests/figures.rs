//! How long things take: `cargo test --release -p isolith-v8 --test figures -- --ignored --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod common;

use common::{body, calls, engine, run, start, turn, value};
use isolith_core::{BindingName, Builtin, Engine, HostReply, Json, Limits, Step};
use isolith_v8::Options;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn told(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what}: {:?} median, {:?} of 95 in 100, {} times", at(0.5), at(0.95), times.len());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn a_fresh_run_and_a_tool_call() {
    let engine = engine(Options::default());
    for pause_ms in [0, 10] {
        let mut times = Vec::new();
        for _ in 0..300 {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            let began = Instant::now();
            assert_eq!(run(&engine, "return 1 + 1", Limits::default()).await, value("2"));
            times.push(began.elapsed());
        }
        told(&format!("a fresh run, {pause_ms} ms after the one before"), times);
    }

    let mut start = start(Limits { calls: 100_000, ..Limits::default() }, Arc::new(common::Kept::default()));
    start.bindings.tools.push(BindingName::new("echo").unwrap());
    let program = body("let n = 0; for (let i = 0; i < 5000; i++) n += await tools.echo(i); return n");
    let mut isolate = engine.start(&program, start).await.unwrap();
    let mut made = calls(&mut *isolate, turn(Vec::new())).await;
    let mut times = Vec::new();
    let end = loop {
        let began = Instant::now();
        let reply = HostReply::Value { json: Json::from_text("1".into()).ok() };
        match isolate.advance(turn(vec![(made[0].id, reply)])).await.unwrap() {
            Step::Calls(calls) => made = calls,
            Step::Done(end, _) => break end,
        }
        times.push(began.elapsed());
    };
    assert_eq!(end, value("5000"));
    told("a tool call", times);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn what_a_builtin_costs() {
    const PAIRS: usize = 1_000;
    let engine = engine(Options::default());
    let module = "(module (func (export \"add\") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))";
    let adds = format!(
        "const code = new Uint8Array({:?}); return (await WebAssembly.instantiate(code)).instance.exports.add(1, 1)",
        wat::parse_str(module).unwrap()
    );
    let took = async |code: &str, builtins: &[Builtin]| {
        let mut given = start(Limits::default(), Arc::new(common::Kept::default()));
        given.bindings.builtins = builtins.to_vec();
        let began = Instant::now();
        let mut isolate = engine.start(&body(code), given).await.unwrap();
        assert_eq!(isolate.advance(turn(Vec::new())).await.unwrap(), Step::Done(value("2"), Vec::new()));
        began.elapsed()
    };
    for (what, code) in [("the same program", "return 1 + 1"), ("one that compiles a module", adds.as_str())] {
        let mut ratios = Vec::new();
        for _ in 0..PAIRS {
            let without = took("return 1 + 1", &[]).await;
            ratios.push(took(code, &Builtin::ALL).await.as_secs_f64() / without.as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        println!("{what}, with builtins: {:.2} of a fresh run without (median of {PAIRS} pairs)", ratios[PAIRS / 2]);
    }
}

fn resident_kib(pid: &str, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn memory_of_a_waiting_run() {
    let engine = engine(Options::default());
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut isolate = engine
            .start(
                &body("await new Promise((r) => setTimeout(r, 1e6))"),
                start(Limits::default(), Arc::new(common::Kept::default())),
            )
            .await
            .unwrap();
        calls(&mut *isolate, turn(Vec::new())).await;
        held.push(isolate);
    }
    let workers: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.starts_with("isolith-v8-work")
        })
        .collect();
    let mut own: Vec<u64> = workers.iter().map(|pid| resident_kib(pid, "Private_Dirty:")).collect();
    own.sort_unstable();
    println!("{} processes, private memory in KiB: {own:?}", own.len());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes its time and tells figures"]
async fn many_runs_do_not_grow() {
    let engine = engine(Options::default());
    let count: u32 = std::env::var("ISOLITH_V8_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let began = Instant::now();
    let own = || resident_kib("self", "Rss:");
    let mut first = 0;
    for i in 0..count {
        assert_eq!(run(&engine, "return [1, 2, 3].map((x) => x * 2).length", Limits::default()).await, value("3"));
        if i == 100 {
            first = own();
        }
    }
    println!("{count} runs in {:?}: {first} KiB after 100, {} KiB at the end", began.elapsed(), own());
}
