//! Tools of others through the command line: an MCP server that is started, and an API by its description.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use support::{Folder, Ran, command, folder, ran};

const SECRET: &str = "hunter2-hunter2-hunter2";

/// A folder with a list of servers: one that counts and adds.
fn place() -> Folder {
    let folder = folder();
    let server = std::path::Path::new("../upstream/tests/servers/mcp.py").canonicalize().unwrap();
    let servers = json!({ "mcpServers": { "my-sums": {
        "command": "python3", "args": [server], "env": { "SECRET": "${env:HIDDEN}" },
    } } });
    folder.write(".mcp.json", &servers.to_string());
    folder
}

fn isolith(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = command(args);
    command.current_dir(folder.path()).env("ISOLITH_DATA", folder.path().join("data")).env("HIDDEN", SECRET);
    ran(command.output().unwrap())
}

#[track_caller]
fn value(folder: &Folder, program: &str, args: &[&str]) -> Value {
    let ran = isolith(folder, &[&["eval", program, "--json"], args].concat());
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(outcome["status"], "ok", "{outcome:#}");
    outcome["value"].clone()
}

const SERVERS: [&str; 2] = ["--mcp-servers", ".mcp.json"];

#[test]
fn the_tools_of_a_server_are_functions() {
    let folder = place();
    let program = "const sums = await Promise.all([1, 2, 3].map((n) => tools.my_sums.add({ a: n, b: 40 })));
        return [sums.map((one) => one.sum), (await tools.search('adds two'))[0].path, await tools.describe('my_sums.add')]";
    let value = value(&folder, program, &SERVERS);
    assert_eq!((&value[0], &value[1]), (&json!([41, 42, 43]), &json!("my_sums.add")));
    let declared = value[2].as_str().unwrap();
    assert!(declared.contains("add(args: { a: number; b: number }): Promise<{ sum: number }>"), "{declared}");
    let rows = isolith(&folder, &["audit", "--json"]).stdout;
    assert_eq!(rows.matches("my_sums.add").count(), 3, "{rows}");
}

#[test]
fn without_the_grant_there_is_no_namespace() {
    let folder = place();
    assert_eq!(value(&folder, "return typeof tools.my_sums", &[]), "undefined");
    // A part of it is what was granted.
    folder.write("part.toml", "grants = [\"tool:my_sums.add\"]\n");
    let program = "return [await tools.my_sums.echo({}).catch((error) => error.code), (await tools.search('')).map((one) => one.path)]";
    let part = value(&folder, program, &["--manifest", "part.toml", "--mcp-servers", ".mcp.json"]);
    assert_eq!(part, json!(["tool.denied", ["my_sums.add"]]));
}

#[test]
fn mistakes_are_told_before_anything_is_sent() {
    let folder = place();
    let program = "const said = async (call) => { try { return await call } catch (error) { return error.code + ': ' + error.message } };
        return [
            await said(tools.my_sums.add({ a: 'x', b: 1 })),
            await said(tools.my_sums.ad({ a: 1, b: 1 })),
            await said(tools.my_sums.wrong({})),
            await said(tools.my_sums.fail({})),
        ]";
    let value = value(&folder, program, &SERVERS);
    let codes: Vec<&str> =
        value.as_array().unwrap().iter().map(|one| one.as_str().unwrap().split(':').next().unwrap()).collect();
    assert_eq!(codes, ["tool.invalid_input", "tool.unknown", "tool.invalid_output", "tool.failed"], "{value:#}");
    assert!(value[1].as_str().unwrap().contains("did you mean `my_sums.add`?"), "{value:#}");
}

#[test]
fn what_a_server_was_given_is_nowhere_else() {
    let folder = place();
    let program = "return JSON.stringify([await tools.my_sums.about({}), await tools.describe('my_sums.leak')])";
    let ran = isolith(&folder, &[&["eval", program, "--json"][..], &SERVERS].concat());
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(SECRET), "{ran:?}");
    assert!(ran.stdout.contains("[redacted HIDDEN]"), "it was not given at all: {ran:?}");
}

#[test]
fn a_policy_brings_its_own_servers_or_none() {
    let folder = place();
    folder.write("policy.toml", "grants = [\"tool:my_sums.*\"]\n");
    let args = ["--mcp-servers", ".mcp.json", "--policy", "policy.toml"];
    let ran = isolith(&folder, &[&["eval", "return tools.my_sums.add({ a: 1, b: 1 })"], &args[..]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("`[tools.my_sums]` is not in it"), "{}", ran.stderr);
    let server = std::path::Path::new("../upstream/tests/servers/mcp.py").canonicalize().unwrap();
    folder.write("policy.toml", &format!("[tools.my_sums]\ncommand = [\"python3\", {server:?}]\ndeny = [\"echo\"]\n"));
    let program = "return [(await tools.my_sums.add({ a: 1, b: 1 })).sum, await tools.my_sums.echo({}).catch((error) => error.code)]";
    assert_eq!(value(&folder, program, &args), json!([2, "tool.denied"]));
}

#[test]
fn tools_are_found_and_described_at_a_terminal_and_for_a_prompt() {
    let folder = place();
    let found = isolith(&folder, &["tools", "search", "adds numbers", "--limit", "1", "--mcp-servers", ".mcp.json"]);
    assert_eq!(found.stdout, "my_sums.add  Adds two numbers.\n", "{found:?}");
    let described = isolith(&folder, &["tools", "describe", "my_sums.add", "--mcp-servers", ".mcp.json"]);
    assert!(described.stdout.contains("Promise<{ sum: number }>"), "{described:?}");
    let unknown = isolith(&folder, &["tools", "describe", "my_sums.adds", "--mcp-servers", ".mcp.json"]);
    assert_eq!((unknown.code, unknown.stderr.contains("`my_sums.add`")), (2, true), "{unknown:?}");
    let prompt = isolith(&folder, &["prompt", "--mcp-servers", ".mcp.json", "--grant", "tool:my_sums.add"]);
    assert!(prompt.stdout.contains("- `tool:my_sums.*`"), "{prompt:?}");
    assert!(prompt.stdout.contains("add(args: { a: number; b: number })"), "{prompt:?}");
    let nothing = isolith(&folder, &["prompt"]);
    assert!(nothing.stdout.contains("- compute, and nothing else"), "{nothing:?}");
}

#[test]
fn a_list_of_servers_that_is_wrong_is_said_to_be() {
    let folder = place();
    for (text, message) in [
        ("{", "EOF"),
        ("{}", "mcpServers"),
        (r#"{"mcpServers": {"a": {}}}"#, "mcpServers.a"),
        (r#"{"mcpServers": {"tools": {"command": "x"}}}"#, "tools"),
    ] {
        folder.write("wrong.json", text);
        let ran = isolith(&folder, &["eval", "1", "--mcp-servers", "wrong.json"]);
        assert_eq!((ran.code, ran.stderr.contains(message)), (2, true), "{text}: {}", ran.stderr);
    }
    let missing = isolith(&folder, &["eval", "1", "--mcp-servers", "nothing.json"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
}

/// An API that keeps what it was asked.
fn api() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = vec![0; 8192];
            let read = stream.read(&mut bytes).unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
            kept.lock().unwrap().push(text);
            let body = r#"{"id":7,"name":"tea"}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    (port, asked)
}

#[test]
fn an_api_has_a_function_for_each_operation_and_asks_before_it_changes_anything() {
    let folder = folder();
    let (port, asked) = api();
    let item = json!({ "type": "object", "properties": { "id": { "type": "integer" }, "name": { "type": "string" } }, "required": ["id"] });
    let answer = json!({ "200": { "description": "", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Item" } } } } });
    let description = json!({
        "openapi": "3.0.3", "info": { "title": "shop", "version": "1" },
        "paths": {
            "/items/{id}": { "get": { "operationId": "getItem", "summary": "Shows an item.", "parameters": [
                { "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } },
            ], "responses": answer } },
            "/items": { "post": { "operationId": "addItem", "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Item" } } } }, "responses": answer } },
        },
        "components": { "schemas": { "Item": item } },
    });
    folder.write("shop.json", &description.to_string());
    folder.write(
        "isolith.toml",
        &format!("[tools.shop]\nopenapi = \"shop.json\"\nbase = \"http://127.0.0.1:{port}\"\nheaders = {{ \"X-Key\" = \"${{env:HIDDEN}}\" }}\n"),
    );
    let manifest = ["--manifest", "isolith.toml"];
    assert_eq!(
        value(&folder, "return await tools.shop.getItem({ id: 7 })", &manifest),
        json!({ "id": 7, "name": "tea" })
    );
    let first = asked.lock().unwrap()[0].to_lowercase();
    assert!(first.starts_with("get /items/7 http/1.1") && first.contains(&format!("x-key: {SECRET}")), "{first}");
    let program = "return (await tools.shop.addItem({ body: { id: 8 } })).id";
    let ran = isolith(&folder, &[&["eval", program, "--json"], &manifest[..]].concat());
    assert_eq!(ran.code, 75, "{ran:?}");
    let outcome: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(outcome["approvals"][0]["grant"], "ask tool:shop.addItem");
    assert_eq!(asked.lock().unwrap().len(), 1, "it was sent before anyone agreed");
    let run = outcome["run"].as_str().unwrap();
    assert_eq!(isolith(&folder, &["approvals", "approve", run]).code, 0);
    let done = isolith(&folder, &[&["resume", run], &manifest[..]].concat());
    assert_eq!((done.code, done.stdout.as_str()), (0, "7\n"), "{done:?}");
    assert_eq!(asked.lock().unwrap().len(), 2);
    let wrong = isolith(&folder, &[&["eval", "return await tools.shop.getItem({ id: 'x' })"], &manifest[..]].concat());
    assert!(wrong.stderr.contains("/id: "), "{wrong:?}");
    assert_eq!(asked.lock().unwrap().len(), 2);
}
