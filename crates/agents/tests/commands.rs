//! Programs as agents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_agents::{AgentError, Request, Step};
use serde_json::json;
use std::time::{Duration, Instant};
use support::{Desk, cause, request};

fn command(more: &str, script: &str) -> Desk {
    Desk::new(&format!("[command]\nprogram = \"./ask\"\n{more}"), &[("ask", script)])
}

#[tokio::test]
async fn the_prompt_comes_by_stdin_or_as_an_argument() {
    let say = "#!/bin/sh\nprintf '%s|' \"$@\"; cat; echo";
    for (more, expected) in [
        ("args = [\"-x\"]", "-x|hi $HOME\nthere"),
        ("args = [\"-x\"]\nprompt = \"last\"", "-x|hi $HOME\nthere|"),
        ("args = [\"{prompt}\", \"-y={prompt}\"]", "hi $HOME\nthere|-y=hi $HOME\nthere|"),
    ] {
        let reply = command(more, say).ask("hi $HOME\nthere").await.unwrap();
        assert_eq!(reply.text, expected, "{more}");
        assert!(reply.approximate);
        assert_eq!((reply.input_tokens, reply.output_tokens), (4, expected.len().div_ceil(4) as u64));
    }
}

#[tokio::test]
async fn a_prompt_is_never_an_option() {
    for more in ["prompt = \"last\"", "args = [\"{prompt}\"]"] {
        let reply = command(more, "#!/bin/sh\nprintf '%s' \"$1\"").ask("--yolo").await.unwrap();
        assert_eq!(reply.text, " --yolo");
    }
    let refused = command("args = [\"{model}\"]", "#!/bin/sh\necho $1");
    let failed = refused.run(Request { model: Some("--yolo".into()), ..request("p") }).await;
    assert_eq!(cause(failed), "`--yolo` is not the name of a model");
    let reply = refused.run(Request { model: Some("big-1".into()), ..request("p") }).await.unwrap();
    assert_eq!(reply.text, "big-1");
}

#[tokio::test]
async fn a_model_that_nobody_takes_is_noted() {
    let desk = command("", "#!/bin/sh\necho ok");
    desk.run(Request { model: Some("big-1".into()), ..request("p") }).await.unwrap();
    let noted = |step: &Step| matches!(step, Step::Note { message } if message.contains("takes no model"));
    assert!(desk.heard.steps().iter().any(noted), "{:?}", desk.heard.steps());
}

#[tokio::test]
async fn json_is_found_and_checked_and_asked_for_again() {
    let script = "#!/bin/sh\ncat > \"prompt.$(ls | wc -l)\"\nif [ -e again ]; then echo 'So: {\"z\":1,\"n\":7} ok?'; else touch again; echo '{\"n\":\"x\"}'; fi";
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
    let desk = command("", script);
    let reply = desk.ask_for("n?", schema.clone()).await.unwrap();
    assert_eq!((reply.data.unwrap().text(), reply.attempts), ("{\"z\":1,\"n\":7}", 2));
    let first = desk.read("prompt.1");
    assert!(first.starts_with("n?\n") && first.contains(&schema.to_string()), "{first}");
    assert!(desk.read("prompt.3").contains("- /n must be number"));
    let steps = desk.heard.steps();
    assert!(steps.contains(&Step::Repair { attempt: 2, issues: vec!["/n must be number".into()] }), "{steps:?}");
    assert_eq!(steps.iter().filter(|step| matches!(step, Step::Spent { .. })).count(), 2);

    let never = command("repairs = 1", "#!/bin/sh\necho x >> count; cat > last; echo prose");
    let failed = never.ask_for("n?", schema).await.unwrap_err();
    let issues = vec!["no JSON value found in output".to_owned()];
    assert_eq!(failed, AgentError::SchemaValidation { issues, attempts: 2, raw_output: Some("prose".into()) });
    assert_eq!(never.read("count"), "x\nx\n");
}

#[tokio::test]
async fn failures_say_how_and_why() {
    let failed = command("", "#!/bin/sh\nprintf 'no \\033[31mway' >&2; exit 3").ask("p").await;
    assert_eq!(cause(failed), "exit code 3: no \u{fffd}[31mway");
    let missing = Desk::new("[a]\nkind = \"command\"\nprogram = \"no-such-program-here\"", &[]).ask("p").await;
    assert_eq!(
        missing,
        Err(AgentError::AdapterSpawn {
            adapter: "a".into(),
            cause: "`no-such-program-here` could not be started: entity not found".into()
        })
    );
    let endless = command("", "#!/bin/sh\nyes").ask("p").await;
    assert!(cause(endless).ends_with("printed more than 16 MiB"));
}

#[tokio::test]
async fn the_environment_is_what_the_operator_says() {
    // CARGO is set by whoever runs this test.
    let secret = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let reply = command("", "#!/bin/sh\nenv").ask("p").await.unwrap();
    assert!(!reply.text.contains("CARGO"), "{}", reply.text);
    assert!(reply.text.contains("PATH="));
    let given =
        command("env = [\"CARGO_MANIFEST_DIR\", \"NOT_SET_ANYWHERE\"]", "#!/bin/sh\nenv; echo $CARGO_MANIFEST_DIR >&2");
    let reply = given.ask("p").await.unwrap();
    assert!(reply.text.contains("CARGO_MANIFEST_DIR=[redacted CARGO_MANIFEST_DIR]"), "{}", reply.text);
    assert!(!reply.text.contains(&secret) && !reply.text.contains("NOT_SET"));
    let failing = command("env = [\"CARGO_MANIFEST_DIR\"]", "#!/bin/sh\necho $CARGO_MANIFEST_DIR >&2; exit 1");
    assert_eq!(cause(failing.ask("p").await), "exit code 1: [redacted CARGO_MANIFEST_DIR]");
}

#[tokio::test]
async fn it_runs_where_it_is_told_to() {
    let desk = command("cwd = \"below\"", "#!/bin/sh\npwd");
    std::fs::create_dir(desk.path().join("below")).unwrap();
    std::fs::create_dir(desk.path().join("tree")).unwrap();
    assert!(desk.ask("p").await.unwrap().text.ends_with("/below"));
    let folder = Some(desk.path().join("tree"));
    let isolation = Some("worktree".to_owned());
    let reply = desk.run(Request { folder, isolation: isolation.clone(), ..request("p") }).await.unwrap();
    assert!(reply.text.ends_with("/tree"), "{}", reply.text);
    assert!(!desk.heard.steps().iter().any(|step| matches!(step, Step::Note { .. })));
    desk.run(Request { isolation, ..request("p") }).await.unwrap();
    assert!(desk.heard.steps().iter().any(|step| matches!(step, Step::Note { .. })));
}

/// Whether a process is there and not just waiting to be forgotten.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

async fn until(what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < Duration::from_secs(20), "it did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

const LINGERING: &str = "#!/bin/sh\nsleep 1000 &\necho $! > child; echo $$ > self; mv self started; wait";

#[tokio::test]
async fn what_takes_too_long_is_ended_with_all_it_started() {
    let desk = command("timeout = \"30s\"", LINGERING);
    let asked = desk.run(Request { timeout: Some(Duration::from_millis(1500)), ..request("p") });
    let failed = asked.await.unwrap_err();
    assert_eq!(failed, AgentError::Timeout { what: "agent `a`".into(), ms: 1500 });
    let (child, own) = (desk.read("child"), desk.read("started"));
    until(|| !is_alive(&child) && !is_alive(&own)).await;
}

#[tokio::test]
async fn a_request_cannot_take_longer_than_the_operator_says() {
    let desk = command("timeout = \"300ms\"", "#!/bin/sh\nsleep 1000");
    let failed = desk.run(Request { timeout: Some(Duration::from_secs(900)), ..request("p") }).await.unwrap_err();
    assert_eq!(failed, AgentError::Timeout { what: "agent `a`".into(), ms: 300 });
}

#[tokio::test]
async fn what_nobody_waits_for_is_ended() {
    let desk = command("", LINGERING);
    let started = desk.path().join("started");
    tokio::select! {
        _ = desk.ask("p") => panic!("it ended"),
        () = until(|| started.exists()) => {}
    }
    let (child, own) = (desk.read("child"), desk.read("started"));
    until(|| !is_alive(&child) && !is_alive(&own)).await;
}

#[tokio::test]
async fn what_is_left_running_does_not_hold_the_answer() {
    let started = Instant::now();
    let desk = command("timeout = \"60s\"", "#!/bin/sh\nsleep 1000 &\necho $! > child; echo done");
    assert_eq!(desk.ask("p").await.unwrap().text, "done");
    assert!(started.elapsed() < Duration::from_secs(60));
    let child = desk.read("child");
    until(|| !is_alive(&child)).await;
}
