//! Programs on a Worker: one that says what the test tells it, and the real one in workerd.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    Ambient, BindingName, Bindings, CallId, End, Engine, EngineError, ErrorKind, Form, HostCall, HostReply, Isolate,
    Json, Limits, OutputSink, Program, Seed, Source, Start, Step, Stream, Timestamp, Turn,
};
use isolith_remote::{ItsLimits, Worker};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl OutputSink for Lines {
    fn write(&self, stream: Stream, text: String, _: Timestamp) {
        let mark = if stream == Stream::Stderr { "! " } else { "" };
        self.0.lock().unwrap().push(format!("{mark}{text}"));
    }
}

/// A Worker that answers each request with the next of these, and what it was sent.
fn scripted(answers: &[&str]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x?y=1", listener.local_addr().unwrap());
    let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let _ = sender.send(head + &String::from_utf8(body).unwrap());
            let raw = match answer.strip_prefix("RAW ") {
                Some(raw) => raw.to_owned(),
                None => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()),
            };
            let _ = reader.get_mut().write_all(raw.as_bytes());
        }
    });
    (url, requests)
}

fn start(tools: &[&str], limits: Limits) -> (Start, Arc<Lines>) {
    let lines = Arc::new(Lines::default());
    let tools = tools.iter().map(|name| BindingName::new(*name).unwrap()).collect();
    let bindings = Bindings { tools, ..Bindings::default() };
    let sink = Arc::clone(&lines) as _;
    let (ambient, seed) = (Ambient::default(), Seed::from_number(1));
    (Start { limits, bindings, ambient, input: None, args: Vec::new(), seed, sink, must_suspend: false }, lines)
}

fn program(code: &str) -> Program {
    Program::new("x.js", code, Form::Body)
}

fn json(text: &str) -> Json {
    Json::from_text(text.into()).unwrap()
}

fn turn(replies: Vec<(u32, HostReply)>) -> Turn {
    let replies = replies.into_iter().map(|(id, reply)| (CallId(id), reply)).collect();
    Turn { now: Timestamp::from_micros(1), wall_left: Duration::from_secs(20), replies }
}

fn ok(id: u32, text: &str) -> (u32, HostReply) {
    (id, HostReply::Value { json: Some(json(text)) })
}

async fn begin(url: &str, code: &str, tools: &[&str], limits: Limits) -> (Box<dyn Isolate>, Arc<Lines>) {
    let worker = Worker::new(url, Some("Bearer x"), ItsLimits::Trusted).unwrap();
    let (start, lines) = start(tools, limits);
    (worker.start(&program(code), start).await.unwrap(), lines)
}

fn calls(step: Step) -> Vec<(u32, String)> {
    let Step::Calls(calls) = step else { panic!("{step:?}") };
    let one = |call: isolith_core::PendingCall| match call.call {
        HostCall::Tool { name, args } => (call.id.0, format!("{name} {args:?}")),
        other => panic!("{other:?}"),
    };
    calls.into_iter().map(one).collect()
}

fn failure(step: Step) -> (ErrorKind, String, String) {
    let Step::Done(End::Failed(failure), _) = step else { panic!("{step:?}") };
    (failure.kind, failure.name, failure.message)
}

const TWO: &str = r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a","args":{"x":1.0}},{"id":"tc_1","name":"b"}],"logs":["one","ERROR: two"],"continuationId":"c"}"#;

#[tokio::test]
async fn rounds_carry_all_results_and_lines_come_once() {
    let (url, requests) = scripted(&[
        TWO,
        r#"{"status":"need_tools","toolCalls":[{"id":"tc_2","name":"a","args":null}],"logs":["one","ERROR: two","three"]}"#,
        r#"{"status":"done","success":true,"value":{"a":1.50},"logs":["one","ERROR: two","three","INFO: four"]}"#,
    ]);
    let (mut isolate, lines) = begin(&url, "return 1", &["a", "b"], Limits::default()).await;
    let first = calls(isolate.advance(turn(vec![])).await.unwrap());
    assert_eq!(first, [(0, r#"a Some({"x":1.0})"#.into()), (1, "b None".into())]);
    // With one of two answers there is nothing to ask the Worker yet.
    assert_eq!(isolate.advance(turn(vec![ok(1, "[2]")])).await.unwrap(), Step::Calls(vec![]));
    // It can leave in between, and come back elsewhere.
    let state = isolate.suspend().await.unwrap();
    let worker = Worker::new(&url, Some("Bearer x"), ItsLimits::Trusted).unwrap();
    let mut isolate = worker.resume(&state, Arc::clone(&lines) as _).await.unwrap();
    let failed = (0, HostReply::failed("TypeError", "no"));
    assert_eq!(calls(isolate.advance(turn(vec![failed])).await.unwrap()), [(2, "a Some(null)".into())]);
    let done = isolate.advance(turn(vec![(2, HostReply::done())])).await.unwrap();
    assert_eq!(done, Step::Done(End::Value(Some(json(r#"{"a":1.50}"#))), vec![]));
    assert_eq!(*lines.0.lock().unwrap(), ["one", "! two", "three", "four"]);
    assert!(matches!(isolate.advance(turn(vec![])).await, Err(EngineError::Ended)));
    assert_eq!(isolate.usage().calls, 3);
    let sent: Vec<String> = requests.iter().take(3).collect();
    assert!(sent.iter().all(|request| request.starts_with("POST /x?y=1 HTTP/1.1\r\n")), "{sent:?}");
    assert!(sent.iter().all(|request| request.contains("authorization: Bearer x\r\n")), "{sent:?}");
    assert!(sent[0].ends_with(r#""timeout":30000}"#) && !sent[0].contains("toolResults"), "{}", sent[0]);
    let results =
        r#""toolResults":{"tc_0":{"success":false,"error":"no"},"tc_1":{"success":true,"value":[2]}},"timeout":30000}"#;
    assert!(sent[1].ends_with(results), "{}", sent[1]);
    assert!(sent[2].contains(r#""tc_2":{"success":true}}"#), "{}", sent[2]);
}

#[tokio::test]
async fn lines_that_are_said_to_be_new_are_all_new() {
    let new = |body: &str| {
        format!("RAW HTTP/1.1 200 OK\r\nisolith-logs: new\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let first = new(r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a"}],"logs":["same"]}"#);
    let second = new(r#"{"status":"done","success":true,"logs":["same"]}"#);
    let (url, _requests) = scripted(&[&first, &second]);
    let (mut isolate, lines) = begin(&url, "", &["a"], Limits::default()).await;
    isolate.advance(turn(vec![])).await.unwrap();
    isolate.advance(turn(vec![ok(0, "1")])).await.unwrap();
    assert_eq!(*lines.0.lock().unwrap(), ["same", "same"]);
}

#[tokio::test]
async fn what_a_worker_says_is_held_against_the_limits() {
    let limits = Limits {
        output_bytes: 10,
        value_bytes: 4,
        payload_bytes: 4,
        calls: 1,
        wall: Duration::from_secs(9),
        ..Limits::default()
    };
    let rows = [
        (r#"{"status":"done","success":true,"value":"12345","logs":[]}"#, ErrorKind::OutputLimit),
        (r#"{"status":"done","success":true,"logs":["0123456789","more"]}"#, ErrorKind::OutputLimit),
        (TWO, ErrorKind::CallLimit),
        (
            r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a"},{"id":"tc_1","name":"a"}]}"#,
            ErrorKind::CallLimit,
        ),
        (
            r#"{"status":"done","success":false,"error":{"name":"TimeoutError","message":"forged"},"logs":[]}"#,
            ErrorKind::Thrown,
        ),
        (r#"{"status":"error","error":{"name":"TimeoutError","message":"real"}}"#, ErrorKind::Timeout),
    ];
    for (answer, kind) in rows {
        let (url, _requests) = scripted(&[answer]);
        let (mut isolate, _) = begin(&url, "", &["a", "b"], limits).await;
        assert_eq!(failure(isolate.advance(turn(vec![])).await.unwrap()).0, kind, "{answer}");
    }
    // An argument that is too large is the program's to catch, and nobody else's to see.
    let large = r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a","args":"12345"}],"logs":[]}"#;
    let (url, requests) = scripted(&[large, r#"{"status":"done","success":true,"value":1}"#]);
    let (mut isolate, _) = begin(&url, "", &["a"], limits).await;
    assert_eq!(isolate.advance(turn(vec![])).await.unwrap(), Step::Done(End::Value(Some(json("1"))), vec![]));
    assert!(requests.iter().nth(1).unwrap().contains("but one call may take 4"));
}

#[tokio::test]
async fn nonsense_is_an_error_of_ours_and_nothing_hangs() {
    let rows = [
        "",
        "[]",
        r#"{"status":"new"}"#,
        r#"{"status":"need_tools","toolCalls":[]}"#,
        r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"not_granted"}]}"#,
        r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a"},{"id":"tc_0","name":"a"}]}"#,
        r#"{"status":"error","error":{"name":"WorkerLoaderNotAvailable","message":"x"}}"#,
        "RAW HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno",
        "RAW HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "RAW HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}",
        "RAW nothing of the kind\r\n\r\n",
        "RAW ",
    ];
    for answer in rows {
        let (url, _requests) = scripted(&[answer]);
        let (mut isolate, _) = begin(&url, "", &["a"], Limits::default()).await;
        let step = isolate.advance(turn(vec![])).await;
        assert!(matches!(step, Err(EngineError::Internal { .. })), "{answer}: {step:?}");
        assert!(matches!(isolate.suspend().await, Err(EngineError::Ended)));
    }
    // One that never answers is cut off by the run's own time.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (mut isolate, _) = begin(&url, "", &[], Limits::default()).await;
    let short = Turn { wall_left: Duration::from_millis(50), ..turn(vec![]) };
    assert_eq!(failure(isolate.advance(short).await.unwrap()).0, ErrorKind::Timeout);
}

#[tokio::test]
async fn what_it_cannot_enforce_or_provide_is_refused() {
    let worker = |its_limits| Worker::new("https://w.example", None, its_limits).unwrap();
    let refused = async |worker: &Worker, program: &Program, start: Start| match worker.start(program, start).await {
        Err(EngineError::Unsupported(unsupported)) => unsupported.what,
        other => panic!("{:?}", other.err()),
    };
    let body = program("return 1");
    let (plain, _) = start(&[], Limits::default());
    assert!(refused(&worker(ItsLimits::NotTrusted), &body, plain).await.contains("unless those of the Worker"));
    let trusted = worker(ItsLimits::Trusted);
    let (mut fetch, _) = start(&["a"], Limits::default());
    fetch.bindings.fetch = true;
    assert_eq!(refused(&trusted, &body, fetch).await, "any grant but tools");
    let (mut clock, _) = start(&[], Limits::default());
    clock.ambient.time = Source::Banned;
    assert!(refused(&trusted, &body, clock).await.contains("clock"));
    let (module, _) = start(&[], Limits::default());
    assert!(refused(&trusted, &Program::new("x", "export {}", Form::Module), module).await.contains("modules"));
    assert!(Worker::new("http://w.example", Some("Bearer x"), ItsLimits::Trusted).is_err(), "a key without TLS");
}

/// The real Worker. Its process ends with this.
struct Real(Child, String);

fn real() -> Real {
    let script = "tests/worker.mjs";
    let mut child = Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("http://"), "the Worker does not start");
    Real(child, url.trim().to_owned())
}

impl Drop for Real {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Runs a program to its end with tools that echo, and gives its end and its lines.
async fn run(url: &str, code: &str) -> (Result<End, EngineError>, Vec<String>) {
    let (mut isolate, lines) = begin(url, code, &["echo", "fail"], Limits::default()).await;
    let mut replies = Vec::new();
    let end = loop {
        match isolate.advance(turn(std::mem::take(&mut replies))).await {
            Ok(Step::Calls(calls)) => {
                for call in calls {
                    let HostCall::Tool { name, args } = call.call else { panic!("{call:?}") };
                    let reply = match name.as_str() {
                        "fail" => HostReply::failed("TypeError", "no"),
                        _ => HostReply::Value { json: args },
                    };
                    replies.push((call.id.0, reply));
                }
                let state = isolate.suspend().await.unwrap();
                let worker = Worker::new(url, Some("Bearer x"), ItsLimits::Trusted).unwrap();
                isolate = worker.resume(&state, Arc::clone(&lines) as _).await.unwrap();
            }
            Ok(Step::Done(end, _)) => break Ok(end),
            Err(error) => break Err(error),
        }
    };
    let lines = lines.0.lock().unwrap().clone();
    (end, lines)
}

#[tokio::test]
#[ignore = "needs node, and installs workerd from npm: `cargo test … --test worker -- --ignored`"]
async fn the_real_worker_runs_programs() {
    let worker = real();
    let url = &worker.1;
    let value = |text: &str| End::Value(Some(json(text)));
    let rows = [
        ("return 6 * 7", value("42"), vec![]),
        ("return input", End::Value(None), vec![]),
        ("return null", value("null"), vec![]),
        (
            "console.log('a'); const x = await tools.echo({ n: [1, 2] }); console.warn('b'); const y = await echo(x.n); \
             console.info('c'); return [x, y, await external_echo(null)]",
            value(r#"[{"n":[1,2]},[1,2],null]"#),
            vec!["a", "! b", "c"],
        ),
        ("return (await Promise.all([1, 2, 3].map(n => tools.echo(n)))).map(n => n * 2)", value("[2,4,6]"), vec![]),
        ("let n = 0; for (let i = 0; i < 25; i++) n += await tools.echo(i); return n", value("300"), vec![]),
        ("return typeof tools.nothing", value(r#""undefined""#), vec![]),
    ];
    for (code, expected, lines) in rows {
        let (end, written) = run(url, code).await;
        assert_eq!((end.unwrap(), written), (expected, lines.into_iter().map(str::to_owned).collect()), "{code}");
    }
    for (code, name, message) in [
        ("throw new TypeError('x')", "TypeError", "x"),
        ("await tools.fail()", "Error", "no"),
        ("return 1n", "TypeError", "BigInt"),
        ("return eval('1')", "EvalError", ""),
        ("await fetch('https://example.com')", "", ""),
    ] {
        match run(url, code).await.0.unwrap() {
            End::Failed(failure) => assert!(
                failure.kind == ErrorKind::Thrown
                    && (name.is_empty() || failure.name == name)
                    && failure.message.contains(message),
                "{code}: {failure:?}"
            ),
            end => panic!("{code}: {end:?}"),
        }
    }
}
