//! Files: what can be done with them, what they are kept in, and what can be wrong with that.

mod error;
mod op;
mod tree;

pub use error::{FilesError, FilesReason};
pub use op::{FilesOp, TextEdit};
pub use tree::{Change, Changing, Draft, FileTree, Looking, Node, NodeKind, Room, Used, View, Visiting};
