//! What every test here needs: the library, a worker, and a way to run a program.

#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use isolith_core::{
    Ambient, Bindings, End, Engine, Form, Isolate, Json, Limits, OutputSink, PendingCall, Program, Seed, Start, Step,
    Stream, Timestamp, Turn,
};
use isolith_v8::install::{self, Installed};
use isolith_v8::{Launch, Options, V8};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the library is looked for, before it is fetched.
const FOLDER: &str = "ISOLITH_V8";

/// The library: from the folder that the environment names, or from the cache; fetched by pip where it is in neither.
pub fn installed() -> Installed {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock();
    let folder = match std::env::var_os(FOLDER) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/tmp".into())).join(".cache");
            std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("isolith").join("v8")
        }
    };
    Installed::find(&folder).unwrap_or_else(|_| install::by_pip(&folder).expect("V8 can be fetched by pip"))
}

/// The worker of the tests, which cargo has built beside them.
pub fn launch() -> Launch {
    Launch { keep_stderr: true, ..Launch::new(env!("CARGO_BIN_EXE_isolith-v8-worker"), &["v8"]) }
}

pub fn engine(options: Options) -> V8 {
    V8::start(&installed(), launch(), options).expect("the engine starts")
}

/// Keeps what is written.
#[derive(Default)]
pub struct Kept(pub Mutex<Vec<(Stream, String)>>);

impl OutputSink for Kept {
    fn write(&self, stream: Stream, text: String, _: Timestamp) {
        self.0.lock().unwrap().push((stream, text));
    }
}

pub fn start(limits: Limits, sink: Arc<dyn OutputSink>) -> Start {
    Start {
        limits,
        bindings: Bindings::default(),
        ambient: Ambient::default(),
        input: None,
        args: Vec::new(),
        seed: Seed::from_number(1),
        sink,
        must_suspend: false,
    }
}

pub fn turn(replies: Vec<(isolith_core::CallId, isolith_core::HostReply)>) -> Turn {
    Turn { now: Timestamp::from_micros(1_000_000), wall_left: Duration::from_secs(20), replies }
}

pub fn body(code: &str) -> Program {
    Program::new("main.js", code, Form::Body)
}

/// One program that asks for nothing, to its end.
pub async fn run(engine: &dyn Engine, code: &str, limits: Limits) -> End {
    let mut isolate = engine.start(&body(code), start(limits, Arc::new(Kept::default()))).await.expect("an isolate");
    match isolate.advance(turn(Vec::new())).await.expect("a step") {
        Step::Done(end, _) => end,
        Step::Calls(calls) => panic!("it asks for {calls:?}"),
    }
}

pub fn value(text: &str) -> End {
    End::Value(Some(Json::from_text(text.to_owned()).expect("JSON")))
}

/// The calls of a step that is not the last.
pub async fn calls(isolate: &mut dyn Isolate, turn: Turn) -> Vec<PendingCall> {
    match isolate.advance(turn).await.expect("a step") {
        Step::Calls(calls) => calls,
        Step::Done(end, _) => panic!("it ended: {end:?}"),
    }
}

/// Processes below this one, with their state: workers and zygotes.
pub fn descendants() -> Vec<(i32, char)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("a list of processes").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name stands in brackets and may hold anything.
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let mut fields = rest.split(' ');
        let state = fields.next().and_then(|state| state.chars().next()).unwrap_or('?');
        let parent = fields.next().and_then(|parent| parent.parse::<i32>().ok()).unwrap_or(0);
        all.push((pid, parent, state));
    }
    let mut below = vec![std::process::id() as i32];
    loop {
        let more: Vec<i32> = all
            .iter()
            .filter(|(pid, parent, _)| below.contains(parent) && !below.contains(pid))
            .map(|(pid, ..)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        below.extend(more);
    }
    all.iter().filter(|(pid, ..)| below[1..].contains(pid)).map(|(pid, _, state)| (*pid, *state)).collect()
}
