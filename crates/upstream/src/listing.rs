//! The tools of a namespace as they are now, with what checks their arguments and answers.

use crate::fail;
use isolith_core::{CallError, nearest};
use isolith_gate::Schema;
use isolith_tools::{Namespace, Tool, Unknown};
use serde_json::Value;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of an unknown name is repeated.
const ASKED_CHARS_MAX: usize = 64;

static LISTINGS: AtomicU64 = AtomicU64::new(1);

/// The tools of a namespace. It does not change: what differs is another listing.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Which one it is.
    pub(crate) id: u64,
    pub(crate) namespace: Namespace,
    /// Of each tool, in the same order.
    checks: Vec<Checks>,
}

/// Compiled at first use: a namespace may have thousands of tools, and a run uses a few.
#[derive(Debug, Default)]
struct Checks {
    input: OnceLock<Result<Schema, String>>,
    output: OnceLock<Result<Schema, String>>,
}

/// A tool of a listing.
pub(crate) struct Entry<'a> {
    pub(crate) tool: &'a Tool,
    /// `<namespace>.<tool>`.
    pub(crate) path: String,
    checks: &'a Checks,
}

impl Listing {
    pub(crate) fn new(mut namespace: Namespace) -> Listing {
        namespace.tools.sort_by(|a, b| a.name.cmp(&b.name));
        let checks = namespace.tools.iter().map(|_| Checks::default()).collect();
        Listing { id: LISTINGS.fetch_add(1, Ordering::Relaxed), namespace, checks }
    }

    /// The tool of this name, or what may have been meant.
    pub(crate) fn find(&self, function: &str) -> Result<Entry<'_>, CallError> {
        let tools = &self.namespace.tools;
        let path = |name: &str| format!("{}.{name}", self.namespace.name);
        match tools.binary_search_by(|tool| tool.name.as_str().cmp(function)) {
            Ok(at) => Ok(Entry { tool: &tools[at], path: path(function), checks: &self.checks[at] }),
            Err(_) => {
                let asked: String = function.chars().take(ASKED_CHARS_MAX).collect();
                let near = nearest(&asked, tools.iter().map(|tool| tool.name.as_str()));
                let near = near.map(path).into_iter().collect();
                Err(fail::unknown(Unknown { asked: path(&asked), near }.to_string()))
            }
        }
    }
}

impl Entry<'_> {
    /// Whether the tool takes this.
    pub(crate) fn check_input(&self, args: &Value) -> Result<(), CallError> {
        self.check(&self.checks.input, Some(&self.tool.input), args)
            .map_err(|what| fail::invalid_input(&self.path, &what))
    }

    /// Whether the tool promises this.
    pub(crate) fn check_output(&self, answer: &Value) -> Result<(), CallError> {
        self.check(&self.checks.output, self.tool.output.as_ref(), answer)
            .map_err(|what| fail::invalid_output(&self.path, &what))
    }

    fn check(
        &self,
        compiled: &OnceLock<Result<Schema, String>>,
        schema: Option<&Value>,
        value: &Value,
    ) -> Result<(), String> {
        let Some(schema) = schema else { return Ok(()) };
        match compiled.get_or_init(|| Schema::new(schema)) {
            Ok(schema) => schema.check(value),
            // What cannot be checked is not let through.
            Err(why) => Err(format!("its schema cannot be used: {why}")),
        }
    }
}
