//! Keywords that hold no schema.

use super::Sender;
use super::copy::{TABLE_BYTES, VALUE_BYTES};
use crate::openapi::document::{Document, flag};
use serde_json::{Map, Value};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// How many names of a `required` are kept, and how many entries a `dependentRequired` may have.
const REQUIRED_MAX: usize = 1_000;
const DEPENDENT_MAX: usize = 64;

/// Whether a keyword is known and its value of the right form. What is not would make the whole schema unusable.
pub(super) fn is_sound(key: &str, value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match key {
        "type" => match value {
            Value::Array(types) => {
                (1..=TYPES.len()).contains(&types.len()) && types.iter().all(is_type) && are_different(types)
            }
            value => is_type(value),
        },
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "const" | "default" => true,
        "title" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => value.is_string(),
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => value.is_boolean(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => value.is_u64(),
        "dependentRequired" => {
            value.as_object().is_some_and(|table| table.len() <= DEPENDENT_MAX && table.values().all(is_list_of_names))
        }
        _ => false,
    }
}

/// About how much memory a value takes, if it takes no more than this and does not nest too deep.
pub(super) fn bytes(value: &Value, bytes_max: usize, depth_left: usize) -> Option<usize> {
    let deeper = depth_left.checked_sub(1)?;
    // What is left is looked at before every step: a list of a million values is not walked to find that it is too long.
    let add = |sum: usize, key: &str, value: &Value| {
        let sum = sum + VALUE_BYTES + key.len();
        Some(sum + bytes(value, bytes_max.checked_sub(sum)?, deeper)?)
    };
    let sum = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE_BYTES,
        Value::String(text) => VALUE_BYTES + text.len(),
        Value::Array(values) => values.iter().try_fold(VALUE_BYTES, |sum, value| add(sum, "", value))?,
        Value::Object(table) => table.iter().try_fold(TABLE_BYTES, |sum, (key, value)| add(sum, key, value))?,
    };
    (sum <= bytes_max).then_some(sum)
}

/// Whether there is a `$ref` in a value. It means nothing there, but not everyone who looks for references knows.
pub(super) fn looks_like_reference(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(looks_like_reference),
        Value::Object(table) => table.contains_key("$ref") || table.values().any(looks_like_reference),
        _ => false,
    }
}

/// The names in a `required`.
pub(super) fn names(value: &Value) -> Vec<&str> {
    let names = value.as_array().into_iter().flatten().take(REQUIRED_MAX).filter_map(Value::as_str);
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What has to be there when this side sends it.
pub(super) fn required<'a>(
    names: Vec<&'a str>,
    document: Document<'a>,
    sender: Sender,
    table: &'a Map<String, Value>,
) -> Vec<&'a str> {
    let others = match sender {
        Sender::Guest => "readOnly",
        Sender::Api => "writeOnly",
    };
    let properties = table.get("properties").and_then(Value::as_object);
    let is_theirs = |name: &str| {
        let Some(property) = properties.and_then(|properties| properties.get(name)) else { return false };
        let itself = property.as_object().is_some_and(|property| flag(property, others));
        itself || document.table(property).is_ok_and(|property| flag(property, others))
    };
    names.into_iter().filter(|name| !is_theirs(name)).collect()
}

/// In OpenAPI 3.0 a bound is made exclusive by a flag beside it; in JSON Schema it is another keyword.
pub(super) fn exclusive_bounds(table: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (flag_key, bound_key) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if flag(table, flag_key)
            && let Some(bound) = out.remove(bound_key)
        {
            out.insert(flag_key.into(), bound);
        }
    }
}

fn are_different(types: &[Value]) -> bool {
    types.iter().enumerate().all(|(i, name)| !types[..i].contains(name))
}

fn is_list_of_names(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|names| names.len() <= DEPENDENT_MAX && names.iter().all(Value::is_string) && are_different(names))
}
