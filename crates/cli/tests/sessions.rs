//! Sessions, by the command line and by HTTP: made, worked in, put to sleep, forked, and kept apart.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::folder;
use support::place::{Place, place};
use support::server::{Answer, Served, key, serve};

fn with_session() -> Place {
    let place = place();
    place.isolith(&["session", "create", "notes"]).is(0, "notes\n", "");
    place
}

/// What a command prints as JSON.
#[track_caller]
fn told(place: &Place, args: &[&str]) -> Value {
    let ran = place.isolith(&[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stdout))
}

#[track_caller]
fn fails(place: &Place, args: &[&str], code: &str) {
    let ran = place.isolith(args);
    assert_eq!(ran.code, 2, "{args:?}: {}", ran.stdout);
    assert!(ran.stderr.contains(&format!("[{code}]")) && ran.stderr.contains("hint: "), "{args:?}: {}", ran.stderr);
}

#[test]
fn files_of_a_session_are_written_read_searched_and_changed() {
    let place = with_session();
    place.write("in.txt", "one\ntwo\nthree\n");
    place.isolith(&["session", "write", "notes", "src/a.txt", "in.txt"]).is(0, "", "");
    place.isolith_fed(&["session", "write", "notes", "src/b.ts"], "let TWO = 2\n").is(0, "", "");
    place.isolith(&["session", "read", "notes", "src/a.txt"]).is(0, "one\ntwo\nthree\n", "");
    place.isolith(&["session", "read", "notes", "src/a.txt", "--lines", "2:3"]).is(0, "two\nthree\n", "");
    place.isolith(&["session", "files", "notes", "src"]).is(0, "        14  a.txt\n        12  b.ts\n", "");
    place.isolith(&["session", "glob", "notes", "src/*.{ts,js}"]).is(0, "src/b.ts\n", "");
    place.isolith(&["session", "grep", "notes", "two", "-i"]).is(0, "src/a.txt:2:two\nsrc/b.ts:1:let TWO = 2\n", "");
    place.isolith(&["session", "grep", "notes", "two", "-C", "1"]).is(
        0,
        "src/a.txt-1-one\nsrc/a.txt:2:two\nsrc/a.txt-3-three\n",
        "",
    );
    place.isolith(&["session", "edit", "notes", "src/a.txt", "--old", "two", "--new", "2"]).is(0, "1 replaced\n", "");
    let diff = place.isolith(&["session", "diff", "notes", "src/a.txt", "--version", "1"]);
    assert!(diff.stdout.contains("-two\n+2\n"), "{}", diff.stdout);
    place.isolith(&["session", "cp", "notes", "src", "copy"]).is(0, "", "");
    place.isolith(&["session", "mv", "notes", "copy/a.txt", "moved.txt"]).is(0, "", "");
    let tree = place.isolith(&["session", "tree", "notes"]);
    for name in ["copy", "moved.txt", "src", "a.txt", "b.ts"] {
        assert!(tree.stdout.contains(name), "{}", tree.stdout);
    }
    assert_eq!(told(&place, &["session", "undo", "notes"])["paths"], json!(["copy/a.txt", "moved.txt"]));
    let history = told(&place, &["session", "history", "notes", "src/a.txt"]);
    let words: Vec<&str> = history["changes"].as_array().unwrap().iter().map(|c| c["what"].as_str().unwrap()).collect();
    assert_eq!(words, ["edit", "write"]);
    place.isolith(&["session", "rm", "notes", "copy", "-r"]).is(0, "", "");
    let shown = told(&place, &["session", "show", "notes"]);
    assert_eq!((shown["used_files"].as_u64(), shown["used_bytes"].as_u64()), (Some(3), Some(24)));
}

#[test]
fn what_cannot_be_is_refused_with_a_code_and_a_hint() {
    let place = with_session();
    place.isolith(&["session", "write", "notes", "f", "--text", "aXbXc"]).is(0, "", "");
    fails(&place, &["session", "create", "notes"], "session.exists");
    fails(&place, &["session", "read", "nobody", "f"], "session.not_found");
    fails(&place, &["session", "create", "x", "--agent", "nobody"], "session.not_found");
    fails(&place, &["session", "read", "notes", "g"], "files.not_found");
    fails(&place, &["session", "read", "notes", "../../etc/passwd"], "files.denied");
    fails(&place, &["session", "read", "notes", "/etc/passwd"], "files.denied");
    fails(&place, &["session", "write", "notes", "f/g", "--text", "x"], "files.not_a_folder");
    fails(&place, &["session", "edit", "notes", "f", "--old", "X", "--new", "Y"], "files.ambiguous");
    fails(&place, &["session", "edit", "notes", "f", "--old", "Z", "--new", "Y"], "files.no_match");
    fails(&place, &["session", "edit", "notes", "f", "--old", "", "--new", "Y"], "files.invalid");
    fails(&place, &["session", "grep", "notes", "(("], "files.invalid");
    fails(&place, &["session", "ln", "notes", "../out", "l"], "files.denied");
    fails(&place, &["session", "rm", "notes", "."], "files.denied");
    fails(&place, &["session", "fork", "notes", "--snapshot", "none"], "session.not_found");
    let ran = place.isolith(&["session", "create", "Not A Name"]);
    assert_eq!((ran.code, ran.stderr.contains("is not a name")), (2, true), "{}", ran.stderr);
    place.isolith(&["session", "create", "tiny", "--room", "10B", "--room-files", "2"]).is(0, "tiny\n", "");
    fails(&place, &["session", "write", "tiny", "f", "--text", "more than ten bytes"], "files.quota");
    place.isolith(&["session", "read", "notes", "f"]).is(0, "aXbXc", "");
}

#[test]
fn a_program_has_the_files_and_keys_of_its_session_and_nothing_of_the_host() {
    let place = with_session();
    place.write("host.txt", "the host's");
    let program = "
        await files.write('out/a.json', JSON.stringify({ n: input?.n ?? 1 }));
        const seen = await kv.session.get('runs');
        await kv.session.put('runs', (seen ?? 0) + 1);
        return { list: (await files.list('.')).map((entry) => entry.name), found: await files.glob('**/*.json'), before: seen };";
    let first = place.outcome(program, &["--session", "notes"]);
    assert_eq!(first.value(), &json!({ "list": ["out"], "found": ["out/a.json"], "before": null }));
    let second = place.outcome(program, &["--session", "notes"]);
    assert_eq!(second.value()["before"], 1, "it finds again what it left");
    place.isolith(&["session", "read", "notes", "out/a.json"]).is(0, "{\"n\":1}", "");
    let host = place.outcome("return await files.readText('host.txt')", &["--session", "notes"]);
    assert_eq!(host.json["error"]["name"], "NotFoundError");
    let read_only = place.outcome("await files.write('x', '1')", &["--session", "notes", "--allow-read", "."]);
    assert_eq!(read_only.json["error"]["kind"], "denied", "what is narrower holds");
    let without = place.outcome("return typeof files", &[]);
    assert_eq!(without.value(), "undefined");
    let runs = place.isolith(&["session", "runs", "notes", "--json"]);
    let statuses: Vec<Value> =
        runs.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone()).collect();
    assert_eq!(statuses, ["error", "error", "ok", "ok"], "each run is kept with its session, the newest first");
}

#[test]
fn a_file_of_the_workspace_is_run_with_what_it_imports() {
    let place = with_session();
    place.isolith(&[
        "session",
        "write",
        "notes",
        "lib/sum.ts",
        "--text",
        "export const sum = (a: number, b: number): number => a + b\n",
    ]);
    place.isolith(&[
        "session",
        "write",
        "notes",
        "main.ts",
        "--text",
        "import { sum } from './lib/sum'\nexport default sum(20, 22)\n",
    ]);
    place.isolith(&["session", "run", "notes", "main.ts"]).is(0, "42\n", "");
    let gone = place.isolith(&["session", "run", "notes", "none.ts"]);
    assert!(gone.code == 2 && gone.stderr.contains("files.not_found"), "{}", gone.stderr);
}

#[test]
fn folders_and_archives_go_in_and_come_out_the_same() {
    let place = with_session();
    place.write("tree/a/b.txt", "b");
    place.write("tree/c.bin", "c");
    std::os::unix::fs::symlink("a/b.txt", place.work.path().join("tree/link")).unwrap();
    place.isolith(&["session", "import", "notes", "tree"]).is(0, "4 files, 2 bytes\n", "");
    for (archive, copy) in [("out.tar", "one"), ("out.tar.gz", "two"), ("out.zip", "three")] {
        let out = place.isolith(&["session", "export", "notes", archive]);
        assert_eq!(out.code, 0, "{}", out.stderr);
        place.isolith(&["session", "create", copy]).is(0, &format!("{copy}\n"), "");
        let back = place.isolith(&["session", "import", copy, archive]);
        assert_eq!(back.code, 0, "{archive}: {}", back.stderr);
        place.isolith(&["session", "read", copy, "link"]).is(0, "b", "");
    }
    place.isolith(&["session", "export", "notes", "folder"]).is(0, "4 files, 2 bytes\n", "");
    assert_eq!(std::fs::read_to_string(place.work.path().join("folder/a/b.txt")).unwrap(), "b");
    std::os::unix::fs::symlink("/etc/passwd", place.work.path().join("tree/out")).unwrap();
    let out = place.isolith(&["session", "import", "notes", "tree", "--to", "again"]);
    assert!(out.code == 2 && out.stderr.contains("files.denied"), "{}", out.stderr);
    assert_eq!(told(&place, &["session", "glob", "notes", "again/**"])["paths"], json!([]), "all of it or nothing");
}

#[test]
fn snapshots_and_forks_are_sessions_of_their_own() {
    let place = with_session();
    place.isolith(&["session", "write", "notes", "f", "--text", "one"]).is(0, "", "");
    place.isolith(&["session", "snapshot", "notes", "first"]).is(0, "first\n", "");
    place.isolith(&["session", "write", "notes", "f", "--text", "two"]).is(0, "", "");
    place.isolith(&["session", "fork", "notes", "copy"]).is(0, "copy\n", "");
    let restored = told(&place, &["session", "fork", "notes", "--snapshot", "first"]);
    let name = restored["session"].as_str().unwrap();
    assert!(name.starts_with("notes-restored-"), "{name}");
    place.isolith(&["session", "read", name, "f"]).is(0, "one", "");
    place.isolith(&["session", "read", "copy", "f"]).is(0, "two", "");
    place.isolith(&["session", "rm", "notes"]).is(0, "", "");
    fails(&place, &["session", "show", "notes"], "session.not_found");
    place.isolith(&["session", "read", "copy", "f"]).is(0, "two", "");
    assert_eq!(told(&place, &["session", "sweep"])["bytes"], 0);
}

fn set(served: &Served, path: &str, key: &str, body: &Value) -> Answer {
    served.send("PUT", path, key, &[("content-type", "application/json")], body.to_string().as_bytes())
}

#[test]
fn over_http_a_session_sleeps_and_wakes_with_everything_in_place() {
    let folder = folder();
    let served = serve(&folder, &[]);
    let made = served.post("/v1/sessions", "", &json!({ "session": "work", "sleep_after_s": 0 }));
    assert_eq!((made.status, made.json()["session"].as_str()), (201, Some("work")), "{made:?}");
    let wrote = served.send("PUT", "/v1/sessions/work/files/a/b.bin", "", &[], b"\x00\xff");
    assert_eq!((wrote.status, wrote.json()), (200, json!(2)));
    let began = Instant::now();
    loop {
        let metrics = String::from_utf8(served.get("/metrics", "").body).unwrap();
        if metrics.contains("isolith_sessions_awake 0") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it does not sleep");
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = folder.path().join("data/sessions/work.sqlite-wal");
    // It is closed by whoever let it go last, which takes a moment.
    while log.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "asleep means closed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(served.get("/v1/sessions/work/files/a/b.bin", "").body, b"\x00\xff");
    let op = served.post("/v1/sessions/work/files", "", &json!({ "op": "list", "path": "a" }));
    assert_eq!(op.json()["entries"][0]["name"], "b.bin");
    let run = json!({ "session": "work", "program": "await files.write('r.txt', 'x'); return (await files.list('.')).length" });
    let ran = served.post("/v1/runs", "", &run);
    assert_eq!(ran.json()["value"], 2, "{ran:?}");
    served.kill();
    let served = serve(&folder, &[]);
    assert_eq!(served.get("/v1/sessions/work/files/r.txt", "").body, b"x");
    let runs = served.get("/v1/runs?session=work", "").json();
    assert_eq!(runs["runs"][0]["status"], "ok", "its runs are kept: {runs}");
    let file =
        served.post("/v1/sessions/work/files", "", &json!({ "op": "write", "path": "p.ts", "text": "return 6 * 7" }));
    assert_eq!(file.status, 200, "{file:?}");
    assert_eq!(served.post("/v1/runs", "", &json!({ "session": "work", "file": "p.ts" })).json()["value"], 42);
    let tar = served.get("/v1/sessions/work/archive", "");
    assert_eq!((tar.status, tar.body.len() % 512), (200, 0));
    let into = served.send("PUT", "/v1/sessions/work/archive?path=copy", "", &[], &tar.body);
    assert_eq!(into.json()["entries"], 4, "{into:?}");
}

#[test]
fn mistakes_over_http_have_their_codes() {
    let folder = folder();
    let served = serve(&folder, &[]);
    served.post("/v1/sessions", "", &json!({ "session": "s" }));
    let op = |body: Value| served.post("/v1/sessions/s/files", "", &body);
    for (answer, status, code) in [
        (served.post("/v1/sessions", "", &json!({ "session": "s" })), 409, "session.exists"),
        (served.post("/v1/sessions", "", &json!({ "session": "../x" })), 400, "request.invalid"),
        (served.post("/v1/sessions", "", &json!({ "tier": "box" })), 400, "session.tier"),
        (served.post("/v1/sessions", "", &json!({ "manifest": { "grants": ["nonsense"] } })), 400, "request.invalid"),
        (served.post("/v1/sessions", "", &json!({ "sleep": 1 })), 400, "request.invalid"),
        (served.get("/v1/sessions/none", ""), 404, "session.not_found"),
        (served.get("/v1/sessions/s/files/none", ""), 404, "files.not_found"),
        (op(json!({ "op": "read", "path": "../x" })), 403, "files.denied"),
        (op(json!({ "op": "reed", "path": "x" })), 400, "request.invalid"),
        (op(json!({ "op": "read", "path": "x", "limit": 3 })), 400, "request.invalid"),
        (op(json!({ "op": "write", "path": "x" })), 400, "request.invalid"),
        (op(json!({ "op": "write", "path": "x", "base64": "!" })), 400, "request.invalid"),
        (op(json!({ "op": "grep", "pattern": "((" })), 400, "files.invalid"),
        (served.post("/v1/runs", "", &json!({ "program": "1", "session": "none" })), 404, "session.not_found"),
        (served.post("/v1/runs", "", &json!({ "file": "x" })), 400, "request.invalid"),
        (served.send("PUT", "/v1/sessions/s/archive?format=zip", "", &[], b"no zip"), 400, "files.invalid"),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    }
}

#[test]
fn a_caller_has_sessions_of_its_own_and_only_with_the_scope() {
    let folder = folder();
    let (first, second) =
        (key(&folder, &["first", "--scope", "runs,sessions"]), key(&folder, &["second", "--scope", "runs,sessions"]));
    let runs_only = key(&folder, &["third", "--scope", "runs"]);
    let served = serve(&folder, &[]);
    assert_eq!(served.post("/v1/sessions", &first, &json!({ "session": "s" })).status, 201);
    assert_eq!(served.send("PUT", "/v1/sessions/s/files/f", &first, &[], b"x").status, 200);
    assert_eq!(served.get("/v1/sessions/s/files/f", &second).status, 404);
    assert_eq!(served.get("/v1/sessions", &second).json()["sessions"], json!([]));
    let foreign = served.post("/v1/runs", &second, &json!({ "program": "return 1", "session": "s" }));
    assert_eq!(foreign.code(), "session.not_found");
    for answer in [
        served.post("/v1/sessions", &runs_only, &json!({})),
        served.get("/v1/sessions/s/files/f", &runs_only),
        served.post("/v1/runs", &runs_only, &json!({ "program": "return 1", "session": "s" })),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (403, "key.scope"), "{answer:?}");
    }
}

#[test]
fn a_sessions_manifest_is_the_most_that_its_programs_may_do() {
    let folder = folder();
    let served = serve(&folder, &[]);
    let manifest = json!({ "grants": ["egress:GET https://api.example.com"], "limits": { "calls": 5 } });
    served.post("/v1/sessions", "", &json!({ "session": "s", "manifest": manifest }));
    let run = |body: Value| served.post("/v1/runs", "", &body).json();
    let has = |grants: Value| {
        let mut body = json!({ "program": "return typeof fetch", "session": "s" });
        if !grants.is_null() {
            body["grants"] = grants;
        }
        run(body)
    };
    assert_eq!(has(Value::Null)["value"], "function", "all that it says, where nothing is asked for");
    assert_eq!(has(json!(["egress:other.example.com"]))["value"], "undefined", "and no more");
    let many = run(json!({ "program": "for (let i = 0; i < 9; i++) await files.stat('x')", "session": "s" }));
    assert_eq!(many["error"]["kind"], "call_limit", "{many}");
}

fn signed(secret: &[u8], id: &str, at: u64, body: &str) -> Vec<(&'static str, String)> {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), format!("{id}.{at}.{body}").as_bytes());
    let signature = format!("v1,{}", BASE64_STANDARD.encode(tag));
    vec![("webhook-id", id.to_owned()), ("webhook-timestamp", at.to_string()), ("webhook-signature", signature)]
}

#[test]
fn a_signed_event_wakes_a_session_once() {
    let folder = folder();
    let served = serve(&folder, &[]);
    assert_eq!(set(&served, "/v1/secrets/HOOK_OLD", "", &json!({ "value": "an old one" })).status, 200);
    let secret = format!("whsec_{}", BASE64_STANDARD.encode(b"a new one"));
    assert_eq!(set(&served, "/v1/secrets/HOOK_NEW", "", &json!({ "value": secret })).status, 200);
    let program =
        "const n = (await kv.session.get('n')) ?? 0; await kv.session.put('n', n + 1); return [input.data.n, n]";
    let settings = json!({ "secrets": ["HOOK_OLD", "HOOK_NEW"], "session_field": "data.chat", "program": program });
    let made = set(&served, "/v1/webhooks/hook", "", &settings);
    assert_eq!((made.status, made.json()["url"].as_str()), (200, Some("/webhooks/local/hook")), "{made:?}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let send = |secret: &[u8], id: &str, at: u64, body: &str, said: &str| {
        let headers = signed(secret, id, at, body);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        served.send("POST", "/webhooks/local/hook", "", &headers, said.as_bytes())
    };
    let body = json!({ "data": { "chat": "Chat No. 7", "n": 1 } }).to_string();
    let first = send(b"an old one", "e1", now, &body, &body);
    assert_eq!(first.status, 200, "{first:?}");
    let effect = first.json()["effect"].clone();
    let run = served.get(&format!("/v1/runs/{}?wait=30s", effect["run"].as_str().unwrap()), "").json();
    assert_eq!(run["value"], json!([1, 0]), "{run}");
    let again = send(b"a new one", "e1", now, &body, &body);
    assert_eq!(again.json()["effect"], effect, "one that comes again is not performed again");
    let other = json!({ "data": { "chat": "Chat No. 7", "n": 2 } }).to_string();
    let second = send(b"a new one", "e2", now, &other, &other).json()["effect"].clone();
    assert_eq!(second["session"], effect["session"], "of the same session");
    let run = served.get(&format!("/v1/runs/{}?wait=30s", second["run"].as_str().unwrap()), "").json();
    assert_eq!(run["value"], json!([2, 1]), "which has what the first one left");
    for (answer, code) in [
        (send(b"wrong", "e3", now, &body, &body), "webhook.signature"),
        (send(b"a new one", "e3", now, &body, &other), "webhook.signature"),
        (send(b"a new one", "e3", now - 301, &body, &body), "webhook.time"),
        (send(b"a new one", "e3", now + 400, &body, &body), "webhook.time"),
        (served.send("POST", "/webhooks/local/hook", "", &[], body.as_bytes()), "webhook.signature"),
        (served.send("POST", "/webhooks/local/none", "", &[], body.as_bytes()), "webhook.signature"),
        (served.send("POST", "/webhooks/nobody/hook", "", &[], body.as_bytes()), "webhook.signature"),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (401, code), "{answer:?}");
    }
    assert_eq!(send(b"a new one", "e4", now, "no json", "no json").code(), "request.invalid");
    let events = served.get("/v1/webhooks/hook/events", "").json();
    assert_eq!(events["events"].as_array().unwrap().len(), 2, "{events}");
    let replayed = served.send("POST", "/v1/webhooks/hook/events/e1/replay", "", &[], b"").json();
    assert_ne!(replayed["effect"]["run"], effect["run"], "performed once more, because someone asked for it");
}

#[test]
fn an_agent_says_what_holds_for_its_sessions() {
    let place = place();
    place.isolith(&["agent", "put", "helper", "--description", "Helps", "--room-files", "1"]).is(
        0,
        "helper  Helps\n",
        "",
    );
    place.isolith(&["session", "create", "s", "--agent", "helper"]).is(0, "s\n", "");
    place.isolith(&["session", "write", "s", "a", "--text", "1"]).is(0, "", "");
    fails(&place, &["session", "write", "s", "b", "--text", "1"], "files.quota");
    place.isolith(&["agent", "put", "helper", "--room-files", "5"]).is(0, "helper\n", "");
    place.isolith(&["session", "write", "s", "b", "--text", "1"]).is(0, "", "");
    fails(&place, &["agent", "rm", "helper"], "session.invalid");
    place.isolith(&["session", "rm", "s"]).is(0, "", "");
    place.isolith(&["agent", "rm", "helper"]).is(0, "", "");
    fails(&place, &["agent", "rm", "helper"], "session.not_found");
}

#[test]
fn two_processes_write_to_one_session_and_lose_nothing() {
    let place = with_session();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let program = format!("for (let n = 0; n < 20; n++) await files.append('log', '{writer}:' + n + '\\n')");
            place.write(&format!("w{writer}.ts"), &program);
            place.command(&["run", &format!("w{writer}.ts"), "--session", "notes"]).spawn().unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let log = place.isolith(&["session", "read", "notes", "log"]).stdout;
    for writer in 0..4 {
        let own: Vec<&str> = log.lines().filter(|line| line.starts_with(&format!("{writer}:"))).collect();
        assert_eq!(own, (0..20).map(|n| format!("{writer}:{n}")).collect::<Vec<_>>());
    }
}

#[test]
fn a_workspace_is_declared_with_capabilities_and_used_by_its_tools() {
    let folder = folder();
    let served = serve(&folder, &[]);
    let open = |provider: Value, capabilities: Value| {
        served.post("/v1/workspaces", "", &json!({ "provider": provider, "capabilities": capabilities }))
    };
    let call = |reference: &Value, tool: &str, arguments: Value| {
        served.post("/v1/workspaces/call", "", &json!({ "ref": reference, "tool": tool, "arguments": arguments }))
    };
    let opened = open(
        json!({ "kind": "filestore" }),
        json!({ "fs": true, "script": { "maxDurationMs": 5000 }, "snapshot": true }),
    );
    assert_eq!(opened.status, 201, "{opened:?}");
    let (reference, tools) = (opened.json()["ref"].clone(), opened.json()["tools"].clone());
    let names: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"workspace_read_file") && names.contains(&"workspace_script"), "{names:?}");
    assert_eq!(opened.json()["script"], json!({ "languages": ["javascript"], "isStateful": false }));
    call(&reference, "workspace_write_file", json!({ "path": "a.txt", "content": "one" }));
    assert_eq!(call(&reference, "workspace_read_file", json!({ "path": "a.txt" })).json()["text"], "one");
    let snapshot = call(&reference, "workspace_snapshot", json!({})).json();
    call(&reference, "workspace_write_file", json!({ "path": "a.txt", "content": "two" }));
    let restored = call(&reference, "workspace_restore", json!({ "snapshot": snapshot["ref"] })).json();
    assert_ne!(restored["ref"], reference["ref"], "a new identity");
    assert_eq!(call(&restored, "workspace_read_file", json!({ "path": "a.txt" })).json()["text"], "one");
    assert_eq!(call(&reference, "workspace_read_file", json!({ "path": "a.txt" })).json()["text"], "two");
    let ran =
        call(&reference, "workspace_script", json!({ "code": "console.log('a'); console.warn('b'); return [1]" }));
    let expected = json!({
        "outputs": [{ "type": "stdout", "data": "a\n" }, { "type": "stderr", "data": "b\n" }, { "type": "result", "value": [1] }],
        "exitCode": 0,
    });
    assert_eq!(ran.json(), expected);
    let python = call(&reference, "workspace_script", json!({ "code": "1", "language": "python" })).json();
    assert_eq!(python["exitCode"], 1);
    assert_eq!(
        python["error"]["message"],
        "WorkerLoaderScriptRunner: language 'python' is not supported (the script runner is JavaScript-only; use workspace_run_code for other languages)."
    );
    let slow = call(&reference, "workspace_script", json!({ "code": "for (;;);", "timeoutMs": 50 })).json();
    assert_eq!((slow["exitCode"].as_i64(), slow["error"]["name"].as_str()), (Some(1), Some("Timeout")), "{slow}");
    let body =
        json!({ "ref": reference, "tool": "workspace_script", "arguments": { "code": "console.log('x'); return 2" } });
    let headers = [("content-type", "application/json"), ("accept", "text/event-stream")];
    let streamed = served.send("POST", "/v1/workspaces/call", "", &headers, body.to_string().as_bytes());
    let text = String::from_utf8(streamed.body).unwrap();
    assert!(
        text.starts_with("event: workspace_code_output\ndata: {\"type\":\"stdout\",\"data\":\"x\\n\"}\n"),
        "{text}"
    );
    assert!(text.contains("event: result\n"), "{text}");
    let memory = open(json!({ "kind": "in-memory" }), json!({ "fs": true })).json()["ref"].clone();
    call(&memory, "workspace_write_file", json!({ "path": "m", "content": "m" }));
    assert_eq!(call(&memory, "workspace_ls", json!({})).json()["entries"][0]["name"], "m");
    for (answer, why) in [
        (open(json!({ "kind": "filestore" }), json!({ "shell": true })), "needs a Linux box"),
        (open(json!({ "kind": "isolate" }), json!({ "fs": true })), "keeps no files"),
        (open(json!({ "kind": "local-directory", "path": "/" }), json!({ "fs": true })), "server's machine"),
    ] {
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.code() == "workspace.failed" && message.contains(why), "{answer:?}");
    }
    assert_eq!(call(&memory, "workspace_script", json!({ "code": "1" })).code(), "request.invalid", "not declared");
    served.kill();
    std::fs::create_dir_all(folder.path().join("trees/one")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("trees/out")).unwrap();
    let served = serve(&folder, &["--workspaces", folder.path().join("trees").to_str().unwrap()]);
    let open = |path: &str| {
        let provider = json!({ "kind": "local-directory", "path": path });
        served.post("/v1/workspaces", "", &json!({ "provider": provider, "capabilities": { "fs": true } }))
    };
    for path in ["out", "/etc", "../data", "none", "one/../../data"] {
        assert_eq!(open(path).code(), "workspace.failed", "{path}");
    }
    let local = open("one").json()["ref"].clone();
    let call = |reference: &Value, tool: &str, arguments: Value| {
        served.post("/v1/workspaces/call", "", &json!({ "ref": reference, "tool": tool, "arguments": arguments }))
    };
    call(&local, "workspace_write_file", json!({ "path": "l.txt", "content": "here" }));
    assert_eq!(std::fs::read_to_string(folder.path().join("trees/one/l.txt")).unwrap(), "here");
    assert_eq!(call(&local, "workspace_read_file", json!({ "path": "../../data/key" })).status, 403);
    assert_eq!(call(&reference, "workspace_read_file", json!({ "path": "a.txt" })).json()["text"], "two");
    assert_eq!(
        call(&memory, "workspace_ls", json!({})).code(),
        "workspace.failed",
        "memory does not outlive a process"
    );
}
