//! A tool and the namespace it is in.

use isolith_core::{BindingName, Rule};
use serde_json::Value;

/// Tools from one place, called as `tools.<namespace>.<name>(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// Its name in the guest.
    pub name: BindingName,
    /// What it is for, in a sentence; may be empty.
    pub description: String,
    /// In the order of their names.
    pub tools: Vec<Tool>,
}

/// One function.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name in the guest.
    pub name: BindingName,
    /// Its name where it comes from.
    pub upstream: String,
    /// What it does; may be long, may be empty.
    pub description: String,
    /// The JSON Schema of its one argument, an object.
    pub input: Value,
    /// The JSON Schema of its answer.
    pub output: Option<Value>,
    /// Whether it may be called without asking.
    pub rule: Rule,
}
