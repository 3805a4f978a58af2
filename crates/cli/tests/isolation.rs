//! A process of its own, asked for by flag, manifest or policy: the same programs with a second wall, and nothing else that could be
//! told apart.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::{Folder, Ran, command, folder, ran};

const PROCESS: &[&str] = &["--isolation", "process"];

fn isolith(folder: &Folder, args: &[&str], more: &[&str]) -> Ran {
    let args = [args, more].concat();
    ran(command(&args).current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap())
}

fn outcome(folder: &Folder, args: &[&str], more: &[&str]) -> Value {
    let ran = isolith(folder, args, &[more, &["--json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

#[test]
fn a_program_in_a_process_has_the_outcome_of_one_that_is_not() {
    let folder = folder();
    let program = "console.log('hi', [1, { a: 2 }]); return [n + 1, (await tools.echo({ n: 2 })).n, typeof fetch]";
    let args = ["eval", program, "--arg", "n=1", "--tool", "echo=cat"];
    let (apart, here) = (outcome(&folder, &args, PROCESS), outcome(&folder, &args, &[]));
    assert_eq!(apart["value"], json!([2, 2, "undefined"]), "{apart}");
    assert_eq!((&apart["value"], &apart["exercised"]), (&here["value"], &here["exercised"]));
    assert_eq!(apart["outputs"][0]["text"], here["outputs"][0]["text"]);
    let jail = &apart["ran_on"]["jail"];
    assert_eq!((&apart["ran_on"]["engine"], jail["missing"].is_array()), (&json!("quickjs"), true), "{apart}");
    assert_eq!(here["ran_on"], json!({ "engine": "quickjs" }), "{here}");
    // Without the grants, nothing: the walls are not what decides that.
    let bare = outcome(&folder, &["eval", "return [typeof tools?.echo, typeof kv]"], PROCESS);
    assert_eq!(bare["value"], json!(["undefined", "undefined"]), "{bare}");
    let endless = outcome(&folder, &["eval", "for (;;);", "--cpu", "100ms"], PROCESS);
    assert_eq!(endless["error"]["kind"], "cpu_limit", "{endless}");
    // A jail that is wanted whole is whole, or nothing runs.
    let whole = jail["missing"].as_array().is_some_and(Vec::is_empty);
    let required = isolith(&folder, &["eval", "return 1"], &[PROCESS, &["--require-jail"]].concat());
    assert_eq!(required.code == 0, whole, "{required:?}");
    assert!(whole || required.stderr.contains("missing"), "{required:?}");
}

#[test]
fn no_flag_takes_away_the_wall_of_a_manifest_or_a_policy() {
    let folder = folder();
    folder.write("walled.toml", "isolation = \"process\"\n");
    for flag in ["--manifest", "--policy"] {
        for more in [&[][..], &["--isolation", "none"]] {
            let walled = outcome(&folder, &["eval", "return 1", flag, "walled.toml"], more);
            assert!(walled["ran_on"]["jail"].is_object(), "{flag} {more:?}: {walled}");
        }
    }
}

#[test]
fn what_is_recorded_in_a_process_is_replayed_without_one() {
    let folder = folder();
    let program = "return [Math.random() < 1, await tools.echo(3)]";
    let recorded = outcome(&folder, &["eval", program, "--tool", "echo=cat", "--record"], PROCESS);
    assert_eq!(recorded["value"], json!([true, 3]), "{recorded}");
    let replayed = isolith(&folder, &["replay", "last", "--json"], &[]);
    assert!(replayed.code == 0 && replayed.stdout.contains("\"same\""), "{replayed:?}");
}

#[test]
fn what_is_suspended_comes_back_into_the_walls_that_it_had_or_those_it_is_given() {
    let folder = folder();
    let waits = "const a = [1, 2].map((x) => x * 2); await new Promise((done) => setTimeout(done, 1000)); return a";
    for (first, then, walled) in [(PROCESS, &[][..], true), (&[], PROCESS, true), (&[], &[], false)] {
        let asleep = isolith(&folder, &["eval", waits, "--suspend", "state"], first);
        assert_eq!(asleep.code, 75, "{asleep:?}");
        let awake = outcome(&folder, &["resume", "state"], then);
        assert_eq!(awake["value"], json!([2, 4]), "{awake}");
        assert_eq!(awake["ran_on"]["jail"].is_object(), walled, "{first:?} {then:?}: {awake}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let folder = folder();
    folder.write("walled.toml", "isolation = \"process\"\n");
    for (args, words) in [
        (&["eval", "1", "--require-jail"][..], "`--isolation process`"),
        (&["eval", "1", "--isolation", "process", "--jitless"], "say `--engine v8`"),
        (&["eval", "1", "--isolation", "process", "--remote", "http://127.0.0.1:1"], "cannot be used with"),
        (&["eval", "1", "--isolation", "process", "--worker", "http://127.0.0.1:1"], "cannot be used with"),
        (&["eval", "1", "--remote", "http://127.0.0.1:1", "--require-jail"], "means nothing here"),
        (&["eval", "1", "--remote", "http://127.0.0.1:1", "--policy", "walled.toml"], "not had elsewhere"),
        (&["eval", "1", "--isolation", "cell"], "process"),
    ] {
        let refused = isolith(&folder, args, &[]);
        assert!(refused.code == 2 && refused.stderr.contains(words), "{args:?}: {refused:?}");
    }
}
