//! An outcome as a model reads it: the value or the mistake, with its lines of output, and nothing else.

use crate::checker::Mistake;
use crate::error::Refusal;
use isolith_core::{Outcome, RunError, RunId, Status};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

/// The text that goes back beside what is structured: what is longer is cut there.
const TEXT_BYTES_MAX: usize = 64 << 10;

pub(super) fn ended(outcome: &str) -> Result<CallToolResult, Refusal> {
    let outcome: Outcome =
        serde_json::from_str(outcome).map_err(|error| Refusal::internal("reading an outcome", &error))?;
    let value: Option<Value> = outcome
        .value
        .as_ref()
        .map(|json| json.parse())
        .transpose()
        .map_err(|error| Refusal::internal("reading an outcome", &error))?;
    let logs: Vec<&str> = outcome.outputs.iter().map(|output| output.text.as_str()).collect();
    let failed = outcome.status != Status::Ok;
    let mut lines: Vec<String> = logs.iter().map(|line| (*line).to_owned()).collect();
    match (&outcome.error, &outcome.value) {
        (Some(error), _) => lines.push(told(error)),
        (None, Some(value)) => lines.push(value.text().to_owned()),
        (None, None) => lines.push("undefined".into()),
    }
    let mut structured = Map::new();
    structured.insert("status".into(), json!(if failed { "error" } else { "ok" }));
    let error = outcome
        .error
        .as_ref()
        .map(serde_json::to_value)
        .transpose()
        .map_err(|error| Refusal::internal("reading an outcome", &error))?;
    let fields = [
        ("value", value),
        ("error", error),
        ("logs", (!logs.is_empty()).then(|| json!(logs))),
        ("run", outcome.run.as_ref().map(|run| json!(run.0))),
    ];
    structured.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Ok(result(&lines.join("\n"), Value::Object(structured), failed))
}

/// A program that was not run, because its types are wrong.
pub(super) fn mistaken(mistakes: &[Mistake]) -> CallToolResult {
    let line = |one: &Mistake| format!("line {}, column {}: {} ({})", one.line, one.column, one.message, one.code);
    let lines: Vec<String> = mistakes.iter().map(line).collect();
    let text = format!("The program was not run: its types are wrong.\n{}", lines.join("\n"));
    let first = mistakes.first();
    let error = json!({
        "code": "types", "name": "TypeError", "message": text,
        "line": first.map_or(1, |one| one.line), "column": first.map_or(1, |one| one.column),
    });
    result(&text, json!({ "status": "error", "error": error }), true)
}

/// A program that waits for a person whom nobody here can ask.
pub(super) fn suspended(outcome: &str, run: &RunId) -> Result<CallToolResult, Refusal> {
    let outcome: Outcome =
        serde_json::from_str(outcome).map_err(|error| Refusal::internal("reading an outcome", &error))?;
    let asks: Vec<String> = outcome.approvals.iter().map(|ask| format!("- {} (`{}`)", ask.what, ask.grant)).collect();
    let text = format!(
        "The program is suspended until a person agrees to:\n{}\nThey see it with `isolith approvals show {run}`. \
         When they have answered, call `resume` with {{\"run\": \"{run}\"}} for the result.",
        asks.join("\n")
    );
    let structured = json!({ "status": "suspended", "run": run.0, "approvals": outcome.approvals });
    Ok(result(&text, structured, false))
}

/// A call that came to nothing, as the model can mend it.
pub(super) fn refused(refusal: &Refusal) -> CallToolResult {
    let mut text = refusal.message.clone();
    if let Some(hint) = &refusal.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let mut error = json!({ "code": refusal.code, "message": refusal.message });
    if let Some(hint) = &refusal.hint {
        error["hint"] = json!(hint);
    }
    result(&text, json!({ "status": "error", "error": error }), true)
}

fn result(text: &str, structured: Value, failed: bool) -> CallToolResult {
    let content = vec![ContentBlock::text(cut(text))];
    let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(structured);
    result
}

fn told(error: &RunError) -> String {
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        (Some(line), None) => format!(" (line {line})"),
        _ => String::new(),
    };
    let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{}: {}{place}{hint}", error.name, error.message)
}

fn cut(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    format!("{}…\n({} bytes more)", &text[..end], text.len() - end)
}
