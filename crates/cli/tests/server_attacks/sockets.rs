//! A WebSocket by hand, so that it can misbehave; and what comes of that.

use super::support::server::Served;
use super::{Memory, figure, grew_at_most, is_well, patience, place, run_with, until};
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write as _};
use std::net::TcpStream;
use std::time::Instant;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const MESSAGE_BYTES_MAX: usize = 24 << 20;

pub(crate) struct Socket {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Socket {
    pub(crate) fn open(server: &Served, key: &str) -> Socket {
        let mut stream = server.connect();
        stream.set_read_timeout(Some(patience())).unwrap();
        write!(stream, "GET /v1/socket HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", server.address).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        let reader = BufReader::new(stream.try_clone().unwrap());
        Socket { stream, reader }
    }

    pub(crate) fn text(&mut self, message: &Value) {
        self.stream.write_all(&frame(0x80 | TEXT, message.to_string().as_bytes())).unwrap();
    }

    /// Sends bytes as they are, as far as they are taken.
    fn raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next message; nothing when the connection is over.
    fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.reader.read_exact(&mut head).ok()?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut bytes = [0; 2];
                self.reader.read_exact(&mut bytes).ok()?;
                u64::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.reader.read_exact(&mut bytes).ok()?;
                u64::from_be_bytes(bytes)
            }
            short => u64::from(short),
        };
        let mut payload = vec![0; length as usize];
        self.reader.read_exact(&mut payload).ok()?;
        Some((head[0] & 0xf, payload))
    }

    /// Reads until a message is the one.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        while began.elapsed() < patience() {
            let (kind, payload) = self.next().unwrap();
            if kind == TEXT {
                let message: Value = serde_json::from_slice(&payload).unwrap();
                if wanted(&message) {
                    return message;
                }
            }
        }
        panic!("what was waited for does not come")
    }

    /// Reads to the end, which has to come, and gives the code it was closed with.
    #[track_caller]
    fn ends(&mut self) -> Option<u16> {
        let began = Instant::now();
        let mut code = None;
        while let Some((kind, payload)) = self.next() {
            assert!(began.elapsed() < patience(), "the connection does not end");
            if kind == CLOSE && payload.len() >= 2 {
                code = Some(u16::from_be_bytes([payload[0], payload[1]]));
            }
        }
        code
    }
}

/// A frame with a mask of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..=125 => bytes.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

#[test]
fn whoever_never_reads_a_socket_loses_it_and_its_runs_go_on() {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let code = "for (let i = 0; i < 900; i++) console.log('x'.repeat(1000)); return 1";
    for n in 0..300 {
        let message = json!({ "type": "run", "run": format!("w{n}"), "code": code });
        if !socket.raw(&frame(0x80 | TEXT, message.to_string().as_bytes())) {
            break;
        }
    }
    until("its runs end", || figure(&place, "isolith_runs_live") == 0 && figure(&place, "isolith_runs_waiting") == 0);
    is_well(&place.server, &place.b);
    until("its connection is closed", || figure(&place, "isolith_connections") <= 1);
    grew_at_most(before, memory.peak(), 700);
    // Outcomes are kept for a while, as far as there is room for so many.
    let listed = place.server.get("/v1/runs?limit=200", &place.a).json();
    let runs = listed["runs"].as_array().unwrap();
    assert!(!runs.is_empty() && runs.iter().all(|run| run["status"] == "ok"), "{listed}");
}

#[test]
fn garbage_is_refused_by_message_or_by_closing() {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    let rows = [
        "",
        "{",
        "[]",
        "1",
        "null",
        "{}",
        "{\"type\":1}",
        "{\"type\":\"x\"}",
        "{\"type\":\"run\"}",
        "{\"type\":\"run\",\"run\":\"../x\"}",
        "{\"type\":\"run\",\"run\":\"x\",\"run\":\"y\"}",
        "{\"type\":\"run\",\"run\":\"x\"}",
        "{\"type\":\"run\",\"run\":\"x\",\"code\":7}",
        "{\"type\":\"reply\"}",
        "{\"type\":\"reply\",\"run\":\"x\"}",
        "{\"type\":\"reply\",\"run\":\"x\",\"call\":-1}",
        "{\"type\":\"reply\",\"run\":\"nobody\",\"call\":0}",
        "{\"type\":\"cancel\",\"run\":\"nobody\"}",
        "{\"type\":\"attach\",\"run\":\"nobody\"}",
        "{\"type\":\"attach\",\"run\":\"x\",\"extra\":1}",
        "{\"type\":\"cancel\"}",
        "\u{0}",
    ];
    for row in rows {
        assert!(socket.raw(&frame(0x80 | TEXT, row.as_bytes())));
        let error = socket.until(|message| message["type"] == "error");
        assert!(error["error"]["code"].is_string(), "{row}: {error}");
    }
    let deep = "[".repeat(1_000_000);
    assert!(socket.raw(&frame(0x80 | TEXT, format!("{{\"type\":\"ping\",\"x\":{deep}").as_bytes())));
    socket.until(|message| message["type"] == "error");
    socket.text(&json!({ "type": "ping" }));
    socket.until(|message| message["type"] == "pong");
    let ends = |bytes: &[u8]| {
        let mut socket = Socket::open(&place.server, &place.a);
        socket.raw(bytes);
        socket.ends()
    };
    assert_eq!(ends(&frame(0x80 | BINARY, b"{\"type\":\"ping\"}")), Some(1003));
    // Not UTF-8; no mask; a reserved kind; reserved bits; a control frame that is too long; a piece of nothing; a length beyond all.
    ends(&frame(0x80 | TEXT, b"\xff\xfe"));
    ends(b"\x81\x02{}");
    ends(&frame(0x80 | 3, b"x"));
    ends(&frame(0xf0 | TEXT, b"x"));
    ends(&frame(0x80 | PING, &[0; 126]));
    ends(&frame(0x80, b"x"));
    ends(b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0");
    is_well(&place.server, &place.b);
}

#[test]
fn a_message_beyond_the_bound_ends_the_connection_before_it_is_kept() {
    let place = place(&[]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let mut socket = Socket::open(&place.server, &place.a);
    socket.raw(&frame(0x80 | TEXT, &vec![b' '; 100_000_000]));
    socket.ends();
    // The same in pieces, each of them small.
    let mut socket = Socket::open(&place.server, &place.a);
    let piece = frame(0, &vec![b' '; 60_000]);
    socket.raw(&frame(TEXT, b" "));
    for _ in 0..2 * MESSAGE_BYTES_MAX / 60_000 {
        if !socket.raw(&piece) {
            break;
        }
    }
    socket.ends();
    grew_at_most(before, memory.peak(), 128);
    is_well(&place.server, &place.a);
}

#[test]
fn floods_of_small_messages_cost_their_sender() {
    let place = place(&[]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let floods = [
        frame(0x80 | TEXT, b"{\"type\":\"reply\",\"run\":\"nobody\",\"call\":0}"),
        frame(0x80 | TEXT, b"{\"type\":\"attach\",\"run\":\"nobody\"}"),
        frame(0x80 | TEXT, b"{\"type\":\"cancel\",\"run\":\"nobody\"}"),
        frame(0x80 | TEXT, b"{\"type\":\"ping\"}"),
        frame(0x80 | TEXT, b"x"),
        frame(0x80 | PING, b"x"),
    ];
    for flood in floods {
        let mut socket = Socket::open(&place.server, &place.a);
        let many = flood.repeat(1_000);
        socket.stream.set_write_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
        for _ in 0..300 {
            if !socket.raw(&many) {
                break;
            }
        }
        is_well(&place.server, &place.b);
    }
    until("the floods are over", || figure(&place, "isolith_connections") <= 1);
    grew_at_most(before, memory.peak(), 256);
    is_well(&place.server, &place.a);
}

#[test]
fn large_answers_to_nobody_are_not_kept() {
    let place = place(&[]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let mut socket = Socket::open(&place.server, &place.a);
    let message = json!({ "type": "reply", "run": "nobody", "call": 0, "value": "x".repeat(8_000_000) }).to_string();
    let message = frame(0x80 | TEXT, message.as_bytes());
    for _ in 0..100 {
        if !socket.raw(&message) {
            break;
        }
    }
    socket.until(|message| message["type"] == "error");
    is_well(&place.server, &place.b);
    grew_at_most(before, memory.peak(), 384);
}

#[test]
fn a_tool_that_never_answers_ends_its_run_while_the_client_is_there() {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    let body = json!({ "type": "run", "run": "t", "code": "try { await tools.t() } catch {} return 'caught'", "tools": ["t"], "limits": { "timeout": "1s" } });
    socket.text(&body);
    socket.until(|message| message["type"] == "call");
    let outcome = socket.until(|message| message["type"] == "outcome");
    assert_eq!(outcome["outcome"]["error"]["kind"], "timeout", "{outcome}");
    socket.text(&json!({ "type": "reply", "run": "t", "call": 0, "value": 1 }));
    let late = socket.until(|message| message["type"] == "error");
    assert_eq!(late["error"]["code"], "run.ended", "{late}");
}

#[test]
fn a_large_answer_over_a_socket_arrives_and_one_that_is_too_large_can_be_given_again() {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    let run = |socket: &mut Socket, name: &str| {
        socket.text(&json!({ "type": "run", "run": name, "code": "return (await tools.t()).length", "tools": ["t"] }));
        socket.until(|message| message["type"] == "call")
    };
    run(&mut socket, "small");
    socket.text(&json!({ "type": "reply", "run": "small", "call": 0, "value": "x".repeat(16_000_000) }));
    let outcome = socket.until(|message| message["type"] == "outcome");
    assert_eq!(outcome["outcome"]["value"], 16_000_000, "{outcome}");
    run(&mut socket, "large");
    let large = json!({ "type": "reply", "run": "large", "call": 0, "value": "x".repeat(100_000_000) }).to_string();
    socket.raw(&frame(0x80 | TEXT, large.as_bytes()));
    socket.ends();
    let mut socket = Socket::open(&place.server, &place.a);
    socket.text(&json!({ "type": "attach", "run": "large" }));
    socket.until(|message| message["type"] == "call");
    socket.text(&json!({ "type": "reply", "run": "large", "call": 0, "value": "ok" }));
    let outcome = socket.until(|message| message["type"] == "outcome");
    assert_eq!(outcome["outcome"]["value"], 2, "{outcome}");
}

#[test]
fn a_connection_that_is_lost_mid_run_can_be_taken_up_by_its_owner_only() {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    socket.text(
        &json!({ "type": "run", "run": "m", "code": "return await tools.t() + await tools.t()", "tools": ["t"] }),
    );
    socket.until(|message| message["type"] == "call");
    drop(socket);
    let mut other = Socket::open(&place.server, &place.b);
    for message in [
        json!({ "type": "attach", "run": "m" }),
        json!({ "type": "cancel", "run": "m" }),
        json!({ "type": "reply", "run": "m", "call": 0, "value": 1 }),
    ] {
        other.text(&message);
        let refused = other.until(|message| message["type"] == "error");
        assert_eq!(refused["error"]["code"], "run.unknown", "{refused}");
    }
    run_with(&place.server, &place.b, &json!({ "code": "return 1", "run": "m" }));
    let mut socket = Socket::open(&place.server, &place.a);
    socket.text(&json!({ "type": "attach", "run": "m" }));
    for _ in 0..2 {
        let call = socket.until(|message| message["type"] == "call");
        socket.text(&json!({ "type": "reply", "run": "m", "call": call["call"], "value": 4 }));
    }
    let outcome = socket.until(|message| message["type"] == "outcome");
    assert_eq!(outcome["outcome"]["value"], 8, "{outcome}");
}
