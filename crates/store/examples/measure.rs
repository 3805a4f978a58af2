//! How long the store takes: `cargo run --release -p isolith-store --example measure`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is run by hand and prints what it found")]

use isolith_core::{
    ApiKeys as _, AuditLog as _, AuditRow, BindingName, CallId, CallOutcome, CallerId, HostReply, Json, Keeper,
    KeySpaces as _, KvOp, RunId, RunRecord, RunState, RunStore, Scope, Timestamp,
};
use isolith_store::{DataFolder, NewKey};
use std::time::Instant;

const KEYS: u32 = 10_000;
const READS: u32 = 100_000;
const WRITES: u32 = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let started = Instant::now();
    let kv = data.kv().unwrap();
    println!("open a new kv: {:.0} µs", started.elapsed().as_secs_f64() * 1e6);
    let space = BindingName::new("notes").unwrap();
    let now = Timestamp::from_micros(1);
    let put = |n: u32| {
        let value = Json::of(&"x".repeat(100)).unwrap();
        KvOp::Put { key: format!("key{n}"), value, ttl_ms: None, metadata: None, expect: None }
    };
    let mut times = Vec::new();
    for n in 0..WRITES {
        let started = Instant::now();
        kv.perform(space.clone(), 1 << 30, put(n), now).await;
        times.push(started.elapsed());
    }
    show("kv.put, one at a time", times);
    let all: Vec<_> = (WRITES..KEYS).map(|n| kv.perform(space.clone(), 1 << 30, put(n), now)).collect();
    for write in all {
        write.await;
    }
    let mut times = Vec::new();
    for n in 0..READS {
        let get = KvOp::Get { keys: vec![format!("key{}", (n * 7919) % KEYS)] };
        let started = Instant::now();
        std::hint::black_box(kv.perform(space.clone(), 1 << 30, get, now).await);
        times.push(started.elapsed());
    }
    show("kv.get", times);
    let audit = data.audit().unwrap();
    let row = AuditRow {
        at: now,
        run: RunId("r".into()),
        program: "p".into(),
        grant: "kv:notes".into(),
        what: "get key1".into(),
        host: None,
        outcome: CallOutcome::Ok,
        error: None,
        duration_us: 1,
        bytes_out: 1,
        bytes_in: 1,
    };
    let mut times = Vec::new();
    for _ in 0..3000 {
        let row = row.clone();
        let started = Instant::now();
        audit.record(row);
        times.push(started.elapsed());
    }
    show("audit.record", times);
    let mut times = Vec::new();
    for _ in 0..200 {
        audit.record(row.clone());
        let started = Instant::now();
        audit.flush_blocking().unwrap();
        times.push(started.elapsed());
    }
    show("audit.flush of one row", times);
    runs(&data).await;
    keys(&data);
}

/// How many writes of runs come together.
const TOGETHER: u32 = 200;

async fn runs(data: &DataFolder) {
    let runs = data.runs().unwrap();
    let caller = CallerId("a".into());
    let record = |n: u32| RunRecord {
        caller: CallerId("a".into()),
        run: RunId(format!("run{n}")),
        created: Timestamp::from_micros(u64::from(n)),
        expires: Timestamp::from_micros(1 << 50),
        state: RunState::Suspended,
        outcome: Json::of(&"x".repeat(500)).unwrap(),
        suspended: Some(vec![7; 3 << 10]),
        wakes: None,
        continuation: None,
        keeper: Keeper::Server,
        session: None,
        asks: Vec::new(),
    };
    let reply = || HostReply::value(&"x".repeat(100));
    let (mut adds, mut puts, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..TOGETHER {
        adds.push(timed(runs.add(record(n))).await);
        answers.push(timed(runs.answer(&caller, &RunId(format!("run{n}")), CallId(1), reply())).await);
        puts.push(timed(runs.put(record(n), vec![CallId(1)])).await);
    }
    show("runs.add, one at a time", adds);
    show("runs.put of 3 KiB, one at a time", puts);
    show("runs.answer, one at a time", answers);
    for round in 0..2 {
        let started = Instant::now();
        let all: Vec<_> = (0..TOGETHER).map(|n| timed(runs.put(record(n), vec![CallId(1), CallId(2)]))).collect();
        let times = together(all).await;
        println!(
            "{TOGETHER} x runs.put at once (round {round}): {:.1} ms in all",
            started.elapsed().as_secs_f64() * 1e3
        );
        show("  each", times);
        let started = Instant::now();
        let run = |n: u32| RunId(format!("run{n}"));
        let call = CallId(2 + round);
        let all: Vec<_> = (0..TOGETHER).map(|n| timed(runs.answer(&caller, &run(n), call, reply()))).collect();
        let times = together(all).await;
        println!("{TOGETHER} x runs.answer at once: {:.1} ms in all", started.elapsed().as_secs_f64() * 1e3);
        show("  each", times);
    }
    let mut gets = Vec::new();
    for n in 0..10_000 {
        gets.push(timed(runs.get(&caller, &RunId(format!("run{}", n % TOGETHER)))).await);
    }
    show("runs.get of 3 KiB", gets);
    let large = RunRecord { suspended: Some(vec![7; 4 << 20]), ..record(1) };
    let (mut puts, mut gets) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        puts.push(timed(runs.put(large.clone(), vec![])).await);
        gets.push(timed(runs.get(&caller, &RunId("run1".into()))).await);
    }
    show("runs.put of 4 MiB", puts);
    show("runs.get of 4 MiB", gets);
}

async fn timed<T, E: std::fmt::Debug>(write: impl Future<Output = Result<T, E>>) -> std::time::Duration {
    let started = Instant::now();
    write.await.unwrap();
    started.elapsed()
}

/// Polls all of them before any is waited for.
async fn together(mut all: Vec<impl Future<Output = std::time::Duration>>) -> Vec<std::time::Duration> {
    let mut all: Vec<_> = all.drain(..).map(Box::pin).map(Some).collect();
    let mut times = Vec::new();
    std::future::poll_fn(move |context| {
        for one in &mut all {
            if let Some(std::task::Poll::Ready(time)) = one.as_mut().map(|one| one.as_mut().poll(context)) {
                times.push(time);
                *one = None;
            }
        }
        if all.iter().all(Option::is_none) {
            return std::task::Poll::Ready(std::mem::take(&mut times));
        }
        std::task::Poll::Pending
    })
    .await
}

fn keys(data: &DataFolder) {
    let keys = data.keys().unwrap();
    let new = |n: u32| NewKey { name: format!("key{n}"), scopes: vec![Scope::Runs], policy: None, rate: None };
    let made: Vec<_> = (0..100).map(|n| keys.create(new(n)).unwrap().0.caller).collect();
    let (mut finds, mut anys) = (Vec::new(), Vec::new());
    for n in 0..READS as usize {
        let started = Instant::now();
        std::hint::black_box(keys.find(&made[n % made.len()]).unwrap());
        finds.push(started.elapsed());
        let started = Instant::now();
        std::hint::black_box(keys.any().unwrap());
        anys.push(started.elapsed());
    }
    show("keys.find", finds);
    show("keys.any", anys);
    let mut times = Vec::new();
    for n in 0..100 {
        keys.revoke(&format!("key{n}")).unwrap();
        let started = Instant::now();
        std::hint::black_box(keys.any().unwrap());
        times.push(started.elapsed());
    }
    show("keys.any after a change of 100 keys", times);
}

fn show(what: &str, mut times: Vec<std::time::Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    println!("{what}: median {:.1} µs, p99 {:.1} µs", at(0.5), at(0.99));
}
