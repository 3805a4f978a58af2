use super::{BindingName, Bounds, ToolPattern};
use crate::Json;
use serde::{Deserialize, Serialize};

/// A function of the embedder, called as `tools.<name>(args)` or `external_<name>(args)`, or some of a namespace, called as
/// `tools.<namespace>.<function>(args)`. What names more than one has no command and no schemas: they are each tool's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolGrant {
    /// Its name in the guest, or how several are named.
    pub name: ToolPattern,
    /// The JSON Schema its argument has to meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The JSON Schema its answer has to meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Which arguments it may be called with.
    #[serde(default, skip_serializing_if = "Bounds::is_empty")]
    pub args: Bounds,
    /// The program that does the work: the argument goes to its stdin as JSON, the answer comes from its stdout.
    /// Without this the embedder has to bring the function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// How long one call may take, in milliseconds.
    pub timeout_ms: u64,
}

/// How long a call of a tool may take unless its grant says otherwise.
pub(crate) const TIMEOUT_MS: u64 = 30_000;

/// Another program, called as `invoke("name", input)`. It runs with its own grants, as far as the caller has them too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvokeGrant {
    /// Its name in the guest.
    pub name: BindingName,
    /// The file its source is in; without this the embedder has to bring the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What it asks for. It never gets more than its caller has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<super::Grant>,
    /// Which inputs it may be called with.
    #[serde(default, skip_serializing_if = "Bounds::is_empty")]
    pub args: Bounds,
}

impl ToolGrant {
    /// A tool that someone else brings: the embedder, or whoever has its namespace.
    pub fn new(name: impl Into<ToolPattern>) -> Self {
        ToolGrant {
            name: name.into(),
            input: None,
            output: None,
            args: Bounds::default(),
            command: Vec::new(),
            timeout_ms: TIMEOUT_MS,
        }
    }

    /// Whether the embedder has to bring it: there is no command for it, and no namespace that someone else brings.
    pub fn is_embedders(&self) -> bool {
        self.command.is_empty() && self.name.namespace().is_none()
    }
}
