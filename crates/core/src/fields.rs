//! Reading tables that people write: every key is known, and every mistake is told with its place.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;

/// What is wrong with something a person wrote, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if at.is_empty() { String::new() } else { format!("`{at}`: ") })]
pub struct FieldsError {
    /// Where: `grants[2].host`.
    pub at: String,
    /// What.
    pub message: String,
}

impl FieldsError {
    pub(crate) fn new(at: &str, message: impl Into<String>) -> Self {
        FieldsError { at: at.to_owned(), message: message.into() }
    }

    /// The same, further down.
    pub(crate) fn under(self, at: &str) -> Self {
        let at = [at, &self.at].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        FieldsError { at, ..self }
    }
}

/// A table of which every key has to be taken.
pub(crate) struct Fields<'a> {
    table: &'a Map<String, Value>,
    at: String,
    known: Vec<String>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, at: &str) -> Result<Self, FieldsError> {
        match value {
            Value::Object(table) => Ok(Fields { table, at: at.to_owned(), known: Vec::new() }),
            _ => Err(FieldsError::new(at, "write a table")),
        }
    }

    /// The value of a key and its place.
    pub(crate) fn raw(&mut self, key: &str) -> Option<(&'a Value, String)> {
        self.known.push(key.to_owned());
        self.table.get(key).map(|value| (value, self.place(key)))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub(crate) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, FieldsError> {
        self.take_with(key, |value| serde_json::from_value(value.clone()).map_err(|error| error.to_string()))
    }

    pub(crate) fn take_with<T>(
        &mut self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, FieldsError> {
        let Some((value, at)) = self.raw(key) else { return Ok(None) };
        read(value).map(Some).map_err(|error| FieldsError::new(&at, error))
    }

    pub(crate) fn need<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, FieldsError> {
        match self.take(key)? {
            Some(value) => Ok(value),
            // A wrong name is more likely than a missing one.
            None => match self.table.keys().find(|other| nearest(other, [key]).is_some()) {
                Some(other) => Err(FieldsError::new(&self.place(other), format!("did you mean `{key}`?"))),
                None => Err(FieldsError::new(&self.at, format!("`{key}` is missing"))),
            },
        }
    }

    pub(crate) fn duration(&mut self, key: &str) -> Result<Option<Duration>, FieldsError> {
        self.take_with(key, |value| crate::quantity::duration(&plain(value)?))
    }

    pub(crate) fn size(&mut self, key: &str) -> Result<Option<u64>, FieldsError> {
        self.take_with(key, |value| crate::quantity::size(&plain(value)?))
    }

    pub(crate) fn wrong(&self, key: &str, message: impl Into<String>) -> FieldsError {
        FieldsError::new(&self.place(key), message)
    }

    /// Refuses keys that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), FieldsError> {
        let Some(key) = self.table.keys().find(|key| !self.known.contains(key)) else { return Ok(()) };
        let known = || self.known.iter().map(String::as_str).filter(|k| *k != "budgets");
        let message = match nearest(key, known()) {
            Some(near) => format!("there is no such key: did you mean `{near}`?"),
            None => format!(
                "there is no such key; there are {}",
                known().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        Err(self.wrong(key, message))
    }

    fn place(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }
}

/// A number with or without its unit.
fn plain(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err("write a number, or text such as `30s` or `64MiB`".into()),
    }
}

/// One value or a list of them.
pub(crate) fn one_or_many<T: DeserializeOwned>(value: &Value) -> Result<Vec<T>, String> {
    let items = match value {
        Value::Array(items) => items.clone(),
        one => vec![one.clone()],
    };
    items.into_iter().map(|item| serde_json::from_value(item).map_err(|error| error.to_string())).collect()
}

/// The candidate that a mistyped word most likely means.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| edits(&word.to_lowercase(), &other.to_lowercase());
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    candidates.into_iter().map(|c| (distance(c), c)).filter(|(d, _)| *d <= allowed).min().map(|(_, c)| c)
}

/// How many letters have to be changed, added, dropped or swapped with their neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    (0..=a.len()).for_each(|i| rows[i][0] = i);
    (0..=b.len()).for_each(|j| rows[0][j] = j);
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            rows[i][j] = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        for (word, near) in
            [("hots", Some("host")), ("methods", Some("method")), ("Host", Some("host")), ("zebra", None)]
        {
            assert_eq!(nearest(word, ["host", "method", "path"]), near, "{word}");
        }
    }
}
