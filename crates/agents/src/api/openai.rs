//! The Chat Completions API, as many offer it. A schema becomes the format of the response.

use super::{ANSWER, Told, parse, wrap};
use crate::attempts::Answer;
use isolith_core::Json;
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    json_schema: Described<'a>,
}

#[derive(Serialize)]
struct Described<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Json,
}

pub(super) fn body<'a>(
    url: &str,
    model: &'a str,
    max_tokens: Option<u32>,
    prompt: &'a str,
    schema: Option<&'a Json>,
) -> Body<'a> {
    // Its inventor gave the limit another name; most others know only the old one.
    let renamed = url.starts_with("https://api.openai.com/");
    let format = |schema| {
        let strict = wrap::can_be_strict(schema);
        Format { r#type: "json_schema", json_schema: Described { name: ANSWER, strict, schema } }
    };
    Body {
        model,
        messages: [Message { role: "user", content: prompt }],
        max_tokens: max_tokens.filter(|_| !renamed),
        max_completion_tokens: max_tokens.filter(|_| renamed),
        response_format: schema.map(format),
    }
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    choices: Vec<Chosen>,
    model: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Chosen {
    message: Spoken,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Spoken {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

pub(super) fn read(text: &[u8]) -> Result<Told, String> {
    let Response { choices, model, usage } = parse(text)?;
    let usage = usage.unwrap_or_default();
    let Chosen { message, finish_reason } = choices.into_iter().next().ok_or("the server's answer has no choices")?;
    if let Some(refusal) = message.refusal.filter(|refusal| !refusal.is_empty()) {
        return Err(format!("the model refused to answer: {}", crate::words::said(&refusal)));
    }
    let note = match finish_reason.as_deref() {
        Some("content_filter") => return Err("the answer was withheld by a content filter".into()),
        Some("length") => Some("the answer was cut off: `max_tokens` was reached".to_owned()),
        _ => None,
    };
    let answer = Answer {
        text: message.content.unwrap_or_default(),
        data: None,
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        model,
    };
    Ok(Told { answer, note })
}
