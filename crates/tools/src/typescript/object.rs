//! The members of an object.

use super::hints;
use super::read::Reader;
use super::shape::{MEMBERS_MAX, Member, Object, PARTS_MAX, Shape, union};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// How many names in `required` are looked at.
const REQUIRED_MAX: usize = 4 * MEMBERS_MAX;

/// The longest name of a property. A longer one cannot be cut without naming another.
const NAME_BYTES_MAX: usize = 256;

/// Those that must be there first, and else in the order of the schema.
pub(super) fn object<'a>(reader: &mut Reader<'a>, table: &'a Map<String, Value>, depth: usize) -> Shape {
    let required: BTreeSet<&str> = match table.get("required") {
        Some(Value::Array(names)) => names.iter().take(REQUIRED_MAX).filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    };
    let properties = table.get("properties").and_then(Value::as_object);
    let others = others(reader, table, depth).or(match properties {
        // `{"type": "object"}` may hold anything. With an empty list it is likelier to hold nothing.
        None if required.is_empty() => Some(Shape::Unknown),
        _ => None,
    });
    // A million properties are never looked at one by one: the required ones are looked up, and some of the others follow.
    let named = required.iter().map(|name| (*name, properties.and_then(|properties| properties.get(*name))));
    let free = properties.into_iter().flatten().filter(|(name, _)| !required.contains(name.as_str()));
    let free = free.map(|(name, schema)| (name.as_str(), Some(schema)));
    let all = named.chain(free).take(MEMBERS_MAX).filter(|(name, _)| is_name(name));
    let mut members = Vec::new();
    for (name, schema) in all {
        let shape = schema.map_or(Shape::Unknown, |schema| reader.shape(schema, depth + 1));
        let doc = schema.map(hints::doc).unwrap_or_default();
        members.push(Member { name: name.to_owned(), optional: !required.contains(name), doc, shape });
    }
    let known = |name: &&&str| properties.is_some_and(|properties| properties.contains_key(**name));
    let count = properties.map_or(0, Map::len) + required.len() - required.iter().filter(known).count();
    let left_out = count - members.len();
    Shape::Object(Object { members, others: others.map(Box::new), left_out })
}

/// Whether a name can be shown.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
}

/// What members without a name of their own are, where the schema says so.
fn others<'a>(reader: &mut Reader<'a>, table: &'a Map<String, Value>, depth: usize) -> Option<Shape> {
    let mut parts = Vec::new();
    if let Some(Value::Object(patterns)) = table.get("patternProperties") {
        parts.extend(patterns.values().take(PARTS_MAX).map(|schema| reader.shape(schema, depth + 1)));
    }
    let rest = table.get("additionalProperties").or_else(|| table.get("unevaluatedProperties"));
    if let Some(rest @ (Value::Bool(_) | Value::Object(_))) = rest {
        parts.push(reader.shape(rest, depth + 1));
    }
    if parts.is_empty() { None } else { Some(union(parts)) }
}
