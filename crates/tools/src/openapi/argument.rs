//! Arguments held against the schema of a tool, as far as a request cannot be written otherwise.

use super::OpenApiError;
use super::document::{SHOWN_CHARS_MAX, cut};
use isolith_core::nearest;
use serde_json::{Map, Value};

/// What the whole is called.
const WHOLE: &str = "args";
/// How deep values are looked into.
const DEPTH_MAX: usize = 32;
/// A `$ref` to a `$ref` is followed this often.
const REF_HOPS_MAX: usize = 32;

/// The arguments as a table, if all names are known, all that is required is there, and plain types are right.
///
/// No argument at all counts as an empty table, and null as an argument that is not there.
pub(super) fn checked(input: &Value, args: &Value) -> Result<Map<String, Value>, OpenApiError> {
    let args = match args {
        Value::Object(args) => args.clone(),
        Value::Null => Map::new(),
        other => return Err(wrong(WHOLE, "an object", other)),
    };
    let args: Map<String, Value> = args.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let none = Map::new();
    let properties = input["properties"].as_object().unwrap_or(&none);
    for (name, value) in &args {
        let Some(schema) = properties.get(name) else {
            let near = nearest(name, properties.keys().map(String::as_str)).map(str::to_owned);
            return Err(OpenApiError::UnknownArgument { at: cut(name, SHOWN_CHARS_MAX), near });
        };
        check_types(schema, input, value, name, DEPTH_MAX)?;
    }
    let required = input["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !args.contains_key(*name)) {
        Some(at) => Err(OpenApiError::Missing { at: at.to_owned() }),
        None => Ok(args),
    }
}

fn check_types(schema: &Value, input: &Value, value: &Value, at: &str, depth_left: usize) -> Result<(), OpenApiError> {
    let (Some(schema), Some(deeper)) = (followed(schema, input), depth_left.checked_sub(1)) else { return Ok(()) };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of(value, name)) {
        let expected: Vec<&str> = types.into_iter().map(in_words).collect();
        return Err(wrong(at, &expected.join(" or "), value));
    }
    match value {
        Value::Array(items) => {
            // Where the first have schemas of their own, `items` is about those after them.
            let firsts = schema["prefixItems"].as_array().map_or(0, Vec::len);
            let mut items = items.iter().enumerate().skip(firsts);
            items.try_for_each(|(i, item)| check_types(&schema["items"], input, item, &format!("{at}[{i}]"), deeper))
        }
        Value::Object(table) => {
            let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
            let mut known = table.iter().filter_map(|(key, value)| Some((key, value, properties.get(key)?)));
            known.try_for_each(|(key, value, schema)| check_types(schema, input, value, &format!("{at}.{key}"), deeper))
        }
        _ => Ok(()),
    }
}

fn followed<'a>(mut schema: &'a Value, input: &'a Value) -> Option<&'a Value> {
    for _ in 0..REF_HOPS_MAX {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        schema = &input["$defs"][reference.strip_prefix("#/$defs/")?];
    }
    None
}

fn is_of(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("integer", Value::Number(number)) => {
            !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        ("array", Value::Array(_))
        | ("boolean", Value::Bool(_))
        | ("null", Value::Null)
        | ("number", Value::Number(_))
        | ("object", Value::Object(_))
        | ("string", Value::String(_)) => true,
        _ => false,
    }
}

fn wrong(at: &str, expected: &str, found: &Value) -> OpenApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    OpenApiError::WrongType { at: at.to_owned(), expected: expected.to_owned(), found }
}

fn in_words(name: &str) -> &str {
    match name {
        "array" => "a list",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "object" => "an object",
        "string" => "text",
        other => other,
    }
}
