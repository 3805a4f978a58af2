//! Why an import is refused.

use super::MODULES_MAX;
use crate::error::tidy;
use crate::fault::{Fault, code};
use isolith_core::nearest;

/// What stands in the way of an import, before it is known where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It names nothing that a program could have.
    Unknown,
    /// The same, where a program could have files.
    NoFile,
    /// It is `import x = require("…")`.
    Required,
    /// It leads out of the workspace.
    Outside,
    /// There is no such file, but perhaps this one is meant.
    Missing(Option<String>),
    /// It is the program itself.
    Program,
    /// There is such a file, and it is no module.
    NoModule(String),
    /// The file cannot be read.
    Unreadable(String, String),
    /// There are too many modules.
    TooMany,
    /// There is too much of them.
    TooLarge(u64),
}

impl Refusal {
    /// The fault of an import of `specifier` that stands at `offset`.
    pub(crate) fn fault(self, specifier: &str, offset: usize) -> Fault {
        let shown = tidy(specifier);
        let fault = |code, message: String| Fault::new(offset, code, message);
        match self {
            Refusal::Unknown => fault(code::IMPORT, format!("`{shown}` is not granted as a module")).hint(
                "nothing outside the granted modules can be imported: use the granted tools and the built-in globals",
            ),
            Refusal::NoFile => fault(code::IMPORT, format!("`{shown}` is not granted as a module")).hint(
                "only files of the workspace can be imported, by a path that begins with `./` or `../`; there are no packages",
            ),
            Refusal::Required => fault(code::IMPORT, format!("`{shown}` is not granted as a module"))
                .hint("there is no `require`: write `import x from \"./x.ts\"`"),
            Refusal::Outside => fault(code::IMPORT_OUTSIDE, format!("`{shown}` leads out of the workspace"))
                .hint("count the `../`: only files of the workspace can be imported"),
            Refusal::Missing(near) => {
                let fault = fault(code::IMPORT_MISSING, format!("there is no file for `{shown}` in the workspace"));
                match near {
                    Some(near) => fault.hint(format!("did you mean `{near}`?")),
                    None => fault.hint("paths are relative to the file with the import"),
                }
            }
            Refusal::Program => fault(code::IMPORT_PROGRAM, format!("`{shown}` is the program itself"))
                .hint("put what both need into a file of its own, and import that"),
            Refusal::NoModule(path) => fault(code::IMPORT, format!("`{path}` is not a module"))
                .hint("modules are files that end in .ts, .js, .mjs or .json; others can be read with `fs`"),
            Refusal::Unreadable(path, why) => {
                fault(code::IMPORT_UNREADABLE, format!("`{path}` cannot be read: {why}"))
            }
            Refusal::TooMany => fault(code::IMPORT_LIMIT, format!("the program imports more than {MODULES_MAX} modules"))
                .hint("put several into one file"),
            Refusal::TooLarge(limit) => {
                fault(code::IMPORT_LIMIT, format!("with `{shown}` the program has more than {limit} bytes of source"))
                    .hint("data belongs into files that are read, not imported")
            }
        }
    }
}

/// The fault of a name that a module does not export.
pub(crate) fn no_export(name: &str, module: &str, exports: &[&str], offset: usize) -> Fault {
    let fault = Fault::new(offset, code::IMPORT_NAME, format!("`{module}` has no export `{}`", tidy(name)));
    match nearest(name, exports.iter().copied()) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None if exports.is_empty() => fault.hint("it exports nothing: write `export` before what others may import"),
        None if module.ends_with(".json") => fault.hint("a JSON file has a default export only: `import data from …`"),
        None => fault.hint(format!("it exports {}", shown(exports))),
    }
}

/// How many names are shown of those there are.
const NAMES_SHOWN_MAX: usize = 8;

fn shown(names: &[&str]) -> String {
    let mut all: Vec<String> = names.iter().take(NAMES_SHOWN_MAX).map(|name| format!("`{}`", tidy(name))).collect();
    if names.len() > NAMES_SHOWN_MAX {
        all.push("…".into());
    }
    all.join(", ")
}
