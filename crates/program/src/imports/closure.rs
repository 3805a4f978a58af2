//! From a program along its imports to all files that it needs.

use super::known::find;
use super::outline::{Outline, Request, When, outline};
use super::path::{Aim, Kind, aim, candidates, nearest_path, specifier_for};
use super::refusal::Refusal;
use super::{MODULES_MAX, ModuleSource};
use crate::compile::{Role, parse};
use crate::error::SourceError;
use crate::fault::Fault;
use crate::language::{Flavour, Language};
use crate::prepare::{program_range, without_preamble};
use crate::scan::scan;
use crate::stack::with_stack;
use oxc::allocator::Allocator;
use std::collections::BTreeMap;

/// How many paths whoever keeps the files is asked about.
const LOOKUPS_MAX: usize = 16 * MODULES_MAX;

/// Reads a file by its path in the workspace: its text, nothing where there is no such file, or why it cannot be read.
type Load<'l> = dyn FnMut(&str) -> Result<Option<String>, String> + 'l;

/// Finds the files that a program imports, and those that they import, in the order in which they are found.
///
/// `name` is the program's own path in the workspace, which its imports are relative to. `load` gives the text of a file
/// by its path (`lib/dates.ts`), nothing where there is none, and an error where there is one that cannot be read; a
/// folder is no file. A specifier begins with `./` or `../`. It means the file of that path, or that with `.ts`, `.js`,
/// `.mjs`, `/index.ts` or `/index.js` behind it, or the `.ts` of a `.js`. Imports of types are passed over. What
/// `import()` names is found where it is written out, and left to the program where it is not there.
///
/// The program and its modules have at most `bytes_max` bytes, and there are at most [`MODULES_MAX`] modules. A file that
/// cannot be parsed has no imports here: [`prepare_with()`](crate::prepare_with()) says what is wrong with it.
pub fn find_modules(
    source: &str,
    name: &str,
    language: Language,
    bytes_max: u64,
    load: &mut Load<'_>,
) -> Result<Vec<ModuleSource>, SourceError> {
    let bytes_left = bytes_max.saturating_sub(source.len() as u64);
    let mut search =
        Search { program: name, load, looked: BTreeMap::new(), lookups: 0, found: Vec::new(), bytes_left, bytes_max };
    let range = program_range(source).unwrap_or(0..0);
    let start = range.start;
    let asked = outline_of(&source[range], language, Role::Program).unwrap_or_default();
    search.follow(asked, name).map_err(|fault| SourceError::new(fault.shifted(start), source, name))?;
    let mut next = 0;
    while let Some(module) = search.found.get(next).cloned() {
        next += 1;
        if let Some(Kind::Code(language)) = Kind::of(&module.name) {
            let start = without_preamble(&module.source, 0..module.source.len()).start;
            let asked = outline_of(&module.source[start..], language, Role::Module).unwrap_or_default();
            let followed = search.follow(asked, &module.name);
            followed.map_err(|fault| SourceError::new(fault.shifted(start), &module.source, &module.name))?;
        }
    }
    Ok(search.found)
}

/// The outline of a text; nothing when it cannot be parsed.
pub(crate) fn outline_of(text: &str, language: Language, role: Role) -> Option<Outline> {
    // Most programs import nothing, and pay nothing for that.
    if !text.contains("import") && !text.contains("export") {
        return Some(Outline::default());
    }
    let scan = scan(text).ok()?;
    let flavours = language.flavours(scan.traits.generic_call).iter();
    flavours.copied().find_map(|flavour| {
        let levels = match flavour {
            Flavour::JavaScript => scan.deepest,
            Flavour::TypeScript if scan.typed_too_costly.is_some() => return None,
            Flavour::TypeScript => scan.typed_deepest,
        };
        let read = || {
            let allocator = Allocator::default();
            parse(&allocator, text, flavour, scan.traits, role).map(|parsed| outline(&parsed))
        };
        with_stack(levels, read).ok()
    })
}

struct Search<'s, 'l> {
    program: &'s str,
    load: &'s mut Load<'l>,
    /// Paths that were asked for, and whether there is a file.
    looked: BTreeMap<String, bool>,
    lookups: usize,
    found: Vec<ModuleSource>,
    bytes_left: u64,
    bytes_max: u64,
}

impl Search<'_, '_> {
    /// Finds what one file asks for.
    fn follow(&mut self, outline: Outline, importer: &str) -> Result<(), Fault> {
        for Request { specifier, offset, when, .. } in outline.requests {
            let refusal = match self.find(&specifier, importer) {
                Ok(()) => continue,
                Err(Refusal::Missing(_)) if when == When::Before => Refusal::Missing(self.near(&specifier, importer)),
                Err(refusal) => refusal,
            };
            let too_much = matches!(refusal, Refusal::TooMany | Refusal::TooLarge(_));
            if when == When::Before || too_much {
                return Err(refusal.fault(&specifier, offset));
            }
        }
        Ok(())
    }

    fn find(&mut self, specifier: &str, importer: &str) -> Result<(), Refusal> {
        let program = self.program;
        find(specifier, importer, program, &mut |path| self.is_there(path)).map(|_| ())
    }

    fn is_there(&mut self, path: &str) -> Result<bool, Refusal> {
        if let Some(there) = self.looked.get(path) {
            return Ok(*there);
        }
        self.lookups += 1;
        if self.lookups > LOOKUPS_MAX {
            return Err(Refusal::TooMany);
        }
        let text = (self.load)(path).map_err(|why| Refusal::Unreadable(path.to_owned(), why))?;
        if let Some(source) = text {
            self.keep(ModuleSource { name: path.to_owned(), source })?;
            self.looked.insert(path.to_owned(), true);
            return Ok(true);
        }
        self.looked.insert(path.to_owned(), false);
        Ok(false)
    }

    fn keep(&mut self, module: ModuleSource) -> Result<(), Refusal> {
        if Kind::of(&module.name).is_none() {
            return Err(Refusal::NoModule(module.name));
        }
        if self.found.len() == MODULES_MAX {
            return Err(Refusal::TooMany);
        }
        let left = self.bytes_left.checked_sub(module.source.len() as u64);
        self.bytes_left = left.ok_or(Refusal::TooLarge(self.bytes_max))?;
        self.found.push(module);
        Ok(())
    }

    /// What is likely meant by a path that leads to no file: the same path from the root, or a name like it.
    fn near(&mut self, specifier: &str, importer: &str) -> Option<String> {
        let names: Vec<&str> = specifier.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
        let from_root = candidates(&names.join("/"));
        let mut there = from_root.into_iter().filter(|path| matches!((self.load)(path), Ok(Some(_))));
        if let Some(path) = there.next() {
            return Some(specifier_for(&path, importer));
        }
        let Aim::Inside(path) = aim(specifier, importer) else { return None };
        let near = nearest_path(&path, self.found.iter().map(|module| module.name.as_str()))?;
        Some(specifier_for(near, importer))
    }
}
