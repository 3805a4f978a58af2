//! Runs of a server and of an MCP client are recorded where the operator wants that, and done again by the command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::server::{key, serve};
use support::{Folder, Ran, command, folder, ran};

fn isolith(folder: &Folder, data: &str, args: &[&str]) -> Ran {
    ran(command(args).current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join(data)).output().unwrap())
}

fn replayed(folder: &Folder, data: &str, run: &str) -> Value {
    let ran = isolith(folder, data, &["replay", run, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

const PROGRAM: &str = "const a = await tools.look({ n: 1 }); console.log('got', a, Math.random() < 1); const b = await tools.look({ n: 2 }); return [a, b, await kv.put('a', b)]";

#[test]
fn a_run_with_its_clients_tools_is_one_journal_though_it_left_memory_and_its_server_was_killed() {
    let folder = folder();
    let mut served = serve(&folder, &["--record"]);
    let body = json!({ "program": PROGRAM, "grants": ["kv:notes"], "tools": [{ "name": "look" }] });
    let mut answer = served.post("/v1/runs", "", &body).json();
    let run = answer["run"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    for n in [7, 8] {
        assert_eq!(answer["status"], "suspended", "{answer}");
        served.kill();
        served = serve(&folder, &[]);
        let call = answer["waiting_for"][0]["id"].clone();
        let replies = json!({ "resume": answer["resume"], "replies": [{ "id": call, "value": n }] });
        answer = served.post(&format!("/v1/runs/{run}/calls"), "", &replies).json();
    }
    assert_eq!(answer["status"], "ok", "{answer}");
    let again = replayed(&folder, "data", &run);
    assert_eq!((&again["verdict"], &again["outcome"]["value"]), (&json!("same"), &answer["value"]), "{again}");
    // One that is not to be recorded is not.
    let other = served.post("/v1/runs", "", &json!({ "program": "return 1" })).json();
    assert_eq!(other["status"], "ok", "{other}");
    let listed = isolith(&folder, "data", &["replay"]).stdout;
    assert_eq!(listed.lines().filter(|line| line.contains(&run)).count(), 1, "{listed}");
    assert_eq!(listed.lines().filter(|line| !line.trim().is_empty()).count(), 1, "{listed}");
}

#[test]
fn each_caller_has_journals_of_its_own_and_names_of_its_own() {
    let folder = folder();
    let keys = [key(&folder, &["one"]), key(&folder, &["two"])];
    let served = serve(&folder, &["--record"]);
    let body = json!({ "program": "return input", "run": "Same_name", "input": 5 });
    for key in &keys {
        assert_eq!(served.post("/v1/runs", key, &body).json()["value"], 5);
    }
    let twice = served.post("/v1/runs", &keys[0], &body);
    assert!(twice.status == 409, "{twice:?}");
    drop(served);
    let callers: Vec<String> = std::fs::read_dir(folder.path().join("data/callers"))
        .unwrap()
        .map(|entry| format!("data/callers/{}", entry.unwrap().file_name().into_string().unwrap()))
        .collect();
    assert_eq!(callers.len(), 2);
    for caller in &callers {
        assert_eq!(replayed(&folder, caller, "Same_name")["outcome"]["value"], 5);
    }
    // A server that has forgotten the run still does not write over its journal.
    for name in ["runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm"] {
        let _ = std::fs::remove_file(folder.path().join("data").join(name));
    }
    let served = serve(&folder, &["--record"]);
    let recorded = served.post("/v1/runs", &keys[0], &body);
    assert_eq!((recorded.status, recorded.code().as_str()), (409, "run.recorded"), "{recorded:?}");
}

#[test]
fn what_an_mcp_client_runs_is_recorded() {
    let folder = folder();
    for (flags, recorded) in [(&["mcp"][..], 0), (&["mcp", "--record"], 1)] {
        let mut mcp = command(flags);
        mcp.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data"));
        let program = "console.log('hi'); return [Math.random() < 2, 41]";
        let answer = support::mcp::execute(&mut mcp, json!({ "program": program })).to_string();
        assert!(answer.contains("41"), "{answer}");
        let listed = isolith(&folder, "data", &["replay"]).stdout;
        assert_eq!(listed.lines().filter(|line| !line.trim().is_empty()).count(), recorded, "{listed}");
    }
    let again = replayed(&folder, "data", "last");
    assert_eq!((&again["verdict"], &again["outcome"]["value"]), (&json!("same"), &json!([true, 41])), "{again}");
    // Old ones can be forgotten together.
    let kept = isolith(&folder, "data", &["replay", "--forget", "--older-than", "1h"]);
    assert_eq!((kept.code, kept.stdout.as_str()), (0, "forgotten: 0\n"), "{kept:?}");
    let gone = isolith(&folder, "data", &["replay", "--forget", "--older-than", "0s"]);
    assert_eq!((gone.code, gone.stdout.as_str()), (0, "forgotten: 1\n"), "{gone:?}");
    let bare = isolith(&folder, "data", &["replay", "--forget"]);
    assert_eq!(bare.code, 2, "{bare:?}");
}
