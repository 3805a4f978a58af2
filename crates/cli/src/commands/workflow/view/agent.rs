//! One agent of a run, as far as it is known.

use super::clean;
use isolith_workflow::Event;
use serde_json::Value;

/// The most text of a prompt, and of an answer, that is kept: 64 KiB for both.
const TEXT_BYTES_MAX: usize = 32 << 10;
/// The most text of a label, a model or another thing that has one line.
pub(super) const LINE_BYTES_MAX: usize = 256;

/// How far an agent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Queued,
    Working,
    Done,
    /// Its answer was known before.
    Cached,
    Failed,
}

impl State {
    pub(super) fn sign(self) -> &'static str {
        match self {
            State::Queued => "…",
            State::Working => "●",
            State::Done | State::Cached => "✓",
            State::Failed => "✗",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Working => "working",
            State::Done => "done",
            State::Cached => "cached",
            State::Failed => "failed",
        }
    }

    pub(super) fn is_over(self) -> bool {
        matches!(self, State::Done | State::Cached | State::Failed)
    }
}

/// An agent. All of its texts are fit to be shown.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub(super) label: String,
    pub(super) state: State,
    pub(super) model: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) started_at: Option<u64>,
    pub(super) finished_at: Option<u64>,
    pub(super) prompt: String,
    /// Its answer; its last words while it works; why it failed.
    pub(super) output: String,
}

impl Agent {
    pub(super) fn new(label: &str) -> Agent {
        Agent { label: clean::line(label, LINE_BYTES_MAX), ..Agent::default() }
    }

    pub(super) fn hear(&mut self, event: &Event) {
        match event.kind.as_str() {
            "agent-queued" => self.prompt = clean::lines(event.text("prompt").unwrap_or_default(), TEXT_BYTES_MAX),
            "agent-started" => {
                (self.state, self.started_at, self.finished_at) = (State::Working, Some(event.at), None);
                self.hear_model(event);
            }
            "agent-progress" => self.output = clean::lines(event.text("text").unwrap_or_default(), TEXT_BYTES_MAX),
            "agent-tool" => {
                let tool = clean::line(event.text("tool").unwrap_or("a tool"), LINE_BYTES_MAX);
                self.output = format!("uses {tool}");
            }
            "agent-output" => self.output = answer(event),
            "agent-finished" => {
                self.state = if event.is_cached() { State::Cached } else { State::Done };
                self.finished_at = Some(event.at);
                self.hear_model(event);
                (self.input_tokens, self.output_tokens) = usage(event);
            }
            "agent-failed" => {
                (self.state, self.finished_at) = (State::Failed, Some(event.at));
                self.output = event.about.get("error").map(fault).unwrap_or_default();
            }
            _ => {}
        }
    }

    /// Takes back what nobody does any more.
    pub(super) fn interrupt(&mut self) {
        if self.state == State::Working {
            (self.state, self.started_at) = (State::Queued, None);
        }
    }

    /// How long it worked, or has worked until now.
    pub(super) fn worked_ms(&self, now_ms: u64) -> Option<u64> {
        Some(self.finished_at.unwrap_or(now_ms).saturating_sub(self.started_at?))
    }

    fn hear_model(&mut self, event: &Event) {
        if let Some(model) = event.text("model") {
            self.model = Some(clean::line(model, LINE_BYTES_MAX));
        }
    }
}

/// Input and output tokens.
pub(super) fn usage(event: &Event) -> (u64, u64) {
    let count = |name: &str| event.about.get("usage").and_then(|usage| usage.get(name)?.as_u64()).unwrap_or_default();
    (count("inputTokens"), count("outputTokens"))
}

fn answer(event: &Event) -> String {
    // Where there is data, the text is the same before it was read.
    let text = match event.about.get("data") {
        None | Some(Value::Null) => event.text("text").unwrap_or_default().to_owned(),
        Some(data) => pretty(data),
    };
    clean::lines(&text, TEXT_BYTES_MAX)
}

/// Why something failed: its kind, then a line for each thing that is known.
pub(super) fn fault(error: &Value) -> String {
    let text = match error {
        Value::Object(fields) => {
            let kind = fields.get("kind").map(words).into_iter();
            let rest = fields.iter().filter(|(name, _)| *name != "kind");
            kind.chain(rest.map(|(name, value)| format!("{name}: {}", words(value)))).collect::<Vec<_>>().join("\n")
        }
        other => words(other),
    };
    clean::lines(&text, TEXT_BYTES_MAX)
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
