//! What is done with the files of a tree, whoever keeps it.
//!
//! A tree knows places and what is in them. Here paths are read, links are followed as far as they may lead, and every [`FilesOp`] is
//! performed: the same way for a database, a folder of the host, or [`Memory`].

pub mod archive;
pub mod contract;
mod ignores;
mod memory;
mod ops;
mod pattern;
mod resolve;
mod scope;
#[cfg(feature = "suite")]
pub mod suite;
mod text;
mod walk;
mod whole;
mod work;

pub use memory::Memory;
pub use ops::Pieces;
pub use scope::Scope;
pub use text::module_text;
pub use whole::{Answer, whole};
pub use work::{FilesAnswer, Work, perform};

#[cfg(doc)]
use isolith_core::FilesOp;
