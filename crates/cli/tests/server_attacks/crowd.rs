//! Many at one time.

use super::sockets::Socket;
use super::support::server::serve;
use super::{Memory, figure, folder, grew_at_most, is_well, key, patience, place, run_with, until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::io::Read as _;
use std::net::TcpStream;

#[test]
fn ten_thousand_who_say_nothing_do_not_keep_others_out() {
    const CROWD: usize = 10_000;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    if limit.maximum.is_some_and(|most| most < CROWD as u64 + 1_000) {
        eprintln!("skipped: a process may have no more than {:?} files here", limit.maximum);
        return;
    }
    let place = place(&["--idle", "10m"]);
    let memory = Memory::of(&place.server);
    let before = memory.now();
    let all: Vec<TcpStream> = (0..CROWD).map(|_| TcpStream::connect(place.server.address).unwrap()).collect();
    until("all of them are in", || figure(&place, "isolith_connections") > CROWD as u64);
    (0..20).for_each(|_| is_well(&place.server, &place.b));
    grew_at_most(before, memory.peak(), 256);
    drop(all);
    until("all of them are gone", || figure(&place, "isolith_connections") <= 1);
}

#[test]
fn connections_beyond_the_bound_are_closed_at_once() {
    let folder = folder();
    let a = key(&folder, &["a", "--scope", "runs,metrics"]);
    let server = serve(&folder, &["--connections", "8"]);
    // WebSockets are connections as well, however long ago they were requests.
    let sockets: Vec<Socket> = (0..4).map(|_| Socket::open(&server, &a)).collect();
    let quiet: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    let mut over = server.connect();
    over.set_read_timeout(Some(patience())).unwrap();
    let read = over.read(&mut [0; 16]);
    assert!(matches!(read, Ok(0)) || read.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset));
    drop(quiet);
    until("there is room again", || {
        let raw = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address);
        server.raw(raw.as_bytes()).is_some_and(|answer| answer.status == 200)
    });
    drop(sockets);
}

/// A thousand runs of one caller, and another who comes meanwhile.
fn a_thousand_and_one(code: &str) {
    let place = place(&[]);
    let mut socket = Socket::open(&place.server, &place.a);
    for n in 0..1_000 {
        socket.text(&json!({ "type": "run", "run": format!("r{n}"), "code": code, "limits": { "timeout": "20s" } }));
    }
    until("they fill their places", || figure(&place, "isolith_runs_live") >= 48);
    (0..5).for_each(|_| is_well(&place.server, &place.b));
    for n in 0..1_000 {
        socket.text(&json!({ "type": "cancel", "run": format!("r{n}") }));
    }
    until("all of them are over", || figure(&place, "isolith_runs_live") + figure(&place, "isolith_runs_waiting") == 0);
    is_well(&place.server, &place.a);
}

#[test]
fn a_thousand_waiting_runs_of_one_caller_do_not_take_anothers_turn() {
    a_thousand_and_one("await new Promise(done => setTimeout(done, 9000))");
}

#[test]
fn a_thousand_computing_runs_of_one_caller_do_not_take_anothers_turn() {
    a_thousand_and_one("for (;;);");
}

#[test]
fn more_than_the_line_holds_is_refused_with_a_time_to_come_again() {
    let place = place(&["--live-runs-per-caller", "2"]);
    let mut socket = Socket::open(&place.server, &place.a);
    for n in 0..2_000 {
        socket.text(
            &json!({ "type": "run", "run": format!("r{n}"), "code": "for (;;);", "limits": { "timeout": "5s" } }),
        );
    }
    let refused = socket.until(|message| message["error"]["code"] == "busy.caller");
    assert!(refused["error"]["retry_after_ms"].as_u64().is_some_and(|ms| ms > 0), "{refused}");
    let answer = place.server.post("/v1/runs", &place.a, &json!({ "code": "return 1" }));
    assert!(answer.status == 429 && answer.head.contains("retry-after:"), "{answer:?}");
    is_well(&place.server, &place.b);
}

#[test]
fn an_answer_has_a_bound_and_one_below_it_arrives() {
    let place = place(&[]);
    let (server, key) = (&place.server, &place.a);
    let ask = |name: &str| {
        let body = json!({ "code": "return (await tools.t()).length", "tools": ["t"], "run": name });
        let run = run_with(server, key, &body);
        (run["resume"].clone(), run["waiting_for"][0]["id"].clone())
    };
    let memory = Memory::of(server);
    let before = memory.now();
    for (name, bytes) in [("under", 16_000_000), ("over", 20_000_000), ("far", 100_000_000)] {
        let (resume, id) = ask(name);
        let replies = json!([{ "id": id, "value": "x".repeat(bytes) }]);
        let answer =
            server.post(&format!("/v1/runs/{name}/calls"), key, &json!({ "resume": resume, "replies": replies }));
        match name {
            "under" => assert_eq!(answer.json()["value"], json!(bytes), "{:?}", answer.json()["error"]),
            // More than what may cross into a run at one time fails the call or the run; it is taken, and known to be over.
            "over" => assert_eq!((answer.status, answer.json()["status"].as_str()), (200, Some("error")), "{answer:?}"),
            _ => assert_eq!((answer.status, answer.code()), (413, "request.large".into())),
        }
    }
    // What was refused was not taken: the call is open still.
    assert_eq!(server.get("/v1/runs/far", key).json()["status"], "suspended");
    grew_at_most(before, memory.peak(), 600);
    is_well(server, key);
}
