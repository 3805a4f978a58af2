//! What strangers and hostile callers send to a server, as data and as abuse, and what it costs them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

#[path = "server_attacks/case.rs"]
mod case;
#[path = "server_attacks/crowd.rs"]
mod crowd;
#[path = "server_attacks/http2.rs"]
mod http2;
#[path = "server_attacks/judge.rs"]
mod judge;
#[path = "server_attacks/slow.rs"]
mod slow;
#[path = "server_attacks/sockets.rs"]
mod sockets;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::process::slack;
use support::server::{Served, key, serve};
use support::{Folder, folder};

/// A server, and those who call it.
struct Place {
    server: Served,
    a: String,
    b: String,
    _folder: Folder,
}

/// A server with two callers who have nothing to do with each other.
fn place(args: &[&str]) -> Place {
    let folder = folder();
    let (a, b) = (key(&folder, &["a", "--scope", "runs,secrets,audit,metrics"]), key(&folder, &["b"]));
    let server = serve(&folder, args);
    Place { server, a, b, _folder: folder }
}

/// What everything here ends in, however loaded the machine is.
fn patience() -> Duration {
    Duration::from_secs(30).mul_f64(slack())
}

/// Others are served meanwhile: soon enough that nobody would call it hung.
#[track_caller]
fn is_well(server: &Served, key: &str) {
    let began = Instant::now();
    assert_eq!(server.get("/healthz", "").status, 200);
    let next = server.post("/v1/runs", key, &json!({ "code": "return 40+2" }));
    assert_eq!((next.status, &next.json()["value"]), (200, &json!(42)), "{next:?}");
    let most = Duration::from_secs(10).mul_f64(slack());
    assert!(began.elapsed() < most, "others waited for {:?}", began.elapsed());
}

/// Waits for something that has to come.
#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < patience(), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A figure of the server's own.
fn figure(place: &Place, name: &str) -> u64 {
    let text = String::from_utf8(place.server.get("/metrics", &place.a).body).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("there is no {name}")).parse().unwrap()
}

/// Resident memory of the server, now and at most since it was last asked to forget.
struct Memory(u32);

impl Memory {
    /// Begins to watch for the peak anew.
    fn of(server: &Served) -> Memory {
        let _ = std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5");
        Memory(server.pid())
    }

    fn bytes(&self, field: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    fn now(&self) -> u64 {
        self.bytes("VmRSS")
    }

    fn peak(&self) -> u64 {
        self.bytes("VmHWM")
    }
}

/// How much one may cost the other, in MiB.
#[track_caller]
fn grew_at_most(before: u64, after: u64, mib: u64) {
    let grown = after.saturating_sub(before) >> 20;
    assert!(grown <= mib, "memory grew by {grown} MiB, more than {mib}");
}

fn run_with(server: &Served, key: &str, body: &Value) -> Value {
    let answer = server.post("/v1/runs", key, body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}
