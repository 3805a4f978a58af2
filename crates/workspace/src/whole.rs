use crate::scope::Scope;
use crate::work::{FilesAnswer, perform};
use isolith_core::files::FileTree;
use isolith_core::{FilesError, FilesOp};
use serde_json::Value;

/// What was asked for, all of it.
#[derive(Debug)]
pub enum Answer {
    /// A value.
    Value(Value),
    /// The bytes of a file.
    Bytes(Vec<u8>),
}

/// As [`perform`], with the bytes of a large file at once: for whoever has room for them.
pub fn whole(tree: &dyn FileTree, scope: &Scope, op: &FilesOp, bytes: &[u8]) -> Result<Answer, FilesError> {
    let mut pieces = match perform(tree, scope, op, bytes)? {
        FilesAnswer::Value(value) => return Ok(Answer::Value(value)),
        FilesAnswer::Bytes(bytes) => return Ok(Answer::Bytes(bytes)),
        FilesAnswer::Large(pieces) => pieces,
    };
    let mut all = Vec::with_capacity(pieces.left() as usize);
    while pieces.left() > 0 {
        all.extend(pieces.next(tree, usize::MAX)?);
    }
    Ok(Answer::Bytes(all))
}
