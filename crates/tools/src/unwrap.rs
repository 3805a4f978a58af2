//! What a tool answered, as the guest gets it: a value or an exception, not an envelope.

use serde_json::{Map, Value, json};

/// How much of what a tool says about its failure is passed on.
const MESSAGE_CHARS_MAX: usize = 4_000;
/// How much of a body is shown that came with an error.
const EXCERPT_CHARS_MAX: usize = 1_000;
/// The largest answer that is passed on although it is neither JSON nor text.
const BINARY_BYTES_MAX: usize = 4 << 20;

/// A tool did not do what it was asked to, and said so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// What it said.
    pub message: String,
    /// The status, if it was asked over HTTP.
    pub status: Option<u16>,
}

impl ToolFailure {
    fn new(message: impl Into<String>) -> Self {
        ToolFailure { message: message.into(), status: None }
    }
}

/// The result of an MCP `tools/call`.
///
/// What is structured is given as it is. Text is given as text, or as what it holds if that is a JSON object or list. Content
/// of other kinds is given as its one part, or as the list of its parts. No content is null.
pub fn unwrap_mcp(result: &Value) -> Result<Value, ToolFailure> {
    let Value::Object(result) = result else {
        return Err(ToolFailure::new("the tool server answered with what is not the result of a call"));
    };
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(ToolFailure::new(excerpt(&complaint(result), MESSAGE_CHARS_MAX)));
    }
    if let Some(value) = result.get("structuredContent").filter(|value| !value.is_null()) {
        return Ok(value.clone());
    }
    match result.get("content") {
        Some(Value::Array(parts)) => Ok(of_parts(parts)),
        // Servers of before 2024-11 answer with the bare value.
        None | Some(Value::Null) => Ok(result.get("toolResult").cloned().unwrap_or_default()),
        Some(_) => Err(ToolFailure::new("the tool server answered with content that is not a list")),
    }
}

fn of_parts(parts: &[Value]) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(text_of).collect();
    match (texts, parts) {
        (_, []) => Value::Null,
        (Some(texts), _) => of_text(texts.join("\n")),
        (None, [one @ Value::Object(_)]) => one.clone(),
        (None, parts) => parts.into(),
    }
}

/// Numbers and words in quotes stay text: what looks like a value may be a name or an identifier.
fn of_text(text: String) -> Value {
    let may_be = text.trim_start().starts_with(['{', '[']);
    let parsed = may_be.then(|| serde_json::from_str(&text).ok()).flatten();
    parsed.unwrap_or(Value::String(text))
}

fn text_of(part: &Value) -> Option<&str> {
    (part.get("type")? == "text").then(|| part.get("text")?.as_str()).flatten()
}

fn complaint(result: &Map<String, Value>) -> String {
    let parts = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(text_of).filter(|text| !text.trim().is_empty()).collect();
    match (texts.is_empty(), result.get("structuredContent")) {
        (false, _) => texts.join("\n"),
        (true, Some(value)) if !value.is_null() => value.to_string(),
        (true, _) => "the tool failed and did not say why".to_owned(),
    }
}

/// The answer to a request that an OpenAPI operation made.
///
/// JSON is given as its value, text as text, and nothing as null. Other bytes are given as
/// `{ contentType, base64 }`. Every status but those of success is a failure.
pub fn unwrap_http(status: u16, content_type: Option<&str>, body: &[u8]) -> Result<Value, ToolFailure> {
    let failure = |message: String| ToolFailure { message, status: Some(status) };
    let kind = Kind::of(content_type);
    if !(200..300).contains(&status) {
        let said = match kind {
            Kind::Binary => String::new(),
            Kind::Json | Kind::Text | Kind::Latin1 | Kind::Unsaid => shown(body),
        };
        let said = if said.is_empty() { said } else { format!(": {said}") };
        return Err(failure(format!("HTTP status {status}{said}")));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    let text = std::str::from_utf8(body).ok().map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    match (kind, text) {
        (Kind::Json, Some(text)) if text.trim().is_empty() => Ok(Value::Null),
        (Kind::Json, text) => text
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| failure(format!("the answer is said to be JSON, and is not: {}", shown(body)))),
        (Kind::Text | Kind::Latin1, Some(text)) => Ok(text.into()),
        (Kind::Latin1, None) => Ok(body.iter().copied().map(char::from).collect::<String>().into()),
        (Kind::Unsaid, Some(text)) if !text.contains('\0') => Ok(of_text(text.to_owned())),
        (Kind::Binary | Kind::Unsaid | Kind::Text, _) if body.len() > BINARY_BYTES_MAX => Err(failure(format!(
            "the answer is neither JSON nor text, and has {} bytes: at most {BINARY_BYTES_MAX} are passed on",
            body.len()
        ))),
        (Kind::Binary | Kind::Unsaid | Kind::Text, _) => {
            let content_type = excerpt(content_type.unwrap_or("application/octet-stream"), EXCERPT_CHARS_MAX);
            Ok(json!({ "contentType": content_type, "base64": base64(body) }))
        }
    }
}

/// What a `content-type` promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    /// In UTF-8, as far as anybody knows.
    Text,
    /// In ISO 8859-1, if it is not UTF-8 after all.
    Latin1,
    Binary,
    Unsaid,
}

impl Kind {
    fn of(content_type: Option<&str>) -> Kind {
        let Some(content_type) = content_type else { return Kind::Unsaid };
        let lower = content_type.to_ascii_lowercase();
        let mut parts = lower.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"'));
        let (kind, format) = essence.split_once('/').unwrap_or_default();
        let is = |name: &str| format == name || format.rsplit_once('+').is_some_and(|(_, suffix)| suffix == name);
        let is_text = kind == "text"
            || ["xml", "yaml", "x-yaml", "javascript", "x-ndjson", "x-www-form-urlencoded", "graphql", "sql"]
                .iter()
                .any(|name| is(name));
        match (kind, format) {
            ("", _) => Kind::Unsaid,
            _ if is("json") => Kind::Json,
            _ if is_text && matches!(charset, Some("iso-8859-1" | "latin1" | "us-ascii")) => Kind::Latin1,
            _ if is_text => Kind::Text,
            _ => Kind::Binary,
        }
    }
}

/// The start of a body as a person can read it.
fn shown(body: &[u8]) -> String {
    // A character has four bytes at most.
    let start = &body[..body.len().min(EXCERPT_CHARS_MAX * 4 + 4)];
    excerpt(&String::from_utf8_lossy(start), EXCERPT_CHARS_MAX)
}

/// The start of a text, without characters that would do something to a terminal.
fn excerpt(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let plain = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    let mut start: String = text.chars().take(chars_max).filter(|c| *c != '\r').map(plain).collect();
    if text.chars().nth(chars_max).is_some() {
        start.push('…');
    }
    start
}

/// Bytes as text. This direction is short enough to need no dependency.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
