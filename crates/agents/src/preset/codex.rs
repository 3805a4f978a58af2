//! What `codex exec --json` prints: threads, turns and items, one event a line.

use super::{Listener, count, tell_text, tell_tool, text};
use crate::Progress;
use crate::attempts::Answer;
use serde_json::Value;

#[derive(Default)]
pub(super) struct Codex {
    said: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    completed: bool,
    failed: Option<String>,
}

impl Listener for Codex {
    fn line(&mut self, line: &Value, _: &str, progress: &dyn Progress) {
        // Older ones say `item_type` and `assistant_message`.
        let kind = text(line, "/item/type").or(text(line, "/item/item_type")).unwrap_or_default();
        match (text(line, "/type").unwrap_or_default(), kind) {
            ("item.completed", "agent_message" | "assistant_message") => {
                let said = text(line, "/item/text").unwrap_or_default();
                tell_text(progress, said);
                self.said = Some(said.to_owned());
            }
            ("item.started", "mcp_tool_call") => {
                tell_tool(progress, text(line, "/item/tool").unwrap_or("mcp_tool_call"));
            }
            ("item.started", "command_execution" | "file_change" | "web_search") => tell_tool(progress, kind),
            ("turn.completed", _) => {
                self.completed = true;
                add(&mut self.input_tokens, count(line, "/usage/input_tokens"));
                add(&mut self.output_tokens, count(line, "/usage/output_tokens"));
            }
            ("turn.failed", _) => {
                let why = text(line, "/error/message").unwrap_or("the turn failed");
                (self.completed, self.failed) = (false, Some(why.to_owned()));
            }
            // Some of these are told on the way to an answer, such as a connection that was lost for a moment.
            ("error", _) => self.failed = text(line, "/message").map(str::to_owned).or(self.failed.take()),
            _ => {}
        }
    }

    fn answer(self: Box<Self>) -> Result<Answer, String> {
        if let Some(failed) = self.failed.filter(|_| !self.completed) {
            return Err(failed);
        }
        let text = self.said.ok_or("it ended without a message")?;
        let (input_tokens, output_tokens) = (self.input_tokens, self.output_tokens);
        Ok(Answer { text, data: None, input_tokens, output_tokens, model: None })
    }
}

fn add(all: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *all = Some(all.unwrap_or_default().saturating_add(more));
    }
}
