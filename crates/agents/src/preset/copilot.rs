//! What `copilot --output-format json` prints: events of a session, one a line.
//!
//! It tells how much was written, and how much was read only when the session is shut down in time to say so.

use super::{Listener, count, tell_text, tell_tool, text};
use crate::Progress;
use crate::attempts::Answer;
use serde_json::Value;

#[derive(Default)]
pub(super) struct Copilot {
    said: Option<String>,
    model: Option<String>,
    /// Counted message by message.
    written: Option<u64>,
    /// Told at the end: what was read and what was written.
    total: Option<(u64, u64)>,
    failed: Option<String>,
}

impl Listener for Copilot {
    fn line(&mut self, line: &Value, _: &str, progress: &dyn Progress) {
        match text(line, "/type").unwrap_or_default() {
            "session.start" | "session.model_change" => {
                let named = ["/data/newModel", "/data/selectedModel", "/data/model"];
                let model = named.iter().find_map(|pointer| text(line, pointer)).map(str::to_owned);
                self.model = model.or(self.model.take());
            }
            "assistant.message" => {
                // One that only asks for tools says nothing.
                if let Some(said) = text(line, "/data/content").filter(|said| !said.trim().is_empty()) {
                    tell_text(progress, said);
                    self.said = Some(said.to_owned());
                }
                if let Some(more) = count(line, "/data/outputTokens") {
                    self.written = Some(self.written.unwrap_or_default().saturating_add(more));
                }
            }
            "tool.execution_start" => tell_tool(progress, text(line, "/data/toolName").unwrap_or("tool")),
            "session.error" => self.failed = text(line, "/data/message").map(str::to_owned).or(self.failed.take()),
            "session.shutdown" => {
                let metrics = line.pointer("/data/modelMetrics").and_then(Value::as_object);
                let all: Vec<&Value> = metrics.into_iter().flat_map(|metrics| metrics.values()).collect();
                let total = |pointer: &str| all.iter().filter_map(|one| count(one, pointer)).sum::<u64>();
                if !all.is_empty() {
                    self.total = Some((total("/usage/inputTokens"), total("/usage/outputTokens")));
                }
            }
            _ => {}
        }
    }

    fn answer(self: Box<Self>) -> Result<Answer, String> {
        let Some(text) = self.said else {
            return Err(self.failed.unwrap_or_else(|| "it ended without a message".to_owned()));
        };
        let input_tokens = self.total.map(|(read, _)| read);
        let output_tokens = self.total.map(|(_, written)| written).or(self.written);
        Ok(Answer { text, data: None, input_tokens, output_tokens, model: self.model })
    }
}
