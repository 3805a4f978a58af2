//! From a schema to types. What it refers to is read once, however often it is referred to.

use super::hints;
use super::object::{is_name, object};
use super::pointer;
use super::settle::settle;
use super::shape::{Member, Object, PARTS_MAX, Shape, all, union};
use super::text::quoted;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// How deep a schema is read, references not counted.
const DEPTH_MAX: usize = 32;

/// How many schemas inside a schema are read, those behind references included.
const NODES_MAX: usize = 4_000;

/// How many different schemas may be referred to.
const DEFINITIONS_MAX: usize = 256;

/// The longest string that is a type of its own; a longer one is a `string`.
const LITERAL_BYTES_MAX: usize = 200;

/// Whole numbers beyond this are not exact in JavaScript.
const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;

/// How many names in a list of types are looked at. There are seven.
const TYPES_MAX: usize = 16;

/// The types in one schema.
pub(super) struct Types {
    /// The first is the schema itself, the others are what it refers to.
    pub(super) definitions: Vec<Definition>,
}

/// A schema that can be referred to.
pub(super) struct Definition {
    /// What its author calls it.
    pub(super) name: String,
    /// A line about it.
    pub(super) doc: String,
    pub(super) shape: Shape,
}

impl Types {
    /// Reads a schema, which would be called `name`, and everything it refers to.
    pub(super) fn read(schema: &Value, name: &str) -> Types {
        let mut reader = Reader { root: schema, nodes_left: NODES_MAX, known: HashMap::new(), found: Vec::new() };
        reader.known.insert(std::ptr::from_ref(schema), 0);
        reader.found.push((schema, name.to_owned()));
        let mut definitions = Vec::new();
        // Reading finds more to read. A list instead of recursion, so that a chain of references cannot fill the stack.
        while let Some((schema, name)) = reader.found.get(definitions.len()).cloned() {
            let shape = reader.shape(schema, 0);
            definitions.push(Definition { name, doc: hints::doc(schema), shape });
        }
        settle(&mut definitions);
        Types { definitions }
    }
}

/// Where reading a schema has got to.
pub(super) struct Reader<'a> {
    root: &'a Value,
    nodes_left: usize,
    /// By their place in memory: a pointer has many spellings.
    known: HashMap<*const Value, usize>,
    found: Vec<(&'a Value, String)>,
}

impl<'a> Reader<'a> {
    /// The type of a schema at a depth.
    pub(super) fn shape(&mut self, schema: &'a Value, depth: usize) -> Shape {
        if !self.goes_on(depth) {
            return Shape::Unknown;
        }
        match schema {
            Value::Object(table) => self.table(table, depth),
            Value::Bool(false) => Shape::Never,
            _ => Shape::Unknown,
        }
    }

    /// Counts one more thing that is read, if that may be.
    fn goes_on(&mut self, depth: usize) -> bool {
        self.nodes_left = self.nodes_left.saturating_sub(1);
        self.nodes_left > 0 && depth < DEPTH_MAX
    }

    fn table(&mut self, table: &'a Map<String, Value>, depth: usize) -> Shape {
        let mut parts = Vec::new();
        if let Some(Value::String(reference)) = table.get("$ref") {
            parts.push(self.reference(reference));
        }
        parts.push(self.own(table, depth));
        if let Some(Value::Array(schemas)) = table.get("allOf") {
            // To leave some out is to say less, not to say something else.
            parts.extend(schemas.iter().take(PARTS_MAX).map(|schema| self.shape(schema, depth + 1)));
        }
        for key in ["anyOf", "oneOf"] {
            match table.get(key) {
                Some(Value::Array(schemas)) if (1..=PARTS_MAX).contains(&schemas.len()) => {
                    parts.push(union(schemas.iter().map(|schema| self.shape(schema, depth + 1)).collect::<Vec<_>>()));
                }
                _ => {}
            }
        }
        let whole = all(parts);
        match table.get("nullable") {
            Some(Value::Bool(true)) => union([whole, Shape::Word("null")]),
            _ => whole,
        }
    }

    /// What a schema says by itself, without those it is put together from.
    fn own(&mut self, table: &'a Map<String, Value>, depth: usize) -> Shape {
        if let Some(value) = table.get("const") {
            return self.literal(value, depth);
        }
        match table.get("enum") {
            Some(Value::Array(values)) if values.len() > PARTS_MAX => return self.kinds_of(values),
            Some(Value::Array(values)) if !values.is_empty() => {
                return union(values.iter().map(|value| self.literal(value, depth)).collect::<Vec<_>>());
            }
            _ => {}
        }
        match table.get("type") {
            Some(Value::String(name)) => self.typed(name, table, depth),
            Some(Value::Array(names)) => {
                let mut names: Vec<&str> = names.iter().take(TYPES_MAX).filter_map(Value::as_str).collect();
                names.sort_by_key(|name| *name == "null");
                names.dedup();
                union(names.into_iter().map(|name| self.typed(name, table, depth)).collect::<Vec<_>>())
            }
            _ => inferred(table).map_or(Shape::Unknown, |name| self.typed(name, table, depth)),
        }
    }

    fn typed(&mut self, name: &str, table: &'a Map<String, Value>, depth: usize) -> Shape {
        match name {
            "string" => Shape::Word("string"),
            "number" | "integer" => Shape::Word("number"),
            "boolean" => Shape::Word("boolean"),
            "null" => Shape::Word("null"),
            "array" => self.list(table, depth),
            "object" => object(self, table, depth),
            _ => Shape::Unknown,
        }
    }

    fn list(&mut self, table: &'a Map<String, Value>, depth: usize) -> Shape {
        // Until 2020 the places were `items`, and the rest `additionalItems`.
        let (places, rest) = match (table.get("prefixItems"), table.get("items")) {
            (Some(Value::Array(places)), rest) => (places.as_slice(), rest),
            (_, Some(Value::Array(places))) => (places.as_slice(), table.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        let count = |key: &str| table.get(key).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let most = count("maxItems");
        if places.is_empty() {
            let item = rest.map_or(Shape::Unknown, |rest| self.shape(rest, depth + 1));
            let none = item == Shape::Never || most == Some(0);
            return if none {
                Shape::Tuple { items: Vec::new(), needed: 0, rest: None }
            } else {
                Shape::List(Box::new(item))
            };
        }
        if places.len() > PARTS_MAX {
            return Shape::List(Box::new(Shape::Unknown));
        }
        let items: Vec<Shape> = places.iter().map(|place| self.shape(place, depth + 1)).collect();
        // Strictly, no place has to be filled unless `minItems` says so. Whoever lists them means all of them.
        let needed = count("minItems").unwrap_or(items.len()).min(items.len());
        let open = most.is_none_or(|most| most > items.len());
        let rest = if open { rest.map_or(Shape::Unknown, |rest| self.shape(rest, depth + 1)) } else { Shape::Never };
        let rest = (rest != Shape::Never).then(|| Box::new(rest));
        Shape::Tuple { items, needed, rest }
    }

    /// The type that has one value only.
    fn literal(&mut self, value: &Value, depth: usize) -> Shape {
        if !self.goes_on(depth) {
            return Shape::Unknown;
        }
        match value {
            Value::Null => Shape::Word("null"),
            Value::Bool(value) => Shape::Literal(value.to_string()),
            Value::Number(number) if number.as_f64().is_some_and(|number| number.abs() <= WHOLE_MAX) => {
                Shape::Literal(number.to_string())
            }
            Value::Number(_) => Shape::Word("number"),
            Value::String(text) if text.len() <= LITERAL_BYTES_MAX => Shape::Literal(quoted(text)),
            Value::String(_) => Shape::Word("string"),
            Value::Array(values) if values.len() <= PARTS_MAX => {
                let items: Vec<Shape> = values.iter().map(|value| self.literal(value, depth + 1)).collect();
                Shape::Tuple { needed: items.len(), items, rest: None }
            }
            Value::Object(table) if table.len() <= PARTS_MAX && table.keys().all(|name| is_name(name)) => {
                let member = |(name, value): (&String, &Value)| {
                    let shape = self.literal(value, depth + 1);
                    Member { name: name.clone(), optional: false, doc: String::new(), shape }
                };
                let members = table.iter().map(member).collect();
                Shape::Object(Object { members, others: Some(Box::new(Shape::Never)), left_out: 0 })
            }
            Value::Array(_) | Value::Object(_) => Shape::Unknown,
        }
    }

    /// What too many values have in common.
    fn kinds_of(&mut self, values: &[Value]) -> Shape {
        // They are all looked at, which counts.
        self.nodes_left = self.nodes_left.saturating_sub(values.len() / PARTS_MAX);
        if self.nodes_left == 0 {
            return Shape::Unknown;
        }
        union(values.iter().map(|value| match value {
            Value::Null => Shape::Word("null"),
            Value::Bool(_) => Shape::Word("boolean"),
            Value::Number(_) => Shape::Word("number"),
            Value::String(_) => Shape::Word("string"),
            Value::Array(_) | Value::Object(_) => Shape::Unknown,
        }))
    }

    /// What a reference leads to, within the same schema.
    fn reference(&mut self, reference: &str) -> Shape {
        let Some((target, name)) = pointer::follow(self.root, reference) else { return Shape::Unknown };
        let key = std::ptr::from_ref(target);
        if let Some(place) = self.known.get(&key) {
            return Shape::Named(*place);
        }
        let place = self.found.len();
        if place == DEFINITIONS_MAX {
            return Shape::Unknown;
        }
        self.known.insert(key, place);
        self.found.push((target, name));
        Shape::Named(place)
    }
}

/// What a schema without a type is about, going by its other words.
fn inferred(table: &Map<String, Value>) -> Option<&'static str> {
    let words = [
        ("object", &["properties", "additionalProperties", "patternProperties", "required", "minProperties"][..]),
        ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
        ("string", &["pattern", "minLength", "maxLength"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    words.iter().find(|(_, words)| words.iter().any(|word| table.contains_key(*word))).map(|(name, _)| *name)
}
