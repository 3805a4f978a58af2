//! Spans reach a collector: names and outcomes, and never arguments.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long to wait for spans, which are sent when the run is over.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes one request, says that all is well, and passes its body on.
fn take(mut stream: TcpStream, bodies: &Sender<String>) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 8192]);
    loop {
        let text = String::from_utf8_lossy(&seen).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
                let _ = bodies.send(text);
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => seen.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
}

/// A collector on this machine, and what it is sent.
fn collector() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (bodies, received) = channel();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| take(stream, &bodies)));
    (endpoint, received)
}

fn isolith(data: &Path, endpoint: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolith"));
    command
        .args(args)
        .env("ISOLITH_DATA", data)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    command
}

/// The spans that came, by name. All have come when the process has ended.
fn spans(received: &Receiver<String>) -> Vec<Value> {
    let mut all = Vec::new();
    for request in std::iter::once(received.recv_timeout(PATIENCE).unwrap()).chain(received.try_iter()) {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        for scope in body["resourceSpans"].as_array().unwrap().iter().flat_map(|r| r["scopeSpans"].as_array().unwrap())
        {
            all.extend(scope["spans"].as_array().unwrap().iter().cloned());
        }
    }
    all
}

/// What the spans of a run hang under: the trace and the parent of `isolith.run`, and whether the call's span is its child.
fn hang(spans: &[Value]) -> Vec<(String, String, bool)> {
    let text = |span: &Value, field: &str| span[field].as_str().unwrap_or_default().to_owned();
    let runs = spans.iter().filter(|span| span["name"] == "isolith.run");
    runs.map(|run| {
        let is_call = |span: &&Value| span["name"] == "execute_tool shout" && span["parentSpanId"] == run["spanId"];
        (text(run, "traceId"), text(run, "parentSpanId"), spans.iter().filter(is_call).count() == 1)
    })
    .collect()
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "00f067aa0ba902b7";
const PROGRAM: &str = "return await tools.shout(1)";

/// One is in the trace, and the other, whose parent is malformed, in one of its own.
fn one_is_in_the_trace(mut hung: Vec<(String, String, bool)>) {
    hung.sort_by_key(|(trace, _, _)| trace != TRACE);
    let [(trace, parent, call), (other, none, other_call)] = &hung[..] else { panic!("{hung:?}") };
    assert_eq!((trace.as_str(), parent.as_str(), *call), (TRACE, SPAN, true), "{hung:?}");
    assert_eq!((none.as_str(), *other_call), ("", true), "{hung:?}");
    assert!(other != TRACE && !other.is_empty(), "{hung:?}");
}

#[test]
fn a_run_over_http_belongs_to_the_trace_of_its_request() {
    let ((endpoint, received), data) = (collector(), tempfile::tempdir().unwrap());
    let args = ["serve", "--listen", "127.0.0.1:0", "--policy", "policy.toml"];
    let policy = "grants = [{ kind = \"tool\", name = \"shout\", command = [\"cat\"] }]\n";
    std::fs::write(data.path().join("policy.toml"), policy).unwrap();
    let mut serve = isolith(data.path(), &endpoint, &args);
    let mut serve = serve.current_dir(data.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(serve.stderr.take().unwrap()).lines();
    let url = lines.find_map(|line| Some(line.unwrap().split_once("listening on http://")?.1.to_owned())).unwrap();
    let address = url.split([' ', '/']).next().unwrap().to_owned();
    for parent in [format!("00-{TRACE}-{SPAN}-01"), format!("00-{TRACE}-{SPAN}")] {
        let body = format!("{{\"program\": {PROGRAM:?}, \"grants\": [\"tool:shout\"]}}");
        let request = format!(
            "POST /v1/runs HTTP/1.1\r\nhost: {address}\r\ntraceparent: {parent}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("\"status\":\"ok\""), "{answer}");
    }
    Command::new("kill").arg(serve.id().to_string()).status().unwrap();
    serve.wait().unwrap();
    one_is_in_the_trace(hang(&spans(&received)));
}

#[test]
fn a_run_over_mcp_belongs_to_the_trace_of_its_call() {
    let ((endpoint, received), data) = (collector(), tempfile::tempdir().unwrap());
    let mut client = isolith(data.path(), &endpoint, &["mcp", "--tool", "shout=cat"]);
    let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, from) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
    let mut answers = BufReader::new(from).lines();
    for (id, parent) in [format!("00-{TRACE}-{SPAN}-01"), "nonsense".into()].into_iter().enumerate() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "traceparent": parent,
            "tracestate": "vendor=1",
        });
        let params = json!({ "name": "execute", "arguments": { "program": PROGRAM }, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        writeln!(to, "{request}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains("\"status\":\"ok\""), "{answer}");
    }
    drop(to);
    client.wait().unwrap();
    let spans = spans(&received);
    let state = |span: &Value| span["traceId"] != TRACE || span["traceState"] == "vendor=1";
    assert!(spans.iter().all(state), "{spans:?}");
    one_is_in_the_trace(hang(&spans));
}

#[test]
fn a_run_and_its_calls_are_spans_without_arguments() {
    let ((endpoint, received), data) = (collector(), tempfile::tempdir().unwrap());
    let ran = isolith(data.path(), &endpoint, &["eval", "tools.shout('private words')", "--tool", "shout=cat"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "private words\n", "{}", String::from_utf8_lossy(&ran.stderr));
    let spans = received.recv_timeout(PATIENCE).unwrap();
    for expected in ["execute_tool shout", "gen_ai.tool.name", "isolith.run", "POST /v1/traces"] {
        assert!(spans.contains(expected), "no {expected} in {spans}");
    }
    assert!(!spans.contains("private words"), "{spans}");
}
