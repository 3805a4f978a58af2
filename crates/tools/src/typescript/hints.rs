//! What a schema says besides its type, in a few words for a comment.

use super::text::line;
use serde_json::{Map, Value};

/// How much of a description is shown at a property.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// How much of a pattern, a format or a default is shown.
const HINT_CHARS_MAX: usize = 60;

/// How many values of a default are shown.
const DEFAULT_ITEMS_MAX: usize = 4;

/// One line about a schema: its description, then what is expected of a value.
pub(super) fn doc(schema: &Value) -> String {
    let Value::Object(table) = schema else { return String::new() };
    let said = line(description(table), DESCRIPTION_CHARS_MAX);
    let hints = hints(table).join(", ");
    match (said.is_empty(), hints.is_empty()) {
        (_, true) => said,
        (true, false) => hints,
        (false, false) => format!("{said} ({hints})"),
    }
}

/// What its author says about a schema.
pub(super) fn description(table: &Map<String, Value>) -> &str {
    table.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn hints(table: &Map<String, Value>) -> Vec<String> {
    let mut hints = Vec::new();
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(|text| line(text, HINT_CHARS_MAX));
    let sized = ["int32", "int64", "float", "double"];
    hints.extend(text("format").filter(|format| !format.is_empty() && !sized.contains(&format.as_str())));
    let range = range(table);
    // That a number is whole goes without saying where nothing else is said of it.
    if table.get("type").and_then(Value::as_str) == Some("integer") && !range.is_empty() {
        hints.push("integer".to_owned());
    }
    hints.extend(range);
    hints.extend(span(table, "length", "minLength", "maxLength"));
    hints.extend(span(table, "items", "minItems", "maxItems"));
    hints.extend(text("pattern").map(|pattern| format!("pattern {pattern}")));
    hints.extend(table.get("default").and_then(shown).map(|default| format!("default {default}")));
    if table.get("deprecated") == Some(&Value::Bool(true)) {
        hints.push("deprecated".to_owned());
    }
    hints
}

/// What a number must keep to.
fn range(table: &Map<String, Value>) -> Vec<String> {
    let number = |key: &str| table.get(key).filter(|value| value.is_number());
    // In OpenAPI 3.0 `exclusiveMinimum` is a word about `minimum`, since then a number of its own.
    let excludes = |key: &str| table.get(key) == Some(&Value::Bool(true));
    let mut range = Vec::new();
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) if !excludes("exclusiveMinimum") && !excludes("exclusiveMaximum") => {
            range.push(format!("{least} to {most}"));
        }
        (least, most) => {
            let sign = |key: &str, sign: &str| if excludes(key) { sign.to_owned() } else { format!("{sign}=") };
            range.extend(least.map(|least| format!("{} {least}", sign("exclusiveMinimum", ">"))));
            range.extend(most.map(|most| format!("{} {most}", sign("exclusiveMaximum", "<"))));
        }
    }
    range.extend(number("exclusiveMinimum").map(|least| format!("> {least}")));
    range.extend(number("exclusiveMaximum").map(|most| format!("< {most}")));
    range.extend(number("multipleOf").map(|step| format!("multiple of {step}")));
    range
}

/// How much of something there must be.
fn span(table: &Map<String, Value>, what: &str, least: &str, most: &str) -> Option<String> {
    let count = |key: &str| table.get(key).and_then(Value::as_u64);
    match (count(least).filter(|least| *least > 0), count(most)) {
        (None, None) => None,
        (Some(least), None) => Some(format!("{what} >= {least}")),
        (None, Some(most)) => Some(format!("{what} <= {most}")),
        (Some(least), Some(most)) if least == most => Some(format!("{what} {least}")),
        (Some(least), Some(most)) => Some(format!("{what} {least} to {most}")),
    }
}

/// A default that is short enough to be read.
fn shown(value: &Value) -> Option<String> {
    let short = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(table) => table.is_empty(),
        Value::String(text) => text.len() <= HINT_CHARS_MAX,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    let list = |items: &[Value]| items.len() <= DEFAULT_ITEMS_MAX && items.iter().all(short);
    match value {
        // Nothing is what there is without a default, too.
        Value::Null => None,
        Value::Array(items) if !list(items) => None,
        Value::Object(table) if !table.is_empty() => None,
        Value::String(text) if text.len() > HINT_CHARS_MAX => None,
        value => Some(line(&value.to_string(), HINT_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hints_are_few_words() {
        for (schema, expected) in [
            (json!({}), ""),
            (json!(true), ""),
            (json!({ "description": " A\n name. " }), "A name."),
            (json!({ "type": "integer" }), ""),
            (json!({ "type": "integer", "minimum": 1, "maximum": 100 }), "integer, 1 to 100"),
            (json!({ "minimum": 0, "exclusiveMinimum": true, "maximum": 1 }), "> 0, <= 1"),
            (json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 1.5 }), "> 0, < 1.5"),
            (json!({ "multipleOf": 5 }), "multiple of 5"),
            (json!({ "format": "int32" }), ""),
            (json!({ "description": "When.", "format": "date-time" }), "When. (date-time)"),
            (json!({ "minLength": 0 }), ""),
            (json!({ "minLength": 2, "maxLength": 2 }), "length 2"),
            (json!({ "minItems": 1, "maxItems": 9 }), "items 1 to 9"),
            (json!({ "maxItems": 9 }), "items <= 9"),
            (json!({ "pattern": "^a+$" }), "pattern ^a+$"),
            (json!({ "default": "a" }), r#"default "a""#),
            (json!({ "default": null }), ""),
            (json!({ "default": [] }), "default []"),
            (json!({ "default": ["a", 1] }), r#"default ["a",1]"#),
            (json!({ "default": [[1]] }), ""),
            (json!({ "default": { "a": 1 } }), ""),
            (json!({ "default": "x".repeat(61) }), ""),
            (json!({ "default": false, "deprecated": true }), "default false, deprecated"),
            (json!({ "minimum": "1", "format": 7, "pattern": {}, "description": [] }), ""),
        ] {
            assert_eq!(doc(&schema), expected, "{schema}");
        }
    }
}
