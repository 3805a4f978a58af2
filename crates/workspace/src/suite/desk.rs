use super::Make;
use crate::{FilesAnswer, Scope, perform};
use isolith_core::files::{FileTree, Room};
use isolith_core::{FilesError, FilesOp, GuestPath};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tree, and short words for what is done with it.
#[derive(Clone)]
pub struct Desk {
    /// The tree.
    pub tree: Arc<dyn FileTree>,
    /// What is open of it.
    pub scope: Scope,
}

/// A path that is one.
pub(super) fn path(text: &str) -> GuestPath {
    GuestPath::new(text).unwrap()
}

impl Desk {
    /// A new tree with room enough.
    pub fn new(make: Make<'_>) -> Desk {
        Desk::with(make, Room::default())
    }

    /// A new tree with so much room.
    pub fn with(make: Make<'_>, room: Room) -> Desk {
        Desk { tree: make(room), scope: Scope::whole() }
    }

    /// The same tree, of which only this is open.
    pub fn only(&self, root: &str, closed: &[&str]) -> Desk {
        let closed = closed.iter().map(|closed| path(closed)).collect();
        Desk { tree: Arc::clone(&self.tree), scope: Scope { root: path(root), closed } }
    }

    /// An operation, as it was answered.
    pub fn perform(&self, op: &Value, bytes: &[u8]) -> Result<FilesAnswer, FilesError> {
        let op: FilesOp = serde_json::from_value(op.clone()).unwrap();
        perform(&*self.tree, &self.scope, &op, bytes)
    }

    /// An operation in short: its value, its text, or `! ` and its code.
    pub fn ask(&self, op: Value) -> Value {
        self.ask_with(op, b"")
    }

    /// The same, with something to write.
    pub fn ask_with(&self, op: Value, bytes: &[u8]) -> Value {
        match self.perform(&op, bytes) {
            Ok(FilesAnswer::Value(value)) => value,
            Ok(FilesAnswer::Bytes(bytes)) => json!(String::from_utf8_lossy(&bytes)),
            Ok(FilesAnswer::Large(pieces)) => json!({ "large": pieces.left() }),
            Err(error) => json!(format!("! {}", error.code())),
        }
    }

    /// What was said about an operation that was not performed.
    pub fn refused(&self, op: Value) -> (String, String, String) {
        let error = self.perform(&op, b"x").err().unwrap_or_else(|| panic!("it was done: {op}"));
        let error = error.to_call_error(op["path"].as_str().unwrap_or("."));
        (error.name, error.code.unwrap_or_default(), error.message)
    }

    /// Writes a text.
    pub fn write(&self, path: &str, text: &str) -> Value {
        self.ask_with(json!({ "op": "write", "path": path }), text.as_bytes())
    }

    /// Reads a text.
    pub fn text(&self, path: &str) -> Value {
        self.ask(json!({ "op": "read", "path": path }))
    }

    /// Makes a link.
    pub fn link(&self, path: &str, target: &str) -> Value {
        self.ask(json!({ "op": "link", "path": path, "target": target }))
    }

    /// Every path there is.
    pub fn all(&self) -> Vec<String> {
        let all = self.ask(json!({ "op": "glob", "pattern": "**", "limit": 10_000 }));
        serde_json::from_value(all["paths"].clone()).unwrap()
    }
}
