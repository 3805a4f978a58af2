//! What can be reached from inside a worker: nothing, if it is jailed; and nearly everything if it is not, so that this tells something.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

use isolith_core::{CallId, Digest, End, Engine, Form, HostReply, Limits, Program, Start, Step, Timestamp};
use isolith_jail::{Dialect, JailMode, Jailed, Kind, Launch, Options, Wall};
use isolith_testing::step::{Kept, start, turn};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

/// Each has system calls of its own, and nothing else may make a difference.
const INSIDES: [&str; 2] = ["v8", "quickjs"];

/// The probe takes its program as it is.
struct Plain;

impl Dialect for Plain {
    fn start(
        &self,
        program: &Program,
        _: &Start,
        _: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        out.extend(program.code.as_bytes());
        Ok(())
    }

    fn turn(&self, _: Timestamp, _: &[(CallId, HostReply)], _: &mut Vec<u8>) {}
}

fn probe(inside: &str, jail: JailMode) -> Jailed {
    let launch = Launch::new(env!("CARGO_BIN_EXE_isolith-jail-probe"), &[inside]);
    let kind = Kind {
        name: "probe",
        image: Digest([0; 32]),
        dialect: Box::new(Plain),
        settings: serde_json::Value::Null,
        memory_step_bytes: 1,
    };
    Jailed::start(kind, launch, Options { jail, ready: 1, ..Options::default() }).expect("a probe")
}

/// What the probe reached, by attempt.
async fn attempts(inside: &str, jail: JailMode) -> BTreeMap<String, bool> {
    let folder = tempfile::tempdir().unwrap();
    let (file, socket) = (folder.path().join("file"), folder.path().join("socket"));
    std::fs::write(&file, "of the host").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _listening = UnixListener::bind(&socket).unwrap();
    let host = serde_json::json!({
        "file": file, "folder": folder.path(), "port": listener.local_addr().unwrap().port(), "socket": socket,
        "pid": std::process::id(),
    });
    let engine = probe(inside, jail);
    let program = Program::new("probe", host.to_string(), Form::Body);
    let started = start(Limits::default(), Arc::new(Kept::default()));
    let mut isolate = engine.start(&program, started).await.unwrap();
    match isolate.advance(turn(Vec::new())).await.unwrap() {
        Step::Done(End::Value(Some(found)), _) => found.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_of_the_host_is_reached_from_a_jailed_worker() {
    for inside in INSIDES {
        let found = attempts(inside, JailMode::BestEffort).await;
        let reached: Vec<&str> = found.iter().filter(|(_, reached)| **reached).map(|(name, _)| name.as_str()).collect();
        assert!(found.len() > 50, "{} attempts", found.len());
        // A compiler makes code, and nobody else does.
        let expected: &[&str] = if inside == "v8" { &["memory: make it code"] } else { &[] };
        assert_eq!(reached, expected, "with the calls of {inside}");
    }
}

#[tokio::test]
async fn without_the_jail_the_same_attempts_reach_the_host() {
    let found = attempts("v8", JailMode::Off).await;
    for attempt in [
        "file: read",
        "file: write",
        "file: list the root",
        "socket: connect",
        "socket: of a path",
        "socket: pair",
        "process: start one",
        "process: copy oneself",
        "process: signal",
        "process: see its status",
        "mount: see",
        "mount: something",
        "descriptor: copy",
        "privilege: another name of the host",
        "kernel: its version",
    ] {
        assert_eq!(found.get(attempt), Some(&true), "{attempt}");
    }
}

#[tokio::test]
async fn every_wall_is_reported() {
    for inside in INSIDES {
        let jail = probe(inside, JailMode::BestEffort).inspect_jail().await.unwrap();
        assert_eq!(jail.report().len(), Wall::ALL.len());
        // These stand wherever tests run; namespaces are for the kernel to give.
        let missing: Vec<Wall> = jail.missing().iter().map(|report| report.wall).collect();
        for wall in [
            Wall::NoNewPrivileges,
            Wall::Environment,
            Wall::Descriptors,
            Wall::Capabilities,
            Wall::Limits,
            Wall::SystemCalls,
        ] {
            assert!(!missing.contains(&wall), "{wall}");
        }
    }
}

#[tokio::test]
async fn a_jail_that_is_required_and_not_whole_is_an_error() {
    let whole = probe("quickjs", JailMode::BestEffort).inspect_jail().await.unwrap().missing().is_empty();
    assert_eq!(probe("quickjs", JailMode::Required).inspect_jail().await.is_ok(), whole);
    assert!(!probe("quickjs", JailMode::Off).inspect_jail().await.unwrap().missing().is_empty());
}
