//! Servers with a URL.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::{Upstream, UpstreamSource};
use serde_json::json;
use std::process::Stdio;
use support::origin::Origin;
use support::{Desk, table, upstream};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

const SECRET: &str = "hunter2-hunter2";

/// The server in Python on a port; 0 is any.
async fn python(port: u16, wanted: Option<&str>) -> (Child, u16) {
    let mut command = Command::new("python3");
    command.args(["tests/servers/mcp.py", &port.to_string()]).stdout(Stdio::piped()).kill_on_drop(true);
    if let Some(wanted) = wanted {
        command.env("WANTED", wanted);
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    (child, port)
}

fn at(url: String, headers: &[(&str, &str)]) -> Upstream {
    upstream(UpstreamSource::Url { url, headers: table(headers) })
}

fn desk(url: String, headers: &[(&str, &str)]) -> Desk {
    Desk::new(vec![("web", at(url, headers))])
}

#[tokio::test]
async fn a_server_with_a_url_is_called() {
    let (_server, port) = python(0, None).await;
    let desk = desk(format!("http://127.0.0.1:{port}/mcp"), &[]);
    assert_eq!(desk.call("web.echo", json!({ "a": 1 })).await.unwrap(), json!({ "a": 1 }));
    // This one is answered by events.
    assert_eq!(desk.call("web.add", json!({ "a": 1, "b": 2 })).await.unwrap(), json!({ "sum": 3 }));
    assert_eq!(desk.refused("web.add", json!({ "a": "x" })).await.0, "tool.invalid_input");
    assert_eq!(desk.refused("web.ad", json!({})).await.1, "there is no tool `web.ad`: did you mean `web.add`?");
    assert_eq!(desk.refused("web.wrong", json!({})).await.0, "tool.invalid_output");
    let described = desk.describe("web.add").await.unwrap();
    assert!(described.contains("add(args: { a: number; b: number }): Promise<{ sum: number }>"), "{described}");
    desk.toolbox.close().await;
}

#[tokio::test]
async fn a_secret_in_a_header_reaches_the_server_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, SECRET).unwrap();
    let (_server, port) = python(0, Some(&format!("Bearer {SECRET}"))).await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let header = format!("Bearer ${{file:{}}}", key.display());
    let desk = desk(url.clone(), &[("Authorization", &header), ("X-Written-Key", "written-out")]);
    let about = desk.call("web.about", json!({})).await.unwrap();
    // It would have answered 401 to anything else.
    assert_eq!(about["headers"]["authorization"], "Bearer [redacted key]");
    assert_eq!(about["headers"]["x-written-key"], "[redacted X-Written-Key]");
    assert!(!about.to_string().contains("hunter2"));

    let nobody = Desk::new(vec![("web", at(url, &[]))]);
    let (code, message) = nobody.refused("web.echo", json!({})).await;
    assert_eq!(code, "tool.unavailable");
    assert!(message.contains("401"), "{message}");
}

#[tokio::test]
async fn a_server_that_was_restarted_is_greeted_again() {
    let (mut server, port) = python(0, None).await;
    let desk = desk(format!("http://127.0.0.1:{port}/mcp"), &[]);
    assert_eq!(desk.call("web.echo", json!({ "a": 1 })).await.unwrap(), json!({ "a": 1 }));
    server.kill().await.unwrap();
    let (code, _) = desk.refused("web.echo", json!({})).await;
    assert_eq!(code, "tool.lost");
    let (_server, _) = python(port, None).await;
    assert_eq!(desk.call("web.echo", json!({ "a": 2 })).await.unwrap(), json!({ "a": 2 }));
}

#[tokio::test]
async fn nothing_but_the_url_is_reached() {
    let elsewhere = Origin::new(|_| Some((200, "application/json", "{}".into()))).await;
    let (moved, url) = (elsewhere.url.clone(), elsewhere.url.clone());
    let origin =
        Origin::new(move |_| Some((307, "text/plain\r\nlocation: http://elsewhere.example/", moved.clone()))).await;
    let desk = desk(format!("{}/mcp", origin.url), &[("Authorization", "Bearer written-out")]);
    let (code, message) = desk.refused("web.echo", json!({})).await;
    assert_eq!(code, "tool.unavailable");
    assert!(message.contains("not granted"), "{message}");
    assert_eq!(elsewhere.count(), 0, "{url}");
}

#[tokio::test]
async fn an_answer_without_end_is_not_kept() {
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":\"{}\"}}", "x".repeat(17 << 20));
    let origin = Origin::new(move |_| Some((200, "application/json", large.clone()))).await;
    let (code, message) = desk(origin.url.clone(), &[]).refused("web.echo", json!({})).await;
    assert_eq!(code, "tool.unavailable");
    assert!(message.contains("more than 16 MiB"), "{message}");
}
