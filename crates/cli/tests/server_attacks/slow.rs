//! Clients that take their time, or never come to the point.

use super::support::server::read_answer;
use super::{Memory, figure, grew_at_most, is_well, patience, place, until};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Whether the other side has closed this within patience.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(patience())).unwrap();
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn whoever_does_not_finish_a_head_is_let_go() {
    let place = place(&["--idle", "1s"]);
    let begin = |text: &[u8]| {
        let mut stream = place.server.connect();
        stream.write_all(text).unwrap();
        stream
    };
    // Nothing at all, half of a line, half of a head, and each part of what HTTP/2 begins with.
    let mut all = vec![begin(b""), begin(b"GET /hea"), begin(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: ")];
    all.extend((1..24).map(|n| begin(&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..n])));
    // One that was served, and then says nothing more.
    let mut quiet = begin(format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", place.server.address).as_bytes());
    assert_eq!(read_answer(&mut quiet).unwrap().status, 200);
    all.push(quiet);
    let mut drip = place.server.connect();
    let dripping = std::thread::spawn(move || {
        let began = Instant::now();
        while began.elapsed() < patience() {
            if drip.write_all(b"x").is_err() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    });
    is_well(&place.server, &place.b);
    for (n, mut stream) in all.into_iter().enumerate() {
        assert!(is_closed(&mut stream), "connection {n} stays open");
    }
    assert!(dripping.join().unwrap(), "a head that comes byte by byte has all the time in the world");
}

#[test]
fn whoever_does_not_finish_a_body_is_told_and_let_go() {
    let place = place(&[]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let mut all: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = place.server.connect();
            write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 20000000\r\n\r\n{{\"code\"", place.server.address, place.a).unwrap();
            stream
        })
        .collect();
    is_well(&place.server, &place.b);
    is_well(&place.server, &place.a);
    for stream in &mut all {
        stream.set_read_timeout(Some(Duration::from_secs(30) + patience())).unwrap();
        assert_eq!(read_answer(stream).map(|answer| answer.status), Some(408));
    }
    grew_at_most(before, memory.peak(), 64);
}

#[test]
fn whoever_never_reads_loses_the_connection_and_nothing_else() {
    let place = place(&["--idle", "2s"]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let body = json!({ "code": "return 'x'.repeat(8e6)" }).to_string();
    let all: Vec<TcpStream> = ["application/json", "text/event-stream"]
        .iter()
        .cycle()
        .take(20)
        .map(|accept| {
            let mut stream = place.server.connect();
            write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: {accept}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", place.server.address, place.a, body.len()).unwrap();
            stream
        })
        .collect();
    until("their runs end", || figure(&place, "isolith_runs_ended_total") >= 20);
    is_well(&place.server, &place.b);
    // One connection is that of whoever asks for the figure.
    until("they are let go", || figure(&place, "isolith_connections") <= 1);
    drop(all);
    grew_at_most(before, memory.peak(), 700);
    is_well(&place.server, &place.b);
}

#[test]
fn whoever_goes_away_leaves_runs_that_end_by_their_limits() {
    let place = place(&[]);
    for accept in ["application/json", "text/event-stream"] {
        for _ in 0..20 {
            let body = json!({ "code": "for (;;);", "limits": { "timeout": "2s" } }).to_string();
            let mut stream = place.server.connect();
            write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: {accept}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", place.server.address, place.a, body.len()).unwrap();
        }
    }
    is_well(&place.server, &place.b);
    until("all of them end", || figure(&place, "isolith_runs_live") == 0);
    is_well(&place.server, &place.a);
}
