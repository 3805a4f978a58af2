//! Spans reach a collector: names and outcomes, and never arguments.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
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

#[test]
fn a_run_and_its_calls_are_spans_without_arguments() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (bodies, received) = channel();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| take(stream, &bodies)));
    let data = tempfile::tempdir().unwrap();
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_isolith"))
        .args(["eval", "tools.shout('private words')", "--tool", "shout=cat"])
        .env("ISOLITH_DATA", data.path())
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "private words\n", "{}", String::from_utf8_lossy(&ran.stderr));
    let spans = received.recv_timeout(PATIENCE).unwrap();
    for expected in ["execute_tool shout", "gen_ai.tool.name", "isolith.run", "POST /v1/traces"] {
        assert!(spans.contains(expected), "no {expected} in {spans}");
    }
    assert!(!spans.contains("private words"), "{spans}");
}
