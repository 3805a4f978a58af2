//! Each operation.

mod change;
mod copy;
mod diff;
mod edit;
mod find;
mod glob;
mod grep;
mod history;
mod list;
mod picture;
mod read;
mod text;

pub(crate) use change::{link, make_folder, remove, rename, set, write};
pub(crate) use copy::copy;
pub(crate) use diff::diff;
pub(crate) use edit::edit;
pub(crate) use find::find;
pub(crate) use glob::glob;
pub(crate) use grep::grep;
pub(crate) use history::{history, undo};
pub(crate) use list::{list, stat};
pub(crate) use picture::picture;
pub use read::Pieces;
pub(crate) use read::read;
pub(crate) use text::read_lines;

use isolith_core::Timestamp;
use isolith_core::files::Node;

/// When something was changed, in milliseconds.
pub(crate) fn modified_ms(node: &Node) -> u64 {
    ms(node.modified)
}

pub(crate) fn ms(at: Timestamp) -> u64 {
    at.as_micros() / 1000
}

/// How many are wanted, of at most so many.
pub(crate) fn at_most(limit: Option<u32>, default: usize, most: usize) -> usize {
    limit.map_or(default, |limit| limit as usize).clamp(1, most)
}
