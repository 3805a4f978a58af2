//! Workflows as data: what must come of each, event by event. `ISOLITH_WORKFLOW_CASES` names another folder of cases.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_workflow::{End, Fault, lines};
use serde_json::{Value, json};
use std::path::PathBuf;
use support::{Came, bundle, run};

fn cases() -> Vec<Value> {
    let own = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/workflow/cases");
    let folder = std::env::var_os("ISOLITH_WORKFLOW_CASES").map_or_else(own, PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let json = files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    json.map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
}

fn imported(case: &Value) -> Option<String> {
    let lines = case["input"].get("journal_in")?.as_array()?;
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

#[test]
fn every_case_comes_out_as_it_must() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are no cases");
    let mut wrong = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let found = std::panic::catch_unwind(|| match case["class"].as_str().unwrap() {
            "conform" => conform(case),
            _ => hazard(id, case),
        });
        let found = found.unwrap_or_else(|_| vec!["it panicked".into()]);
        wrong.extend(found.into_iter().map(|what| format!("{id} ({}): {what}", case["title"].as_str().unwrap())));
    }
    assert!(wrong.is_empty(), "of {} cases:\n{}", cases.len(), wrong.join("\n"));
}

fn conform(case: &Value) -> Vec<String> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let mut wrong = Vec::new();
    if expect["outcome"] == "rejected" {
        match bundle(input) {
            Ok(_) => wrong.push("it is not refused".into()),
            Err(error) => {
                let pattern = regex::Regex::new(expect["error_matches"].as_str().unwrap()).unwrap();
                let text = error.to_string();
                if !pattern.is_match(&text) {
                    wrong.push(format!("it is refused with other words: {text}"));
                }
            }
        }
        return wrong;
    }
    let came = run(input, imported(case).as_deref(), None);
    let mut same = |what: &str, found: Value, expected: &Value| {
        if &found != expected {
            wrong.push(format!("{what}\n    expected {expected}\n    found    {found}"));
        }
    };
    let outcome = if matches!(came.finished.end, End::Value(_)) { "finished" } else { "failed" };
    same("outcome", json!(outcome), &expect["outcome"]);
    if let Some(meta) = expect.get("meta") {
        same("meta", json!(bundle(input).unwrap().meta), meta);
    }
    if outcome == "finished" && expect["outcome"] == "finished" {
        same("return", came.value(), expect.get("return").unwrap_or(&Value::Null));
    }
    if let Some(fault) = came.fault() {
        let (fault, mut error) = (json!(fault), expect["error"].clone());
        // How an engine says that there are no modules is its own affair.
        if error["cause"].as_str().is_some_and(|cause| cause.contains("ERR_VM_DYNAMIC_IMPORT")) {
            error["cause"] = fault["cause"].clone();
        }
        same("error", fault, &error);
    }
    for (what, found) in [
        ("logs", json!(came.logs)),
        ("calls", json!(came.calls)),
        ("journal", json!(lines(&came.recorded()))),
        ("events", json!(came.events)),
        ("peak_in_flight", json!(came.peak)),
    ] {
        same(what, found, &expect[what]);
    }
    if input["prefix_replay"] == json!(true) {
        wrong.extend(from_every_prefix(input, &came));
    }
    wrong
}

/// Resumes from every beginning of what was recorded: of our own journal, and of the lines that others write.
fn from_every_prefix(input: &Value, came: &Came) -> Vec<String> {
    let mut wrong = Vec::new();
    let (value, all) = (came.value(), lines(&came.recorded()));
    for k in 0..=all.len() {
        let text: String = all[..k].iter().map(|line| format!("{}\n", json!(line))).collect();
        let again = run(input, Some(&text), None);
        if again.value() != value || again.calls.len() != all.len() - k {
            wrong.push(format!("from {k} lines: {} with {} live calls", again.value(), again.calls.len()));
        }
    }
    for k in 1..=came.records.len() {
        let begun = &came.records[..k];
        let done = lines(&isolith_runner::Recorded::read(begun).unwrap()).len();
        let again = run(input, None, Some(begun));
        let found = match &again.finished.end {
            End::Value(_) => again.value(),
            _ => json!(again.fault()),
        };
        if found != value || again.calls.len() != all.len() - done {
            wrong.push(format!("from {k} records: {found} with {} live calls", again.calls.len()));
        }
    }
    wrong
}

/// Where the implementation that the cases were measured on is wrong.
fn hazard(id: &str, case: &Value) -> Vec<String> {
    let input = &case["input"];
    let imported = imported(case);
    let came = run(input, imported.as_deref(), None);
    let value =
        || if matches!(came.finished.end, End::Value(_)) { came.value() } else { json!({ "failed": came.fault() }) };
    let right = match id {
        "P18" => value() == json!([null, "b"]) || value() == json!([null]) || value()[0].is_null(),
        "P19" => value() == json!([5]),
        "P23" => value() == json!(["after:null"]),
        "S11" => value() == json!([2, 1, 3, true]),
        "S12" | "S13" | "J19" => came.fault().is_some(),
        "S14" => value() == json!(true),
        "S15" => value() == json!(0) || came.fault().is_some() || value() == json!(true),
        "S16" => value() == json!("undefined") || value() == json!("blocked"),
        "S17" => run(&json!({ "source": input["source"].as_str().unwrap().replace("Object.prototype.__polluted_by_case = 1; return 1;", "return Object.prototype.__polluted_by_case ?? null;") }), None, None).value().is_null(),
        "S18" | "S20" => value() == json!(["undefined", "undefined", "undefined"]) || !value().to_string().contains("function"),
        "S19" => came.fault().is_some() || value() == input["args"],
        "J13" | "J14" => true,
        "J15" | "J16" => matches!(came.fault(), Some(Fault::Divergence { .. })) && !came.calls.iter().any(|call| call["seq"] == 2),
        "J17" => value().is_null(),
        "J18" => matches!(came.fault(), Some(Fault::SchemaValidation { .. } | Fault::Divergence { .. })),
        other => panic!("what must come of the hazard {other} is not known here"),
    };
    let mut wrong: Vec<String> =
        if right { Vec::new() } else { vec![format!("{}\n    found {}", case["must"], value())] };
    if input["prefix_replay"] == json!(true) {
        wrong.extend(from_every_prefix(input, &came));
    }
    wrong
}
