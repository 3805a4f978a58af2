//! Coding agents, played by scripts that print what they would.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_agents::{Request, Step};
use serde_json::{Value, json};
use support::{Desk, cause, request};

/// A script that keeps its arguments and its stdin, and prints lines.
fn playing(name: &str, more: &str, lines: &[Value]) -> Desk {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let script = format!(
        "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\" >> args; done\ncat > stdin\n\
         for a in \"$@\"; do case \"$a\" in *isolith-schema-*) cp \"$a\" schema;; esac; done\n\
         echo 'not json'\ncat <<'END'\n{lines}END\n"
    );
    let config = format!("[{name}]\nprogram = \"./fake\"\nmodel = \"m-1\"\n{more}");
    Desk::new(&config, &[("fake", &script)])
}

fn args(desk: &Desk) -> Vec<String> {
    let folder = desk.path().to_string_lossy().into_owned();
    desk.read("args").lines().map(|line| line.replace(&folder, "HERE")).collect()
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] })
}

fn claude() -> Vec<Value> {
    vec![
        json!({ "type": "system", "subtype": "init", "model": "claude-x", "tools": [] }),
        json!({ "type": "assistant", "message": { "content": [
            { "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "Let me look." },
            { "type": "tool_use", "name": "Read", "input": {} }] } }),
        json!({ "type": "something_new", "x": 1 }),
        json!({ "type": "result", "subtype": "success", "is_error": false, "result": "hello", "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 7 } }),
    ]
}

#[tokio::test]
async fn claude_is_asked_by_stdin_and_heard() {
    let desk = playing("claude", "", &claude());
    let reply = desk.ask("say hi").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_deref(), reply.attempts), ("hello", Some("claude-x"), 1));
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (113, 7, false));
    assert_eq!(desk.read("stdin"), "say hi");
    let expected = ["-p", "--output-format", "stream-json", "--verbose", "--add-dir", "HERE", "--model", "m-1"];
    assert_eq!(args(&desk), expected);
    assert_eq!(
        desk.heard.steps(),
        [
            Step::Text { text: "Let me look.".into() },
            Step::Tool { name: "Read".into() },
            Step::Spent { input_tokens: 113, output_tokens: 7, approximate: false }
        ]
    );
}

#[tokio::test]
async fn claude_gets_the_schema_and_gives_the_value() {
    let mut lines = claude();
    lines[3]["structured_output"] = json!({ "n": 7 });
    lines[3]["result"] = json!("{\"n\":7}");
    let desk = playing("claude", "", &lines);
    let reply = desk.ask_for("n?", schema()).await.unwrap();
    assert_eq!(reply.data.unwrap().text(), "{\"n\":7}");
    assert_eq!(desk.read("stdin"), "n?");
    assert_eq!(args(&desk)[6..8], ["--json-schema".to_owned(), schema().to_string()]);
}

#[tokio::test]
async fn claude_says_what_went_wrong() {
    let failed = json!({ "type": "result", "subtype": "error_max_turns", "is_error": true, "errors": ["too long"] });
    assert_eq!(cause(playing("claude", "", &[failed]).ask("p").await), "error_max_turns: too long");
    let failed = json!({ "type": "result", "subtype": "success", "is_error": true, "result": "Invalid API key" });
    assert_eq!(cause(playing("claude", "", &[failed]).ask("p").await), "error: Invalid API key");
    assert_eq!(cause(playing("claude", "", &[]).ask("p").await), "it ended without a result");
}

fn codex() -> Vec<Value> {
    vec![
        json!({ "type": "thread.started", "thread_id": "t" }),
        json!({ "type": "turn.started" }),
        json!({ "type": "error", "message": "Reconnecting... 1/5" }),
        json!({ "type": "item.started", "item": { "id": "1", "type": "command_execution", "command": "ls" } }),
        json!({ "type": "item.completed", "item": { "id": "0", "type": "agent_message", "text": "first" } }),
        json!({ "type": "item.completed", "item": { "id": "2", "type": "agent_message", "text": "{\"n\":7}" } }),
        json!({ "type": "turn.completed", "usage": { "input_tokens": 20, "cached_input_tokens": 5, "output_tokens": 9 } }),
    ]
}

#[tokio::test]
async fn codex_is_asked_by_stdin_and_heard() {
    let desk = playing("codex", "args = [\"--profile\", \"x\"]", &codex());
    let reply = desk.ask_for("n?", schema()).await.unwrap();
    assert_eq!((reply.data.unwrap().text(), reply.input_tokens, reply.output_tokens), ("{\"n\":7}", 20, 9));
    assert!(!reply.approximate);
    assert_eq!(desk.read("stdin"), "n?");
    assert_eq!(desk.read("schema"), schema().to_string());
    let args = args(&desk);
    assert_eq!(args[..6], ["exec", "--json", "--skip-git-repo-check", "-C", "HERE", "--output-schema"]);
    assert_eq!(args[7..], ["-m", "m-1", "--profile", "x", "-"]);
    assert!(!std::path::Path::new(&args[6]).exists(), "the schema's file is gone");
    assert!(desk.heard.steps().contains(&Step::Tool { name: "command_execution".into() }));
}

#[tokio::test]
async fn codex_says_what_went_wrong() {
    let failed = [json!({ "type": "turn.failed", "error": { "message": "usage limit" } })];
    assert_eq!(cause(playing("codex", "", &failed).ask("p").await), "usage limit");
}

fn copilot() -> Vec<Value> {
    vec![
        json!({ "type": "session.start", "data": { "selectedModel": "gpt-x" } }),
        json!({ "type": "assistant.message", "data": { "content": "", "outputTokens": 4, "toolRequests": [{}] } }),
        json!({ "type": "tool.execution_start", "data": { "toolName": "view" } }),
        json!({ "type": "assistant.message", "data": { "content": "hello", "outputTokens": 5 } }),
        json!({ "type": "result", "exitCode": 0, "usage": { "premiumRequests": 1 } }),
    ]
}

#[tokio::test]
async fn copilot_is_asked_by_an_argument_and_heard() {
    let desk = playing("copilot", "", &copilot());
    let reply = desk.ask("--yolo now").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_deref()), ("hello", Some("gpt-x")));
    // It does not say what it read.
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (3, 9, true));
    let expected =
        ["-p", " --yolo now", "--output-format", "json", "--no-ask-user", "--silent", "-C", "HERE", "--model", "m-1"];
    assert_eq!(args(&desk), expected);
    let mut lines = copilot();
    lines.push(json!({ "type": "session.shutdown", "data": { "modelMetrics": {
        "a": { "usage": { "inputTokens": 100, "outputTokens": 10 } },
        "b": { "usage": { "inputTokens": 1, "outputTokens": 1 } } } } }));
    let reply = playing("copilot", "", &lines).ask("p").await.unwrap();
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (101, 11, false));
}

#[tokio::test]
async fn copilot_gets_the_schema_in_its_prompt() {
    let mut lines = copilot();
    lines[3]["data"]["content"] = json!("```json\n{\"n\":7}\n```");
    let desk = playing("copilot", "", &lines);
    assert_eq!(desk.ask_for("n?", schema()).await.unwrap().data.unwrap().text(), "{\"n\":7}");
    assert!(desk.read("args").contains(&schema().to_string()));
}

#[tokio::test]
async fn permissions_are_skipped_only_when_the_operator_says_so() {
    for (name, flag, lines) in [
        ("claude", "--dangerously-skip-permissions", claude()),
        ("codex", "--dangerously-bypass-approvals-and-sandbox", codex()),
        ("copilot", "--allow-all-tools", copilot()),
    ] {
        let careful = playing(name, "", &lines);
        careful.ask("p").await.unwrap();
        let plain = args(&careful);
        assert!(plain.iter().all(|arg| !arg.contains("danger") && !arg.contains("allow")), "{plain:?}");
        let careless = playing(name, "unsafe_skip_permissions = true", &lines);
        careless.ask("p").await.unwrap();
        assert!(args(&careless).contains(&flag.to_owned()), "{name}");
    }
}

#[tokio::test]
async fn an_exit_code_counts_whatever_was_printed() {
    let script = format!("#!/bin/sh\necho '{}'\necho gone >&2\nexit 2", claude()[3]);
    let desk = Desk::new("[claude]\nprogram = \"./fake\"", &[("fake", &script)]);
    assert_eq!(cause(desk.run(Request { agent_type: Some("x".into()), ..request("p") }).await), "exit code 2: gone");
    assert!(matches!(&desk.heard.steps()[0], Step::Note { message } if message.contains("agent type `x`")));
}
