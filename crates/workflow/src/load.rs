//! A workflow file, read without running it and rewritten into a module.
//!
//! `parse` gets a syntax tree of a text that may be hostile; `imports` reads what the file imports, `shape` which kind of
//! workflow it is, `literal` and `meta` its metadata, `calls` what it calls. `rewrite` makes the module with `edits`,
//! which keep every line where it was.

mod calls;
mod edits;
mod helper;
mod imports;
mod lines;
mod literal;
mod meta;
mod parse;
mod rewrite;
mod shape;

pub use calls::{AgentSite, Calls};
pub use helper::helper;
pub use meta::Meta;

use crate::error::LoadError;
use imports::Imports;
use shape::Shape;

/// The names that a workflow has without declaring them, in the order in which its module takes them.
pub const PRIMITIVES: [&str; 22] = [
    "agent",
    "parallel",
    "pipeline",
    "phase",
    "log",
    "workflow",
    "askUserQuestion",
    "args",
    "budget",
    "z",
    "profile",
    "defineWorkflow",
    "step",
    "sleep",
    "sleepUntil",
    "waitFor",
    "timeout",
    "retry",
    "now",
    "random",
    "patched",
    "cleanup",
];

/// A workflow file that may be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the file says about itself.
    pub meta: Meta,
    /// Whether it is `export const meta` with a body that returns, and not `defineWorkflow`.
    pub legacy: bool,
    /// The module that it becomes: its default export is an async function of the primitives. Types are still in it,
    /// and every line is where its author put it.
    pub module: String,
    /// The workflows that it calls by a literal name, each once, in the order of the text.
    pub children: Vec<String>,
    /// Whether it may call workflows besides those: by a name that is computed, or through another name.
    pub children_unknown: bool,
    /// The literal names that it asks `patched` about, each once, in the order of the text.
    pub patches: Vec<String>,
    /// Where it calls agents, in the order of the text.
    pub agents: Vec<AgentSite>,
}

/// Reads a workflow file and makes its module. Nothing of the file runs.
///
/// `name` is the file's name: it is shown in errors, and `.js` or `.mjs` at its end allows what is only JavaScript. The
/// size of the text is for the caller to limit; how deep it nests is limited here.
pub fn load(text: &str, name: &str) -> Result<Loaded, LoadError> {
    parse::with_tree(text, name, |tree| {
        let imports = Imports::read(tree)?;
        let shape = Shape::of(tree.program, &imports)?;
        let meta = Meta::read(&shape)?;
        let module = rewrite::module(tree, &imports, &shape)?;
        let Calls { children, children_unknown, patches, agents } = Calls::read(tree, &imports);
        Ok(Loaded { meta, legacy: shape.is_legacy(), module, children, children_unknown, patches, agents })
    })
}

/// What a file calls, whether it is a workflow or a helper that one imports. A JSON file calls nothing.
pub fn calls(text: &str, name: &str) -> Result<Calls, LoadError> {
    if is_data(name) {
        return Ok(Calls::default());
    }
    parse::with_tree(text, name, |tree| Ok(Calls::read(tree, &Imports::read_helper(tree)?)))
}

/// The literal names that a file asks `patched` about, each once, in the order of the text.
///
/// None for a file that cannot be read: [`helper()`] says what is wrong with it.
pub fn patches(text: &str, name: &str) -> Vec<String> {
    calls(text, name).map(|calls| calls.patches).unwrap_or_default()
}

/// Whether a file is no program.
fn is_data(name: &str) -> bool {
    name.ends_with(".json")
}
