//! All files of one program, and what their imports lead to.

use super::outline::{Export, Outline, Request, When};
use super::path::{Aim, aim, candidates, engine_name, nearest_path, specifier_for};
use super::refusal::{Refusal, no_export};
use crate::fault::{Fault, code};
use std::collections::{BTreeMap, BTreeSet};

/// The most names that all files of a program may import from each other.
const NAMES_MAX: usize = 8_192;

/// How often a name may be passed on from module to module.
///
/// THREAT[T-PROGRAM-005]: names that are passed on in long chains make following each of them dear, and a file can import
/// many. Both factors are bounded.
const HOPS_MAX: usize = super::MODULES_MAX;

/// The modules that came along with a program, by their path.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The name of the program.
    pub(crate) program: String,
    pub(crate) modules: BTreeMap<String, Module>,
}

/// What others have to know of a module.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) outline: Outline,
    /// The path that each request of the outline means, where there is one.
    targets: Vec<Option<String>>,
    /// The variables of its top level that it writes to after they are made.
    pub(crate) changing: BTreeSet<String>,
}

/// What an exported name comes to in the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'k> {
    /// A variable of this module, or a value of it.
    Variable { module: &'k str, local: Option<&'k str> },
    /// All of a module.
    Namespace,
    /// Nothing that is left when it runs.
    Type,
    /// Nothing at all.
    Nothing,
}

/// The imports of one text among the modules of its program.
#[derive(Clone, Copy)]
pub(crate) struct Imports<'k> {
    pub(crate) known: &'k Known,
    /// The path of the text.
    pub(crate) importer: &'k str,
}

impl<'k> Imports<'k> {
    /// The path of the module that a specifier means.
    pub(crate) fn resolve(self, specifier: &str) -> Result<&'k str, Refusal> {
        let modules = &self.known.modules;
        if modules.is_empty() {
            return Err(Refusal::Unknown);
        }
        let mut there = |path: &str| Ok(modules.contains_key(path));
        let path = find(specifier, self.importer, &self.known.program, &mut there)?;
        modules.get_key_value(&path).map(|(path, _)| path.as_str()).ok_or(Refusal::Missing(None))
    }

    /// The same, under the name that an engine knows.
    pub(crate) fn engine_name(self, specifier: &str) -> Result<String, Refusal> {
        self.resolve(specifier).map(engine_name)
    }

    /// What a name of a module comes to.
    pub(crate) fn find(self, specifier: &str, name: &str) -> Found<'k> {
        self.resolve(specifier).map_or(Found::Nothing, |module| self.known.find(module, name))
    }

    /// Whether a name stands for a variable that its module changes.
    pub(crate) fn is_changing(self, specifier: &str, name: &str) -> bool {
        match self.find(specifier, name) {
            Found::Variable { module, local: Some(local) } => {
                self.known.modules.get(module).is_some_and(|module| module.changing.contains(local))
            }
            _ => false,
        }
    }

    /// Holds what a text asks for against what there is.
    pub(crate) fn check(self, outline: &Outline) -> Result<(), Fault> {
        for request in outline.requests.iter().filter(|request| request.when == When::Before) {
            let module = self.resolve(&request.specifier);
            let module = module.map_err(|refusal| self.fault(refusal, &request.specifier, request.offset))?;
            for (name, offset) in &request.names {
                if self.known.find(module, name) == Found::Nothing {
                    return Err(no_export(name, module, &self.known.exports(module), *offset));
                }
            }
        }
        Ok(())
    }

    /// The fault of an import that leads nowhere, with what is likely meant. To look for that takes time, so it is done only here.
    pub(crate) fn fault(self, refusal: Refusal, specifier: &str, offset: usize) -> Fault {
        let refusal = match refusal {
            Refusal::Missing(None) => Refusal::Missing(self.near(specifier)),
            refusal => refusal,
        };
        refusal.fault(specifier, offset)
    }

    fn near(self, specifier: &str) -> Option<String> {
        let Aim::Inside(path) = aim(specifier, self.importer) else { return None };
        let near = nearest_path(&path, self.known.modules.keys().map(String::as_str))?;
        Some(specifier_for(near, self.importer))
    }
}

impl Known {
    /// Holds the outlines of all modules against each other.
    pub(crate) fn new(program: &str, outlines: impl IntoIterator<Item = (String, Outline)>) -> Known {
        let module = |outline| Module { outline, ..Module::default() };
        let modules = outlines.into_iter().map(|(path, outline)| (path, module(outline))).collect();
        let mut known = Known { program: program.to_owned(), modules };
        let target = |importer: &str, request: &Request| {
            let path = Imports { known: &known, importer }.resolve(&request.specifier);
            path.ok().map(ToOwned::to_owned)
        };
        let targets: Vec<Vec<Option<String>>> = known
            .modules
            .iter()
            .map(|(path, module)| module.outline.requests.iter().map(|request| target(path, request)).collect())
            .collect();
        known.modules.values_mut().zip(targets).for_each(|(module, targets)| module.targets = targets);
        known
    }

    /// Refuses a program whose names would take too long to follow.
    pub(crate) fn check_size(&self, program: &Outline) -> Result<(), Fault> {
        let count = |outline: &Outline| outline.requests.iter().map(|request| request.names.len()).sum::<usize>();
        let names = count(program) + self.modules.values().map(|module| count(&module.outline)).sum::<usize>();
        if names <= NAMES_MAX {
            return Ok(());
        }
        let message = format!("the files of the program import more than {NAMES_MAX} names from each other");
        Err(Fault::new(0, code::IMPORT_LIMIT, message).hint("import namespaces: `import * as lib from …`"))
    }

    /// Follows a name from module to module, as ECMAScript does: own names first, then those of `export *`.
    fn find(&self, module: &str, name: &str) -> Found<'_> {
        let mut seen = BTreeSet::new();
        let mut left = vec![(module, name)];
        while let Some((module, name)) = left.pop() {
            let Some((path, known)) = self.modules.get_key_value(module) else { continue };
            // Modules may export each other's names in a circle.
            if seen.len() == HOPS_MAX || !seen.insert((path.as_str(), name)) {
                continue;
            }
            match known.outline.exports.get(name) {
                Some(Export::Own { is_type: true, .. }) => return Found::Type,
                Some(Export::Own { local, .. }) => {
                    return Found::Variable { module: path, local: local.as_deref() };
                }
                Some(Export::Namespace) => return Found::Namespace,
                Some(Export::Of { request, name }) => {
                    left.extend(known.target(*request).map(|next| (next, name.as_str())));
                }
                // `export *` leaves out the default export.
                None if name == "default" => {}
                None => left.extend(known.stars().map(|next| (next, name))),
            }
        }
        Found::Nothing
    }

    /// The names that a module exports, those of `export *` included.
    fn exports(&self, module: &str) -> Vec<&str> {
        let (mut names, mut seen, mut left) = (BTreeSet::new(), BTreeSet::new(), vec![module]);
        while let Some(module) = left.pop() {
            let Some((path, known)) = self.modules.get_key_value(module) else { continue };
            if seen.insert(path.as_str()) {
                let own = seen.len() == 1;
                names.extend(known.outline.exports.keys().map(String::as_str).filter(|name| own || *name != "default"));
                left.extend(known.stars());
            }
        }
        names.into_iter().collect()
    }
}

impl Module {
    fn target(&self, request: usize) -> Option<&str> {
        self.targets.get(request)?.as_deref()
    }

    fn stars(&self) -> impl Iterator<Item = &str> {
        self.outline.stars.iter().filter_map(|request| self.target(*request))
    }
}

/// The path of the file that a specifier means; `there` says whether there is one of that path.
pub(crate) fn find(
    specifier: &str,
    importer: &str,
    program: &str,
    there: &mut dyn FnMut(&str) -> Result<bool, Refusal>,
) -> Result<String, Refusal> {
    let path = match aim(specifier, importer) {
        Aim::Inside(path) => path,
        Aim::Outside => return Err(Refusal::Outside),
        Aim::Elsewhere => return Err(Refusal::NoFile),
    };
    for candidate in candidates(&path) {
        if candidate == program {
            return Err(Refusal::Program);
        }
        if there(&candidate)? {
            return Ok(candidate);
        }
    }
    Err(Refusal::Missing(None))
}
