//! Programs on an engine alone, step by step, without a runner or a host.

#![allow(clippy::expect_used, clippy::panic, reason = "only tests call this, and a test says what is wrong by failing")]

use isolith_core::{
    Ambient, Bindings, End, Engine, Form, Isolate, Json, Limits, OutputSink, PendingCall, Program, Seed, Start, Step,
    Stream, Timestamp, Turn,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Keeps what is written.
#[derive(Default)]
pub struct Kept {
    pieces: Mutex<Vec<(Stream, String)>>,
}

impl Kept {
    /// What was written, in order.
    pub fn pieces(&self) -> Vec<(Stream, String)> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl OutputSink for Kept {
    fn write(&self, stream: Stream, text: String, _: Timestamp) {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).push((stream, text));
    }
}

/// What a run starts with when it is granted nothing.
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

/// A turn at one moment, with time enough.
pub fn turn(replies: Vec<(isolith_core::CallId, isolith_core::HostReply)>) -> Turn {
    Turn { now: Timestamp::from_micros(1_000_000), wall_left: Duration::from_secs(20), replies }
}

/// A program that is a function body.
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

/// The end of a program that gave this.
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
