//! Answers of clients to the calls of their runs.

use crate::asked::Table;
use crate::error::Refusal;
use isolith_core::{CallError, HostReply, Json};

const NAME_CHARS_MAX: usize = 200;
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Reads `value` or `error`; neither is `undefined`.
pub(crate) fn read(mut table: Table) -> Result<HostReply, Refusal> {
    let (value, error) = (table.take("value"), table.take("error"));
    table.finish(&["value", "error"])?;
    match (value, error) {
        (Some(_), Some(_)) => Err(Refusal::invalid("an answer has a `value` or an `error`, not both").at("error")),
        (None, Some(error)) => failed(&error),
        (json, None) => Ok(HostReply::Value { json }),
    }
}

fn failed(json: &Json) -> Result<HostReply, Refusal> {
    let wrong = |message: &str| Refusal::invalid(message).at("error");
    let mut table: Table = json.parse().map_err(|_| wrong("`error` is an object with a `message`"))?;
    let message: String = table.parse("message", "a text")?.ok_or_else(|| wrong("`error.message` is missing"))?;
    let name: Option<String> = table.parse("name", "a text")?;
    table.finish(&["name", "message"])?;
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "Error".into());
    if name.chars().count() > NAME_CHARS_MAX || message.len() > MESSAGE_BYTES_MAX {
        return Err(wrong("an error is a short text"));
    }
    // A client cannot speak for the gate: its codes are not refusals of a policy.
    Ok(HostReply::Failed { error: CallError { name, message, code: Some("tool.failed".into()) } })
}
