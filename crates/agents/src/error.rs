//! What goes wrong, in the words that a workflow knows.

use crate::schema::SchemaError;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much of an answer that cannot be used is shown.
const RAW_CHARS_MAX: usize = 1_000;

/// Why there is no answer. As JSON it is a `WorkflowError`, by its `kind`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum AgentError {
    /// The agent could not be started or reached, or it failed.
    #[error("{adapter}: {cause}")]
    AdapterSpawn {
        /// Its name.
        adapter: String,
        /// Why.
        cause: String,
    },
    /// The answer is not what the schema says. No attempts: the schema itself is what cannot be used.
    #[error("{}", issues.join("; "))]
    SchemaValidation {
        /// What is wrong with the last answer.
        issues: Vec<String>,
        /// How often it was asked for.
        attempts: u32,
        /// The last answer, or its beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_output: Option<String>,
    },
    /// It took too long.
    #[error("{what} took longer than {ms} ms")]
    Timeout {
        /// What did.
        what: String,
        /// How long it could have taken.
        ms: u64,
    },
}

impl AgentError {
    pub(crate) fn failed(adapter: &str, cause: impl Into<String>) -> AgentError {
        AgentError::AdapterSpawn { adapter: adapter.to_owned(), cause: cause.into() }
    }

    pub(crate) fn late(label: &str, limit: Duration) -> AgentError {
        let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        AgentError::Timeout { what: format!("agent `{label}`"), ms }
    }
}

impl From<SchemaError> for AgentError {
    fn from(error: SchemaError) -> AgentError {
        AgentError::SchemaValidation { issues: vec![error.to_string()], attempts: 0, raw_output: None }
    }
}

/// The beginning of an answer that cannot be used, and how much more there is.
pub fn raw_output(text: &str) -> String {
    match text.char_indices().nth(RAW_CHARS_MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… [truncated {} chars]", &text[..at], text[at..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_what_workflows_know() {
        for (error, expected) in [
            (AgentError::failed("a", "boom"), json!({ "kind": "AdapterSpawn", "adapter": "a", "cause": "boom" })),
            (
                AgentError::late("a", Duration::from_secs(2)),
                json!({ "kind": "Timeout", "what": "agent `a`", "ms": 2000 }),
            ),
            (
                AgentError::SchemaValidation { issues: vec!["x".into()], attempts: 2, raw_output: Some("y".into()) },
                json!({ "kind": "SchemaValidation", "issues": ["x"], "attempts": 2, "rawOutput": "y" }),
            ),
            (
                SchemaError::TooLarge { bytes: 9 }.into(),
                json!({ "kind": "SchemaValidation", "attempts": 0,
                    "issues": ["the schema cannot be used: it has 9 bytes, and may have 262144"] }),
            ),
        ] {
            let shown = serde_json::to_value(&error).unwrap();
            assert_eq!(shown, expected);
            assert_eq!(serde_json::from_value::<AgentError>(shown).unwrap(), error);
        }
    }

    #[test]
    fn long_answers_are_cut() {
        assert_eq!(raw_output("prose"), "prose");
        assert_eq!(raw_output(&"é".repeat(1000)), "é".repeat(1000));
        assert_eq!(raw_output(&"é".repeat(1007)), format!("{}… [truncated 7 chars]", "é".repeat(1000)));
    }
}
