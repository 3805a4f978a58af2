use super::front_matter::{Flag, FrontMatter, Phase};
use super::modules;
use isolith_core::{Form, Module, Program};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What every test gets that is not raw.
const ALWAYS: [&str; 2] = ["assert.js", "sta.js"];
/// What tests get besides that say when they are done.
const FOR_ASYNC: &str = "doneprintHandle.js";
/// The name under which a module finds the harness; no path of a test can be it.
const HARNESS_MODULE: &str = "isolith:harness";
/// The value of a script is its last one, and to give it out runs code of the program. No test means that.
const NO_VALUE: &str = "\n;void 0;\n";
/// The harness's own errors have no name; with one, they can be told from others.
const NAME_ERRORS: &str = "Test262Error.prototype.name = 'Test262Error';\n";

/// A mode in which a test is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// A script in sloppy mode.
    Sloppy,
    /// A script in strict mode.
    Strict,
    /// A module.
    Module,
    /// A script as it is.
    Raw,
}

impl Variant {
    /// The modes a test asks for.
    pub fn of(matter: &FrontMatter) -> Vec<Variant> {
        if matter.is(Flag::Module) {
            vec![Variant::Module]
        } else if matter.is(Flag::Raw) {
            vec![Variant::Raw]
        } else if matter.is(Flag::OnlyStrict) {
            vec![Variant::Strict]
        } else if matter.is(Flag::NoStrict) {
            vec![Variant::Sloppy]
        } else {
            vec![Variant::Sloppy, Variant::Strict]
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Sloppy => "sloppy",
            Variant::Strict => "strict",
            Variant::Module => "module",
            Variant::Raw => "raw",
        })
    }
}

/// A file of the harness that a test needs and that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read harness file `{name}`: {source}")]
pub(crate) struct NoHarness {
    name: String,
    source: io::Error,
}

/// The suite's own files, each read once.
pub(crate) struct Harness {
    root: PathBuf,
    files: Mutex<BTreeMap<String, Arc<str>>>,
}

impl Harness {
    pub(crate) fn new(root: &Path) -> Harness {
        Harness { root: root.into(), files: Mutex::new(BTreeMap::new()) }
    }

    /// Puts together the program that runs a test in one mode. `name` is its path below the suite's root.
    pub(crate) fn assemble(
        &self,
        name: &str,
        source: &str,
        matter: &FrontMatter,
        variant: Variant,
    ) -> Result<Program, NoHarness> {
        let mut modules = modules::reachable(&self.root, name, source);
        let harness = if matter.is(Flag::Raw) { String::new() } else { self.harness(matter)? };
        let (form, code) = match variant {
            Variant::Raw => (Form::Script, format!("{source}{}", end(matter))),
            Variant::Sloppy => (Form::Script, format!("{harness}{source}{}", end(matter))),
            Variant::Strict => (Form::Script, format!("\"use strict\";\n{harness}{source}{}", end(matter))),
            Variant::Module if harness.is_empty() => (Form::Module, source.to_owned()),
            Variant::Module => {
                // The harness is a script of the global scope; a module that comes first evaluates it there.
                let text = serde_json::Value::from(harness).to_string();
                let code = format!("$262.evalScript({text});").into();
                modules.push(Module { name: HARNESS_MODULE.into(), code });
                (Form::Module, format!("import \"{HARNESS_MODULE}\";{source}"))
            }
        };
        Ok(Program { name: name.into(), code: code.into(), form, modules: modules.into() })
    }

    fn harness(&self, matter: &FrontMatter) -> Result<String, NoHarness> {
        let for_async = matter.is(Flag::Async).then_some(FOR_ASYNC);
        let names = ALWAYS.into_iter().chain(for_async).chain(matter.includes.iter().map(String::as_str));
        let mut text = String::new();
        for name in names {
            text.push_str(&self.file(name)?);
            text.push('\n');
        }
        if matter.negative.as_ref().is_some_and(|negative| negative.error == "Test262Error") {
            text.push_str(NAME_ERRORS);
        }
        Ok(text)
    }

    fn file(&self, name: &str) -> Result<Arc<str>, NoHarness> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = files.get(name) {
            return Ok(Arc::clone(text));
        }
        let text = std::fs::read_to_string(self.root.join("harness").join(name))
            .map_err(|source| NoHarness { name: name.into(), source })?;
        let text: Arc<str> = text.into();
        files.insert(name.into(), Arc::clone(&text));
        Ok(text)
    }
}

/// What follows a script. Nothing where the text must not parse: something behind it could make it whole.
fn end(matter: &FrontMatter) -> &'static str {
    match &matter.negative {
        Some(negative) if negative.phase == Phase::Parse => "",
        _ => NO_VALUE,
    }
}
