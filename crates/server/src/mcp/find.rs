//! `search` and `describe`: the tools that programs have, found by words and told in TypeScript. They cost a prompt nothing until they are asked for.

use super::{Mcp, granted};
use crate::asked::Table;
use crate::caller::Caller;
use crate::error::Refusal;
use axum::http::StatusCode;
use isolith_core::{Grant, Power, Rule, ToolName};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

const LIMIT: u32 = 10;
const LIMIT_MAX: u32 = 50;
const TEXT_BYTES_MAX: usize = 1 << 10;

impl Mcp {
    pub(super) async fn search(&self, caller: &Caller, arguments: &[u8]) -> Result<CallToolResult, Refusal> {
        let mut table = Table::read(arguments)?;
        let query: Option<String> = table.parse("query", "a text")?;
        let limit: Option<u32> = table.parse("limit", "a whole number")?;
        table.finish(&["query", "limit"])?;
        let query = text("query", query)?;
        let limit = limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        let grants = granted(caller);
        let has = |name: &ToolName| has(&grants, name);
        let found: Value = match &self.app.runs.upstreams {
            Some(upstreams) => {
                let found = upstreams.search(&query, limit as usize, &has).await;
                found.parse().map_err(|error| Refusal::internal("reading what was found", &error))?
            }
            None => json!([]),
        };
        let line = |one: &Value| {
            format!("{}: {}", one["path"].as_str().unwrap_or_default(), one["description"].as_str().unwrap_or_default())
        };
        let lines: Vec<String> = found.as_array().into_iter().flatten().map(line).collect();
        let shown = if lines.is_empty() { "nothing goes with these words".to_owned() } else { lines.join("\n") };
        let mut result = CallToolResult::success(vec![ContentBlock::text(shown)]);
        result.structured_content = Some(json!({ "tools": found }));
        Ok(result)
    }

    pub(super) async fn describe(&self, caller: &Caller, arguments: &[u8]) -> Result<CallToolResult, Refusal> {
        let mut table = Table::read(arguments)?;
        let path: Option<String> = table.parse("path", "a text")?;
        table.finish(&["path"])?;
        let path = text("path", path)?;
        let grants = granted(caller);
        let has = |name: &ToolName| has(&grants, name);
        let unknown = |message: String| Refusal::new(StatusCode::NOT_FOUND, "tool.unknown", message).at("path");
        let Some(upstreams) = &self.app.runs.upstreams else {
            return Err(unknown("there are no namespaces of tools here".into()));
        };
        let described = upstreams.describe(&path, &has).await.map_err(|error| unknown(error.message))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(described)]))
    }
}

fn text(field: &str, given: Option<String>) -> Result<String, Refusal> {
    let given = given.ok_or_else(|| Refusal::invalid(format!("`{field}` is missing")).at(field))?;
    if given.len() > TEXT_BYTES_MAX {
        return Err(Refusal::invalid(format!("`{field}` has at most {TEXT_BYTES_MAX} bytes")).at(field));
    }
    Ok(given)
}

/// Whether programs have this tool, for some arguments at least.
fn has(grants: &[Grant], name: &ToolName) -> bool {
    let of = |grant: &&Grant| matches!(&grant.power, Power::Tool(tool) if tool.name.covers(name));
    let own: Vec<&Grant> = grants.iter().filter(of).collect();
    own.iter().any(|grant| grant.rule != Rule::Deny) && own.iter().all(|grant| grant.rule != Rule::Deny)
}
