//! What is sent to a Worker in one round, and what it answers.

use super::progress::Progress;
use isolith_core::{BindingName, Json};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Names of errors and the like are the guest's choice too.
const TEXT_BYTES_MAX: usize = 64 << 10;

#[derive(Serialize)]
struct Body<'a> {
    code: &'a str,
    tools: Vec<Tool<'a>>,
    #[serde(rename = "toolResults", skip_serializing_if = "Option::is_none")]
    results: Option<BTreeMap<String, &'a ToolResult>>,
    timeout: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    name: &'a BindingName,
    description: &'static str,
    input_schema: Empty,
}

#[derive(Serialize)]
struct Empty {}

/// How a call went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ToolResult {
    pub(super) success: bool,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl ToolResult {
    pub(super) fn failed(message: String) -> ToolResult {
        // The Worker takes an empty message for none.
        let error = if message.is_empty() { "Error".into() } else { message };
        ToolResult { success: false, value: None, error: Some(error) }
    }
}

/// The body of the next request. The time is the same in every round: an isolith in the Worker's place finds the run by it.
pub(super) fn body(progress: &Progress) -> Vec<u8> {
    let tool = |name| Tool { name, description: "", input_schema: Empty {} };
    let results = progress.results.iter().map(|(id, result)| (format!("tc_{id}"), result));
    let body = Body {
        code: &progress.code,
        tools: progress.tools.iter().map(tool).collect(),
        results: (!progress.results.is_empty()).then(|| results.collect()),
        timeout: u64::try_from(progress.limits.wall.as_millis()).unwrap_or(u64::MAX),
    };
    // Plain data of ours always has a JSON form.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// An answer.
pub(super) enum Answer {
    Value(Option<Json>),
    /// The program threw.
    Threw {
        name: String,
        message: String,
    },
    NeedTools(Vec<ToolCall>),
    /// The Worker stopped the program, or could not run it.
    Stopped {
        name: String,
        message: String,
    },
}

pub(super) struct ToolCall {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) args: Option<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    status: String,
    #[serde(default)]
    success: bool,
    #[serde(default, deserialize_with = "present")]
    value: Option<Json>,
    error: Option<SaidError>,
    #[serde(default)]
    logs: Vec<Json>,
    #[serde(default)]
    tool_calls: Vec<SaidCall>,
}

#[derive(Deserialize)]
struct SaidError {
    name: Option<Json>,
    message: Option<Json>,
}

#[derive(Deserialize)]
struct SaidCall {
    id: String,
    name: String,
    #[serde(default, deserialize_with = "present")]
    args: Option<Json>,
}

/// Reads an answer and the lines that came with it; nothing where it makes no sense.
pub(super) fn read(body: &[u8]) -> Option<(Answer, Vec<String>)> {
    let said: Said = serde_json::from_slice(body).ok()?;
    let lines = said.logs.iter().map(text).collect();
    let error = || {
        let (name, message) = said.error.as_ref().map_or((None, None), |e| (e.name.as_ref(), e.message.as_ref()));
        let cut = |json: Option<&Json>| json.map(|json| cut(text(json))).filter(|text| !text.is_empty());
        (cut(name).unwrap_or_else(|| "Error".into()), cut(message).unwrap_or_default())
    };
    let answer = match (said.status.as_str(), said.success) {
        ("done", true) => Answer::Value(said.value),
        ("done", false) => {
            let (name, message) = error();
            Answer::Threw { name, message }
        }
        ("error", _) => {
            let (name, message) = error();
            Answer::Stopped { name, message }
        }
        ("need_tools", _) => {
            let read = |call: SaidCall| {
                let id = call.id.strip_prefix("tc_")?.parse().ok()?;
                Some(ToolCall { id, name: call.name, args: call.args })
            };
            Answer::NeedTools(said.tool_calls.into_iter().map(read).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some((answer, lines))
}

/// A text, or what is there in its place: half a character, which JavaScript can make, is shown as it was sent.
fn text(json: &Json) -> String {
    json.parse::<String>().unwrap_or_else(|_| json.text().to_owned())
}

fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// A `null` that is there is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_the_worker_sends_them() {
        let lines = |body: &str| read(body.as_bytes()).unwrap().1;
        let answer = |body: &str| match read(body.as_bytes())?.0 {
            Answer::Value(value) => Some(format!("value {value:?}")),
            Answer::Threw { name, message } => Some(format!("threw {name} {message}")),
            Answer::Stopped { name, message } => Some(format!("stopped {name} {message}")),
            Answer::NeedTools(calls) => {
                Some(calls.iter().map(|call| format!("{} {} {:?};", call.id, call.name, call.args)).collect())
            }
        };
        for (body, expected) in [
            (r#"{"status":"done","success":true,"value":null,"logs":[]}"#, Some("value Some(null)")),
            (r#"{"status":"done","success":true,"logs":[]}"#, Some("value None")),
            (r#"{"status":"done","success":false,"error":{"name":"E","message":"m","stack":"s"}}"#, Some("threw E m")),
            (r#"{"status":"done","success":false,"error":{"name":5,"message":"\ud800"}}"#, Some(r#"threw 5 "\ud800""#)),
            (r#"{"status":"done","success":false}"#, Some("threw Error ")),
            (r#"{"status":"error","error":{"name":"TimeoutError","message":"x"}}"#, Some("stopped TimeoutError x")),
            (
                r#"{"status":"need_tools","toolCalls":[{"id":"tc_0","name":"a"},{"id":"tc_7","name":"b","args":null}]}"#,
                Some("0 a None;7 b Some(null);"),
            ),
            (r#"{"status":"need_tools","toolCalls":[{"id":"x","name":"a"}]}"#, None),
            (r#"{"status":"need_tools","toolCalls":[{"id":"tc_-1","name":"a"}]}"#, None),
            (r#"{"status":"other"}"#, None),
            ("", None),
            ("[]", None),
        ] {
            assert_eq!(answer(body).as_deref(), expected, "{body}");
        }
        assert_eq!(lines(r#"{"status":"done","success":true,"logs":["a",1,"\ud800"]}"#), ["a", "1", r#""\ud800""#]);
    }
}
