//! `nullable` of OpenAPI 3.0, which JSON Schema does not know.

use crate::openapi::document::flag;
use serde_json::{Map, Value, json};

/// Keywords that have a say about null, too.
const IN_PLACE: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "not", "const"];
/// What stays outside when a schema is put beside null.
const ABOUT: [&str; 5] = ["title", "description", "deprecated", "readOnly", "writeOnly"];

/// The schema as it is, or one that takes null besides.
///
/// By the letter, null needs a `type` beside it, and is lost beside a `$ref`. It is taken for what was meant there too.
pub(super) fn applied(table: &Map<String, Value>, mut out: Map<String, Value>) -> Value {
    if !flag(table, "nullable") {
        return out.into();
    }
    if IN_PLACE.iter().any(|key| out.contains_key(*key)) {
        let mut outside = Map::new();
        for key in ABOUT {
            if let Some(value) = out.remove(key) {
                outside.insert(key.into(), value);
            }
        }
        outside.insert("anyOf".into(), json!([out, { "type": "null" }]));
        return outside.into();
    }
    if let Some(types) = out.get_mut("type") {
        let mut list = match types.take() {
            Value::Array(list) => list,
            one => vec![one],
        };
        with_null(&mut list, "null".into());
        *types = list.into();
    }
    if let Some(Value::Array(values)) = out.get_mut("enum") {
        with_null(values, Value::Null);
    }
    out.into()
}

fn with_null(list: &mut Vec<Value>, null: Value) {
    if !list.contains(&null) {
        list.push(null);
    }
}
