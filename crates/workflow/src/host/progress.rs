use crate::event::{Audience, Event, now_ms};
use isolith_agents::{Progress, Step};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often an agent's words are passed on, in milliseconds.
const PAUSE_MS: u64 = 1_000;

/// Passes on how one agent is getting on, and counts what it spends.
pub(super) struct Told {
    key: String,
    audience: Arc<dyn Audience>,
    last_ms: AtomicU64,
    spent: AtomicU64,
}

impl Told {
    pub(super) fn new(key: &str, audience: Arc<dyn Audience>) -> Told {
        Told { key: key.to_owned(), audience, last_ms: AtomicU64::new(0), spent: AtomicU64::new(0) }
    }

    /// Output tokens, over all attempts so far.
    pub(super) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    fn say(&self, text: &str) {
        self.audience.hear(&Event::now("agent-progress", json!({ "key": self.key, "text": text })));
    }
}

impl Progress for Told {
    fn report(&self, step: Step) {
        match step {
            Step::Spent { output_tokens, .. } => {
                self.spent.fetch_add(output_tokens, Ordering::Relaxed);
            }
            Step::Tool { name } => {
                self.audience.hear(&Event::now("agent-tool", json!({ "key": self.key, "tool": name })));
            }
            Step::Text { text } => {
                let now = now_ms();
                if now.saturating_sub(self.last_ms.load(Ordering::Relaxed)) >= PAUSE_MS {
                    self.last_ms.store(now, Ordering::Relaxed);
                    self.say(&text);
                }
            }
            Step::Repair { attempt, issues } => self.say(&format!("attempt {attempt}: {}", issues.join("; "))),
            Step::Waiting { ms, why } => self.say(&format!("waits for {ms} ms: {why}")),
            Step::Note { message } => self.say(&message),
        }
    }
}
