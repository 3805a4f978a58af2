//! Parts of the language that are granted, through every door, and refused without the grant or the engine that has them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::server::{key, serve};
use support::{Folder, Ran, command, folder, ran};

/// A module that adds, used: it was compiled and runs.
const ADDS: &str = "const add = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100,
  0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
const { instance } = await WebAssembly.instantiate(add);
return instance.exports.add(40, 2)";
const GRANT: &str = "builtin:WebAssembly";

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    ran(command(args).current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap())
}

fn with_v8() -> Folder {
    let folder = folder();
    folder.write("adds.ts", ADDS);
    let installed = isolith(&folder, &["engine", "install", "v8"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    folder
}

#[test]
fn the_command_line_grants_them() {
    let folder = with_v8();
    folder.write("adds.toml", "engine = \"v8\"\ngrants = [\"builtin:WebAssembly\"]\n");
    folder.write("strict.toml", "grants = [\"kv:notes\"]\n");
    folder.write("forbids.toml", "grants = [\"builtin:WebAssembly\", \"deny builtin:WebAssembly\"]\n");
    for args in [
        &["run", "adds.ts", "--engine", "v8", "--grant", GRANT][..],
        &["run", "adds.ts", "--engine", "auto", "--grant", GRANT],
        &["run", "adds.ts", "--manifest", "adds.toml"],
        &["run", "adds.ts", "--manifest", "adds.toml", "--policy", "adds.toml"],
        &["run", "adds.ts", "--engine", "v8", "--allow-all"],
    ] {
        let ran = isolith(&folder, args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "42\n"), "{args:?}: {ran:?}");
    }
    // What ran there is done again there, also where `auto` began it.
    for engine in ["v8", "auto"] {
        let recorded = isolith(&folder, &["run", "adds.ts", "--engine", engine, "--grant", GRANT, "--record"]);
        assert_eq!(recorded.code, 0, "{recorded:?}");
        let replayed = isolith(&folder, &["replay", "last", "--json"]);
        assert!(replayed.code == 0 && replayed.stdout.contains("\"same\""), "{engine}: {replayed:?}");
    }
    let verified = isolith(&folder, &["audit", "verify", "--reexecute"]);
    assert!(verified.code == 0 && verified.stdout.contains("the same: 2"), "{verified:?}");
    // Another policy would have changed that.
    let changed = isolith(&folder, &["policy", "test", "strict.toml"]);
    assert!(changed.code == 1 && changed.stdout.contains("allowed → refused `WebAssembly`"), "{changed:?}");
    assert_eq!(isolith(&folder, &["policy", "test", "adds.toml"]).code, 0);
    let receipt = isolith(&folder, &["run", "adds.ts", "--manifest", "adds.toml", "--json"]).stdout;
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["grants"], json!([GRANT]), "{receipt}");

    for (args, code, words) in [
        (&["run", "adds.ts", "--engine", "v8"][..], 1, "--engine v8 --grant builtin:WebAssembly"),
        (&["run", "adds.ts"], 1, "--engine v8 --grant builtin:WebAssembly"),
        (&["run", "adds.ts", "--manifest", "adds.toml", "--policy", "strict.toml"], 1, "WebAssembly is not defined"),
        (&["run", "adds.ts", "--engine", "v8", "--manifest", "forbids.toml"], 1, "WebAssembly is not defined"),
        (&["run", "adds.ts", "--grant", GRANT], 2, "engine `quickjs` does not support `WebAssembly`"),
        (&["run", "adds.ts", "--grant", GRANT, "--isolation", "process"], 2, "does not support `WebAssembly`"),
        (&["run", "adds.ts", "--grant", GRANT, "--engine", "v8", "--jitless"], 2, "does not support `WebAssembly`"),
        (&["run", "adds.ts", "--grant", "ask builtin:WebAssembly", "--engine", "v8"], 2, "no call to ask about"),
        (
            &["run", "adds.ts", "--grant", "builtin:Wasm", "--engine", "v8"],
            2,
            "there are `WebAssembly`, `SharedArrayBuffer`",
        ),
    ] {
        let refused = isolith(&folder, args);
        assert!(refused.code == code && refused.stderr.contains(words), "{args:?}: {refused:?}");
    }
    let checked = isolith(&folder, &["check", "adds.ts"]);
    assert!(checked.stdout.contains("builtin:WebAssembly  (line 3)"), "{checked:?}");
    let (_, smallest) = checked.stdout.split_once("(isolith.toml):\n").unwrap();
    folder.write("smallest.toml", smallest);
    let ran = isolith(&folder, &["run", "adds.ts", "--manifest", "smallest.toml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "42\n"), "{ran:?}");
    // Whoever can do without is not kept from it where there is none.
    let without = "try { new SharedArrayBuffer(8); } catch { return 'without'; }";
    let ran = isolith(&folder, &["eval", without, "--allow-all"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "without\n"), "{ran:?}");
}

#[test]
fn a_workflow_cannot_have_them() {
    let folder = folder();
    folder.write("adds.toml", "grants = [\"builtin:WebAssembly\"]\n");
    folder.write(
        "flow.ts",
        "import { defineWorkflow } from 'defineworkflow';
         export default defineWorkflow({ name: 'x', description: 'd', phases: [], async run() { return typeof WebAssembly; } });",
    );
    let ran = isolith(&folder, &["workflow", "run", "flow.ts", "--yes", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.trim()), (0, "\"undefined\""), "{ran:?}");
    let refused = isolith(&folder, &["workflow", "run", "flow.ts", "--yes", "--manifest", "adds.toml"]);
    assert!(refused.code == 2 && refused.stderr.contains("it cannot with `WebAssembly`"), "{refused:?}");
    // Nothing was begun.
    let listed = isolith(&folder, &["workflow", "list", "--json"]).stdout;
    assert!(!listed.contains("interrupted"), "{listed}");
}

#[test]
fn a_server_grants_them_as_far_as_its_policies_let_it() {
    let folder = with_v8();
    folder.write("strict.toml", "grants = [\"kv:notes\"]\n");
    folder.write("wide.toml", "grants = [\"builtin:WebAssembly\"]\n");
    let free = key(&folder, &["free"]);
    let strict = key(&folder, &["strict", "--policy", "strict.toml"]);
    let wide = key(&folder, &["wide", "--policy", "wide.toml"]);
    let served = serve(&folder, &[]);
    let run = |key: &str, engine: &str, grants: Value| {
        served.post("/v1/runs", key, &json!({ "program": ADDS, "engine": engine, "grants": grants }))
    };
    let table = json!([{ "kind": "builtin", "name": "WebAssembly" }]);
    for (key, engine, grants) in
        [(&free, "v8", json!([GRANT])), (&free, "auto", table.clone()), (&wide, "v8", json!([GRANT]))]
    {
        let outcome = run(key, engine, grants).json();
        assert_eq!((&outcome["value"], &outcome["ran_on"]["engine"]), (&json!(42), &json!("v8")), "{outcome}");
    }
    for (key, grants) in [(&free, json!([])), (&wide, json!([])), (&strict, table)] {
        let outcome = run(key, "v8", grants).json();
        assert_eq!(outcome["error"]["name"], "ReferenceError", "{outcome}");
    }
    let refused = run(&free, "quickjs", json!([GRANT]));
    assert_eq!((refused.status, refused.code().as_str()), (400, "request.invalid"), "{refused:?}");
    assert!(
        String::from_utf8_lossy(&refused.body).contains("engine `quickjs` does not support `WebAssembly`"),
        "{refused:?}"
    );
    assert_eq!(served.stop(), 0);
}

#[test]
fn a_server_of_tools_for_models_grants_them() {
    let folder = with_v8();
    let value = |flags: &[&str]| {
        let mut server = command(&[&["mcp"], flags].concat());
        let server = server.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data"));
        let answer = support::mcp::execute(server, json!({ "program": ADDS, "engine": "v8" }));
        answer["result"]["structuredContent"].clone()
    };
    assert_eq!(value(&["--grant", GRANT])["value"], 42);
    let refused = value(&[]);
    assert_eq!(refused["error"]["name"], "ReferenceError", "{refused}");
}
