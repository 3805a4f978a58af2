//! How long the store takes: `cargo run --release -p isolith-store --example measure`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is run by hand and prints what it found")]

use isolith_core::{AuditLog as _, AuditRow, BindingName, CallOutcome, Json, KeySpaces as _, KvOp, RunId, Timestamp};
use isolith_store::DataFolder;
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
        audit.flush().unwrap();
        times.push(started.elapsed());
    }
    show("audit.flush of one row", times);
}

fn show(what: &str, mut times: Vec<std::time::Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    println!("{what}: median {:.1} µs, p99 {:.1} µs", at(0.5), at(0.99));
}
