//! A run suspended in one process finishes in another.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use support::{folder, isolith_in};

const PROGRAM: &str = r#"
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const seen = new Map([["kept", { deep: [1, 2, 3] }]]);
class Counter { #n = 0; add() { return ++this.#n; } }
const counter = new Counter();
console.log("before");
const order = [];
await Promise.all([25, 5, 15].map(async (ms) => { await sleep(ms); counter.add(); order.push(ms); }));
console.log("after");
return { order, kept: seen.get("kept").deep, count: counter.add(), random: Math.random() };
"#;

#[test]
fn a_run_suspended_in_one_process_finishes_in_another() {
    let work = folder();
    work.write("wait.js", PROGRAM);
    let first = isolith_in(&work, &["run", "wait.js", "--seed", "3", "--suspend", "state"]);
    first.is(75, "before\n", "suspended: `isolith resume state` goes on with it\n");

    // It may be suspended again on the way, each time in a process of its own.
    let mut waits = 1;
    let last = loop {
        let ran = isolith_in(&work, &["resume", "state", "--suspend", "state"]);
        if ran.code != 75 {
            break ran;
        }
        waits += 1;
        assert!(waits < 10, "it waits for ever");
    };
    assert_eq!((last.code, last.stderr.as_str()), (0, ""));

    // The same program in one piece gives the same.
    let whole = isolith_in(&work, &["run", "wait.js", "--seed", "3"]);
    assert_eq!(whole.stdout, format!("before\n{}", last.stdout));
    assert!(last.stdout.contains(r#""order":[5,15,25],"kept":[1,2,3],"count":4"#), "{}", last.stdout);
}

#[test]
fn one_state_can_be_resumed_twice() {
    let work = folder();
    work.write("wait.js", "let n = 1; await new Promise(r => setTimeout(r, 300)); return ++n + Math.random()");
    assert_eq!(isolith_in(&work, &["run", "wait.js", "--suspend", "state"]).code, 75);
    let (first, second) = (isolith_in(&work, &["resume", "state"]), isolith_in(&work, &["resume", "state"]));
    assert_eq!(first.code, 0);
    assert_eq!(first, second);
}

#[test]
fn outputs_and_limits_come_along() {
    let work = folder();
    work.write(
        "wait.js",
        "console.log('one'); await new Promise(r => setTimeout(r, 300)); console.log('two'); for (;;);",
    );
    assert_eq!(isolith_in(&work, &["run", "wait.js", "--cpu", "60ms", "--suspend", "state"]).code, 75);
    let ran = isolith_in(&work, &["resume", "state", "--json"]);
    let outcome: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 124);
    assert_eq!(outcome["error"]["kind"], "cpu_limit");
    let texts: Vec<_> = outcome["outputs"].as_array().unwrap().iter().map(|o| o["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two"]);
}

#[test]
fn what_was_changed_or_cut_is_refused() {
    let work = folder();
    work.write("wait.js", PROGRAM);
    assert_eq!(isolith_in(&work, &["run", "wait.js", "--suspend", "state"]).code, 75);
    let state = work.read("state");
    // The engine's part starts with its name; the runner's part before it is JSON.
    let engine = state.windows(4).position(|w| w == b"ISLQ").unwrap();
    let flip = |at: usize| {
        let mut bytes = state.clone();
        bytes[at] ^= 1;
        bytes
    };
    let rows: &[(&str, Vec<u8>, &str)] = &[
        ("nothing", Vec::new(), "not a suspended run"),
        ("cut in the middle", state[..state.len() / 2].to_vec(), "damaged"),
        ("one byte short", state[..state.len() - 1].to_vec(), "checksum is wrong"),
        ("one byte more", [&state[..], &[0]].concat(), "checksum is wrong"),
        ("last bit", flip(state.len() - 1), "checksum is wrong"),
        ("magic", flip(0), "not a suspended run"),
        ("format", flip(engine + 4), "has a format this build does not read"),
        ("image", flip(engine + 8), "was made by another build of the engine"),
        ("checksum", flip(engine + 40), "checksum is wrong"),
    ];
    for (what, bytes, message) in rows {
        work.write_bytes("changed", bytes);
        let ran = isolith_in(&work, &["resume", "changed"]);
        assert_eq!(ran.code, 2, "{what}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{what}: {}", ran.stderr);
    }
}
