//! What is written down is what was done: the receipt and the audit tell the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::origin::{Origin, reply};
use support::place::{Outcome, Place, place};

fn server() -> (Origin, String) {
    let origin = Origin::plain(|request, wire| match request.path() {
        "/away" => reply(wire, "302 Found", &[("location", "/a/there")], b""),
        path => reply(wire, "200 OK", &[], format!("{} {path}", request.body.len()).as_bytes()),
    });
    let base = format!("http://127.0.0.1:{}", origin.port());
    (origin, base)
}

/// A program that does a bit of everything, some of it refused and some of it failing.
fn busy(base: &str) -> String {
    format!(
        "const tries = [
           () => fetch('{base}/a/1').then((r) => r.text()),
           () => fetch('{base}/a/2', {{ method: 'POST', body: 'twelve bytes' }}).then((r) => r.text()),
           () => fetch('{base}/away').then((r) => r.text()),
           () => fetch('{base}/b'),
           () => fetch('https://elsewhere.example.test/secret?token=1'),
           () => kv.cache.put('k', 1), () => kv.cache.get('k'), () => kv.cache.list(),
           () => files.readText('notes/a.txt'), () => files.readText('notes/none.txt'), () => files.write('notes/b.txt', 'b'),
           () => tools.echo({{ a: 1 }}), () => tools.fails(1), () => invoke('callee', 1), () => invoke('other', 1),
         ];
         const seen = [];
         for (const go of tries) seen.push(await go().then(() => 'ok', (e) => e.code));
         return seen;"
    )
}

fn busy_run(place: &Place, base: &str) -> Outcome {
    place.write("notes/a.txt", "alpha");
    place.write("callee.ts", "await kv.cache.get('inner'); return 1");
    let (net, away) = (format!("{base}/a"), format!("GET {base}/away"));
    let flags = [
        "--allow-net",
        &net,
        "--allow-net",
        &away,
        "--allow-kv",
        "cache",
        "--allow-read",
        "notes",
        "--tool",
        "echo=cat",
        "--tool",
        "fails=exit 1 ",
        "--program",
        "callee=callee.ts",
    ];
    place.outcome(&busy(base), &flags)
}

fn counts(rows: &[Value], denied: bool) -> Vec<(String, u64)> {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| (row["outcome"] == "denied") == denied) {
        *counts.entry(row["grant"].as_str().unwrap().to_owned()).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn receipt_and_audit_tell_the_same() {
    let (_origin, base) = server();
    let place = place();
    let outcome = busy_run(&place, &base);
    let seen = json!([
        "ok",
        "ok",
        "ok",
        "egress.denied",
        "egress.denied",
        "ok",
        "ok",
        "ok",
        "ok",
        "files.not_found",
        "files.denied",
        "ok",
        "tool.failed",
        "ok",
        "invoke.denied"
    ]);
    assert_eq!(outcome.value(), &seen, "{:#}", outcome.json);
    let rows = place.audit(&["--run", outcome.run()]);
    assert_eq!(outcome.counts("exercised"), counts(&rows, false));
    assert_eq!(outcome.counts("denied"), counts(&rows, true));
    assert_eq!(outcome.counts("denied").len(), 4);
    // Refusals name the grant that would have allowed them, which makes them pass when it is given.
    let wanted = [
        format!("egress:GET {base}/b"),
        "egress:GET https://elsewhere.example.test/secret".into(),
        "files:write notes/b.txt".into(),
        "invoke:other".into(),
    ];
    let denied: Vec<String> = outcome.counts("denied").into_iter().map(|(grant, _)| grant).collect();
    assert_eq!(denied, wanted);
    assert!(!rows.iter().any(|row| row.to_string().contains("token=1")), "a query is content");
}

#[test]
fn rows_say_what_when_and_how_much() {
    let (_origin, base) = server();
    let place = place();
    let outcome = busy_run(&place, &base);
    let rows = place.audit(&["--run", outcome.run()]);
    let row =
        |what: &str| rows.iter().find(|row| row["what"] == what).unwrap_or_else(|| panic!("no {what}: {rows:#?}"));
    let post = row(&format!("POST {base}/a/2"));
    assert_eq!((&post["bytes_out"], &post["bytes_in"], &post["host"]), (&json!(12), &json!(7), &json!("127.0.0.1")));
    assert_eq!(post["outcome"], json!("ok"));
    // Each hop of a redirect is one.
    assert_eq!(row(&format!("GET {base}/away"))["outcome"], json!("ok"));
    assert_eq!(row(&format!("GET {base}/a/there"))["outcome"], json!("ok"));
    let refused = row(&format!("GET {base}/b"));
    assert!(refused["outcome"] == "denied" && refused["error"].as_str().unwrap().contains("not granted"), "{refused}");
    let digest = rows[0]["program"].as_str().unwrap();
    assert!(digest.len() >= 32 && rows.iter().filter(|row| row["program"] == digest).count() > 10, "{digest}");
}

#[test]
fn the_audit_can_be_searched() {
    let (_origin, base) = server();
    let place = place();
    let (one, two) = (busy_run(&place, &base), busy_run(&place, &base));
    assert_ne!(one.run(), two.run());
    assert!(place.audit(&["--limit", "1000"]).len() >= 2 * place.audit(&["--run", one.run()]).len());
    let denied = place.audit(&["--denied", "--run", one.run()]);
    assert!(!denied.is_empty() && denied.iter().all(|row| row["outcome"] == "denied" && row["run"] == one.run()));
    let there = place.audit(&["--host", "elsewhere.example.test"]);
    assert_eq!(there.len(), 2);
    assert!(there.iter().all(|row| row["host"] == "elsewhere.example.test"), "{there:#?}");
    assert_eq!(place.audit(&["--limit", "3"]).len(), 3);
    assert_eq!(place.audit(&["--run", "none"]), Vec::<Value>::new());
    let shown = place.isolith(&["audit", "--run", one.run()]);
    assert!(shown.stdout.contains("denied") && shown.stdout.contains("/a/there"), "{}", shown.stdout);
}

#[test]
fn a_log_of_lines_says_the_same() {
    let (_origin, base) = server();
    let place = place();
    place.write("p.ts", &format!("await fetch('{base}/a'); try {{ await fetch('{base}/b') }} catch {{}}"));
    let net = format!("{base}/a");
    let args = ["run", "p.ts", "--json", "--allow-net", &net, "--audit-log", "log.jsonl"];
    let outcome = Outcome::of(place.isolith(&args));
    outcome.value();
    let text = String::from_utf8(place.work.read("log.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, place.audit(&["--run", outcome.run()]));
    assert_eq!(lines.len(), 2);
    // The next run's lines come behind.
    Outcome::of(place.isolith(&args)).value();
    assert_eq!(String::from_utf8(place.work.read("log.jsonl")).unwrap().lines().count(), 4);
}

#[test]
fn what_was_under_way_when_a_run_ended_is_in_it() {
    let origin = Origin::plain(|_, wire| {
        std::thread::sleep(std::time::Duration::from_secs(5));
        reply(wire, "200 OK", &[], b"late")
    });
    let base = format!("http://127.0.0.1:{}", origin.port());
    let place = place();
    let outcome = place.outcome(&format!("await fetch('{base}/slow')"), &["--allow-net", &base, "--timeout", "500ms"]);
    assert_eq!(outcome.code, 124, "{:#}", outcome.json);
    let rows = place.audit(&["--run", outcome.run()]);
    assert_eq!(outcome.counts("exercised"), counts(&rows, false));
    assert_eq!(counts(&rows, false), [(format!("egress:{base}"), 1)]);
    assert_eq!((rows.len(), &rows[0]["outcome"]), (1, &json!("cancelled")), "{rows:#?}");
}

#[test]
fn a_run_that_cannot_be_written_down_does_not_pass_for_one_that_was() {
    let (_origin, base) = server();
    let place = place();
    place.write("p.ts", &format!("return (await fetch('{base}/a')).status"));
    let ran = place.isolith(&["run", "p.ts", "--allow-net", &base, "--audit-log", "no/such/folder/log"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = place.command(&["run", "p.ts", "--allow-net", &base]).env("ISOLITH_DATA", "p.ts/data").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}
