//! The tool `workspace_script`, as agents know it that were written for it: code in, ordered outputs and an exit code out. It never fails as a tool.

use super::asked;
use crate::asked::{Asked, Table};
use crate::caller::Caller;
use crate::error::Refusal;
use isolith_core::{Outcome, RunId, Status, Stream};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

const LANGUAGES: [&str; 4] = ["javascript", "js", "typescript", "ts"];

/// The run that a script asks for, or its result where it cannot be run.
pub(super) fn read(caller: &Caller, arguments: &[u8]) -> Result<Result<Asked, CallToolResult>, Refusal> {
    let mut table = Table::read(arguments)?;
    let code: Option<String> = table.parse("code", "the script's source, as text")?;
    let language: Option<String> = table.parse("language", "a text")?;
    let timeout_ms: Option<u64> = table.parse("timeoutMs", "a number of milliseconds")?;
    table.finish(&["code", "language", "timeoutMs"])?;
    let code = code.ok_or_else(|| Refusal::invalid("`code` is missing").at("code"))?;
    if let Some(language) = language.filter(|language| !LANGUAGES.contains(&language.as_str())) {
        // The very words that its users know.
        let message = format!(
            "WorkerLoaderScriptRunner: language '{language}' is not supported (the script runner is JavaScript-only; use workspace_run_code for other languages)."
        );
        return Ok(Err(result(Vec::new(), 1, Some(json!({ "name": "Error", "message": message })))));
    }
    let mut request = json!({ "program": code });
    if let Some(ms) = timeout_ms {
        request["limits"] = json!({ "timeout": format!("{}ms", ms.max(1)) });
    }
    let request = serde_json::to_vec(&request).map_err(|error| Refusal::internal("reading a script", &error))?;
    asked(&request, caller).map(Ok)
}

/// How a script ended.
pub(super) fn ended(outcome: &str) -> Result<CallToolResult, Refusal> {
    let failed = |error: serde_json::Error| Refusal::internal("reading an outcome", &error);
    let outcome: Outcome = serde_json::from_str(outcome).map_err(failed)?;
    let line = |output: &isolith_core::Output| {
        let stream = if output.stream == Stream::Stdout { "stdout" } else { "stderr" };
        json!({ "type": stream, "data": format!("{}\n", output.text) })
    };
    let mut outputs: Vec<Value> = outcome.outputs.iter().map(line).collect();
    if let Some(value) = &outcome.value {
        outputs.push(json!({ "type": "result", "value": value.parse::<Value>().unwrap_or(Value::Null) }));
    }
    let error = outcome.error.as_ref().map(|error| {
        let mut shown = Map::new();
        shown.insert("name".into(), json!(error.name));
        shown.insert("message".into(), json!(error.message));
        shown.extend(error.stack.as_ref().map(|stack| ("stack".to_owned(), json!(stack))));
        Value::Object(shown)
    });
    Ok(result(outputs, i32::from(outcome.status != Status::Ok), error))
}

/// One that waits for a person, whom this tool has no words for.
pub(super) fn waits(run: &RunId) -> CallToolResult {
    let message = format!("a person has to agree first: call `resume` with {{\"run\": \"{run}\"}} when they have");
    result(Vec::new(), 75, Some(json!({ "name": "Suspended", "message": message })))
}

fn result(outputs: Vec<Value>, exit_code: i32, error: Option<Value>) -> CallToolResult {
    let mut structured = json!({ "outputs": outputs, "exitCode": exit_code });
    if let Some(error) = error {
        structured["error"] = error;
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(structured.to_string())]);
    result.structured_content = Some(structured);
    result
}
