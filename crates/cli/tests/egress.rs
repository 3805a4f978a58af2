//! Every hostile request of `egress/cases.jsonl`, through the binary: each against servers of its own, which say what
//! really reached them, with everything that must hold whatever a program asks for.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "egress/case.rs"]
mod case;
#[path = "egress/ended.rs"]
mod ended;
#[path = "egress/fixtures.rs"]
mod fixtures;
#[path = "egress/judge.rs"]
mod judge;
mod support;

use judge::{ensure, withstand};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

/// Cases that are given; `conformance/attacks/README.md` describes their fields.
const GIVEN: &str = include_str!("egress/cases.jsonl");
/// Cases of our own, in the same form.
const OWN: &str = include_str!("egress/own.jsonl");

/// The fields of cases that go wrong, and what has to be noticed.
const BROKEN: &str = include_str!("egress/broken.jsonl");

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for line in GIVEN.lines().chain(OWN.lines()).filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        trials.push(Trial::test(case["id"].as_str().unwrap(), move || withstand(line)));
    }
    for line in BROKEN.lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let noticed = case["noticed"].take().as_str().unwrap().to_owned();
        case.as_object_mut().unwrap().remove("noticed");
        let name = format!("broken promises are noticed: {noticed}");
        trials.push(Trial::test(name, move || is_noticed(&case, &noticed)));
    }
    libtest_mimic::run(&arguments, trials).exit()
}

/// A case that promises what does not hold has to be found out, or the checks check nothing.
fn is_noticed(fields: &Value, noticed: &str) -> Result<(), Failed> {
    let mut case = json!({
        "id": "broken", "area": "", "language": "egress", "why": "", "source": "",
        "limits": { "timeoutMs": 3000, "responseKb": 1024, "memoryMb": 64 },
        "grants": { "egress": [{ "host": "allowed.test", "port": "{{APORT}}", "scheme": "http" }] },
        "expect": { "kind": "no-effect" },
    });
    for (key, value) in fields.as_object().unwrap() {
        case[key] = value.clone();
    }
    let failed = withstand(&case.to_string()).err();
    let message = failed.as_ref().and_then(Failed::message).unwrap_or("nothing");
    ensure(message.contains(noticed), || format!("`{noticed}` was to be noticed, but this was: {message}"))
}
