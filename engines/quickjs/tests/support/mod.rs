//! A program, what it was given, and a host that answers each call at once.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test uses its part, and says what is wrong by failing"
)]

use isolith_core::{
    Ambient, BindingName, Bindings, CallId, End, Engine, Form, HostCall, HostReply, Isolate, Json, Limits, OutputSink,
    Program, SecretName, Seed, Source, Start, Step, Stream, Timestamp, Turn,
};
use isolith_quickjs::{Options, QuickJs};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

pub(crate) static ENGINE: LazyLock<QuickJs> =
    LazyLock::new(|| QuickJs::new(Options { live: 8, computing: 4, ..Options::default() }).unwrap());

#[derive(Default)]
pub(crate) struct Lines(Mutex<Vec<(Stream, String)>>);

impl OutputSink for Lines {
    fn write(&self, stream: Stream, text: String, _: Timestamp) {
        self.0.lock().unwrap().push((stream, text));
    }
}

impl Lines {
    pub(crate) fn of(&self, stream: Stream) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|(s, _)| *s == stream).map(|(_, text)| text.clone()).collect()
    }
}

pub(crate) struct Given {
    pub(crate) bindings: Bindings,
    pub(crate) ambient: Ambient,
    pub(crate) limits: Limits,
    pub(crate) form: Form,
}

pub(crate) fn name(text: &str) -> BindingName {
    BindingName::new(text).unwrap()
}

/// Everything there is, under a name each.
pub(crate) fn all_bindings() -> Bindings {
    Bindings {
        tools: vec![name("echo")],
        namespaces: Vec::new(),
        functions: Vec::new(),
        kv: vec![name("cache")],
        invoke: vec![name("helper")],
        fetch: true,
        files: true,
        secrets: vec![SecretName::new("token").unwrap()],
        builtins: Vec::new(),
    }
}

impl Default for Given {
    fn default() -> Self {
        let (bindings, ambient) = (all_bindings(), Ambient::default());
        Given { bindings, ambient, limits: Limits::default(), form: Form::Body }
    }
}

impl Given {
    pub(crate) fn nothing() -> Given {
        Given { bindings: Bindings::default(), ..Given::default() }
    }

    pub(crate) fn banned() -> Given {
        let ambient = Ambient { time: Source::Banned, random: Source::Banned };
        Given { ambient, ..Given::nothing() }
    }

    pub(crate) fn with(limits: impl FnOnce(&mut Limits)) -> Given {
        let mut given = Given::default();
        limits(&mut given.limits);
        given
    }

    pub(crate) async fn start(&self, code: &str, lines: Arc<Lines>) -> Box<dyn Isolate> {
        let program = Program::new("test.js", code, self.form);
        let start = Start {
            limits: self.limits,
            bindings: self.bindings.clone(),
            ambient: self.ambient,
            input: None,
            args: Vec::new(),
            seed: Seed::from_number(1),
            sink: lines,
            must_suspend: false,
        };
        ENGINE.start(&program, start).await.unwrap()
    }
}

pub(crate) const STARTED: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

pub(crate) fn turn(now: Timestamp, replies: Vec<(CallId, HostReply)>) -> Turn {
    Turn { now, wall_left: Duration::from_secs(30), replies }
}

pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) calls: Vec<HostCall>,
    pub(crate) counted: u32,
    pub(crate) stderr: Vec<String>,
}

impl Ran {
    pub(crate) fn value(&self) -> &str {
        match &self.end {
            End::Value(Some(json)) => json.text(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn failure(&self) -> &isolith_core::Failure {
        match &self.end {
            End::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }
}

/// Runs to the end, answering each call as it comes. With `nap` the run leaves memory at every wait.
pub(crate) fn run_with(code: &str, given: &Given, nap: bool, mut host: impl FnMut(&HostCall) -> HostReply) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let lines = Arc::new(Lines::default());
        let mut isolate = given.start(code, Arc::clone(&lines)).await;
        let (mut now, mut replies, mut calls) = (STARTED, Vec::new(), Vec::new());
        loop {
            let step = isolate.advance(turn(now, std::mem::take(&mut replies))).await.unwrap();
            let (Step::Calls(made) | Step::Done(_, made)) = &step;
            for pending in made {
                if let HostCall::Sleep { until } = pending.call {
                    now = until;
                    replies.push((pending.id, HostReply::done()));
                    continue;
                }
                replies.push((pending.id, host(&pending.call)));
                calls.push(pending.call.clone());
            }
            if let Step::Done(end, _) = step {
                let stderr = lines.of(Stream::Stderr);
                return Ran { end, calls, counted: isolate.usage().calls, stderr };
            }
            if nap {
                let suspended = isolate.suspend().await.unwrap();
                isolate = ENGINE.resume(&suspended, Arc::clone(&lines) as Arc<dyn OutputSink>).await.unwrap();
            }
        }
    })
}

pub(crate) fn run(code: &str, given: &Given, host: impl FnMut(&HostCall) -> HostReply) -> Ran {
    run_with(code, given, false, host)
}

pub(crate) fn json(text: &str) -> HostReply {
    HostReply::Value { json: Some(Json::from_text(text.into()).unwrap()) }
}
