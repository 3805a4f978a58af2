//! An agent that answers at once, the same every time, and costs nothing.

use crate::attempts::{Answer, Answers, Ask, Terms};
use crate::ordered::Ordered;
use crate::{Agent, AgentError, Progress, Reply, Request};
use isolith_core::{BoxFuture, Json};
use serde_json::{Number, Value};
use std::sync::Arc;
use std::time::Duration;

/// How deep into a schema that contains itself is gone.
const DEPTH_MAX: usize = 24;
/// How many values, and how many letters of texts, are made.
const ROOM_MAX: usize = 200_000;
const LIMIT: Duration = Duration::from_secs(60);
const WORD: &str = "mock";

/// Answers `[mock] <label>: <first line of the prompt>`, or the smallest value that the schema allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mock;

impl Agent for Mock {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move {
            let terms = Terms { name: "mock".into(), model: None, repairs: 0, limit: LIMIT };
            terms.run(&Saying { label: request.label.clone() }, &request, &progress).await
        })
    }
}

struct Saying {
    label: String,
}

impl Answers for Saying {
    fn takes_schema(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>> {
        let data = ask.schema.map(smallest);
        let first = ask.prompt.split('\n').next().unwrap_or_default();
        let text = match &data {
            Some(data) => data.text().to_owned(),
            None => format!("[mock] {}: {first}", self.label),
        };
        let tokens = Some(0);
        let answer = Answer { text, data, input_tokens: tokens, output_tokens: tokens, model: None };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// The smallest value that a schema allows: the first of what is listed, `"mock"`, 0, false, one item, every property.
///
/// Patterns are not looked at; what they refuse is refused when the value is checked. What cannot be read as a schema, or is
/// too deep or too large, is null.
pub fn smallest(schema: &Json) -> Json {
    let Ok(root) = schema.parse::<Ordered>() else { return Json::null() };
    let made = Maker { root: &root, room: ROOM_MAX }.value(&root, 0);
    Json::of(&made).unwrap_or_else(|_| Json::null())
}

struct Maker<'a> {
    root: &'a Ordered,
    // THREAT[T-AGENT-003]: `minItems: 1e9` costs its author nothing.
    room: usize,
}

impl<'a> Maker<'a> {
    fn value(&mut self, schema: &'a Ordered, depth: usize) -> Ordered {
        if depth > DEPTH_MAX || self.room == 0 {
            return Ordered::NULL;
        }
        self.room -= 1;
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(first) = first(schema, "enum") {
            return first.clone();
        }
        if let Some(pointer) = schema.get("$ref").and_then(Ordered::as_str).and_then(|there| there.strip_prefix('#')) {
            return self.root.pointer(pointer).map_or(Ordered::NULL, |there| self.value(there, depth + 1));
        }
        if let Some(first) = first(schema, "anyOf").or_else(|| first(schema, "oneOf")) {
            return self.value(first, depth + 1);
        }
        if let Some(parts) = schema.get("allOf") {
            return self.all_of(schema, parts.items(), depth);
        }
        match kind(schema) {
            "object" => Ordered::Table(self.object(schema, depth)),
            "array" => Ordered::List(self.array(schema, depth)),
            "string" => Ordered::text(self.string(schema)),
            "integer" => Ordered::Plain(number(schema, true)),
            "number" => Ordered::Plain(number(schema, false)),
            "boolean" => Ordered::Plain(Value::Bool(false)),
            _ => Ordered::NULL,
        }
    }

    /// What all parts say together. Objects are put together; of all else the first that says something is taken.
    fn all_of(&mut self, schema: &'a Ordered, parts: &'a [Ordered], depth: usize) -> Ordered {
        let mut own = if schema.get("properties").is_some() { self.object(schema, depth) } else { Vec::new() };
        let made: Vec<Ordered> = parts.iter().map(|part| self.value(part, depth + 1)).collect();
        if own.is_empty() && !made.iter().any(|part| matches!(part, Ordered::Table(_))) {
            return made.into_iter().find(|value| *value != Ordered::NULL).unwrap_or(Ordered::NULL);
        }
        for (name, value) in made.iter().flat_map(Ordered::entries) {
            own.retain(|(known, _)| known != name);
            own.push((name.clone(), value.clone()));
        }
        Ordered::Table(own)
    }

    fn object(&mut self, schema: &'a Ordered, depth: usize) -> Vec<(String, Ordered)> {
        let properties = schema.get("properties").map(Ordered::entries).unwrap_or_default();
        let required = schema.get("required").map(Ordered::items).unwrap_or_default();
        let required: Vec<&str> = required.iter().filter_map(Ordered::as_str).collect();
        let mut made: Vec<(String, Ordered)> = Vec::new();
        for (name, property) in properties {
            // A schema that contains itself ends where it may.
            if depth < DEPTH_MAX / 2 || required.contains(&name.as_str()) {
                made.push((name.clone(), self.value(property, depth + 1)));
            }
        }
        let others = schema.get("additionalProperties").filter(|others| matches!(others, Ordered::Table(_)));
        for name in required {
            if properties.iter().all(|(known, _)| known != name) {
                let value = others.map_or(Ordered::NULL, |others| self.value(others, depth + 1));
                made.push((name.to_owned(), value));
            }
        }
        made
    }

    fn array(&mut self, schema: &'a Ordered, depth: usize) -> Vec<Ordered> {
        let first = schema.get("prefixItems").map(Ordered::items).unwrap_or_default();
        let rest = schema.get("items").filter(|items| !items.is(false));
        let at_least = count(schema, "minItems").unwrap_or(0);
        let wanted = match rest {
            // A schema that contains itself ends where it may.
            Some(_) if depth >= DEPTH_MAX / 2 => at_least,
            Some(_) if first.is_empty() => at_least.max(1),
            _ => at_least.max(first.len()),
        };
        let wanted = wanted.min(count(schema, "maxItems").unwrap_or(usize::MAX));
        let differ = schema.get("uniqueItems").is_some_and(|flag| flag.is(true));
        let mut made = Vec::new();
        for at in 0..wanted {
            let item = match (first.get(at), rest) {
                (Some(item), _) | (None, Some(item)) => self.value(item, depth + 1),
                (None, None) => Ordered::NULL,
            };
            if self.room == 0 {
                break;
            }
            self.room -= 1;
            made.push(if differ && at > 0 { another(item, at) } else { item });
        }
        made
    }

    fn string(&mut self, schema: &Ordered) -> String {
        let known = match schema.get("format").and_then(Ordered::as_str) {
            Some("email") => "mock@example.com",
            Some("uri" | "url") => "https://example.com/",
            Some("uuid") => "00000000-0000-4000-8000-000000000000",
            Some("date-time") => "1970-01-01T00:00:00Z",
            Some("date") => "1970-01-01",
            Some("time") => "00:00:00Z",
            Some("ipv4") => "127.0.0.1",
            Some("ipv6") => "::1",
            _ => WORD,
        };
        let at_least = count(schema, "minLength").unwrap_or(0).max(known.len()).min(self.room);
        let wanted = at_least.min(count(schema, "maxLength").unwrap_or(usize::MAX));
        self.room -= wanted.min(self.room);
        known.chars().chain(WORD.chars().cycle()).take(wanted).collect()
    }
}

/// The first kind of value that a schema names or speaks of.
fn kind(schema: &Ordered) -> &str {
    let named = match schema.get("type") {
        Some(Ordered::List(several)) => several.first().and_then(Ordered::as_str),
        one => one.and_then(Ordered::as_str),
    };
    let speaks = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    named.unwrap_or_else(|| match () {
        () if speaks(&["properties", "required", "additionalProperties"]) => "object",
        () if speaks(&["items", "prefixItems", "minItems"]) => "array",
        () if speaks(&["minLength", "maxLength", "pattern", "format"]) => "string",
        () if speaks(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => "number",
        () => "null",
    })
}

/// 0, or what is nearest to it within the bounds.
fn number(schema: &Ordered, whole: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Ordered::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).or(whole.then_some(1.0));
    let up = |from: f64| step.map_or(from, |step| (from / step).ceil() * step);
    let down = |from: f64| step.map_or(from, |step| (from / step).floor() * step);
    let (least, above) = (bound("minimum"), bound("exclusiveMinimum"));
    let (most, below) = (bound("maximum"), bound("exclusiveMaximum"));
    let mut value = 0.0;
    if let Some(least) = least.filter(|least| *least > value) {
        value = up(least);
    }
    if let Some(above) = above.filter(|above| *above >= value) {
        let next = if step.is_some() { up(above) } else { above + 1.0 };
        value = if next > above { next } else { next + step.unwrap_or(1.0) };
        if let Some(top) = most.or(below).filter(|top| value > *top || (below == Some(*top) && value >= *top)) {
            value = f64::midpoint(above, top);
        }
    }
    if let Some(most) = most.filter(|most| *most < value) {
        value = down(most);
    }
    if let Some(below) = below.filter(|below| *below <= value) {
        let next = if step.is_some() { down(below) } else { below - 1.0 };
        value = if next < below { next } else { next - step.unwrap_or(1.0) };
        if let Some(bottom) = least.or(above).filter(|bottom| value < *bottom) {
            value = f64::midpoint(bottom, below);
        }
    }
    // As JavaScript writes it: 1, not 1.0.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// One that differs from those before it.
fn another(item: Ordered, at: usize) -> Ordered {
    match item {
        Ordered::Plain(Value::String(text)) => Ordered::text(format!("{text}{at}")),
        Ordered::Plain(Value::Number(number)) => Ordered::Plain(match number.as_i64().zip(i64::try_from(at).ok()) {
            Some((number, at)) => Value::from(number.saturating_add(at)),
            None => Value::Number(number),
        }),
        Ordered::Plain(Value::Bool(value)) => Ordered::Plain(Value::Bool(!value)),
        other => other,
    }
}

fn first<'a>(schema: &'a Ordered, key: &str) -> Option<&'a Ordered> {
    schema.get(key).and_then(|listed| listed.items().first())
}

fn count(schema: &Ordered, key: &str) -> Option<usize> {
    // As JavaScript has it, a count may be written `1e3`.
    schema.get(key)?.as_f64().filter(|count| *count >= 0.0).map(|count| count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Silent, validate};
    use serde_json::json;

    async fn run(prompt: &str, schema: Option<Value>) -> Result<Reply, AgentError> {
        let schema = schema.map(|schema| Json::of(&schema).unwrap());
        let request = Request { label: "a".into(), prompt: prompt.into(), schema, ..Request::default() };
        Mock.run(request, Arc::new(Silent)).await
    }

    #[tokio::test]
    async fn text_is_the_first_line_of_the_prompt() {
        let reply = run("say hi\nand bye", None).await.unwrap();
        let expected = Reply { text: "[mock] a: say hi".into(), attempts: 1, ..Reply::default() };
        assert_eq!(reply, expected);
    }

    #[tokio::test]
    async fn data_is_small_and_valid() {
        let reply = run("n?", Some(json!({ "properties": { "n": { "type": "number" } } }))).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.data.unwrap().text()), ("{\"n\":0}", "{\"n\":0}"));
        let refused = run("n?", Some(json!({ "type": "string", "pattern": "^[0-9]$" }))).await;
        assert!(matches!(refused, Err(AgentError::SchemaValidation { attempts: 1, .. })), "{refused:?}");
    }

    #[test]
    fn the_smallest_value_is_valid() {
        for (schema, expected) in [
            (json!({ "enum": ["b", "a"] }), json!("b")),
            (json!({ "const": { "a": 1 } }), json!({ "a": 1 })),
            (json!({ "type": "string" }), json!("mock")),
            (json!({ "type": "string", "minLength": 6 }), json!("mockmo")),
            (json!({ "type": "string", "maxLength": 2 }), json!("mo")),
            (json!({ "type": "string", "format": "email" }), json!("mock@example.com")),
            (json!({ "type": "integer" }), json!(0)),
            (json!({ "type": "integer", "minimum": 3 }), json!(3)),
            (json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991_u64 }), json!(1)),
            (json!({ "type": "integer", "minimum": -5, "maximum": -2 }), json!(-2)),
            (json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }), json!(0.5)),
            (json!({ "type": "number", "exclusiveMaximum": 0 }), json!(-1)),
            (json!({ "type": "number", "minimum": 1.5 }), json!(1.5)),
            (json!({ "type": "integer", "minimum": 4, "multipleOf": 5 }), json!(5)),
            (json!({ "type": "boolean" }), json!(false)),
            (json!({ "type": "null" }), json!(null)),
            (json!({}), json!(null)),
            (json!(true), json!(null)),
            (json!({ "type": ["string", "null"] }), json!("mock")),
            (json!({ "anyOf": [{ "type": "number" }, { "type": "null" }] }), json!(0)),
            (json!({ "oneOf": [{ "type": "boolean" }, { "type": "null" }] }), json!(false)),
            (json!({ "type": "array", "items": { "type": "string" } }), json!(["mock"])),
            (json!({ "type": "array", "items": { "type": "integer" }, "minItems": 3 }), json!([0, 0, 0])),
            (json!({ "type": "array", "items": { "type": "integer" }, "maxItems": 0 }), json!([])),
            (
                json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true }),
                json!(["mock", "mock1"]),
            ),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "items": false }),
                json!(["mock", 0]),
            ),
            (
                json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "boolean" } },
                    "required": ["a"], "additionalProperties": false }),
                json!({ "a": "mock", "b": false }),
            ),
            (json!({ "type": "object", "additionalProperties": { "type": "number" } }), json!({})),
            (
                json!({ "type": "object", "additionalProperties": { "type": "number" }, "required": ["x"] }),
                json!({ "x": 0 }),
            ),
            (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "number" } } }), json!(0)),
            (
                json!({ "allOf": [{ "properties": { "a": { "const": 1 } } }, { "properties": { "b": { "const": 2 } } }] }),
                json!({ "a": 1, "b": 2 }),
            ),
        ] {
            let schema = Json::of(&schema).unwrap();
            let made = smallest(&schema);
            assert_eq!(made.parse::<Value>().unwrap(), expected, "{schema}");
            assert_eq!(validate(&schema, &made), Ok(()), "{schema}");
        }
    }

    #[test]
    fn properties_come_in_the_order_they_are_written() {
        let text = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["q"]}"#;
        let made = smallest(&Json::from_text(text.to_owned()).unwrap());
        assert_eq!(made.text(), r#"{"z":"mock","a":0,"q":null}"#);
    }

    #[test]
    fn what_contains_itself_ends() {
        let tree = json!({ "type": "object", "properties": { "more": { "type": "array", "items": { "$ref": "#" } } } });
        let tree = Json::of(&tree).unwrap();
        let made = smallest(&tree);
        assert_eq!(validate(&tree, &made), Ok(()), "{made}");
        let huge =
            json!({ "type": "array", "minItems": 1e9 as u64, "items": { "type": "string", "minLength": 1000000 } });
        assert!(smallest(&Json::of(&huge).unwrap()).text().len() < 2_000_000);
    }
}
