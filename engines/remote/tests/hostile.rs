//! An isolith at the other end that is none: whatever it says, a run fails, and nothing hangs or is taken.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use futures_util::{SinkExt as _, StreamExt as _};
use isolith_core::wire::{Request, event};
use isolith_core::{
    Ambient, Bindings, Digest, End, Engine as _, EngineError, Form, Isolate, Limits, OutputSink, PendingCall, Program,
    Seed, Start, Step, Stream, Suspended, Timestamp, Turn, Usage,
};
use isolith_remote::{ConnectError, Remote};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl OutputSink for Lines {
    fn write(&self, _: Stream, text: String, _: Timestamp) {
        self.0.lock().unwrap().push(text);
    }
}

/// Answers every request as the test says; `greeting` comes first. Nothing closes the connection.
async fn served(greeting: Vec<Message>, mut answer: impl FnMut(Request) -> Vec<Message> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            for message in greeting.clone() {
                let _ = socket.send(message).await;
            }
            while let Some(Ok(message)) = socket.next().await {
                let Message::Binary(bytes) = message else { continue };
                for message in answer(Request::read(&bytes).unwrap()) {
                    let _ = socket.send(message).await;
                }
            }
        }
    });
    url
}

fn binary(bytes: Vec<u8>) -> Message {
    Message::Binary(bytes.into())
}

fn hello() -> Vec<Message> {
    vec![binary(event::hello(Digest([1; 32])))]
}

fn start() -> (Start, Arc<Lines>) {
    let lines = Arc::new(Lines::default());
    let sink = Arc::clone(&lines) as _;
    let (bindings, ambient, seed) = (Bindings::default(), Ambient::default(), Seed::from_number(1));
    (
        Start {
            limits: Limits::default(),
            bindings,
            ambient,
            input: None,
            args: Vec::new(),
            seed,
            sink,
            must_suspend: false,
        },
        lines,
    )
}

fn turn() -> Turn {
    Turn { now: Timestamp::default(), wall_left: Duration::from_secs(30), replies: Vec::new() }
}

async fn begin(url: &str) -> Result<(Box<dyn Isolate>, Arc<Lines>), EngineError> {
    let engine = Remote::connect(url, None).await?;
    let (start, lines) = start();
    Ok((engine.start(&Program::new("x", "return 1", Form::Body), start).await?, lines))
}

#[tokio::test]
async fn who_does_not_greet_as_an_isolith_is_none() {
    let mut other = event::hello(Digest([1; 32]));
    other[9] = 99;
    let version = served(vec![binary(other)], |_| vec![]).await;
    assert!(matches!(Remote::connect(&version, None).await, Err(ConnectError::Version { found: 99 })));
    for greeting in [
        Message::Text("hello".into()),
        binary(vec![]),
        binary(event::started(1, Usage::default())),
        Message::Close(None),
    ] {
        let url = served(vec![greeting.clone()], |_| vec![]).await;
        assert!(matches!(Remote::connect(&url, None).await, Err(ConnectError::Failed { .. })), "{greeting:?}");
    }
    assert!(matches!(Remote::connect("http://127.0.0.1:1", None).await, Err(ConnectError::Failed { .. })));
    assert!(matches!(Remote::connect("nonsense", None).await, Err(ConnectError::Address(_))));
}

/// What to call it, and the message about an isolate.
type Named = (&'static str, fn(u64) -> Message);

#[tokio::test]
async fn answers_to_a_start_that_are_none_fail_it() {
    let answers: [Named; 6] = [
        ("noise", |_| binary(vec![200; 100])),
        ("text", |_| Message::Text("{}".into())),
        ("a step", |isolate| binary(event::waiting(isolate, Usage::default()))),
        ("a state", |isolate| binary(event::suspended(isolate, &[]))),
        ("output", |isolate| binary(event::output(isolate, Stream::Stdout, "x", Timestamp::default()))),
        ("the end", |_| Message::Close(None)),
    ];
    for (what, answer) in answers {
        let url = served(hello(), move |request| match request {
            Request::Start { isolate, .. } => vec![answer(isolate)],
            _ => vec![],
        });
        let failed = begin(&url.await).await.err().unwrap();
        assert!(matches!(failed, EngineError::Internal { .. }), "{what}: {failed}");
    }
    let busy = served(hello(), |request| match request {
        Request::Start { isolate, .. } => {
            vec![binary(event::failed(isolate, &EngineError::Busy { live: 1, waiting: 2 }))]
        }
        _ => vec![],
    });
    assert!(matches!(begin(&busy.await).await.err().unwrap(), EngineError::Busy { live: 1, waiting: 2 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_for_a_step_is_bounded_and_nothing_comes_after_it() {
    let end = |isolate| binary(event::done(isolate, &End::Value(None), Usage::default()));
    let url = served(hello(), move |request| match request {
        Request::Start { isolate, .. } => vec![binary(event::started(isolate, Usage::default()))],
        // More output than the run may write.
        Request::Advance { isolate, .. } => {
            let piece = "x".repeat(1 << 20);
            let piece = binary(event::output(isolate, Stream::Stdout, &piece, Timestamp::default()));
            std::iter::repeat_n(piece, 9).chain([end(isolate)]).collect()
        }
        _ => vec![],
    });
    let (mut isolate, lines) = begin(&url.await).await.unwrap();
    assert!(matches!(isolate.advance(turn()).await, Err(EngineError::Internal { .. })));
    assert!(lines.0.lock().unwrap().len() < 5);
    assert!(matches!(isolate.advance(turn()).await, Err(EngineError::Ended)));

    // A call where a state was asked for: nobody would perform it, and the connection is not worth keeping.
    let url = served(hello(), move |request| match request {
        Request::Start { isolate, .. } => vec![binary(event::started(isolate, Usage::default()))],
        Request::Advance { isolate, .. } => vec![binary(event::waiting(isolate, Usage::default()))],
        Request::Suspend { isolate } => {
            let until = Timestamp::default();
            let call = PendingCall { id: isolith_core::CallId(0), call: isolith_core::HostCall::Sleep { until } };
            vec![binary(event::call(isolate, &call))]
        }
        _ => vec![],
    });
    let (mut isolate, _) = begin(&url.await).await.unwrap();
    assert_eq!(isolate.advance(turn()).await.unwrap(), Step::Calls(vec![]));
    assert!(matches!(isolate.suspend().await, Err(EngineError::Internal { .. })));
    assert!(matches!(isolate.advance(turn()).await, Err(EngineError::Internal { .. })));
}

#[tokio::test]
async fn who_never_answers_is_not_waited_for_without_end() {
    let url = served(hello(), |request| match request {
        Request::Start { isolate, .. } => vec![binary(event::started(isolate, Usage::default()))],
        _ => vec![],
    });
    let (mut isolate, _) = begin(&url.await).await.unwrap();
    // The caller's own patience is the first to end; dropping the step is enough.
    let step = tokio::time::timeout(Duration::from_millis(20), isolate.advance(turn())).await;
    assert!(step.is_err());
    assert!(matches!(isolate.suspend().await, Err(EngineError::Ended)));
}

#[tokio::test]
async fn a_state_that_is_not_one_is_not_even_sent() {
    let url = served(hello(), |request| panic!("asked {}", matches!(request, Request::Resume { .. }))).await;
    let engine = Remote::connect(&url, None).await.unwrap();
    for state in [vec![], b"ISLQ".to_vec(), b"ISLR\x01\0\0\0\xff\xff\xff\xff".to_vec(), vec![0; 100]] {
        let resumed = engine.resume(&Suspended(state), Arc::new(Lines::default())).await;
        assert!(matches!(resumed.err().unwrap(), EngineError::Suspended(_)));
    }
    assert_eq!((engine.name(), engine.image()), ("remote", Digest([1; 32])));
}
