//! An MCP client that asks for one thing.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// The answer to one call of `execute` by a server over stdio.
pub fn execute(server: &mut Command, arguments: Value) -> Value {
    const LAST: u32 = 2;
    let ask = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let lines = [
        ask(1, "initialize", hello),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ask(LAST, "tools/call", json!({ "name": "execute", "arguments": arguments })),
    ];
    let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    lines.iter().for_each(|line| writeln!(stdin, "{line}").unwrap());
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = answers.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == LAST).unwrap();
    // It hangs up once it has the answer.
    drop(stdin);
    child.wait().unwrap();
    answer
}
