//! Published servers, as they come from npm. `conformance/upstream/run` installs them and runs this.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::{Upstream, UpstreamSource};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use support::{Desk, table, upstream};

/// The script of a server.
fn script(name: &str) -> String {
    let folder = std::env::var("ISOLITH_UPSTREAM_SERVERS").unwrap();
    let path: PathBuf = [&folder, "@modelcontextprotocol", name, "dist/index.js"].iter().collect();
    path.to_str().unwrap().to_owned()
}

fn node(arguments: &[&str], env: &[(&str, &str)]) -> Upstream {
    let command = ["node"].iter().chain(arguments).map(|part| (*part).to_owned()).collect();
    upstream(UpstreamSource::Command { command, env: table(env), cwd: None })
}

/// What the server of everything does, however it is reached.
async fn everything(desk: &Desk) {
    assert_eq!(desk.call("all.echo", json!({ "message": "hello" })).await.unwrap(), json!("Echo: hello"));
    assert_eq!(
        desk.call("all.get_sum", json!({ "a": 2, "b": 40 })).await.unwrap(),
        json!("The sum of 2 and 40 is 42.")
    );
    let weather = desk.call("all.get_structured_content", json!({ "location": "New York" })).await.unwrap();
    let mut keys: Vec<&str> = weather.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["conditions", "humidity", "temperature"]);
    let image = desk.call("all.get_tiny_image", json!({})).await.unwrap();
    assert!(image.as_array().unwrap().iter().any(|part| part["type"] == "image"), "{image}");
    let (code, message) = desk.refused("all.get_sum", json!({ "a": "2", "b": 40 })).await;
    assert_eq!((code.as_str(), message.contains("/a: ")), ("tool.invalid_input", true), "{message}");
    let (code, message) = desk.refused("all.get_summ", json!({})).await;
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("tool.unknown", "there is no tool `all.get_summ`: did you mean `all.get_sum`?")
    );
    let described = desk.describe("all.get_sum").await.unwrap();
    assert!(described.contains("a: number"), "{described}");
    let found = desk.search("sum of two numbers", &|_| true).await;
    assert_eq!(found[0]["path"], "all.get_sum");
    let slow = json!({ "duration": 1, "steps": 4 });
    let slow = desk.call("all.trigger_long_running_operation", slow).await.unwrap();
    assert!(slow.as_str().unwrap().contains("completed"), "{slow}");
}

#[tokio::test]
#[ignore = "needs servers from npm: conformance/upstream/run"]
async fn the_server_of_everything_over_pipes() {
    let desk = Desk::new(vec![(
        "all",
        node(&[&script("server-everything"), "stdio"], &[("KEY", "${command:echo hunter2-hunter2}")]),
    )]);
    everything(&desk).await;
    let env: Value = desk.call("all.get_env", json!({})).await.unwrap();
    assert_eq!(env["KEY"], "[redacted command]");
    desk.toolbox.close().await;
}

#[tokio::test]
#[ignore = "needs servers from npm: conformance/upstream/run"]
async fn the_server_of_everything_over_http() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = tokio::process::Command::new("node");
    command.args([&script("server-everything"), "streamableHttp"]).env("PORT", port.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let _server = command.spawn().unwrap();
    for _ in 0..200 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let url = format!("http://localhost:{port}/mcp");
    let desk = Desk::new(vec![("all", upstream(UpstreamSource::Url { url, headers: table(&[]) }))]);
    everything(&desk).await;
    desk.toolbox.close().await;
}

#[tokio::test]
#[ignore = "needs servers from npm: conformance/upstream/run"]
async fn the_server_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let desk = Desk::new(vec![("files", node(&[&script("server-filesystem"), root], &[]))]);
    let path = format!("{root}/note.txt");
    desk.call("files.write_file", json!({ "path": path, "content": "hello" })).await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
    let read = desk.call("files.read_text_file", json!({ "path": path })).await.unwrap();
    assert_eq!(read, json!({ "content": "hello" }));
    let listed = desk.call("files.list_directory", json!({ "path": root })).await.unwrap();
    assert_eq!(listed, json!({ "content": "[FILE] note.txt" }));
    let (code, message) = desk.refused("files.read_text_file", json!({ "path": "/etc/passwd" })).await;
    assert_eq!(code, "tool.failed");
    assert!(message.contains("Access denied"), "{message}");
    assert_eq!(desk.refused("files.write_file", json!({ "path": path })).await.0, "tool.invalid_input");
    desk.toolbox.close().await;
}
