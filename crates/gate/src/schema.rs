//! What a tool takes and answers, checked against the JSON Schemas of its grant.

use isolith_core::{CallError, Grant, Json, Power, Rule, ToolName};
use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many violations a message lists.
const SHOWN_MAX: usize = 3;
/// How much of each.
const SHOWN_CHARS_MAX: usize = 300;
/// What one pattern of a schema may take once compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The schemas of a run's tools, compiled once.
#[derive(Debug, Default)]
pub struct Schemas {
    tools: BTreeMap<ToolName, Vec<Pair>>,
}

#[derive(Debug)]
struct Pair {
    input: Option<Schema>,
    output: Option<Schema>,
}

/// A JSON Schema of a stranger, compiled. Nothing outside of it is ever fetched.
#[derive(Debug)]
pub struct Schema(Validator);

impl Schema {
    /// Compiles a schema, or says what is wrong with it.
    pub fn new(schema: &Value) -> Result<Schema, String> {
        jsonschema::options()
            .with_retriever(Nowhere)
            // THREAT[T-TOOL-006]: patterns meet the guest's strings. An engine that backtracks can be kept busy for ever.
            .with_pattern_options(
                PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX),
            )
            .build(schema)
            .map(Schema)
            .map_err(|error| shorten(&error.to_string()))
    }

    /// Whether a value is what the schema says. If not: what is wrong, and where.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        let violations: Vec<String> = self.0.iter_errors(value).take(SHOWN_MAX + 1).map(|e| show(&e)).collect();
        let more = if violations.len() > SHOWN_MAX { "; and more" } else { "" };
        Err(violations[..violations.len().min(SHOWN_MAX)].join("; ") + more)
    }
}

impl Schemas {
    /// Compiles the schemas of these grants, or says what is wrong with one.
    pub fn of(grants: &[Grant]) -> Result<Self, String> {
        let mut tools: BTreeMap<ToolName, Vec<Pair>> = BTreeMap::new();
        for grant in grants.iter().filter(|grant| grant.rule != Rule::Deny) {
            let Power::Tool(tool) = &grant.power else { continue };
            // What names more than one tool has no schemas.
            let Some(name) = tool.name.exact().filter(|_| tool.input.is_some() || tool.output.is_some()) else {
                continue;
            };
            let pair = Pair::of(name, tool.input.as_ref(), tool.output.as_ref())?;
            tools.entry(name.clone()).or_default().push(pair);
        }
        Ok(Schemas { tools })
    }

    /// Those of one tool, whoever says so.
    pub(crate) fn of_one(name: &ToolName, input: Option<&Json>, output: Option<&Json>) -> Result<Self, String> {
        Ok(Schemas { tools: [(name.clone(), vec![Pair::of(name, input, output)?])].into() })
    }

    /// Whether a tool may be called with this argument. An absent argument counts as null.
    pub fn check_input(&self, name: &ToolName, args: Option<&Json>) -> Result<(), CallError> {
        let wrong = |what: String| CallError {
            name: "TypeError".into(),
            message: format!("the argument of the tool `{name}` is not what it takes: {what}"),
            code: Some("tool.invalid_input".into()),
        };
        check(self.of_tool(name).filter_map(|pair| pair.input.as_ref()), args).map_err(wrong)
    }

    /// Whether a tool's answer is what was promised. An absent answer counts as null.
    pub fn check_output(&self, name: &ToolName, answer: Option<&Json>) -> Result<(), CallError> {
        let wrong = |what: String| CallError {
            name: "Error".into(),
            message: format!("the answer of the tool `{name}` is not what it promises: {what}"),
            code: Some("tool.invalid_output".into()),
        };
        check(self.of_tool(name).filter_map(|pair| pair.output.as_ref()), answer).map_err(wrong)
    }

    fn of_tool(&self, name: &ToolName) -> impl Iterator<Item = &Pair> {
        self.tools.get(name).into_iter().flatten()
    }
}

impl Pair {
    fn of(name: &ToolName, input: Option<&Json>, output: Option<&Json>) -> Result<Pair, String> {
        let compiled = |schema: Option<&Json>, what: &str| match schema {
            None => Ok(None),
            Some(schema) => compile(schema)
                .map(Some)
                .map_err(|why| format!("the {what} schema of the tool `{name}` cannot be used: {why}")),
        };
        Ok(Pair { input: compiled(input, "input")?, output: compiled(output, "output")? })
    }
}

// THREAT[T-TOOL-005]: a schema can point anywhere, and following it would be a request or a look at a file that nobody
// granted. Nothing outside the schema is ever fetched.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`$ref` to `{uri}` leads out of the schema, and nothing is fetched: put it under `$defs`").into())
    }
}

fn compile(schema: &Json) -> Result<Schema, String> {
    let schema: Value = schema.parse().map_err(|error| error.to_string())?;
    Schema::new(&schema)
}

fn check<'a>(schemas: impl Iterator<Item = &'a Schema>, json: Option<&Json>) -> Result<(), String> {
    let mut schemas = schemas.peekable();
    if schemas.peek().is_none() {
        return Ok(());
    }
    // Texts that serde cannot hold, such as lone surrogates or very deep nesting, meet no schema.
    let value: Value = json.map_or(Ok(Value::Null), Json::parse).map_err(|error| error.to_string())?;
    schemas.try_for_each(|schema| schema.check(&value))
}

fn show(error: &jsonschema::ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let what = shorten(&error.to_string());
    if path.is_empty() { what } else { format!("{}: {what}", shorten(path)) }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
