//! What is read of a tool to find it by.

use super::words::words;
use crate::{Namespace, Tool};
use serde_json::Value;

/// What a word in each field counts: the name, the namespace, parameters, the description, and what is said about
/// parameters and about the namespace.
pub(super) const FIELDS: [f32; 6] = [8.0, 4.0, 2.0, 1.0, 0.5, 0.3];

/// How much of each text is read.
const TEXT_CHARS_MAX: usize = 4_000;

/// How many parameters are read.
const PARAMETERS_MAX: usize = 128;

/// How deep parameters of parameters are read.
const DEPTH_MAX: usize = 3;

/// The words in a field.
pub(super) type Field = Vec<String>;

/// The words in each field, in the order of [`FIELDS`].
pub(super) fn fields(namespace: &Namespace, tool: &Tool) -> [Field; FIELDS.len()] {
    let mut parameters = Parameters::default();
    parameters.read(&tool.input, 0);
    [
        words(tool.name.as_str()),
        words(namespace.name.as_str()),
        words(&parameters.names),
        words(start(&tool.description)),
        words(start(&parameters.descriptions)),
        words(start(&namespace.description)),
    ]
}

#[derive(Default)]
struct Parameters {
    count: usize,
    names: String,
    descriptions: String,
}

impl Parameters {
    fn read(&mut self, schema: &Value, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, schema) in properties {
                if self.count == PARAMETERS_MAX {
                    return;
                }
                self.count += 1;
                add(&mut self.names, name);
                add(&mut self.descriptions, schema.get("description").and_then(Value::as_str).unwrap_or_default());
                self.read(schema, depth + 1);
            }
        }
        if let Some(items @ Value::Object(_)) = schema.get("items") {
            self.read(items, depth + 1);
        }
    }
}

fn add(text: &mut String, more: &str) {
    if text.len() < TEXT_CHARS_MAX {
        text.push(' ');
        text.push_str(start(more));
    }
}

/// As much of a text as is read.
fn start(text: &str) -> &str {
    text.char_indices().nth(TEXT_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}
