//! The description as a document: its version, and what a `$ref` in it leads to.

use super::OpenApiError;
use super::percent;
use serde_json::{Map, Value};
use std::fmt;

/// How much of a stranger's text is repeated in a message.
pub(super) const SHOWN_CHARS_MAX: usize = 200;
/// A `$ref` to a `$ref` is followed this often.
const REF_HOPS_MAX: usize = 32;
/// The longest `$ref`.
const REF_BYTES_MAX: usize = 1_024;

/// A description whose version is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    root: &'a Map<String, Value>,
    whole: &'a Value,
    pub(super) dialect: Dialect,
}

/// Which rules its schemas follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAPI's own, close to JSON Schema.
    V30,
    /// JSON Schema 2020-12.
    V31,
}

/// What is wrong with a part of the description, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    at: String,
    what: String,
}

impl Broken {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Broken { at: String::new(), what: what.into() }
    }

    /// The same, further down.
    pub(super) fn under(self, place: &str) -> Self {
        let at = match (self.at.is_empty(), self.at.starts_with("#/")) {
            // What was found through a `$ref` is told from there.
            (_, true) => self.at,
            (true, _) => place.to_owned(),
            (false, _) => format!("{place}.{}", self.at),
        };
        Broken { at, ..self }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => f.write_str(&self.what),
            at => write!(f, "`{}`: {}", cut(at, SHOWN_CHARS_MAX), self.what),
        }
    }
}

impl<'a> Document<'a> {
    pub(super) fn of(whole: &'a Value) -> Result<Self, OpenApiError> {
        let other = |what: &str| OpenApiError::NotOpenApi(what.to_owned());
        let root = whole.as_object().ok_or_else(|| other("it is not an object"))?;
        if let Some(version) = root.get("swagger") {
            let text = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
            return Err(OpenApiError::Swagger(cut(&text, SHOWN_CHARS_MAX)));
        }
        let version = root.get("openapi").ok_or_else(|| other("`openapi` is missing"))?;
        let version = version.as_str().ok_or_else(|| other("`openapi` is not text, such as `\"3.1.0\"`"))?;
        let is =
            |wanted: &str| version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let dialect = match version {
            _ if is("3.0") => Dialect::V30,
            _ if is("3.1") => Dialect::V31,
            _ => return Err(OpenApiError::Version(cut(version, SHOWN_CHARS_MAX))),
        };
        Ok(Document { root, whole, dialect })
    }

    pub(super) fn root(&self) -> &'a Map<String, Value> {
        self.root
    }

    /// What a `$ref` leads to, and its pointer in the one form that all `$ref`s to it share.
    pub(super) fn find(&self, reference: &str) -> Result<(String, &'a Value), Broken> {
        let wrong = |what: &str| Broken::new(format!("`$ref` {what}: `{}`", cut(reference, SHOWN_CHARS_MAX)));
        if reference.len() > REF_BYTES_MAX {
            return Err(wrong("is too long"));
        }
        // Nothing is fetched and no file is opened because a description says so.
        let fragment = reference.strip_prefix('#').ok_or_else(|| wrong("leads to another document"))?;
        let pointer = percent::decoded(fragment).ok_or_else(|| wrong("is not a JSON pointer"))?;
        let value = self.whole.pointer(&pointer).ok_or_else(|| wrong("leads nowhere"))?;
        Ok((pointer, value))
    }

    /// The value itself, or what it refers to.
    pub(super) fn follow(&self, mut value: &'a Value) -> Result<&'a Value, Broken> {
        for _ in 0..REF_HOPS_MAX {
            match value.get("$ref") {
                None => return Ok(value),
                Some(Value::String(reference)) => value = self.find(reference)?.1,
                Some(_) => return Err(Broken::new("`$ref` is not text")),
            }
        }
        Err(Broken::new("`$ref` goes round in a circle"))
    }

    /// The same for what has to be an object.
    pub(super) fn table(&self, value: &'a Value) -> Result<&'a Map<String, Value>, Broken> {
        self.follow(value)?.as_object().ok_or_else(|| Broken::new("not an object"))
    }
}

/// The start of a text.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A field that is text with something in it.
pub(super) fn text<'a>(table: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Whether a field is `true`.
pub(super) fn flag(table: &Map<String, Value>, key: &str) -> bool {
    table.get(key) == Some(&Value::Bool(true))
}
