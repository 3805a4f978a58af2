use super::{Event, Malformed, Request, event, request};
use crate::{
    Ambient, BindingName, Bindings, BodyId, CallError, CallId, Digest, End, EngineError, ErrorKind, Failure, FetchCall,
    FilesOp, Form, HostCall, HostReply, Json, Limits, Module, OutputSink, PendingCall, Program, Redirect, RequestId,
    Seed, Start, Stream, SuspendedError, Timestamp, Turn, Unsupported, Usage,
};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

struct Nowhere;

impl OutputSink for Nowhere {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}

fn json(text: &str) -> Json {
    Json::from_text(text.into()).unwrap()
}

fn name(text: &str) -> BindingName {
    BindingName::new(text).unwrap()
}

fn usage() -> Usage {
    Usage { wall_us: 0, cpu_us: 2, memory_peak_bytes: 3, calls: 4, bytes_in: 5, bytes_out: 6 }
}

fn a_start() -> Vec<u8> {
    let mut program = Program::new("x.js", "return 'ä\u{0}'", Form::Body);
    program.modules = Arc::new([Module { name: "lib.js".into(), code: "export {}".into() }]);
    let start = Start {
        limits: Limits { wall: Duration::from_micros(1_234_567), calls: 7, ..Limits::default() },
        bindings: Bindings { tools: vec![name("a")], fetch: true, ..Bindings::default() },
        ambient: Ambient::default(),
        input: Some(json(r#"{"a":"\ud800","b":1e400}"#)),
        args: vec![(name("city"), json("0.10"))],
        seed: Seed([7; 32]),
        sink: Arc::new(Nowhere),
        must_suspend: false,
    };
    request::start(9, &program, &start)
}

fn a_turn() -> Vec<u8> {
    let error = CallError { name: "Error".into(), message: "no".into(), code: Some("tool.failed".into()) };
    let replies = [
        HostReply::Value { json: Some(json("[1.50]")) },
        HostReply::Value { json: None },
        HostReply::Body { body: BodyId(3), length: None },
        HostReply::Bytes { bytes: vec![0, 255] },
        HostReply::Failed { error },
        HostReply::Response { head: json("{}"), status: 200, whole: vec![0, 255] },
    ];
    let replies = replies.into_iter().enumerate().map(|(n, reply)| (CallId(n as u32), reply)).collect();
    let turn = Turn { now: Timestamp::from_micros(5), wall_left: Duration::from_millis(1), replies };
    request::advance(9, &turn)
}

fn calls() -> Vec<HostCall> {
    let fetch = |streamed, body| FetchCall {
        request: RequestId(1),
        url: "https://example.com/".into(),
        method: "POST".into(),
        headers: vec![("a".into(), "b".into())],
        redirect: Redirect::Manual,
        streamed,
        body,
    };
    vec![
        HostCall::Tool { name: name("a").into(), args: Some(json(r#"{"x":"\ud800"}"#)) },
        HostCall::Tool { name: crate::ToolName::new("a.b").unwrap(), args: None },
        HostCall::Fetch(Box::new(fetch(false, Some(vec![1, 2, 3])))),
        HostCall::Fetch(Box::new(fetch(false, None))),
        HostCall::Fetch(Box::new(fetch(true, None))),
        HostCall::Files { op: FilesOp::Write { path: "/a".into(), append: true }, bytes: vec![9; 1000] },
        HostCall::WriteBody { request: RequestId(1), bytes: vec![0], last: true },
        HostCall::Sleep { until: Timestamp::from_micros(1) },
        HostCall::ReadBody { body: BodyId(1), most_bytes: 5 },
    ]
}

fn events() -> Vec<Vec<u8>> {
    let failure = Failure {
        kind: ErrorKind::Thrown,
        name: "E".into(),
        message: "m".into(),
        stack: Some("at x".into()),
        code: None,
    };
    let mut all = vec![
        event::hello(Digest([1; 32])),
        event::started(1, usage()),
        event::output(1, Stream::Stderr, "x\u{1b}", Timestamp::from_micros(8)),
        event::waiting(1, usage()),
        event::done(1, &End::Value(Some(json("1.0"))), usage()),
        event::done(1, &End::Value(None), usage()),
        event::done(1, &End::Failed(failure), usage()),
        event::suspended(1, &[1, 2, 3]),
    ];
    all.extend(calls().into_iter().map(|call| event::call(1, &PendingCall { id: CallId(3), call })));
    all.extend(errors().iter().map(|error| event::failed(1, error)));
    all
}

fn errors() -> Vec<EngineError> {
    vec![
        EngineError::Busy { live: 1, waiting: 2 },
        Unsupported { engine: "remote", what: "time travel".into() }.into(),
        SuspendedError::Damaged("the other side did not make it, or not for us").into(),
        SuspendedError::Format { found: 1, known: 2 }.into(),
        SuspendedError::Image { found: "a".into(), own: "b".into() }.into(),
        SuspendedError::TooLarge { bytes: 1, limit: 2 }.into(),
        EngineError::Ended,
        EngineError::Internal { doing: "x", source: "a path of the host".into() },
    ]
}

/// What was read, written again.
fn again(message: &[u8]) -> Result<Vec<u8>, Malformed> {
    Ok(match Request::read(message)? {
        Request::Start { isolate, program, opening } => {
            request::start(isolate, &program, &opening.with(Arc::new(Nowhere)))
        }
        Request::Advance { isolate, turn } => request::advance(isolate, &turn),
        Request::Suspend { isolate } => request::suspend(isolate),
        Request::Resume { isolate, state } => request::resume(isolate, &state),
        Request::Drop { isolate } => request::drop(isolate),
    })
}

fn event_again(message: &[u8]) -> Result<Vec<u8>, Malformed> {
    let (isolate, read) = Event::read(message, "remote")?;
    Ok(match read {
        Event::Hello { image, .. } => event::hello(image),
        Event::Started { usage } => event::started(isolate, usage),
        Event::Output { stream, text, at } => event::output(isolate, stream, &text, at),
        Event::Call(call) => event::call(isolate, &call),
        Event::Waiting { usage } => event::waiting(isolate, usage),
        Event::Done { end, usage } => event::done(isolate, &end, usage),
        Event::Suspended(state) => event::suspended(isolate, &state),
        Event::Failed(error) => event::failed(isolate, &error),
    })
}

fn requests() -> Vec<Vec<u8>> {
    vec![a_start(), a_turn(), request::suspend(1), request::resume(2, &[5; 9]), request::drop(u64::MAX)]
}

#[test]
fn what_is_written_is_read_back() {
    for message in requests() {
        assert_eq!(again(&message).unwrap(), message);
    }
    let mut drop = request::drop(1);
    request::renumber(&mut drop, 1 << 40);
    assert_eq!(drop, request::drop(1 << 40));
    for message in events() {
        assert_eq!(event_again(&message).unwrap(), message);
    }
    for call in calls() {
        let call = PendingCall { id: CallId(3), call };
        let Ok((1, Event::Call(read))) = Event::read(&event::call(1, &call), "remote") else { panic!("{call:?}") };
        assert_eq!(read, call);
    }
}

#[test]
fn what_went_wrong_inside_is_not_told() {
    for error in errors() {
        let Ok((_, Event::Failed(read))) = Event::read(&event::failed(1, &error), "remote") else { panic!("{error}") };
        match error {
            EngineError::Internal { .. } => assert!(!format!("{read:?}").contains("path of the host"), "{read:?}"),
            error => assert_eq!(read.to_string(), error.to_string()),
        }
    }
}

#[test]
fn a_message_that_is_cut_or_goes_on_is_malformed() {
    for message in requests() {
        (0..message.len()).for_each(|at| assert!(Request::read(&message[..at]).is_err(), "{at}"));
        assert!(Request::read(&[&message[..], &[0]].concat()).is_err());
    }
    for message in events() {
        (0..message.len()).for_each(|at| assert!(Event::read(&message[..at], "remote").is_err(), "{at}"));
    }
}

#[test]
fn lengths_and_counts_that_are_not_there_allocate_nothing() {
    let mut resume = request::resume(1, &[]);
    resume.truncate(9);
    resume.extend(u64::MAX.to_le_bytes());
    assert!(Request::read(&resume).is_err());
    let mut turn = request::advance(1, &Turn { now: Timestamp::default(), wall_left: Duration::ZERO, replies: vec![] });
    let at = turn.len() - 8;
    turn[at..].copy_from_slice(&(1_u64 << 62).to_le_bytes());
    assert!(Request::read(&turn).is_err());
}

proptest! {
    #[test]
    fn nothing_that_is_sent_makes_us_panic(which in 0_usize..64, flips in prop::collection::vec((any::<u16>(), any::<u8>()), 0..6)) {
        let mut all = requests();
        all.extend(events());
        let count = all.len();
        let mut message = all.swap_remove(which % count);
        for (at, byte) in flips {
            let at = at as usize % message.len();
            message[at] ^= byte;
        }
        // Whatever is still understood says the same when it is written again.
        if let Ok(once) = again(&message) {
            prop_assert_eq!(again(&once).unwrap(), once);
        }
        if let Ok(once) = event_again(&message) {
            prop_assert_eq!(event_again(&once).unwrap(), once);
        }
    }

    #[test]
    fn noise_is_malformed_or_a_message(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (Request::read(&noise), Event::read(&noise, "remote"));
    }
}
