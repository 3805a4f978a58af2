//! What can be reached from inside a worker: nothing, if it is jailed; and nearly everything if it is not, so that this tells something.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

use isolith_core::{
    CallId, Digest, End, Engine, EngineError, ErrorKind, Form, HostReply, Isolate, Limits, OutputSink, Program, Start,
    Step, Stream, Suspended, SuspendedError, Timestamp, Turn,
};
use isolith_jail::{Counted, Dialect, JailMode, Jailed, Kind, Launch, Options, Suspending, Wall};
use isolith_testing::step::{Kept, calls, start, turn};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

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

    fn threads(&self) -> u32 {
        2
    }

    fn memory_bytes(&self, limits: &Limits) -> u64 {
        limits.memory_bytes
    }

    fn suspending(&self) -> Option<&dyn Suspending> {
        Some(self)
    }
}

/// What the probe says of its memory is never whole.
impl Suspending for Plain {
    fn suspended(&self, _: &[u8], _: &Counted) -> Result<Suspended, SuspendedError> {
        Err(SuspendedError::Damaged("it is a probe"))
    }

    fn resumed(&self, _: &Suspended, _: &mut Vec<u8>) -> Result<Counted, SuspendedError> {
        Err(SuspendedError::Damaged("it is a probe"))
    }
}

fn probe(inside: &str, jail: JailMode) -> Jailed {
    let launch = Launch::new(env!("CARGO_BIN_EXE_isolith-jail-probe"), &[inside]);
    let kind = Kind {
        name: "probe",
        image: Digest([0; 32]),
        builtins: &[],
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
        let expected: &[&str] =
            if inside == "v8" { &["memory: make it code", "memory: write to it no more"] } else { &[] };
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
        "kernel: its version",
        "memory: shared",
        "memory: that grows by itself",
        "memory: write to it no more",
    ] {
        assert_eq!(found.get(attempt), Some(&true), "{attempt}");
    }
    // Whoever is not root cannot do this anywhere.
    assert_eq!(found.get("privilege: another name of the host"), Some(&is_root()));
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
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

/// Tells something where it is not run by root: whoever is not can leave the network only together with its name.
#[tokio::test]
async fn whoever_is_not_root_has_a_user_namespace_or_says_that_there_is_none() {
    let jail = probe("quickjs", JailMode::BestEffort).inspect_jail().await.unwrap();
    let missing: Vec<Wall> = jail.missing().iter().map(|report| report.wall).collect();
    println!("missing: {:?}", jail.missing());
    if !is_root() {
        let has_left = !missing.contains(&Wall::NetworkNamespace);
        for wall in [Wall::UserNamespace, Wall::User] {
            assert_eq!(!missing.contains(&wall), has_left, "{wall}");
        }
    }
}

#[tokio::test]
async fn a_jail_that_is_required_and_not_whole_is_an_error() {
    let whole = probe("quickjs", JailMode::BestEffort).inspect_jail().await.unwrap().missing().is_empty();
    assert_eq!(probe("quickjs", JailMode::Required).inspect_jail().await.is_ok(), whole);
    assert!(!probe("quickjs", JailMode::Off).inspect_jail().await.unwrap().missing().is_empty());
}

/// Where a flood goes: slowly, so that there is always more to be read, however busy the machine is.
struct Slow;

impl OutputSink for Slow {
    fn write(&self, _: Stream, _: String, _: Timestamp) {
        std::thread::sleep(Duration::from_micros(100));
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// A worker that was taken over does this, and no limit is so near that it ends by that.
async fn taken_over(doing: &str, output_bytes: u64) -> Box<dyn Isolate> {
    let limits = Limits { wall: HOUR, cpu: HOUR, output_bytes, ..Limits::default() };
    let program = Program::new("probe", doing, Form::Body);
    probe("quickjs", JailMode::BestEffort).start(&program, start(limits, Arc::new(Slow))).await.unwrap()
}

fn within(wall_left: Duration) -> Turn {
    Turn { wall_left, ..turn(Vec::new()) }
}

#[tokio::test]
async fn a_worker_that_never_stops_talking_ends_with_its_time() {
    let mut isolate = taken_over("flood of output", 1 << 20).await;
    match isolate.advance(within(Duration::from_millis(200))).await.unwrap() {
        Step::Done(End::Failed(failure), _) => assert_eq!(failure.kind, ErrorKind::Timeout, "{failure:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_never_stops_talking_can_be_left() {
    let mut isolate = taken_over("flood of output", 1 << 20).await;
    // One thread drives both: the timer comes to its turn only if the other lets it.
    assert!(tokio::time::timeout(Duration::from_millis(50), isolate.advance(within(HOUR))).await.is_err());
}

#[tokio::test]
async fn a_flood_of_what_there_is_no_room_for_ends_a_run() {
    let mut isolate = taken_over("flood of notes", 1).await;
    match isolate.advance(within(HOUR)).await.unwrap() {
        Step::Done(End::Failed(failure), _) => assert_eq!(failure.kind, ErrorKind::OutputLimit, "{failure:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_says_its_memory_byte_by_byte_is_not_waited_for() {
    let mut isolate = taken_over("drip", 1).await;
    assert!(calls(&mut *isolate, within(HOUR)).await.is_empty());
    let error = isolate.suspend().await.map(|_| ()).unwrap_err();
    let why = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(why.as_deref(), Some("the worker said nothing for 2s"), "{error:?}");
}

#[tokio::test]
async fn nobody_is_held_up_while_a_worker_says_its_memory() {
    let mut isolate = taken_over("drip", 1).await;
    assert!(calls(&mut *isolate, within(HOUR)).await.is_empty());
    tokio::select! {
        biased;
        () = tokio::time::sleep(Duration::from_millis(10)) => {}
        _ = isolate.suspend() => panic!("it was waited for on the spot"),
    }
    // Whoever does not wait to its end has nothing to go on with.
    assert!(matches!(isolate.advance(within(HOUR)).await, Err(EngineError::Ended)));
    assert!(matches!(isolate.suspend().await, Err(EngineError::Ended)));
}

#[tokio::test]
async fn a_worker_that_holds_memory_which_the_kernel_does_not_count_ends() {
    let limits = Limits { wall: HOUR, cpu: HOUR, memory_bytes: 16 << 20, ..Limits::default() };
    let program = Program::new("probe", "hoard", Form::Body);
    let engine = probe("v8", JailMode::BestEffort);
    let mut neighbour =
        engine.start(&program, start(Limits { memory_bytes: 1 << 30, ..limits }, Arc::new(Slow))).await.unwrap();
    let mut isolate = engine.start(&program, start(limits, Arc::new(Slow))).await.unwrap();
    let (ended, fits) = tokio::join!(isolate.advance(within(HOUR)), neighbour.advance(within(HOUR)));
    match ended.unwrap() {
        Step::Done(End::Failed(failure), _) => assert_eq!(failure.kind, ErrorKind::MemoryLimit, "{failure:?}"),
        other => panic!("{other:?}"),
    }
    match fits.unwrap() {
        Step::Done(End::Value(Some(json)), _) => assert_eq!(json.text(), "true"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_worker_is_looked_at_while_it_waits() {
    let limits = Limits { wall: HOUR, cpu: HOUR, ..Limits::default() };
    let engine = probe("v8", JailMode::BestEffort);
    for (memory_bytes, ends) in [(16 << 20, Some(ErrorKind::MemoryLimit)), (1 << 30, None)] {
        let start = start(Limits { memory_bytes, ..limits }, Arc::new(Slow));
        let mut isolate =
            engine.start(&Program::new("probe", "hoard while it waits", Form::Body), start).await.unwrap();
        assert!(calls(&mut *isolate, within(HOUR)).await.is_empty());
        // By then it has all, and was looked at.
        tokio::time::sleep(Duration::from_secs(3)).await;
        match (isolate.advance(within(HOUR)).await.unwrap(), ends) {
            (Step::Done(End::Failed(failure), _), Some(kind)) => assert_eq!(failure.kind, kind, "{failure:?}"),
            (Step::Done(End::Value(Some(json)), _), None) => assert_eq!(json.text(), "true"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_was_computed_in_a_step_that_is_abandoned_counts() {
    let mut isolate = taken_over("spin", 1).await;
    assert!(tokio::time::timeout(Duration::from_millis(50), isolate.advance(within(HOUR))).await.is_err());
    assert!(isolate.usage().cpu_us > 0);
}
