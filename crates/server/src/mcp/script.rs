//! The tool `workspace_script`, as agents know it that were written for it: code in, ordered outputs and an exit code out. It never fails as a tool.

use super::asked;
use super::http::Visit;
use crate::asked::{Asked, Table};
use crate::error::Refusal;
use isolith_core::{Outcome, RunId};
use isolith_workspace::contract::{RunCodeResult, wrong_language};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

/// The run that a script asks for, or its result where it cannot be run.
pub(super) fn read(visit: &Visit, arguments: &[u8]) -> Result<Result<Asked, CallToolResult>, Refusal> {
    let mut table = Table::read(arguments)?;
    let code: Option<String> = table.parse("code", "the script's source, as text")?;
    let language: Option<String> = table.parse("language", "a text")?;
    let timeout_ms: Option<u64> = table.parse("timeoutMs", "a number of milliseconds")?;
    table.finish(&["code", "language", "timeoutMs"])?;
    let code = code.ok_or_else(|| Refusal::invalid("`code` is missing").at("code"))?;
    if let Some(wrong) = language.as_deref().and_then(wrong_language) {
        return Ok(Err(result(&wrong)));
    }
    let mut request = json!({ "program": code });
    if let Some(ms) = timeout_ms {
        request["limits"] = json!({ "timeout": format!("{}ms", ms.max(1)) });
    }
    let request = serde_json::to_vec(&request).map_err(|error| Refusal::internal("reading a script", &error))?;
    asked(&request, visit).map(Ok)
}

/// How a script ended.
pub(super) fn ended(outcome: &str) -> Result<CallToolResult, Refusal> {
    let failed = |error: serde_json::Error| Refusal::internal("reading an outcome", &error);
    let outcome: Outcome = serde_json::from_str(outcome).map_err(failed)?;
    Ok(result(&RunCodeResult::from(&outcome)))
}

/// One that waits for a person, whom this tool has no words for.
pub(super) fn waits(run: &RunId) -> CallToolResult {
    let message = format!("a person has to agree first: call `resume` with {{\"run\": \"{run}\"}} when they have");
    result(&RunCodeResult::failed("Suspended", message, 75))
}

fn result(ended: &RunCodeResult) -> CallToolResult {
    let structured = serde_json::to_value(ended).unwrap_or_default();
    let mut result = CallToolResult::success(vec![ContentBlock::text(structured.to_string())]);
    result.structured_content = Some(structured);
    result
}
