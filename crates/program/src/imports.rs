//! Programs of several files: which files a program imports, and what becomes of the imports.
//!
//! [`find_modules()`] walks from the program along its imports, reading files through whoever keeps them (`closure`).
//! The files come along with the program from then on, so that a run knows all of its code before it starts and can be
//! repeated without them. `path` says which file a specifier means, `outline` what a text imports and exports, `known`
//! holds the outlines of all files against each other, and `mark` and `bind` write the imports anew: those of a module
//! name the module they mean, those of the program wait for it.

pub(crate) mod bind;
mod closure;
mod json;
pub(crate) mod known;
pub(crate) mod live;
pub(crate) mod mark;
pub(crate) mod outline;
pub(crate) mod path;
pub(crate) mod refusal;

pub use closure::find_modules;
pub(crate) use closure::outline_of;
pub(crate) use json::module_code as json_code;

use isolith_core::Digest;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The most modules that a program may bring along.
pub const MODULES_MAX: usize = 256;

/// One file that a program imports, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleSource {
    /// Its path in the workspace, without a slash in front: `lib/dates.ts`.
    pub name: String,
    /// What its author wrote.
    pub source: String,
}

/// What names a program by what its authors wrote: the digest of its source, with those of its modules if it has any.
pub fn source_digest(source: &str, modules: &[ModuleSource]) -> Digest {
    let digest = Digest::of(source);
    if modules.is_empty() {
        return digest;
    }
    let mut all = digest.to_string();
    for module in modules {
        // Lengths keep a name from passing for a part of another one.
        let _ = write!(all, "\n{} {} {}", Digest::of(&module.source), module.name.len(), module.name);
    }
    Digest::of(&all)
}
