//! The engine that does not come along: fetched, held against its hash, run, recorded, removed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::{Folder, Ran, command, folder, ran};

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    ran(command(args).current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap())
}

fn outcome(folder: &Folder, args: &[&str]) -> Value {
    let ran = isolith(folder, &[args, &["--engine", "v8", "--json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

#[test]
fn v8_is_installed_runs_the_same_programs_and_is_removed() {
    let folder = folder();
    let missing = isolith(&folder, &["eval", "1", "--engine", "v8"]);
    assert!(missing.code == 2 && missing.stderr.contains("isolith engine install v8"), "{missing:?}");
    folder.write("other.whl", "not that wheel");
    let other = isolith(&folder, &["engine", "install", "v8", "--from", "other.whl"]);
    assert!(other.code == 2 && other.stderr.contains("is pinned"), "{other:?}");
    let listed = isolith(&folder, &["engine", "list", "--json"]).stdout;
    assert!(listed.contains(r#""engine":"v8","installed":false"#), "{listed}");
    let installed = isolith(&folder, &["engine", "install", "v8", "--json"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let found: Value = serde_json::from_str(&installed.stdout).unwrap();
    assert!(found["v8"].as_str().unwrap().starts_with("14."), "{found}");

    // The same program, tools, console and errors.
    let program = "console.log('hi', [1, { a: 2 }]); return [n + 1, (await tools.echo({ n: 2 })).n, typeof fetch, typeof WebAssembly]";
    let args = ["eval", program, "--arg", "n=1", "--tool", "echo=cat"];
    let (v8, own) = (outcome(&folder, &args), isolith(&folder, &[&args[..], &["--json"]].concat()));
    let own: Value = serde_json::from_str(&own.stdout).unwrap();
    assert_eq!(v8["value"], json!([2, 2, "undefined", "undefined"]), "{v8}");
    assert_eq!((&v8["value"], &v8["exercised"]), (&own["value"], &own["exercised"]));
    assert_eq!(v8["outputs"][0]["text"], own["outputs"][0]["text"]);
    // Without the grant there is no tool.
    assert_eq!(outcome(&folder, &["eval", "return typeof tools?.echo"])["value"], "undefined");
    let endless = outcome(&folder, &["eval", "for (;;);", "--timeout", "300ms"]);
    assert_eq!(endless["status"], "error", "{endless}");
    let hungry =
        outcome(&folder, &["eval", "const a = []; for (;;) a.push('x'.repeat(1000) + a.length)", "--memory", "32MiB"]);
    assert_eq!(hungry["error"]["kind"], "memory_limit", "{hungry}");
    let jitless = isolith(&folder, &["eval", "return 6 * 7", "--engine", "v8", "--jitless"]);
    assert_eq!((jitless.code, jitless.stdout.as_str()), (0, "42\n"), "{jitless:?}");

    // What ran on it is done again on it.
    let recorded = outcome(
        &folder,
        &["eval", "return [Math.random() < 1, await tools.echo(3)]", "--tool", "echo=cat", "--record"],
    );
    assert_eq!(recorded["status"], "ok", "{recorded}");
    let replayed = isolith(&folder, &["replay", "last", "--json"]);
    assert!(replayed.code == 0 && replayed.stdout.contains("\"same\""), "{replayed:?}");
    let verified = isolith(&folder, &["audit", "verify", "--reexecute"]);
    assert!(verified.code == 0 && verified.stdout.contains("the same: 1"), "{verified:?}");
    let doctor = isolith(&folder, &["doctor"]).stdout;
    assert!(doctor.lines().any(|line| line.contains("engine v8") && !line.starts_with("!!")), "{doctor}");

    for (args, words) in [
        (&["eval", "1", "--jitless"][..], "say `--engine v8`"),
        (&["eval", "1", "--engine", "v8", "--remote", "http://127.0.0.1:1"], "cannot be used with"),
        (&["eval", "1", "--engine", "v9"], "v8"),
    ] {
        let refused = isolith(&folder, args);
        assert!(refused.code == 2 && refused.stderr.contains(words), "{args:?}: {refused:?}");
    }
    // It cannot leave memory, and says so beforehand.
    let asleep = isolith(
        &folder,
        &["eval", "await new Promise((done) => setTimeout(done, 60000))", "--engine", "v8", "--suspend", "state"],
    );
    assert!(asleep.code == 2 && asleep.stderr.contains("outside memory"), "{asleep:?}");
    folder.write("asks.toml", "grants = [\"ask kv:notes\"]\n");
    let asks = isolith(&folder, &["eval", "return kv.get('a')", "--engine", "v8", "--manifest", "asks.toml"]);
    assert!(asks.code == 2 && asks.stderr.contains("outside memory"), "{asks:?}");
    assert_eq!(isolith(&folder, &["engine", "remove", "v8"]).code, 0);
    assert_eq!(isolith(&folder, &["eval", "1", "--engine", "v8"]).code, 2);
}
