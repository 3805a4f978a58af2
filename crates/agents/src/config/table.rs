//! A table that people write: every key is known, and every mistake is told with its place.

use super::{listed, wrong};
use isolith_core::{FieldsError, nearest, quantity};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::time::Duration;

/// A table of which every key has to be taken.
pub(super) struct Table<'a> {
    entries: &'a Map<String, Value>,
    at: String,
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    pub(super) fn of(value: &'a Value, at: &str) -> Result<Table<'a>, FieldsError> {
        match value {
            Value::Object(entries) => Ok(Table { entries, at: at.to_owned(), known: Vec::new() }),
            _ => Err(wrong(at, format!("write a table for each agent: `[agents.{at}]`"))),
        }
    }

    fn raw(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.entries.get(key)
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, FieldsError> {
        match self.raw(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(key, "write text")),
        }
    }

    pub(super) fn texts(&mut self, key: &'static str) -> Result<Vec<String>, FieldsError> {
        let Some(value) = self.raw(key) else { return Ok(Vec::new()) };
        let all: Option<Vec<String>> =
            value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        all.ok_or_else(|| self.wrong(key, "write a list of texts"))
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, FieldsError> {
        match self.raw(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(key, "write `true` or `false`")),
        }
    }

    pub(super) fn count(&mut self, key: &'static str, range: RangeInclusive<u32>) -> Result<Option<u32>, FieldsError> {
        let Some(value) = self.raw(key) else { return Ok(None) };
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| range.contains(count));
        let bad = || self.wrong(key, format!("write a number from {} to {}", range.start(), range.end()));
        count.map(Some).ok_or_else(bad)
    }

    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<Duration>, FieldsError> {
        let text = match self.raw(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(self.wrong(key, "write a duration such as `30s` or `10m`")),
        };
        quantity::duration(&text).map(Some).map_err(|why| self.wrong(key, why))
    }

    pub(super) fn wrong(&self, key: &str, message: impl Into<String>) -> FieldsError {
        wrong(&format!("{}.{key}", self.at), message)
    }

    /// A key that has to be there. A wrong name is more likely than a missing one.
    pub(super) fn missing(&self, key: &str) -> FieldsError {
        match self.entries.keys().find(|other| nearest(other, [key]).is_some()) {
            Some(other) => self.wrong(other, format!("there is no such key: did you mean `{key}`?")),
            None => wrong(&self.at, format!("`{key}` is missing")),
        }
    }

    /// Refuses keys that nobody asked for.
    pub(super) fn finish(self) -> Result<(), FieldsError> {
        let known = || self.known.iter().copied();
        let Some(key) = self.entries.keys().find(|key| known().all(|known| known != key.as_str())) else {
            return Ok(());
        };
        let message = match nearest(key, known()) {
            Some(near) => format!("there is no such key: did you mean `{near}`?"),
            None => format!("there is no such key; there are {}", listed(known())),
        };
        Err(self.wrong(key, message))
    }
}
