//! Models behind APIs, played by a server on loopback.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_agents::{AgentError, Request, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::origin::{Origin, Reply};
use support::{Desk, cause, request};

const KEY: &str = "sk-hunter2-hunter2";
const JSON: &str = "application/json";
const AT_ONCE: &str = "application/json\r\nretry-after: 0";

/// Answers with these, one after the other, and then with the last.
async fn origin(replies: Vec<Reply>) -> Origin {
    let at = AtomicUsize::new(0);
    Origin::new(move |_| replies.get(at.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1)).cloned()).await
}

fn desk(kind: &str, url: &str, more: &str) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, KEY).unwrap();
    let config = format!("[{kind}]\nurl = \"{url}\"\nkey = \"file:{}\"\n{more}", key.display());
    let desk = Desk::new(&config, &[]);
    // The key is read when it is needed, and has to be there then.
    std::mem::forget(folder);
    desk
}

fn anthropic(content: Value) -> Reply {
    let body = json!({ "type": "message", "model": "claude-x", "content": content, "stop_reason": "end_turn",
        "usage": { "input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3 } });
    (200, JSON, body.to_string())
}

fn openai(content: &str) -> Reply {
    let body = json!({ "model": "gpt-x", "usage": { "prompt_tokens": 5, "completion_tokens": 3 },
        "choices": [{ "message": { "role": "assistant", "content": content, "refusal": null }, "finish_reason": "stop" }] });
    (200, JSON, body.to_string())
}

fn sent(origin: &Origin) -> Value {
    serde_json::from_str(&origin.last().body).unwrap()
}

fn object() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"],
        "additionalProperties": false })
}

#[tokio::test]
async fn anthropic_is_asked_and_heard() {
    let origin =
        origin(vec![anthropic(json!([{ "type": "text", "text": "hel" }, { "type": "text", "text": "lo" }]))]).await;
    let reply = desk("anthropic", &origin.url, "").ask("say hi").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_deref(), reply.attempts), ("hello", Some("claude-x"), 1));
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (7, 3, false));
    let seen = origin.last();
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!((seen.header("x-api-key"), seen.header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    assert_eq!(
        sent(&origin),
        json!({ "model": "claude-sonnet-4-6", "max_tokens": 4096, "messages": [{ "role": "user", "content": "say hi" }] })
    );
}

#[tokio::test]
async fn anthropic_answers_by_a_tool_that_it_has_to_use() {
    let used = json!([{ "type": "tool_use", "id": "1", "name": "answer", "input": { "n": 7 } }]);
    let origin = origin(vec![anthropic(used)]).await;
    let desk = desk("anthropic", &origin.url, "max_tokens = 9");
    let request = Request { model: Some("claude-big".into()), ..request("n?") };
    let schema = Some(isolith_core::Json::of(&object()).unwrap());
    let reply = desk.run(Request { schema, ..request }).await.unwrap();
    assert_eq!((reply.data.unwrap().text(), reply.text.as_str()), ("{\"n\":7}", "{\"n\":7}"));
    let body = sent(&origin);
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("claude-big"), &json!(9)));
    assert_eq!(body["tools"][0]["input_schema"], object());
    assert_eq!(body["tool_choice"], json!({ "type": "tool", "name": "answer" }));
}

#[tokio::test]
async fn what_is_no_object_goes_into_one_and_out_again() {
    let list = json!({ "type": "array", "items": { "type": "number" } });
    let used = json!([{ "type": "tool_use", "name": "answer", "input": { "value": [1, 2] } }]);
    let origin = origin(vec![anthropic(used)]).await;
    let reply = desk("anthropic", &origin.url, "").ask_for("n?", list.clone()).await.unwrap();
    assert_eq!((reply.data.unwrap().text(), reply.text.as_str()), ("[1,2]", "[1,2]"));
    assert_eq!(sent(&origin)["tools"][0]["input_schema"]["properties"]["value"], list);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let used = |n: Value| anthropic(json!([{ "type": "tool_use", "name": "answer", "input": { "n": n } }]));
    let origin = origin(vec![used(json!("x")), used(json!(7))]).await;
    let reply = desk("anthropic", &origin.url, "").ask_for("n?", object()).await.unwrap();
    assert_eq!((reply.attempts, reply.input_tokens, reply.output_tokens), (2, 14, 6));
    let prompt = sent(&origin)["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(prompt.starts_with("n?\n") && prompt.contains("- /n must be number"), "{prompt}");
}

#[tokio::test]
async fn openai_is_asked_and_heard() {
    let origin = origin(vec![openai("hello")]).await;
    let desk = desk("openai", &format!("{}/v1/", origin.url), "model = \"gpt-1\"\nmax_tokens = 9");
    let reply = desk.ask("say hi").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_deref()), ("hello", Some("gpt-x")));
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (5, 3, false));
    let seen = origin.last();
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        sent(&origin),
        json!({ "model": "gpt-1", "max_tokens": 9, "messages": [{ "role": "user", "content": "say hi" }] })
    );
}

#[tokio::test]
async fn openai_gets_the_schema_as_a_format() {
    let origin = origin(vec![openai("{\"n\":7}")]).await;
    let desk = desk("openai", &origin.url, "model = \"gpt-1\"");
    assert_eq!(desk.ask_for("n?", object()).await.unwrap().data.unwrap().text(), "{\"n\":7}");
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "answer", "strict": true, "schema": object() } });
    assert_eq!(sent(&origin)["response_format"], format);
    let mut open = object();
    open["required"] = json!([]);
    desk.ask_for("n?", open).await.unwrap();
    assert_eq!(sent(&origin)["response_format"]["json_schema"]["strict"], false);
}

#[tokio::test]
async fn tokens_that_nobody_counted_are_estimated() {
    let body = json!({ "choices": [{ "message": { "content": "hello" } }] });
    let origin = origin(vec![(200, JSON, body.to_string())]).await;
    let reply = desk("openai", &origin.url, "model = \"m\"").ask("say hi").await.unwrap();
    assert_eq!((reply.input_tokens, reply.output_tokens, reply.approximate), (2, 2, true));
}

#[tokio::test]
async fn a_model_has_to_be_named() {
    let origin = origin(vec![openai("x")]).await;
    let failed = desk("openai", &origin.url, "").ask("p").await;
    assert_eq!(cause(failed), "no model is named: write `model` for this agent");
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let busy = |status| (status, AT_ONCE, json!({ "error": { "message": "overloaded" } }).to_string());
    let origin =
        origin(vec![busy(429), busy(529), busy(503), anthropic(json!([{ "type": "text", "text": "hi" }]))]).await;
    let desk = desk("anthropic", &origin.url, "");
    assert_eq!(desk.ask("p").await.unwrap().text, "hi");
    assert_eq!(origin.count(), 4);
    let waited = Step::Waiting { ms: 0, why: "HTTP status 529: overloaded".into() };
    assert!(desk.heard.steps().contains(&waited), "{:?}", desk.heard.steps());
}

#[tokio::test]
async fn a_server_that_stays_busy_is_left_alone() {
    let origin = origin(vec![(503, AT_ONCE, "down".into())]).await;
    let failed = desk("openai", &origin.url, "model = \"m\"\nretries = 2").ask("p").await;
    assert_eq!(cause(failed), "HTTP status 503: down (asked 3 times)");
    assert_eq!(origin.count(), 3);
    let late = self::origin(vec![(429, "text/plain\r\nretry-after: 3600", String::new())]).await;
    let failed = desk("openai", &late.url, "model = \"m\"").ask("p").await;
    assert_eq!(cause(failed), "HTTP status 429 (it wants to be asked again in 3600 s)");
}

#[tokio::test]
async fn other_refusals_are_final_and_hide_the_key() {
    let origin =
        origin(vec![(401, JSON, json!({ "error": { "message": format!("bad key {KEY}!") } }).to_string())]).await;
    for kind in ["anthropic", "openai"] {
        let desk = desk(kind, &origin.url, "model = \"m\"");
        assert_eq!(cause(desk.ask("p").await), "HTTP status 401: bad key [redacted key]!");
        assert!(!format!("{:?}", desk.heard.steps()).contains("hunter2"));
    }
    assert_eq!(origin.count(), 2);
}

#[tokio::test]
async fn an_answer_that_repeats_the_key_does_not_tell_it() {
    let origin = origin(vec![openai(&format!("your key is {KEY}"))]).await;
    let reply = desk("openai", &origin.url, "model = \"m\"").ask("p").await.unwrap();
    assert_eq!(reply.text, "your key is [redacted key]");
}

#[tokio::test]
async fn a_key_that_is_not_there_asks_nobody() {
    let origin = origin(vec![openai("x")]).await;
    let config = format!("[openai]\nmodel = \"m\"\nurl = \"{}\"\nkey = \"env:NOT_SET_ANYWHERE\"", origin.url);
    let failed = Desk::new(&config, &[]).ask("p").await;
    assert!(cause(failed).contains("`env:NOT_SET_ANYWHERE` is not set"));
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn a_place_that_points_elsewhere_is_not_followed() {
    let elsewhere = Arc::new(origin(vec![openai("x")]).await);
    let there: &'static str = Box::leak(format!("text/plain\r\nlocation: {}/", elsewhere.url).into_boxed_str());
    let origin = origin(vec![(307, there, String::new())]).await;
    let failed = desk("openai", &origin.url, "model = \"m\"").ask("p").await;
    assert!(cause(failed).contains("redirect"));
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn answers_without_end_or_sense_are_refused() {
    let large = origin(vec![(200, JSON, "x".repeat(17 << 20))]).await;
    assert_eq!(cause(desk("openai", &large.url, "model = \"m\"").ask("p").await), "the answer has more than 16 MiB");
    let odd = origin(vec![(200, JSON, "<html>".into())]).await;
    assert!(cause(desk("anthropic", &odd.url, "").ask("p").await).starts_with("the server's answer cannot be read"));
    let body = json!({ "choices": [{ "message": { "content": null, "refusal": "no" } }] });
    let refusing = origin(vec![(200, JSON, body.to_string())]).await;
    let failed = desk("openai", &refusing.url, "model = \"m\"").ask("p").await;
    assert_eq!(cause(failed), "the model refused to answer: no");
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for() {
    let silent = Origin::new(|_| None).await;
    let desk = desk("openai", &silent.url, "model = \"m\"");
    let failed = desk.run(Request { timeout: Some(Duration::from_millis(300)), ..request("p") }).await;
    assert_eq!(failed, Err(AgentError::Timeout { what: "agent `a`".into(), ms: 300 }));
}
