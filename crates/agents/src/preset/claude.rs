//! Claude Code's `stream-json`: one object a line, and one of the type `result` at the end.

use super::{Listener, sum, tell_text, tell_tool, text};
use crate::Progress;
use crate::attempts::Answer;
use isolith_core::Json;
use serde::Deserialize;
use serde_json::Value;

/// What was read counts whether or not it came from a cache.
const INPUT: [&str; 3] =
    ["/usage/input_tokens", "/usage/cache_creation_input_tokens", "/usage/cache_read_input_tokens"];

#[derive(Default)]
pub(super) struct Claude {
    model: Option<String>,
    result: Option<Value>,
    data: Option<Json>,
}

/// The value as it was written, keys in their order.
#[derive(Deserialize)]
struct Structured {
    structured_output: Option<Json>,
}

impl Listener for Claude {
    fn line(&mut self, line: &Value, written: &str, progress: &dyn Progress) {
        match text(line, "/type") {
            Some("system") => self.model = text(line, "/model").map(str::to_owned).or(self.model.take()),
            Some("assistant") => {
                for part in line.pointer("/message/content").and_then(Value::as_array).into_iter().flatten() {
                    match (text(part, "/type"), text(part, "/text"), text(part, "/name")) {
                        (Some("text"), Some(text), _) => tell_text(progress, text),
                        (Some("tool_use"), _, Some(name)) => tell_tool(progress, name),
                        _ => {}
                    }
                }
            }
            Some("result") => {
                self.result = Some(line.clone());
                self.data =
                    serde_json::from_str(written).ok().and_then(|structured: Structured| structured.structured_output);
            }
            _ => {}
        }
    }

    fn answer(self: Box<Self>) -> Result<Answer, String> {
        let result = self.result.ok_or("it ended without a result")?;
        let said = text(&result, "/result").unwrap_or_default();
        let kind = text(&result, "/subtype").unwrap_or("success");
        if kind != "success" || result.get("is_error") == Some(&Value::Bool(true)) {
            let errors = result.get("errors").and_then(Value::as_array).into_iter().flatten();
            let errors: Vec<&str> = errors.filter_map(Value::as_str).chain([said]).filter(|e| !e.is_empty()).collect();
            let kind = if kind == "success" { "error" } else { kind };
            return Err(if errors.is_empty() { kind.to_owned() } else { format!("{kind}: {}", errors.join("; ")) });
        }
        Ok(Answer {
            text: said.to_owned(),
            data: self.data,
            input_tokens: sum(&result, &INPUT),
            output_tokens: sum(&result, &["/usage/output_tokens"]),
            model: self.model,
        })
    }
}
