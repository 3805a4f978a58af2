use isolith_core::{Outcome, Status, Stream};
use serde::Serialize;
use serde_json::Value;

/// What a script can be written in, as it is said.
pub const SCRIPT_LANGUAGES: [&str; 4] = ["javascript", "js", "typescript", "ts"];

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCodeResult {
    /// What it wrote and returned, in order.
    pub outputs: Vec<CodeOutput>,
    /// 0 where it ended well.
    pub exit_code: i32,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CodeError>,
}

/// One piece of what a script gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum CodeOutput {
    /// By `console.log`, `info` or `debug`.
    Stdout {
        /// With its line's end.
        data: String,
    },
    /// By `console.warn` or `error`.
    Stderr {
        /// With its line's end.
        data: String,
    },
    /// What it returned.
    Result {
        /// As JSON.
        value: Value,
    },
}

/// Why a script did not end well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeError {
    /// `TypeError`, …
    pub name: String,
    /// In words.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

impl RunCodeResult {
    /// One that could not be run.
    pub fn failed(name: &str, message: String, exit_code: i32) -> RunCodeResult {
        let error = CodeError { name: name.into(), message, stack: None };
        RunCodeResult { outputs: Vec::new(), exit_code, error: Some(error) }
    }
}

impl From<&Outcome> for RunCodeResult {
    fn from(outcome: &Outcome) -> RunCodeResult {
        let line = |output: &isolith_core::Output| {
            let data = format!("{}\n", output.text);
            if output.stream == Stream::Stdout { CodeOutput::Stdout { data } } else { CodeOutput::Stderr { data } }
        };
        let mut outputs: Vec<CodeOutput> = outcome.outputs.iter().map(line).collect();
        outputs.extend(
            outcome.value.as_ref().map(|value| CodeOutput::Result { value: value.parse().unwrap_or_default() }),
        );
        let error = outcome.error.as_ref().map(|error| CodeError {
            name: error.name.clone(),
            message: error.message.clone(),
            stack: error.stack.clone(),
        });
        RunCodeResult { outputs, exit_code: i32::from(outcome.status != Status::Ok), error }
    }
}

/// What is said of a language that scripts are not written in: the very words that users of this know.
pub fn wrong_language(language: &str) -> Option<RunCodeResult> {
    if SCRIPT_LANGUAGES.contains(&language) {
        return None;
    }
    let message = format!(
        "WorkerLoaderScriptRunner: language '{language}' is not supported (the script runner is JavaScript-only; use workspace_run_code for other languages)."
    );
    Some(RunCodeResult::failed("Error", message, 1))
}
