//! The Messages API. A schema becomes a tool that has to be used, whose input is the answer.

use super::{ANSWER, Told, parse};
use crate::attempts::Answer;
use isolith_core::Json;
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: Option<u32>,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Json,
}

#[derive(Serialize)]
struct Choice {
    r#type: &'static str,
    name: &'static str,
}

pub(super) fn body<'a>(model: &'a str, max_tokens: Option<u32>, prompt: &'a str, schema: Option<&'a Json>) -> Body<'a> {
    let tool = |input_schema| [Tool { name: ANSWER, description: "Gives the answer.", input_schema }];
    Body {
        model,
        max_tokens,
        messages: [Message { role: "user", content: prompt }],
        tools: schema.map(tool),
        tool_choice: schema.map(|_| Choice { r#type: "tool", name: ANSWER }),
    }
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    content: Vec<Part>,
    model: Option<String>,
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Usage,
}

/// A part of any type. Those that are not known have none of this.
#[derive(Deserialize)]
struct Part {
    r#type: String,
    text: Option<String>,
    name: Option<String>,
    input: Option<Json>,
}

#[derive(Default, Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

pub(super) fn read(text: &[u8]) -> Result<Told, String> {
    let Response { content, model, stop_reason, usage } = parse(text)?;
    let note = match stop_reason.as_deref() {
        Some("refusal") => return Err("the model refused to answer".into()),
        Some("max_tokens") => Some("the answer was cut off: `max_tokens` was reached".to_owned()),
        _ => None,
    };
    let texts: Vec<&str> =
        content.iter().filter(|part| part.r#type == "text").filter_map(|part| part.text.as_deref()).collect();
    let used = |part: &&Part| part.r#type == "tool_use" && part.name.as_deref() == Some(ANSWER);
    let data = content.iter().find(used).and_then(|part| part.input.clone());
    let cached =
        usage.cache_creation_input_tokens.unwrap_or(0).saturating_add(usage.cache_read_input_tokens.unwrap_or(0));
    let answer = Answer {
        text: data.as_ref().map_or_else(|| texts.concat(), |data| data.text().to_owned()),
        input_tokens: usage.input_tokens.map(|read| read.saturating_add(cached)),
        output_tokens: usage.output_tokens,
        data,
        model,
    };
    Ok(Told { answer, note })
}
