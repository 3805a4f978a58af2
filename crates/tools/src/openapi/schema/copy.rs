//! The copy of a schema.

use super::leaf;
use super::nullable;
use super::{Precision, Root, Sender};
use crate::openapi::document::{Broken, Dialect, Document, SHOWN_CHARS_MAX, cut};
use crate::openapi::names::{self, Names};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// How many definitions a schema may have.
const DEFINITIONS_MAX: usize = 256;
/// How deep a schema may nest without a `$ref`.
const DEPTH_MAX: usize = 32;
/// How much of a description is kept.
const TEXT_CHARS_MAX: usize = 2_000;
/// About what a value or a key takes besides its text.
pub(super) const VALUE_BYTES: usize = 32;
/// About what a table takes besides what is in it, however little that is.
pub(super) const TABLE_BYTES: usize = 640;

/// Keywords whose value is a schema.
const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a table of schemas.
const TABLE: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];
/// What OpenAPI 3.0 lets stand beside a `$ref`, going by what people write.
const BESIDE_REF: [&str; 6] = ["default", "deprecated", "description", "readOnly", "title", "writeOnly"];

/// Copies the schemas of one tool.
pub(super) struct Copier<'a> {
    document: Document<'a>,
    sender: Sender,
    precision: Precision,
    /// Pointers that were met, with their names in `$defs`, in the order they were met.
    wanted: Vec<(String, &'a Value)>,
    given: Vec<String>,
    by_pointer: HashMap<String, String>,
    names: Names,
    bytes_left: usize,
    has_gaps: bool,
}

impl<'a> Copier<'a> {
    pub(super) fn new(document: Document<'a>, sender: Sender, precision: Precision, bytes_max: usize) -> Self {
        Copier {
            document,
            sender,
            precision,
            wanted: Vec::new(),
            given: Vec::new(),
            by_pointer: HashMap::new(),
            names: Names::default(),
            bytes_left: bytes_max,
            has_gaps: false,
        }
    }

    pub(super) fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    /// The names of the definitions, in the order they were met.
    pub(super) fn names(&self) -> &[String] {
        &self.given
    }

    /// Copies a schema of the tool itself.
    pub(super) fn root(&mut self, root: &Root<'a>) -> Result<Value, Broken> {
        let mut schema = match root.schema {
            Some(schema) => self.schema(schema, 0).map_err(|broken| broken.under(&root.at))?,
            None => json!({}),
        };
        if let (Value::Object(table), Some(text)) = (&mut schema, root.description)
            && !table.contains_key("description")
        {
            self.describe(text, table);
        }
        Ok(schema)
    }

    /// Copies the definition with this number, if there is one.
    pub(super) fn definition(&mut self, number: usize) -> Result<Option<(String, Value)>, Broken> {
        let (Some((pointer, schema)), Some(name)) = (self.wanted.get(number).cloned(), self.given.get(number).cloned())
        else {
            return Ok(None);
        };
        let schema = self.schema(schema, 0).map_err(|broken| broken.under(&format!("#{pointer}")))?;
        Ok(Some((name, schema)))
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Result<Value, Broken> {
        let table = match schema {
            Value::Bool(all) => return Ok(Value::Bool(*all)),
            Value::Object(table) => table,
            _ => return Err(Broken::new("not a schema")),
        };
        if depth > DEPTH_MAX || !self.spend(TABLE_BYTES) {
            self.has_gaps = true;
            return Ok(json!({}));
        }
        let mut out = Map::new();
        let reference = table.get("$ref");
        if let Some(reference) = reference {
            let reference = reference.as_str().ok_or_else(|| Broken::new("`$ref` is not text"))?;
            if let Some(name) = self.reference(reference)? {
                out.insert("$ref".into(), format!("#/$defs/{name}").into());
            }
        }
        for (key, value) in table {
            if !self.spend(VALUE_BYTES) {
                break;
            }
            let counts =
                reference.is_none() || self.document.dialect == Dialect::V31 || BESIDE_REF.contains(&key.as_str());
            if counts {
                self.keyword(key, value, table, depth, &mut out).map_err(|broken| broken.under(key))?;
            }
        }
        leaf::exclusive_bounds(table, &mut out);
        Ok(nullable::applied(table, out))
    }

    /// The name in `$defs` of what a `$ref` leads to, unless there are too many.
    fn reference(&mut self, reference: &str) -> Result<Option<String>, Broken> {
        let (pointer, schema) = self.document.find(reference)?;
        if let Some(name) = self.by_pointer.get(&pointer).cloned() {
            return Ok(self.spend(VALUE_BYTES + name.len()).then_some(name));
        }
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(Broken::new(format!(
                "`$ref` leads to what is not a schema: `{}`",
                cut(reference, SHOWN_CHARS_MAX)
            )));
        }
        if self.given.len() >= DEFINITIONS_MAX || !self.spend(TABLE_BYTES + pointer.len()) {
            self.has_gaps = true;
            return Ok(None);
        }
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let wish = match names::identifier(&last) {
            name if name.is_empty() => "Schema".to_owned(),
            name => name,
        };
        let name = self.names.this_or_another(&wish);
        self.wanted.push((pointer.clone(), schema));
        self.given.push(name.clone());
        self.by_pointer.insert(pointer, name.clone());
        Ok(Some(name))
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &'a Value,
        table: &'a Map<String, Value>,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> Result<(), Broken> {
        let loose = self.precision == Precision::Loose;
        if loose && refuses_more_by_gaps(key, table) {
            return Ok(());
        }
        // Older drafts have a list here where newer ones have `prefixItems`.
        if LIST.contains(&key) || (key == "items" && value.is_array()) {
            let key = match key {
                "items" => "prefixItems",
                "oneOf" if loose => "anyOf",
                key => key,
            };
            let schemas = self.list(value, depth)?;
            if !schemas.is_empty() {
                out.insert(key.into(), schemas.into());
            }
        } else if ONE.contains(&key) {
            out.insert(key.into(), self.schema(value, depth + 1)?);
        } else if TABLE.contains(&key) {
            out.insert(key.into(), self.table(value, depth)?.into());
        } else if key == "description" {
            if let Some(text) = value.as_str() {
                self.describe(text, out);
            }
        } else if key == "required" {
            let names = leaf::names(value);
            if self.spend(names.iter().map(|name| VALUE_BYTES + name.len()).sum()) {
                let names = leaf::required(names, self.document, self.sender, table);
                out.insert(key.into(), names.into());
            }
        } else if leaf::is_sound(key, value) {
            match leaf::bytes(value, self.bytes_left, DEPTH_MAX) {
                Some(bytes) => {
                    if self.spend(bytes) && !leaf::looks_like_reference(value) {
                        out.insert(key.into(), value.clone());
                    }
                }
                // One long list need not cost the rest. Looking at it did cost something, or there could be many.
                None => {
                    self.bytes_left /= 2;
                    self.has_gaps = true;
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, value: &'a Value, depth: usize) -> Result<Vec<Value>, Broken> {
        let schemas = value.as_array().ok_or_else(|| Broken::new("not a list of schemas"))?;
        let mut out = Vec::new();
        for (i, schema) in schemas.iter().enumerate() {
            // A shorter list would mean something else. An empty schema in it takes what was left out.
            if self.bytes_left == 0 {
                self.has_gaps = true;
                out.push(json!({}));
                break;
            }
            out.push(self.schema(schema, depth + 1).map_err(|broken| broken.under(&i.to_string()))?);
        }
        Ok(out)
    }

    fn table(&mut self, value: &'a Value, depth: usize) -> Result<Map<String, Value>, Broken> {
        let schemas = value.as_object().ok_or_else(|| Broken::new("not a table of schemas"))?;
        self.spend(TABLE_BYTES);
        let mut out = Map::new();
        for (key, schema) in schemas {
            if !self.spend(VALUE_BYTES + key.len()) {
                break;
            }
            out.insert(key.clone(), self.schema(schema, depth + 1).map_err(|broken| broken.under(key))?);
        }
        Ok(out)
    }

    fn describe(&mut self, text: &str, out: &mut Map<String, Value>) {
        let text = cut(text, TEXT_CHARS_MAX);
        let text = text.trim();
        if !text.is_empty() && self.spend(VALUE_BYTES + text.len()) {
            out.insert("description".into(), text.into());
        }
    }

    /// Counts memory. After the first time that there is not enough, there is none.
    fn spend(&mut self, bytes: usize) -> bool {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => self.bytes_left = left,
            None => {
                self.bytes_left = 0;
                self.has_gaps = true;
                return false;
            }
        }
        true
    }
}

/// Whether a keyword refuses more where what it is about allows more, or is not complete.
fn refuses_more_by_gaps(key: &str, table: &Map<String, Value>) -> bool {
    match key {
        "not" | "if" | "then" | "else" | "maxContains" | "unevaluatedItems" | "unevaluatedProperties" => true,
        "additionalProperties" => table.contains_key("properties") || table.contains_key("patternProperties"),
        "items" => table.contains_key("prefixItems"),
        // It becomes `anyOf`, of which there can be one.
        "oneOf" => table.contains_key("anyOf"),
        _ => false,
    }
}
