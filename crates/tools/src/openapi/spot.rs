//! Where the operations of a description are, and what they are called.

use super::OpenApiError;
use super::document::{Broken, Document, SHOWN_CHARS_MAX, cut};
use super::names::{self, Names};
use super::notes::Notes;
use serde_json::{Map, Value};
use std::fmt;

/// The most operations of a description.
pub(super) const OPERATIONS_MAX: usize = 5_000;
/// The keys of a path that are operations, in the order they are read.
const METHODS: [&str; 8] = ["get", "head", "options", "post", "put", "patch", "delete", "trace"];

/// One operation, not looked at yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    pub(super) path: &'a str,
    /// In lower case.
    pub(super) method: &'static str,
    /// What all operations of the path share.
    pub(super) item: &'a Map<String, Value>,
    pub(super) operation: &'a Map<String, Value>,
}

impl Spot<'_> {
    /// What the description calls it.
    pub(super) fn id(&self) -> Option<&str> {
        self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    fn wish(&self) -> String {
        match self.id().map(names::identifier) {
            Some(name) if !name.is_empty() => name,
            _ => names::of_path(self.method, self.path),
        }
    }
}

impl fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.to_ascii_uppercase(), cut(self.path, SHOWN_CHARS_MAX))
    }
}

/// The operations in the order of their paths, whatever order the description has them in.
pub(super) fn find<'a>(document: Document<'a>, notes: &mut Notes) -> Result<Vec<Spot<'a>>, OpenApiError> {
    let other = |what: &str| OpenApiError::NotOpenApi(what.to_owned());
    let paths = document.root().get("paths").ok_or_else(|| other("`paths` is missing"))?;
    let paths = paths.as_object().ok_or_else(|| other("`paths` is not an object"))?;
    if paths.len() > OPERATIONS_MAX {
        return Err(OpenApiError::TooManyOperations);
    }
    let mut paths: Vec<(&String, &Value)> = paths.iter().filter(|(path, _)| !path.starts_with("x-")).collect();
    paths.sort_by_key(|(path, _)| *path);
    let mut spots = Vec::new();
    for (path, item) in paths {
        let shown = || cut(path, SHOWN_CHARS_MAX);
        let item = match document.table(item) {
            Ok(item) => item,
            Err(broken) => {
                notes.add(format!("the path {} is left out: {broken}", shown()));
                continue;
            }
        };
        for method in METHODS {
            match item.get(method) {
                Some(Value::Object(operation)) => spots.push(Spot { path, method, item, operation }),
                Some(_) => notes.add(format!(
                    "{} {} is left out: {}",
                    method.to_ascii_uppercase(),
                    shown(),
                    Broken::new("not an object")
                )),
                None => {}
            }
        }
        if spots.len() > OPERATIONS_MAX {
            return Err(OpenApiError::TooManyOperations);
        }
    }
    Ok(spots)
}

/// A name for each. The first that asks for a name has it, and a number takes no name that someone else asked for.
pub(super) fn names(spots: &[Spot<'_>], notes: &mut Notes) -> Vec<String> {
    let mut names = Names::default();
    let wishes: Vec<(String, bool)> = spots
        .iter()
        .map(|spot| {
            let wish = spot.wish();
            let free = names.take(&wish);
            (wish, free)
        })
        .collect();
    let given = wishes.into_iter().zip(spots).map(|((wish, free), spot)| {
        if free {
            return wish;
        }
        let name = names.another(&wish);
        notes.add(format!("{spot} is called `{name}`: there is another `{wish}`"));
        name
    });
    given.collect()
}
