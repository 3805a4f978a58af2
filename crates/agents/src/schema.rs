//! What an answer has to be: a JSON Schema of a workflow, compiled once, and its complaints.

mod wording;

use isolith_core::Json;
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationOptions, Validator};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The largest schema that is taken.
pub const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// How many issues are listed.
const ISSUES_MAX: usize = 20;
/// What one pattern of a schema may take once compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// How often a pattern that looks around may go back.
const BACKTRACKS_MAX: usize = 100_000;
/// How much of schemas is kept compiled, counted as they are written.
const KEPT_BYTES_MAX: usize = 4 << 20;
/// How many of them.
const KEPT_MAX: usize = 256;

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is too large.
    #[error("the schema cannot be used: it has {bytes} bytes, and may have {SCHEMA_BYTES_MAX}")]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// It is no schema.
    #[error("the schema cannot be used: {why}")]
    Unusable {
        /// What is wrong.
        why: String,
    },
}

/// Whether a value is what a schema says; if not, what is wrong with it, worded as Ajv does.
///
/// A schema that cannot be used is the only issue then. [`check_schema`] tells these apart.
pub fn validate(schema: &Json, data: &Json) -> Result<(), Vec<String>> {
    let compiled = compiled(schema).map_err(|error| vec![error.to_string()])?;
    // Texts that serde cannot hold, such as lone surrogates or very deep nesting, meet no schema.
    let data: Value = data.parse().map_err(|error| vec![error.to_string()])?;
    compiled.check(&data)
}

/// Whether a schema can be used at all.
pub fn check_schema(schema: &Json) -> Result<(), SchemaError> {
    compiled(schema).map(drop)
}

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Compiled {
    validator: Validator,
    /// As it is written, for what the validator does not repeat.
    written: Value,
}

impl Compiled {
    pub(crate) fn check(&self, data: &Value) -> Result<(), Vec<String>> {
        if self.validator.is_valid(data) {
            return Ok(());
        }
        let mut issues = Vec::new();
        for error in self.validator.iter_errors(data) {
            wording::tell(&error, &self.written, &mut issues);
            if issues.len() > ISSUES_MAX {
                issues.truncate(ISSUES_MAX);
                issues.push("and more".into());
                break;
            }
        }
        Err(issues)
    }
}

#[derive(Default)]
struct Kept {
    schemas: HashMap<String, Arc<Compiled>>,
    bytes: usize,
}

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

/// The schema, compiled now or before.
pub(crate) fn compiled(schema: &Json) -> Result<Arc<Compiled>, SchemaError> {
    let text = schema.text();
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(SchemaError::TooLarge { bytes: text.len() });
    }
    let known = |kept: &Mutex<Kept>| kept.lock().unwrap_or_else(PoisonError::into_inner).schemas.get(text).cloned();
    if let Some(known) = known(&KEPT) {
        return Ok(known);
    }
    let unusable = |why| SchemaError::Unusable { why };
    let written: Value = schema.parse().map_err(|error| unusable(error.to_string()))?;
    let made = Arc::new(Compiled { validator: compile(&written).map_err(unusable)?, written });
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    // A workflow has a handful of schemas; whoever makes new ones without end starts over now and then.
    if kept.schemas.len() >= KEPT_MAX || kept.bytes + text.len() > KEPT_BYTES_MAX {
        *kept = Kept::default();
    }
    if kept.schemas.insert(text.to_owned(), Arc::clone(&made)).is_none() {
        kept.bytes += text.len();
    }
    Ok(made)
}

fn compile(schema: &Value) -> Result<Validator, String> {
    // THREAT[T-TOOL-006]: patterns meet what a stranger wrote. An engine that backtracks can be kept busy for ever, so it is
    // used only where a pattern looks around (zod's `email` does), and goes back so often and not more.
    let plain = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let looking = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS_MAX)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX);
    let built = options().with_pattern_options(plain).build(schema);
    built
        .or_else(|_| options().with_pattern_options(looking).build(schema))
        .map_err(|error| crate::words::said(&error.to_string()))
}

fn options<'a>() -> ValidationOptions<'a> {
    jsonschema::options().with_draft(Draft::Draft202012).with_retriever(Nowhere)
}

// THREAT[T-TOOL-005]: a schema can point anywhere, and following it would be a request or a look at a file that nobody
// granted. Nothing outside the schema is ever fetched.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`$ref` to `{uri}` leads out of the schema, and nothing is fetched: put it under `$defs`").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(value: &Value) -> Json {
        Json::of(value).unwrap()
    }

    #[test]
    fn unusable_schemas_are_told_apart() {
        let large = json!({ "description": "x".repeat(SCHEMA_BYTES_MAX) });
        assert!(matches!(check_schema(&schema(&large)), Err(SchemaError::TooLarge { .. })));
        for bad in [
            json!({ "type": 7 }),
            json!({ "$ref": "https://example.com/x" }),
            json!({ "$ref": "file:///etc/passwd" }),
            json!({ "pattern": "(" }),
        ] {
            let found = check_schema(&schema(&bad));
            assert!(matches!(found, Err(SchemaError::Unusable { .. })), "{bad}: {found:?}");
            let issues = validate(&schema(&bad), &Json::null()).unwrap_err();
            assert!(issues[0].starts_with("the schema cannot be used: "), "{issues:?}");
        }
    }

    #[test]
    fn patterns_that_look_around_are_bounded() {
        let email = schema(&json!({ "type": "string", "pattern": "^(?!\\.)[a-z.]+@[a-z.]+$" }));
        assert_eq!(validate(&email, &Json::of("a@b.c").unwrap()), Ok(()));
        assert!(validate(&email, &Json::of(".a@b.c").unwrap()).is_err());
        let slow = schema(&json!({ "pattern": "^(?=a)(a|a|aa)+$" }));
        let started = std::time::Instant::now();
        assert!(validate(&slow, &Json::of(&format!("{}b", "a".repeat(5_000))).unwrap()).is_err());
        assert!(started.elapsed().as_secs() < 10);
    }

    #[test]
    fn schemas_are_compiled_once() {
        let text = schema(&json!({ "title": "compiled once", "type": "null" }));
        let (one, two) = (compiled(&text).unwrap(), compiled(&text).unwrap());
        assert!(Arc::ptr_eq(&one, &two));
    }

    #[test]
    fn issues_without_end_are_not_listed() {
        let items = schema(&json!({ "items": { "type": "null" } }));
        let issues = validate(&items, &Json::of(&vec![0; 1000]).unwrap()).unwrap_err();
        assert_eq!((issues.len(), issues[20].as_str()), (21, "and more"));
    }
}
