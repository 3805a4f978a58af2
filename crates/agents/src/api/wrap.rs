//! Schemas for APIs that take only objects: what is none is put into one, and taken out again.

use crate::attempts::Answer;
use crate::extract;
use crate::ordered::Ordered;
use isolith_core::Json;
use serde::Deserialize;
use serde_json::Value;

const INSIDE: &str = "value";

/// A schema of an object.
pub(super) struct Wrapped {
    pub(super) schema: Json,
    /// Whether what is wanted is inside of it.
    pub(super) inside: bool,
}

/// The schema itself, or one of an object that holds what it describes.
pub(super) fn schema(wanted: &Json) -> Result<Wrapped, String> {
    let read: Ordered = wanted.parse().map_err(|error| error.to_string())?;
    if read.get("type").and_then(Ordered::as_str) == Some("object") {
        return Ok(Wrapped { schema: wanted.clone(), inside: false });
    }
    let entry = |key: &str, value| (key.to_owned(), value);
    let (mut own, mut shared) = (Vec::new(), Vec::new());
    match read {
        Ordered::Table(entries) => {
            // References begin at the root, and so must what they lead to.
            (shared, own) = entries.into_iter().partition(|(key, _)| matches!(key.as_str(), "$defs" | "definitions"));
        }
        // True and false are schemas too. False allows nothing, so there is nothing to ask for.
        other if other.is(true) => {}
        _ => return Err("no answer can be valid under this schema".into()),
    }
    let mut all = vec![
        entry("type", Ordered::text("object")),
        entry("properties", Ordered::Table(vec![entry(INSIDE, Ordered::Table(std::mem::take(&mut own)))])),
        entry("required", Ordered::List(vec![Ordered::text(INSIDE)])),
        entry("additionalProperties", Ordered::Plain(Value::Bool(false))),
    ];
    all.append(&mut shared);
    Ok(Wrapped { schema: Json::of(&Ordered::Table(all)).map_err(|error| error.to_string())?, inside: true })
}

#[derive(Deserialize)]
struct Holder {
    // Also null, which may be what is wanted.
    value: Json,
}

/// Takes the value out of an answer, where it was put into an object.
pub(super) fn unwrap(answer: &mut Answer) {
    let found = answer.data.clone().or_else(|| extract::candidates(&answer.text).into_iter().next());
    // serde would take a list for the fields of a struct.
    let held = found.filter(|json| json.text().starts_with('{')).and_then(|json| json.parse::<Holder>().ok());
    if let Some(holder) = held {
        answer.text = holder.value.text().to_owned();
        answer.data = Some(holder.value);
    }
}

/// Whether an API that is strict takes it: every property is required, and there are no others.
pub(super) fn can_be_strict(schema: &Json) -> bool {
    schema.parse::<Ordered>().is_ok_and(|schema| is_strict(&schema))
}

fn is_strict(schema: &Ordered) -> bool {
    let properties = schema.get("properties").map(Ordered::entries).unwrap_or_default();
    let required: Vec<&str> =
        schema.get("required").map(Ordered::items).unwrap_or_default().iter().filter_map(Ordered::as_str).collect();
    let is_object = schema.get("type").and_then(Ordered::as_str) == Some("object") || !properties.is_empty();
    let closed = schema.get("additionalProperties").is_some_and(|others| others.is(false));
    let whole = properties.iter().all(|(name, _)| required.contains(&name.as_str()));
    let tables = ["properties", "$defs"].into_iter().filter_map(|key| schema.get(key)).flat_map(Ordered::entries);
    let lists = ["anyOf", "prefixItems"].into_iter().filter_map(|key| schema.get(key)).flat_map(Ordered::items);
    let unknown = ["oneOf", "allOf", "not", "propertyNames", "patternProperties"];
    (!is_object || (closed && whole))
        && unknown.iter().all(|key| schema.get(key).is_none())
        && tables.map(|(_, value)| value).chain(lists).chain(schema.get("items")).all(is_strict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn json(value: Value) -> Json {
        Json::of(&value).unwrap()
    }

    #[test]
    fn what_is_no_object_is_put_into_one() {
        let object = json(json!({ "type": "object" }));
        let same = schema(&object).unwrap();
        assert_eq!((same.schema, same.inside), (object, false));
        let list =
            Json::from_text(r##"{"$defs":{"a":{}},"type":"array","items":{"$ref":"#/$defs/a"}}"##.into()).unwrap();
        let wrapped = schema(&list).unwrap();
        assert!(wrapped.inside);
        assert_eq!(
            wrapped.schema.text(),
            r##"{"type":"object","properties":{"value":{"type":"array","items":{"$ref":"#/$defs/a"}}},"required":["value"],"additionalProperties":false,"$defs":{"a":{}}}"##
        );
        assert!(schema(&json(json!(false))).is_err());
        for (data, text, expected) in
            [(Some(json(json!({ "value": [1] }))), "", "[1]"), (None, "{\"value\":null}", "null"), (None, "[2]", "[2]")]
        {
            let mut answer = Answer { text: text.into(), data, ..Answer::default() };
            unwrap(&mut answer);
            assert_eq!(answer.text, expected);
        }
    }

    #[test]
    fn only_closed_objects_are_strict() {
        let closed =
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"], "additionalProperties": false });
        let open = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": false });
        for (schema, strict) in [
            (closed.clone(), true),
            (open.clone(), false),
            (json!({ "type": "array", "items": closed }), true),
            (json!({ "type": "array", "items": open }), false),
            (json!({ "anyOf": [{ "type": "null" }, { "type": "object" }] }), false),
            (json!({ "oneOf": [] }), false),
        ] {
            assert_eq!(can_be_strict(&json(schema.clone())), strict, "{schema}");
        }
    }
}
