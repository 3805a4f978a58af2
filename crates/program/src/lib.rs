//! Programs of any shape and flavour, checked and turned into plain JavaScript.
//!
//! [`prepare()`] takes what a model wrote: a function body, a module, one function, TypeScript, any of it in a Markdown
//! fence. It gives a [`Program`](isolith_core::Program) that an engine runs as it is, or a [`SourceError`] that says
//! what is wrong, where, and what to do. [`Prepared`] knows the way back from the code that ran to the author's source.
//! A program may bring modules along: [`find_modules()`] finds the files that it imports, [`prepare_with()`] takes them.
//!
//! On the way a text is walked over once to bound how deep it nests (`scan`), parsed as what it is (`parse`), made to
//! return its value (`shape`, `module`), checked and stripped of types (`compile`), and printed (`print`).

mod check;
mod error;
mod frames;
mod imports;
mod language;
mod needs;
mod prepare;
mod prepared;

mod compile;
mod fault;
mod fence;
mod finder;
mod fork;
mod hint;
mod lines;
mod module;
mod names;
mod nesting;
mod parse;
mod part;
mod positions;
mod print;
mod scan;
mod shape;
mod stack;
mod walk;
mod words;

pub use check::{Goal, parse_check};
pub use error::{SourceError, excerpt};
pub use frames::MappedStack;
pub use imports::{MODULES_MAX, ModuleSource, find_modules, source_digest};
pub use language::Language;
pub use names::variables;
pub use needs::{Need, Needs, Place, Unknown, needs};
pub use prepare::{prepare, prepare_with};
pub use prepared::Prepared;
