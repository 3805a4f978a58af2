//! What programs run on, and in: chosen by flag, manifest, policy and request, and told by every receipt.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::process::has_workers;
use support::server::{Answer, Served, key, serve};
use support::{Folder, Ran, command, folder, ran};

/// Computes for longer than `auto` waits, on the slow engine.
const HEAVY: &str = "let n = 0; for (let i = 0; i < 2e7; i++) n = (n * 31 + i) | 0; return n";

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    ran(command(args).current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap())
}

fn outcome(folder: &Folder, args: &[&str]) -> Value {
    let ran = isolith(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn with_v8() -> Folder {
    let folder = folder();
    let installed = isolith(&folder, &["engine", "install", "v8"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    folder
}

#[test]
fn what_cannot_be_run_on_is_refused_before_anything_runs() {
    let folder = folder();
    for (args, words) in [
        (&["eval", "1", "--auto-after", "1s"][..], "--engine auto"),
        // It begins without a jail.
        (&["eval", "1", "--engine", "auto", "--require-jail"], "--isolation process"),
    ] {
        let refused = isolith(&folder, args);
        assert!(refused.code == 2 && refused.stderr.contains(words), "{args:?}: {refused:?}");
    }
    folder.write("wrong.toml", "engine = \"v9\"\n");
    let refused = isolith(&folder, &["eval", "1", "--manifest", "wrong.toml"]);
    assert!(refused.code == 2 && refused.stderr.contains("`quickjs`, `v8` or `auto`"), "{refused:?}");
}

#[test]
fn auto_changes_over_when_a_program_computes_for_long() {
    let without = folder();
    let stays = outcome(&without, &["eval", HEAVY, "--engine", "auto", "--auto-after", "5ms"]);
    assert_eq!((&stays["status"], &stays["ran_on"]["engine"]), (&json!("ok"), &json!("quickjs")), "{stays}");
    assert!(stays["ran_on"]["switch"]["why"].as_str().unwrap().contains("not installed"), "{stays}");
    let folder = with_v8();
    let args = ["eval", HEAVY, "--engine", "auto", "--record"];
    let heavy = outcome(&folder, &args);
    assert_eq!((&heavy["value"], &heavy["ran_on"]["engine"]), (&stays["value"], &json!("v8")), "{heavy}");
    assert_eq!(heavy["ran_on"]["switch"]["taken_over"], true, "{heavy}");
    let light = outcome(&folder, &["eval", "return 1", "--engine", "auto"]);
    assert_eq!(light["ran_on"], json!({ "engine": "quickjs" }), "{light}");
    // What the engines say differently keeps it where it is.
    let differs = format!("await tools.echo(new Error('x').stack); {HEAVY}");
    let args = ["eval", differs.as_str(), "--engine", "auto", "--tool", "echo=cat", "--record"];
    let differs = outcome(&folder, &args);
    assert_eq!((&differs["value"], &differs["ran_on"]["engine"]), (&stays["value"], &json!("quickjs")), "{differs}");
    assert_eq!(differs["ran_on"]["switch"]["taken_over"], false, "{differs}");
    assert_eq!(differs["calls"].as_array().unwrap().len(), 1, "{differs}");
    // And each is done again on the engine that it was on in the end.
    let verified = isolith(&folder, &["audit", "verify", "--reexecute"]);
    assert!(verified.code == 0 && verified.stdout.contains("the same: 2"), "{verified:?}");
}

#[test]
fn a_run_that_was_in_v8_is_not_called_changed_where_v8_is_missing() {
    let folder = with_v8();
    // Written after it changed over, so that only one of both engines writes the same.
    let program = format!("const value = (() => {{ {HEAVY} }})(); console.log(new Error('x').stack); return value");
    let ran = outcome(&folder, &["eval", &program, "--engine", "auto", "--record"]);
    assert_eq!(ran["ran_on"]["engine"], "v8", "{ran}");
    assert_eq!(isolith(&folder, &["replay", "last"]).code, 0);
    assert_eq!(isolith(&folder, &["engine", "remove", "v8"]).code, 0);
    let unknown = isolith(&folder, &["replay", "last"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("`isolith engine install v8`"), "{unknown:?}");
}

#[test]
fn a_workflow_has_the_walls_of_its_policy() {
    let folder = folder();
    folder.write("w.js", "import { defineWorkflow, sleep } from 'defineworkflow';\nexport default defineWorkflow({ name: 't', description: 'd', harness: 'claude', async run() { await sleep(300); return 6 * 7; } });\n");
    folder.write("walled.toml", "isolation = \"process\"\n");
    folder.write("auto.toml", "engine = \"auto\"\n");
    folder.write("v8.toml", "engine = \"v8\"\n");
    let run = |policy| {
        let mut run = command(&["workflow", "run", "w.js", "--yes", "--json", "--policy", policy]);
        run.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data"));
        run
    };
    for (policy, walled) in [("walled.toml", true), ("auto.toml", false)] {
        let mut running = run(policy).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut seen = false;
        while running.try_wait().unwrap().is_none() {
            seen |= has_workers(running.id());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let ran = ran(running.wait_with_output().unwrap());
        assert!(ran.code == 0 && ran.stdout.contains("42"), "{ran:?}");
        assert_eq!(seen, walled, "{policy}");
    }
    let refused = ran(run("v8.toml").output().unwrap());
    assert!(refused.code == 2 && refused.stderr.contains("leaves memory"), "{refused:?}");
}

fn run(served: &Served, key: &str, body: &Value) -> Answer {
    served.post("/v1/runs", key, body)
}

#[test]
fn a_server_runs_what_was_asked_for_as_far_as_its_policies_let_it() {
    let folder = with_v8();
    folder.write("walled.toml", "isolation = \"process\"\n");
    folder.write("pinned.toml", "engine = \"quickjs\"\n");
    let free = key(&folder, &["free"]);
    let walled = key(&folder, &["walled", "--policy", "walled.toml", "--scope", "runs,isolates"]);
    let pinned = key(&folder, &["pinned", "--policy", "pinned.toml"]);
    folder.write("automatic.toml", "engine = \"auto\"\n");
    let automatic = key(&folder, &["automatic", "--policy", "automatic.toml"]);
    let served = serve(&folder, &[]);
    let on = |key: &str, fields: Value| {
        let mut body = json!({ "program": "return [6 * 7, typeof fetch]" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        run(&served, key, &body)
    };
    for (key, fields, engine, jailed) in [
        (&free, json!({}), "quickjs", false),
        (&free, json!({ "engine": "v8" }), "v8", true),
        (&free, json!({ "engine": "auto" }), "quickjs", false),
        (&free, json!({ "isolation": "process" }), "quickjs", true),
        (&free, json!({ "engine": "auto", "isolation": "process" }), "quickjs", true),
        (&walled, json!({}), "quickjs", true),
        (&walled, json!({ "isolation": "none" }), "quickjs", true),
        (&walled, json!({ "engine": "v8" }), "v8", true),
        (&pinned, json!({}), "quickjs", false),
    ] {
        let outcome = on(key, fields.clone()).json();
        assert_eq!(outcome["value"], json!([42, "undefined"]), "{fields}: {outcome}");
        assert_eq!(outcome["ran_on"]["engine"], engine, "{fields}: {outcome}");
        assert_eq!(outcome["ran_on"]["jail"].is_object(), jailed, "{fields}: {outcome}");
    }
    for (key, fields, status, code) in [
        (&pinned, json!({ "engine": "v8" }), 403, "engine.forbidden"),
        (&free, json!({ "engine": "v9" }), 400, "request.invalid"),
        (&free, json!({ "isolation": 1 }), 400, "request.invalid"),
        // It could not leave memory while its client is away.
        (&free, json!({ "engine": "v8", "tools": ["look"] }), 400, "request.invalid"),
        (&free, json!({ "engine": "v8", "grants": ["ask kv:notes"] }), 400, "request.invalid"),
    ] {
        let refused = on(key, fields.clone());
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{fields}: {refused:?}");
    }
    // A run in a process waits outside memory for its client, and comes back into a process.
    let body = json!({ "program": "return await tools.look(1)", "tools": ["look"], "isolation": "process" });
    let waits = run(&served, &free, &body).json();
    assert_eq!(waits["status"], "suspended", "{waits}");
    let name = waits["run"].as_str().unwrap();
    let replies =
        json!({ "resume": waits["resume"], "replies": [{ "id": waits["waiting_for"][0]["id"], "value": 5 }] });
    let done = served.post(&format!("/v1/runs/{name}/calls"), &free, &replies).json();
    assert!(done["value"] == 5 && done["ran_on"]["jail"].is_object(), "{done}");
    // So does one whose policy has all runs on `auto`, which began on `quickjs`.
    let body = json!({ "program": "return await tools.look(1)", "tools": ["look"] });
    let waits = run(&served, &automatic, &body).json();
    let replies =
        json!({ "resume": waits["resume"], "replies": [{ "id": waits["waiting_for"][0]["id"], "value": 6 }] });
    let name = waits["run"].as_str().unwrap();
    let done = served.post(&format!("/v1/runs/{name}/calls"), &automatic, &replies).json();
    assert_eq!(done["value"], 6, "{done}");
    // Auto on a server: the same program, with a tool by name that asks nobody.
    let heavy = run(&served, &free, &json!({ "program": HEAVY, "engine": "auto" })).json();
    assert_eq!((&heavy["status"], &heavy["ran_on"]["engine"]), (&json!("ok"), &json!("v8")), "{heavy}");
    assert_eq!(served.stop(), 0);
}

#[test]
fn a_run_in_v8_waits_in_memory_for_timers_that_others_wait_for_outside() {
    let folder = with_v8();
    let served = serve(&folder, &[]);
    let program = "await new Promise((done) => setTimeout(done, 10_100)); return 'later'";
    let ended = run(&served, "", &json!({ "program": program, "engine": "v8" })).json();
    assert_eq!((&ended["status"], &ended["value"]), (&json!("ok"), &json!("later")), "{ended}");
}

#[test]
fn a_server_without_v8_says_so_until_it_has_it() {
    let folder = folder();
    let served = serve(&folder, &[]);
    let refused = run(&served, "", &json!({ "program": "1", "engine": "v8" }));
    assert_eq!((refused.status, refused.code().as_str()), (400, "engine.missing"), "{refused:?}");
    let switched =
        || run(&served, "", &json!({ "program": HEAVY, "engine": "auto" })).json()["ran_on"]["switch"].clone();
    let stays = switched();
    assert!(stays["why"].as_str().unwrap().contains("not installed"), "{stays}");
    assert_eq!(isolith(&folder, &["engine", "install", "v8"]).code, 0);
    let found = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        run(&served, "", &json!({ "program": "return 1", "engine": "v8" })).json()["value"] == 1
    });
    assert!(found, "what was installed meanwhile is not found");
    // The engine that began without it, and was kept, finds it too.
    assert_eq!(switched()["taken_over"], true);
}
