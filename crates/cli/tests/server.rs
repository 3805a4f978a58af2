//! The server through its own door: requests as any client would send them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "server/document.rs"]
mod document;
#[path = "server/operator.rs"]
mod operator;
mod support;

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::Duration;
use support::server::{Served, key, serve};
use support::{command, folder};

fn run(server: &Served, body: &Value) -> Value {
    let answer = server.post("/v1/runs", "", body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_program_runs_and_its_outcome_comes_back() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let outcome = run(
        &server,
        &json!({ "program": "console.log('hi'); return input.n + extra", "input": { "n": 40 }, "args": { "extra": 2 } }),
    );
    assert_eq!((&outcome["status"], &outcome["value"]), (&json!("ok"), &json!(42)));
    assert_eq!(outcome["outputs"][0]["text"], "hi");
    let failed = run(&server, &json!({ "code": "throw new TypeError('no')", "name": "x.ts" }));
    assert_eq!((&failed["status"], &failed["error"]["name"]), (&json!("error"), &json!("TypeError")));
    let again = server.get(&format!("/v1/runs/{}", outcome["run"].as_str().unwrap()), "").json();
    assert_eq!(again, outcome);
    let listed = server.get("/v1/runs", "").json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    assert_eq!(listed["runs"][0]["run"], failed["run"]);
}

#[test]
fn what_is_wrong_with_a_request_is_said_with_its_place() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let rows = [
        (json!({}), 400, "request.invalid", "program"),
        (json!({ "progam": "1" }), 400, "request.invalid", "progam"),
        (json!({ "program": 1 }), 400, "request.invalid", "program"),
        (json!({ "program": "1", "code": "1" }), 400, "request.invalid", "code"),
        (json!({ "program": "1", "limits": { "memroy": "1MiB" } }), 400, "request.invalid", "limits.memroy"),
        (json!({ "program": "1", "limits": { "memory": 1 } }), 400, "request.invalid", "limits.memory"),
        (json!({ "program": "1", "grants": ["egres:x.com"] }), 400, "request.invalid", "grants[0]"),
        (json!({ "program": "1", "grants": ["files:read ."] }), 403, "grant.forbidden", "grants"),
        (
            json!({ "program": "1", "grants": [{ "kind": "tool", "name": "x", "command": ["sh"] }] }),
            403,
            "grant.forbidden",
            "grants",
        ),
        (json!({ "program": "1", "grants": ["tool:github.*"] }), 403, "grant.forbidden", "grants"),
        (json!({ "program": "1", "grants": ["tool:github.*x"] }), 400, "request.invalid", "grants[0]"),
        (json!({ "program": "1", "tools": ["github.list"] }), 400, "request.invalid", "tools[0]"),
        (json!({ "program": "1", "tools": ["a", "a"] }), 400, "request.invalid", "tools[1]"),
        (json!({ "program": "1", "tools": [{ "name": "a", "desc": "" }] }), 400, "request.invalid", "tools[0].desc"),
        (json!({ "program": "1", "tools": ["1a"] }), 400, "request.invalid", "tools[0]"),
        (json!({ "program": "1", "run": "../x" }), 400, "request.invalid", "run"),
        (json!({ "program": "1", "name": "a/b.ts" }), 400, "request.invalid", "name"),
        (json!({ "program": "1", "wait": "soon" }), 400, "request.invalid", "wait"),
        (json!({ "program": "1", "seed": -1 }), 400, "request.invalid", "seed"),
        (json!({ "program": "x".repeat((1 << 20) + 1) }), 413, "program.large", "program"),
    ];
    for (body, status, code, field) in rows {
        let answer = server.post("/v1/runs", "", &body);
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, error["code"].as_str(), error["field"].as_str()),
            (status, Some(code), Some(field)),
            "{body}: {error}"
        );
    }
    let near = server.post("/v1/runs", "", &json!({ "progam": "1" })).json();
    assert_eq!(near["error"]["hint"], "did you mean `program`?");
    let send = |headers: &[(&str, &str)], body: &[u8]| {
        let answer = server.send("POST", "/v1/runs", "", headers, body);
        (answer.status, answer.code())
    };
    let typed = ("content-type", "application/json");
    assert_eq!(send(&[typed], b"{\"program\":"), (400, "request.invalid".into()));
    assert_eq!(send(&[typed], b"{\"program\":\"1\",\"program\":\"2\"}"), (400, "request.invalid".into()));
    assert_eq!(send(&[typed], b"{\"program\":\"\xff\xfe\"}"), (400, "request.invalid".into()));
    assert_eq!(send(&[("content-type", "text/plain")], b"{\"program\":\"1\"}"), (415, "request.type".into()));
    assert_eq!(send(&[typed, ("content-encoding", "gzip")], b"x"), (415, "request.encoding".into()));
    let large = format!(
        "POST /v1/runs HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 64000000\r\n\r\n",
        server.address
    );
    assert_eq!(server.raw(large.as_bytes()).unwrap().status, 413);
    assert_eq!(server.get("/v1/nothing", "").code(), "route.unknown");
    assert_eq!(server.send("DELETE", "/v1/runs", "", &[], b"").code(), "route.method");
    assert_eq!(server.get("/v1/runs/nope", "").code(), "run.unknown");
    assert_eq!(server.get("/v1/runs?limt=3", "").code(), "request.invalid");
}

#[test]
fn tools_are_answered_in_rounds() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let program = "const [a, b] = await Promise.all([tools.a({ x: 1 }), tools.b().catch(e => e.name + e.message)]); return [a, b, await tools.a(null)]";
    let first = run(&server, &json!({ "program": program, "tools": ["a", "b"], "run": "one" }));
    assert_eq!(first["status"], "suspended");
    let call = |n: usize| first["waiting_for"][n].clone();
    assert_eq!(call(0)["call"], json!({ "kind": "tool", "name": "a", "args": { "x": 1 } }));
    assert_eq!(call(1)["call"], json!({ "kind": "tool", "name": "b" }));
    let reply = |resume: &Value, replies: Value| {
        server.post("/v1/runs/one/calls", "", &json!({ "resume": resume, "replies": replies }))
    };
    // One of two, then the other: each under the handle of the first round.
    let half = reply(&first["resume"], json!([{ "id": call(0)["id"], "value": [1, "\u{1f600}"] }])).json();
    assert_eq!((half["status"].as_str(), half["waiting_for"].as_array().unwrap().len()), (Some("suspended"), 1));
    let twice = reply(&first["resume"], json!([{ "id": call(0)["id"], "value": 2 }]));
    assert_eq!((twice.status, twice.code()), (409, "call.answered".into()));
    let unknown = reply(&first["resume"], json!([{ "id": 99, "value": 2 }]));
    assert_eq!((unknown.status, unknown.code()), (404, "call.unknown".into()));
    let second =
        reply(&first["resume"], json!([{ "id": call(1)["id"], "error": { "name": "Bad", "message": "no" } }])).json();
    assert_eq!(second["waiting_for"][0]["call"], json!({ "kind": "tool", "name": "a", "args": null }));
    let spent = reply(&first["resume"], json!([{ "id": call(1)["id"], "value": 2 }]));
    assert_eq!((spent.status, spent.code()), (409, "continuation.spent".into()));
    let last = reply(&second["resume"], json!([{ "id": second["waiting_for"][0]["id"] }])).json();
    assert_eq!((last["status"].as_str(), &last["value"]), (Some("ok"), &json!([[1, "\u{1f600}"], "Badno", null])));
    assert_eq!(last["exercised"], json!([{ "grant": "tool:a", "count": 2 }, { "grant": "tool:b", "count": 1 }]));
    let late = reply(&second["resume"], json!([{ "id": second["waiting_for"][0]["id"] }]));
    assert_eq!((late.status, late.code()), (409, "run.ended".into()));
    let forged = reply(&json!("AAAA"), json!([{ "id": 0 }]));
    assert_eq!((forged.status, forged.code()), (403, "continuation.invalid".into()));
    let rows = server.get("/v1/audit?run=one", "").json();
    let outcomes: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["ok", "failed", "ok"], "each call has one row, however often the run left memory");
}

#[test]
fn a_name_is_used_once_and_a_run_can_be_stopped() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let waiting = json!({ "program": "await tools.a()", "tools": ["a"], "run": "x" });
    assert_eq!(run(&server, &waiting)["status"], "suspended");
    assert_eq!(server.post("/v1/runs", "", &waiting).code(), "run.exists");
    let over = server.post("/v1/runs/x/cancel", "", &json!({})).json();
    assert_eq!((over["status"].as_str(), over["error"]["kind"].as_str()), (Some("error"), Some("cancelled")));
    let started = server.post("/v1/runs", "", &json!({ "program": "for (;;);", "run": "y", "wait": 0 }));
    assert_eq!((started.status, started.json()["status"].as_str()), (202, Some("running")));
    let over = server.post("/v1/runs/y/cancel", "", &json!({})).json();
    assert_eq!(over["error"]["kind"], "cancelled");
    assert_eq!(server.get("/v1/runs/y", "").json()["error"]["kind"], "cancelled");
}

#[test]
fn events_come_as_they_happen() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let body = json!({ "program": "console.log('one\\ntwo'); return await tools.a(7)", "tools": ["a"], "run": "e" })
        .to_string();
    let mut stream = server.connect();
    write!(
        stream,
        "POST /v1/runs HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    let mut seen = String::new();
    let mut until = |mark: &str| {
        while !seen.contains(mark) {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        seen.clone()
    };
    let seen = until("event: call");
    assert!(seen.contains("event: progress\ndata: {\"run\":\"e\",\"status\":\"running\"}"), "{seen}");
    let seen = if seen.ends_with("\n\n\r\n") { seen } else { until("\"resume\"") };
    assert!(seen.contains("event: output\ndata: {\"stream\":\"stdout\",\"text\":\"one\\ntwo\""), "{seen}");
    let call: Value =
        serde_json::from_str(seen.split("event: call\ndata: ").nth(1).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!((&call["name"], &call["args"]), (&json!("a"), &json!(7)));
    // Nobody answers for a moment: it leaves memory, and whoever looks on is told.
    until("\"status\":\"suspended\"");
    let answered = server.post(
        "/v1/runs/e/calls",
        "",
        &json!({ "resume": call["resume"], "replies": [{ "id": call["id"], "value": "ok" }] }),
    );
    assert_eq!(answered.json()["value"], "ok");
    let seen = until("event: outcome");
    assert!(seen.contains("event: outcome"), "{seen}");
}

#[test]
fn callers_are_kept_apart() {
    let folder = folder();
    folder.write("policy.toml", "grants = [\"kv:shared\"]\n[limits]\ntimeout = \"2s\"\n");
    let (a, b) = (
        key(&folder, &["a", "--scope", "runs,secrets,audit"]),
        key(&folder, &["b", "--scope", "runs,secrets,audit", "--policy", "policy.toml"]),
    );
    let only = key(&folder, &["only", "--scope", "audit"]);
    let server = serve(&folder, &[]);
    assert_eq!((server.get("/v1/runs", "").status, server.get("/healthz", "").status), (401, 200));
    for wrong in [&a[..a.len() - 1], &a[..12], "x", &format!("{a}0"), &a.replace('a', "b")] {
        assert_eq!(server.get("/v1/runs", wrong).code(), "key.invalid", "{wrong}");
    }
    assert_eq!(server.get("/v1/runs", &only).code(), "key.scope");
    assert_eq!(server.get("/v1/nothing", "").status, 401, "nothing is told without a key");
    let started = server.post("/v1/runs", &a, &json!({ "program": "await kv.put('k', 'of a'); return await tools.t()", "tools": ["t"], "grants": ["kv:shared"], "run": "r" })).json();
    for answer in [
        server.get("/v1/runs/r", &b),
        server.post("/v1/runs/r/cancel", &b, &json!({})),
        server.post("/v1/runs/r/calls", &b, &json!({ "resume": started["resume"], "replies": [{ "id": 0 }] })),
    ] {
        assert_eq!((answer.status, answer.code()), (404, "run.unknown".into()));
    }
    // The same names mean something else to the other.
    let own = server.post("/v1/runs", &b, &json!({ "program": "return [await kv.get('k'), await tools.t()]", "tools": ["t"], "grants": ["kv:shared"], "run": "r" })).json();
    assert_eq!(own["status"], "suspended", "{own}");
    let foreign =
        server.post("/v1/runs/r/calls", &b, &json!({ "resume": started["resume"], "replies": [{ "id": 0 }] }));
    assert_eq!(foreign.code(), "continuation.invalid");
    assert_eq!(
        server.send("PUT", "/v1/secrets/S", &a, &[("content-type", "application/json")], b"{\"value\":\"v\"}").status,
        200
    );
    assert_eq!(
        (server.get("/v1/secrets", &a).json(), server.get("/v1/secrets", &b).json()),
        (json!({ "secrets": ["S"] }), json!({ "secrets": [] }))
    );
    assert!(
        server.get("/v1/audit", &b).json()["rows"].as_array().unwrap().iter().all(|row| row["what"] != "put shared")
    );
    assert_eq!(server.get("/v1/runs", &b).json()["runs"].as_array().unwrap().len(), 1);
    // A key's policy is the most that its runs can have.
    let narrowed = server.post("/v1/runs", &b, &json!({ "program": "return 1", "grants": ["kv:other", "egress:example.com"], "limits": { "timeout": "1h" } })).json();
    assert_eq!((&narrowed["grants"], narrowed["narrowed"].as_array().unwrap().len()), (&Value::Null, 2));
    let slow = server
        .post("/v1/runs", &b, &json!({ "program": "for (;;);", "limits": { "timeout": "1h", "cpu": "1h" } }))
        .json();
    assert_eq!(slow["error"]["kind"], "timeout");
    // A key without a policy reaches public hosts only.
    let inner = server
        .post(
            "/v1/runs",
            &a,
            &json!({ "program": "return 1", "grants": ["egress:http://127.0.0.1:1", "egress:http://169.254.169.254"] }),
        )
        .json();
    assert_eq!(inner["grants"], Value::Null, "{inner}");
    assert_eq!(
        command(&["key", "revoke", "a"])
            .env("ISOLITH_DATA", folder.path().join("data"))
            .output()
            .unwrap()
            .status
            .code(),
        Some(0)
    );
    assert_eq!(server.get("/v1/runs", &a).status, 401);
}

#[test]
fn a_page_in_a_browser_cannot_drive_it() {
    let folder = folder();
    let server = serve(&folder, &["--host", "box.example"]);
    let port = server.address.port();
    let ask = |host: &str, origin: Option<&str>| {
        let origin = origin.map(|origin| format!("origin: {origin}\r\n")).unwrap_or_default();
        let raw = format!("GET /v1/runs HTTP/1.1\r\nhost: {host}\r\n{origin}connection: close\r\n\r\n");
        server.raw(raw.as_bytes()).unwrap().status
    };
    let own = format!("127.0.0.1:{port}");
    assert_eq!(ask(&own, None), 200);
    assert_eq!(ask(&format!("localhost:{port}"), None), 200);
    assert_eq!(ask("box.example", None), 200);
    assert_eq!(ask(&own, Some(&format!("http://{own}"))), 200);
    for (host, origin) in [
        ("evil.test", None),
        (&*format!("evil.test:{port}"), Some(&*format!("http://evil.test:{port}"))),
        (&own, Some("http://evil.test")),
        (&own, Some("null")),
        (&own, Some("http://localhost:1")),
        (&own, Some(&format!("http://localhost:{port}"))),
        ("127.0.0.1.evil.test", None),
    ] {
        assert_eq!(ask(host, origin), 403, "{host} {origin:?}");
    }
    let two = format!("GET /healthz HTTP/1.1\r\nhost: {own}\r\nhost: evil.test\r\n\r\n");
    assert_eq!(server.raw(two.as_bytes()).unwrap().status, 400);
    let preflight = server.send("OPTIONS", "/v1/runs", "", &[("access-control-request-private-network", "true")], b"");
    assert!(!preflight.head.contains("access-control-allow"), "{}", preflight.head);
}

#[test]
fn nothing_that_waits_is_lost_when_the_server_is_killed() {
    const RUNS: usize = 200;
    let folder = folder();
    let server = serve(&folder, &[]);
    let mut handles = Vec::new();
    for n in 0..RUNS {
        let body = json!({ "program": "const kept = { n: input, at: [] }; kept.at.push(await tools.a(kept.n)); kept.at.push(await tools.a(kept.n + 1)); return kept", "input": n, "tools": ["a"], "run": format!("k{n}") });
        let first = run(&server, &body);
        // Half of them are in their second round, and one answer was only taken, not waited for.
        let first = if n % 2 == 0 {
            server.post(&format!("/v1/runs/k{n}/calls"), "", &json!({ "resume": first["resume"], "replies": [{ "id": first["waiting_for"][0]["id"], "value": "first" }] })).json()
        } else {
            first
        };
        handles.push(first);
    }
    let accepted = server.post(
        "/v1/runs",
        "",
        &json!({ "program": "await new Promise(r => setTimeout(r, 5000))", "run": "accepted", "wait": 0 }),
    );
    assert_eq!(accepted.status, 202);
    server.kill();
    let server = serve(&folder, &[]);
    for (n, first) in handles.into_iter().enumerate() {
        let reply = |view: &Value, value: &str| {
            let body = json!({ "resume": view["resume"], "replies": [{ "id": view["waiting_for"][0]["id"], "value": value }] });
            server.post(&format!("/v1/runs/k{n}/calls"), "", &body).json()
        };
        let next = if n % 2 == 0 { first } else { reply(&first, "first") };
        let last = reply(&next, "second");
        assert_eq!(last["value"], json!({ "n": n, "at": ["first", "second"] }), "{last}");
    }
    // What was accepted and under way says what became of it: it may have acted, so it is not begun again.
    let lost = server.get("/v1/runs/accepted", "").json();
    assert_eq!(lost["error"]["name"], "Interrupted", "{lost}");
}

#[test]
fn stopping_suspends_what_waits_and_finishes_what_computes() {
    let folder = folder();
    let server = serve(&folder, &["--hold", "1h"]);
    let started = |name: &str, program: &str| {
        let answer =
            server.post("/v1/runs", "", &json!({ "program": program, "tools": ["a"], "run": name, "wait": 0 }));
        assert_eq!(answer.status, 202, "{answer:?}");
    };
    started("sleeps", "const at = Date.now(); await new Promise(r => setTimeout(r, 1500)); return Date.now() - at");
    started("computes", "const end = Date.now() + 300; let n = 0; while (Date.now() < end) n++; return 'done'");
    started("asks", "return 'got ' + await tools.a(1)");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(server.stop(), 0);
    let server = serve(&folder, &[]);
    assert_eq!(server.get("/v1/runs/computes?wait=10s", "").json()["value"], "done");
    let slept = server.get("/v1/runs/sleeps?wait=10s", "").json();
    assert!(slept["value"].as_f64().unwrap_or_default() >= 1500.0, "{slept}");
    let asks = server.get("/v1/runs/asks", "").json();
    let body = json!({ "resume": asks["resume"], "replies": [{ "id": asks["waiting_for"][0]["id"], "value": "it" }] });
    assert_eq!(server.post("/v1/runs/asks/calls", "", &body).json()["value"], "got it");
}

#[test]
fn a_server_is_alone_and_does_not_listen_to_strangers_without_a_key() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let start = |args: &[&str]| {
        let mut all = vec!["serve"];
        all.extend(args);
        let output = command(&all).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = start(&["--listen", "127.0.0.1:0"]);
    assert!(code == 2 && text.contains("another server"), "{text}");
    let (code, text) = start(&["--listen", "0.0.0.0:0"]);
    assert!(code == 2 && text.contains("there is no key"), "{text}");
    let (code, text) = start(&["--tls-cert", "x.pem"]);
    assert!(code == 2 && text.contains("TLS needs"), "{text}");
    drop(server);
}

#[test]
fn the_description_of_the_api_is_the_one_that_is_published() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let served = server.get("/openapi.json", "").body;
    let path = "../../docs/openapi.json";
    if std::env::var_os("ISOLITH_BLESS").is_some() {
        std::fs::write(path, &served).unwrap();
    }
    let published = std::fs::read(path).unwrap_or_default();
    assert!(served == published, "docs/openapi.json is another: ISOLITH_BLESS=1 writes it anew");
    let metrics = String::from_utf8(server.get("/metrics", "").body).unwrap();
    assert!(metrics.contains("isolith_runs_started_total 0\n"), "{metrics}");
}
