//! Servers that are processes, good and bad.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::Rule;
use isolith_core::ToolName;
use isolith_core::{Upstream, UpstreamSource};
use isolith_gate::Upstreams as _;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use support::{Desk, python, upstream};

fn small() -> Desk {
    Desk::new(vec![("small", python(&[]))])
}

fn with_limit(timeout_ms: u64) -> Desk {
    Desk::new(vec![("small", Upstream { timeout_ms, ..python(&[]) })])
}

async fn pid(desk: &Desk) -> u64 {
    desk.call("small.about", json!({})).await.unwrap()["pid"].as_u64().unwrap()
}

/// Until a process is gone; fails when it stays.
async fn gone(pid: u64) {
    for _ in 0..200 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie is gone, whoever may still have to look at it.
        if !Path::new(&format!("/proc/{pid}")).exists() || stat.contains(") Z ") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the process {pid} is still there");
}

#[tokio::test]
async fn answers_are_values() {
    let desk = small();
    assert_eq!(desk.call("small.echo", json!({ "a": [1, "ä"] })).await.unwrap(), json!({ "a": [1, "ä"] }));
    assert_eq!(desk.call("small.add", json!({ "a": 1, "b": 2 })).await.unwrap(), json!({ "sum": 3 }));
    assert_eq!(desk.call("small.create_issue", json!({})).await.unwrap(), json!("create-issue"));
    assert_eq!(desk.call("small.create_issue_2", json!({})).await.unwrap(), json!("create.issue"));
    let many = (0..50).map(|i| desk.call("small.add", json!({ "a": i, "b": 1 })));
    let sums: Vec<Value> =
        futures_util::future::join_all(many).await.into_iter().map(|sum| sum.unwrap()["sum"].clone()).collect();
    assert_eq!(sums, (1..51).map(Value::from).collect::<Vec<_>>());
    assert_eq!(pid(&desk).await, pid(&desk).await);
}

#[tokio::test]
async fn what_is_wrong_is_told_before_anything_is_sent() {
    let desk = small();
    let before = desk.call("small.about", json!({})).await.unwrap()["calls"].as_u64().unwrap();
    let input = |what: &str| {
        ("tool.invalid_input".to_owned(), format!("the argument of the tool `small.add` is not what it takes: {what}"))
    };
    assert_eq!(
        desk.refused("small.add", json!({ "a": "x", "b": 2 })).await,
        input("/a: \"x\" is not of type \"number\"")
    );
    assert_eq!(desk.refused("small.add", json!({ "a": 1 })).await, input("\"b\" is a required property"));
    assert_eq!(desk.refused("small.add", json!([1])).await, input("[1] is not of type \"object\""));
    let unknown = |what: &str| ("tool.unknown".to_owned(), what.to_owned());
    assert_eq!(
        desk.refused("small.create_isue", json!({})).await,
        unknown("there is no tool `small.create_isue`: did you mean `small.create_issue`?")
    );
    assert_eq!(
        desk.refused("smal.add", json!({})).await,
        unknown("there is no namespace `smal`: did you mean `small`?")
    );
    assert_eq!(desk.call("small.about", json!({})).await.unwrap()["calls"], before + 1);
}

#[tokio::test]
async fn failures_are_errors() {
    let desk = small();
    let row = |code: &str, message: &str| (code.to_owned(), message.to_owned());
    assert_eq!(
        desk.refused("small.wrong", json!({})).await,
        row(
            "tool.invalid_output",
            "the answer of the tool `small.wrong` is not what it promises: /sum: \"many\" is not of type \"number\""
        )
    );
    assert_eq!(
        desk.refused("small.fail", json!({})).await,
        row("tool.failed", "the tool `small.fail` failed: it did not work:")
    );
    assert_eq!(
        desk.refused("small.error", json!({})).await,
        row("tool.failed", "the tool `small.error` failed: not like this (-32602)")
    );
}

#[tokio::test]
async fn a_server_that_died_is_started_again() {
    let desk = small();
    let first = pid(&desk).await;
    let (code, message) = desk.refused("small.die", json!({})).await;
    assert_eq!(code, "tool.lost");
    assert!(message.contains("exit code 3") && message.contains("I am going"), "{message}");
    assert_ne!(pid(&desk).await, first);
    // One that dies before it ever answers is not started in a loop.
    let desk = small();
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(desk.refused("small.die", json!({})).await.0);
    }
    assert_eq!(codes, ["tool.lost", "tool.lost", "tool.unavailable", "tool.unavailable"]);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_waited_for() {
    let desk = with_limit(400);
    let first = pid(&desk).await;
    let late = ("tool.timeout".to_owned(), "the tool `small.hang` took longer than 400 ms".to_owned());
    assert_eq!(desk.refused("small.hang", json!({})).await, late);
    assert_eq!(pid(&desk).await, first);
    for _ in 0..3 {
        assert_eq!(desk.refused("small.hang", json!({})).await, late);
    }
    // Nothing but silence: it is taken for dead.
    assert_ne!(pid(&desk).await, first);
    gone(first).await;
}

#[tokio::test]
async fn a_server_that_floods_is_ended() {
    let desk = small();
    let first = pid(&desk).await;
    let (code, message) = desk.refused("small.flood", json!({})).await;
    assert_eq!(code, "tool.lost");
    assert!(message.contains("sent a message of more than 16 MiB"), "{message}");
    assert_ne!(pid(&desk).await, first);
    gone(first).await;
    let desk = Desk::new(vec![("small", python(&[("MODE", "many")]))]);
    let (code, message) = desk.refused("small.echo", json!({})).await;
    assert_eq!((code.as_str(), message.contains("has more than 10000 tools")), ("tool.unavailable", true), "{message}");
}

#[tokio::test]
async fn a_secret_reaches_the_server_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "hunter2-hunter2\n").unwrap();
    let source = format!("${{file:{}}}", folder.path().join("key").display());
    let desk = Desk::new(vec![("small", python(&[("SECRET", &source), ("PLAIN", "x${command:echo not-so-secret}z")]))]);
    let about = desk.call("small.about", json!({})).await.unwrap();
    // It was given the secret, and what it says of it is without.
    assert_eq!(about["env"]["SECRET"], "[redacted key]");
    // Of our own variables it has a few. Shells and what picks a version of Python make some of their own.
    let shared = |name: &String| std::env::var_os(name).is_some() && about["env"].get(name).is_some();
    let usual = ["PATH", "HOME", "LANG", "PWD", "SHLVL", "_"];
    let ours: Vec<String> = std::env::vars()
        .map(|(name, _)| name)
        .filter(|name| !usual.contains(&name.as_str()) && !name.contains("PYENV"))
        .collect();
    assert!(!ours.is_empty() && !ours.iter().any(shared), "{}", about["env"]);
    assert_eq!(about["env"]["PLAIN"], "x[redacted command]z");
    let mut said = vec![desk.refused("small.fail", json!({})).await.1, desk.refused("small.die", json!({})).await.1];
    assert_eq!(said[0], "the tool `small.fail` failed: it did not work: [redacted key]");
    assert!(said[1].contains("my secret is [redacted key]"), "{}", said[1]);
    said.push(desk.describe("small.leak").await.unwrap());
    assert!(said[2].contains("Tells the secret: [redacted key]"), "{}", said[2]);
    said.push(desk.search("leak", &|_| true).await.to_string());
    assert!(!said.concat().contains("hunter2"));

    let desk = Desk::new(vec![("small", python(&[("SECRET", "${env:ISOLITH_NOT_SET}")]))]);
    let (code, message) = desk.refused("small.echo", json!({})).await;
    assert_eq!(code, "secret.missing");
    assert!(message.contains("`env:ISOLITH_NOT_SET` is not set"), "{message}");
}

#[tokio::test]
async fn tools_that_come_later_are_found() {
    let desk = small();
    assert_eq!(desk.refused("small.added", json!({})).await.0, "tool.unknown");
    desk.call("small.change", json!({})).await.unwrap();
    for _ in 0..100 {
        if desk.describe("small.added").await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(desk.call("small.added", json!({})).await.unwrap(), json!("added"));
}

#[tokio::test]
async fn a_server_that_asks_back_is_refused() {
    let answers = small().call("small.ask", json!({})).await.unwrap();
    assert_eq!(
        json!([answers[0]["error"]["code"], answers[1]["error"]["code"], answers[2]["result"]["action"]]),
        json!([-32601, -32601, "decline"])
    );
}

#[tokio::test]
async fn one_that_cannot_be_reached_does_not_take_the_others_down() {
    let command = vec!["./tests/servers/there-is-no-such-thing".to_owned()];
    let broken = upstream(UpstreamSource::Command { command, env: Default::default(), cwd: None });
    let desk = Desk::new(vec![("broken", broken), ("small", python(&[]))]);
    let found = desk.search("add two numbers", &|_| true).await;
    assert_eq!(found[0], json!({ "path": "small.add", "description": "Adds two numbers." }));
    let problem = found.as_array().unwrap().last().unwrap();
    assert_eq!((&problem["path"], &problem["error"]), (&json!("broken"), &json!("tool.unavailable")));
    assert!(problem["description"].as_str().unwrap().contains("could not be started"), "{problem}");
    // Whoever has no grant for it hears nothing of it, nor of tools that are not granted.
    let found = desk.search("", &|name| name == "small.add").await;
    assert_eq!(found, json!([{ "path": "small.add", "description": "Adds two numbers." }]));
    let (code, message) = desk.refused("broken.x", json!({})).await;
    assert_eq!(code, "tool.unavailable");
    assert!(message.contains("it is tried again in"), "{message}");
    assert_eq!(desk.describe("broken.x").await.unwrap_err().code.as_deref(), Some("tool.unavailable"));
    let hidden = desk.toolbox.describe("small.add", &|name| name.as_str() == "small.echo").await.unwrap_err();
    let proposed = hidden.message.split_once(':').map(|(_, near)| near.contains("add"));
    assert_eq!((hidden.code.as_deref(), proposed.unwrap_or_default()), (Some("tool.unknown"), false), "{hidden:?}");
    let shown = desk.toolbox.describe("small", &|name| name.as_str() == "small.add").await.unwrap();
    assert!(
        shown.contains("add(args: { a: number; b: number }): Promise<{ sum: number }>") && !shown.contains("echo"),
        "{shown}"
    );
}

#[tokio::test]
async fn what_was_started_ends_with_the_toolbox() {
    for close in [true, false] {
        let desk = small();
        let server = pid(&desk).await;
        let child = desk.call("small.spawn", json!({})).await.unwrap()["pid"].as_u64().unwrap();
        assert!(Path::new(&format!("/proc/{child}")).exists());
        if close {
            desk.toolbox.close().await;
            assert_eq!(desk.refused("small.about", json!({})).await.0, "tool.unavailable");
        }
        drop(desk);
        gone(server).await;
        gone(child).await;
    }
}

#[tokio::test]
async fn lists_say_what_is_asked_about() {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let lists = Upstream { ask: list(&["create*", "die"]), deny: list(&["create.issue", "die"]), ..python(&[]) };
    let desk = Desk::new(vec![("small", lists)]);
    for (name, rule) in [
        ("small.add", Rule::Allow),
        ("small.create_issue", Rule::Ask),
        ("small.create_issue_2", Rule::Deny),
        ("small.die", Rule::Deny),
        ("small.nothing", Rule::Allow),
    ] {
        assert_eq!(desk.toolbox.rule(&ToolName::new(name).unwrap()).await, rule, "{name}");
    }
}

#[tokio::test]
async fn what_an_operator_wrote_is_checked() {
    let setting = isolith_upstream::Setting { folder: ".".into(), net: support::net(), secrets: None };
    let name = isolith_core::BindingName::new("small").unwrap();
    let made = isolith_upstream::Toolbox::new([(name, python(&[("A", "${B}")]))].into(), setting);
    let why =
        "tools.small: `A`: write `${env:NAME}`, `${file:PATH}`, `${command:…}` or `${secret:NAME}` where a secret goes";
    assert_eq!(made.err().as_deref(), Some(why));
}
