//! What an MCP client sees: as little text as says it, because a model reads it with every request.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const EXECUTE: &str = "execute";
pub(super) const RESUME: &str = "resume";
pub(super) const SCRIPT: &str = "workspace_script";
pub(super) const SEARCH: &str = "search";
pub(super) const DESCRIBE: &str = "describe";
pub(super) const NAMES: [&str; 5] = [EXECUTE, SEARCH, DESCRIBE, RESUME, SCRIPT];

/// In an order that never changes.
pub(super) fn all(namespaces: bool) -> Vec<Tool> {
    match namespaces {
        true => vec![execute(), search(), describe(), resume(), script()],
        false => vec![execute(), resume(), script()],
    }
}

fn search() -> Tool {
    let description = "Finds tools that programs can call as `tools.<namespace>.<function>(args)`, by words.";
    let input = json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "limit": { "type": "integer", "minimum": 1, "maximum": 50 } },
        "required": ["query"],
        "additionalProperties": false,
    });
    let item = json!({ "type": "object", "properties": { "path": { "type": "string" }, "description": { "type": "string" } }, "required": ["path"] });
    let output = json!({ "type": "object", "properties": { "tools": { "type": "array", "items": item } }, "required": ["tools"] });
    let annotations = ToolAnnotations::with_title("Find tools").read_only(true).open_world(false);
    Tool::new(SEARCH, description, object(input)).with_raw_output_schema(object(output)).with_annotations(annotations)
}

fn describe() -> Tool {
    let description = "Shows the TypeScript declaration of a tool, or of a whole namespace.";
    let input = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "`namespace.function`, or `namespace`" } },
        "required": ["path"],
        "additionalProperties": false,
    });
    let annotations = ToolAnnotations::with_title("Describe a tool").read_only(true).open_world(false);
    Tool::new(DESCRIBE, description, object(input)).with_annotations(annotations)
}

fn execute() -> Tool {
    let description = "Runs a JavaScript or TypeScript program in a fresh sandbox and gives back what it returns. It is the body of an async \
function: use `await` and `return`. `console.log` lines come back too. No Node or browser APIs; only what was granted exists.";
    let input = json!({
        "type": "object",
        "properties": {
            "program": { "type": "string", "description": "The source" },
            "input": { "description": "Any JSON, visible as `input`" },
            "session": { "type": "string", "description": "A session: its files are `files`, its keys `kv.session`" },
            "engine": { "enum": ["quickjs", "v8", "auto"], "description": "`auto` for heavy computing" },
            "limits": {
                "type": "object",
                "description": "Tighter limits, such as {\"timeout\": \"5s\", \"memory\": \"64MiB\"}",
            },
        },
        "required": ["program"],
        "additionalProperties": false,
    });
    let annotations = ToolAnnotations::with_title("Run a program").read_only(false).destructive(false).open_world(true);
    Tool::new(EXECUTE, description, object(input))
        .with_raw_output_schema(object(outcome()))
        .with_annotations(annotations)
}

fn resume() -> Tool {
    let description =
        "Gives the result of a program that was suspended until a person agreed, or says that it still waits.";
    let input = json!({
        "type": "object",
        "properties": { "run": { "type": "string", "description": "Its `run`" } },
        "required": ["run"],
        "additionalProperties": false,
    });
    let annotations =
        ToolAnnotations::with_title("Take up a program").read_only(false).destructive(false).open_world(true);
    Tool::new(RESUME, description, object(input))
        .with_raw_output_schema(object(outcome()))
        .with_annotations(annotations)
}

fn script() -> Tool {
    let description =
        "Runs a short JavaScript in a fresh isolate: outputs in order, then the value it returns. `execute` does more.";
    let input = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "language": { "type": "string", "default": "javascript" },
            "timeoutMs": { "type": "integer", "minimum": 1 },
        },
        "required": ["code"],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "outputs": { "type": "array", "items": { "type": "object", "properties": { "type": { "enum": ["stdout", "stderr", "display", "result"] } } } },
            "exitCode": { "type": "integer" },
            "error": { "type": "object" },
        },
        "required": ["outputs", "exitCode"],
    });
    let annotations = ToolAnnotations::with_title("Run a script").read_only(false).destructive(false).open_world(true);
    Tool::new(SCRIPT, description, object(input)).with_raw_output_schema(object(output)).with_annotations(annotations)
}

fn outcome() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "enum": ["ok", "error", "suspended"] },
            "value": {},
            "error": {
                "type": "object",
                "properties": {
                    "kind": { "type": "string" },
                    "code": { "type": "string" },
                    "name": { "type": "string" },
                    "message": { "type": "string" },
                    "line": { "type": "integer" },
                    "column": { "type": "integer" },
                    "hint": { "type": "string" },
                },
                "required": ["message"],
            },
            "logs": { "type": "array", "items": { "type": "string" } },
            "run": { "type": "string" },
            "approvals": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["status"],
    })
}

pub(super) fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}
