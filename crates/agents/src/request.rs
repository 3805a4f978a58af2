//! What an agent is asked, what it answers, and what is heard from it in between.

use crate::AgentError;
use isolith_core::{BoxFuture, Json};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One prompt of a workflow, with what was said about it.
///
/// The arguments of the guest's `agent` call can be read as one: what is not known here is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The call: `0:default:write`.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// The phase it belongs to.
    pub phase: String,
    /// What is asked.
    pub prompt: String,
    /// What the answer has to be: a JSON Schema (2020-12). Without one the answer is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// The model, where the author says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A role that some agents know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Who is asked; see [`crate::Agents`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// `worktree` for a tree of its own. Whoever calls an agent makes it and says so in `folder`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// Where a program runs, if not where the operator says. It is the host's to say, and never read from a guest.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// How long it may take; never longer than the operator says.
    #[serde(default, rename = "timeoutMs", with = "milliseconds", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// What an agent answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// As text.
    pub text: String,
    /// As the value that the schema describes, where there is a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// What was read, over all attempts.
    pub input_tokens: u64,
    /// What was written, over all attempts.
    pub output_tokens: u64,
    /// Whether these counts are estimates.
    pub approximate: bool,
    /// Who answered, as far as that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How often it was asked.
    pub attempts: u32,
}

/// Someone who can be asked.
pub trait Agent: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future ends what was started for it.
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>>;
}

/// Whoever wants to hear how an agent is getting on.
pub trait Progress: Send + Sync {
    /// Something happened. This must return at once.
    fn report(&self, step: Step);
}

/// Something that happened before the answer was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Step {
    /// The agent uses a tool of its own.
    Tool {
        /// Which.
        name: String,
    },
    /// It said something on the way.
    Text {
        /// The beginning of it.
        text: String,
    },
    /// An attempt is over, whether or not its answer can be used. A failure that was paid for is told only here.
    Spent {
        /// What was read.
        input_tokens: u64,
        /// What was written.
        output_tokens: u64,
        /// Whether this is an estimate.
        approximate: bool,
    },
    /// The answer was not what the schema says, and is asked for again.
    Repair {
        /// Which attempt begins, from 2.
        attempt: u32,
        /// What was wrong with the last.
        issues: Vec<String>,
    },
    /// The other side wants to be left alone for a while.
    Waiting {
        /// How long.
        ms: u64,
        /// Why.
        why: String,
    },
    /// Something that was asked for and is not done, or that a person should know.
    Note {
        /// What.
        message: String,
    },
}

/// Nobody who listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: Step) {}
}

/// Durations as numbers of milliseconds.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => out.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            None => out.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let Some(ms) = Option::<f64>::deserialize(from)? else { return Ok(None) };
        // JavaScript has one kind of number: 1500.5 is a duration too.
        let duration = Duration::try_from_secs_f64(ms / 1000.0);
        duration.map(Some).map_err(|_| serde::de::Error::custom("timeoutMs must be positive and not absurd"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_guests_arguments_are_a_request() {
        let text = r#"{"seq":3,"key":"3:default:a","label":"a","phase":"default","prompt":"p","schema":{"type":"null"},
            "agentType":"t","timeoutMs":1500,"folder":"/etc","events":[]}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert_eq!(request.schema.as_ref().unwrap().text(), r#"{"type":"null"}"#);
        assert_eq!((request.agent_type.as_deref(), request.timeout), (Some("t"), Some(Duration::from_millis(1500))));
        assert_eq!(request.folder, None);
        let back = serde_json::to_value(&request).unwrap();
        let expected = json!({ "key": "3:default:a", "label": "a", "phase": "default", "prompt": "p",
            "schema": { "type": "null" }, "agentType": "t", "timeoutMs": 1500 });
        assert_eq!(back, expected);
        assert!(serde_json::from_str::<Request>(&text.replace("1500", "-1")).is_err());
    }
}
