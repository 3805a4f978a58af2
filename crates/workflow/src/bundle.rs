//! A workflow with everything that it needs to run: its own text, the files it imports, the workflows it calls, and the library.

use crate::error::LoadError;
use crate::load::{Loaded, Meta, calls, helper, load};
use crate::settings::Settings;
use isolith_core::{Ambient, Digest, Grant, Limits, RunId, Source};
use isolith_program::{Language, ModuleSource, SourceError, find_modules, source_digest};
use isolith_runner::Plan;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Where the library and called workflows are among the modules of a program.
const OURS: &str = "@isolith/";
const LIBRARY: &str = "@isolith/workflow.js";
const DRIVER: &str = "@isolith-driver.js";
/// The most text that a workflow may be, with everything that belongs to it.
const SOURCE_BYTES_MAX: u64 = 8 << 20;
/// One value from outside, or to the outside. Larger ones fail: a journal that cuts them would be no journal.
const VALUE_BYTES_MAX: u64 = 1 << 20;

/// Declarations of what workflows can use, for editors.
pub const DECLARATIONS: &str = include_str!("../guest/workflow.d.ts");

/// A workflow, ready to run.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// What its author says of it.
    pub meta: Meta,
    /// As it was read.
    pub loaded: Loaded,
    /// The workflows it calls, by name.
    pub children: BTreeMap<String, Loaded>,
    /// The versions of itself that it knows of.
    pub patches: Vec<String>,
    source: String,
    modules: Vec<ModuleSource>,
}

/// Why there is no workflow.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A workflow file that is none.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An import that leads nowhere, or a text that is no program.
    #[error("{}", .0.render().trim_end())]
    Source(Box<SourceError>),
    /// A workflow that calls others by names which cannot be known beforehand calls any of those that are saved: too many.
    #[error("more than {0} workflows come along")]
    TooMany(usize),
}

/// What a bundle is made from.
pub struct Files<'a> {
    /// Reads a file by its path below the folder: its text, nothing where there is none, or why it cannot be read.
    pub read: &'a mut dyn FnMut(&str) -> Result<Option<String>, String>,
    /// The text of another workflow, by its name.
    pub saved: &'a dyn Fn(&str) -> Option<String>,
    /// The names of all of them.
    pub names: &'a dyn Fn() -> Vec<String>,
}

/// Workflows that are called, by their names.
#[derive(Default)]
struct Wanted(BTreeSet<String>);

impl Wanted {
    fn of(named: &[String], unknown: bool, files: &Files<'_>) -> Wanted {
        let all = if unknown { (files.names)() } else { Vec::new() };
        Wanted(named.iter().cloned().chain(all).collect())
    }
}

/// How many workflows one can bring along.
const CHILDREN_MAX: usize = 64;

impl Bundle {
    /// Reads a workflow file and everything that comes along with it. `path` is below the folder that `files` reads.
    pub fn read(text: &str, path: &str, files: &mut Files<'_>) -> Result<Bundle, BundleError> {
        let loaded = load(text, path)?;
        let mut wanted = Wanted::of(&loaded.children, loaded.children_unknown, files);
        loop {
            let (bundle, also) = Bundle::with(&loaded, path, &wanted, files)?;
            // Files that are imported call workflows too, which come along with their own way.
            let more: Vec<String> = also.0.into_iter().filter(|name| !wanted.0.contains(name)).collect();
            if more.is_empty() {
                return Ok(bundle);
            }
            wanted.0.extend(more);
            if wanted.0.len() > CHILDREN_MAX {
                return Err(BundleError::TooMany(CHILDREN_MAX));
            }
        }
    }

    /// The same with these workflows, and which of them the files besides call.
    fn with(
        loaded: &Loaded,
        path: &str,
        wanted: &Wanted,
        files: &mut Files<'_>,
    ) -> Result<(Bundle, Wanted), BundleError> {
        let mut children = BTreeMap::new();
        for name in &wanted.0 {
            // One that is not there is for the program to find out.
            let Some(text) = (files.saved)(name) else { continue };
            children.insert(name.clone(), load(&text, &format!("{name}.ts"))?);
        }
        let mut patches = loaded.patches.clone();
        patches.extend(children.values().flat_map(|child| child.patches.clone()));
        let source = driver(path, loaded, &children);
        let (mut broken, mut also) = (None, Wanted::default());
        let mut serve = |asked: &str| -> Result<Option<String>, String> {
            if let Some(ours) = asked.strip_prefix(OURS) {
                return Ok(library(ours).map(str::to_owned).or_else(|| child_named(ours, &children)));
            }
            if asked == path {
                return Ok(Some(loaded.module.clone()));
            }
            let Some(text) = (files.read)(asked)? else { return Ok(None) };
            if let Ok(calls) = calls(&text, asked) {
                patches.extend(calls.patches);
                also.0.extend(Wanted::of(&calls.children, calls.children_unknown, files).0);
            }
            helper(&text, asked, &relative(asked)).map(Some).map_err(|error| {
                let message = error.to_string();
                broken.get_or_insert(error);
                message
            })
        };
        let found = find_modules(&source, DRIVER, Language::JavaScript, SOURCE_BYTES_MAX, &mut serve);
        if let Some(error) = broken {
            return Err(error.into());
        }
        let modules = found.map_err(|error| BundleError::Source(Box::new(error)))?;
        patches.sort();
        patches.dedup();
        Ok((Bundle { meta: loaded.meta.clone(), loaded: loaded.clone(), children, patches, source, modules }, also))
    }

    /// What names it: another text of any part of it is another workflow.
    pub fn digest(&self) -> Digest {
        source_digest(&self.source, &self.modules)
    }

    /// The program, and the files that belong to it.
    pub fn program(&self) -> (&str, &[ModuleSource]) {
        (&self.source, &self.modules)
    }

    /// How it is run.
    pub fn plan(&self, run: RunId, settings: &Settings, granted: &[Grant], limits: Limits) -> Plan {
        let mut plan = Plan::new(self.source.clone(), DRIVER);
        (plan.id, plan.language, plan.modules) = (Some(run), Language::JavaScript, self.modules.clone());
        let own: Option<Grant> = crate::host::OWN_GRANT.parse().ok();
        plan.grants = granted.iter().cloned().chain(own).collect::<Arc<[Grant]>>();
        plan.limits = limits;
        let (args, total, patches) = (&settings.args, settings.budget, &self.patches);
        let by = json!({ "harness": self.meta.harness, "mock": settings.mock });
        let input = json!({ "args": args, "budgetTotal": total, "patches": patches, "by": by });
        plan.input = isolith_core::Json::of(&input).ok();
        plan.with_ambient(Ambient { time: Source::Banned, random: Source::Banned })
    }
}

/// What a workflow may use unless something else is said: as long as it takes, but no more at one time than any program.
pub fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(7 * 24 * 3600),
        cpu: Duration::from_secs(600),
        source_bytes: SOURCE_BYTES_MAX,
        value_bytes: VALUE_BYTES_MAX,
        payload_bytes: VALUE_BYTES_MAX,
        calls: 100_000,
        calls_in_flight: 1_024,
        output_bytes: 16 << 20,
        ..Limits::default()
    }
}

fn driver(path: &str, main: &Loaded, children: &BTreeMap<String, Loaded>) -> String {
    let mut text = format!(
        "import {{ drive }} from {};\nimport main from {};\n",
        json!(format!("./{LIBRARY}")),
        json!(format!("./{path}"))
    );
    for (n, name) in children.keys().enumerate() {
        let _ = writeln!(text, "import child{n} from {};", json!(format!("./{OURS}{}", child_path(name))));
    }
    let part = |loaded: &Loaded, body: &str| {
        format!("{{ name: {}, legacy: {}, body: {body} }}", json!(loaded.meta.name), loaded.legacy)
    };
    let named = children.iter().enumerate();
    let named: Vec<String> =
        named.map(|(n, (name, child))| format!("[{}]: {}", json!(name), part(child, &format!("child{n}")))).collect();
    let _ = writeln!(text, "export default await drive({}, {{ {} }});", part(main, "main"), named.join(", "));
    text
}

/// A name of a workflow may hold anything; a path of a module may not.
fn child_path(name: &str) -> String {
    format!("children/{:.32}.ts", Digest::of(name).to_string())
}

fn child_named(path: &str, children: &BTreeMap<String, Loaded>) -> Option<String> {
    children.iter().find(|(name, _)| child_path(name) == path).map(|(_, child)| child.module.clone())
}

/// Where the library is, seen from a file.
fn relative(path: &str) -> String {
    let up = path.matches('/').count();
    let way = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
    format!("{way}{LIBRARY}")
}

macro_rules! library {
    ($($name:literal),* $(,)?) => {
        /// A part of the library, by its name.
        fn library(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../guest/", $name))),)*
                _ => None,
            }
        }
    };
}

library!(
    "agent.js",
    "branches.js",
    "capture.js",
    "determinism.js",
    "durations.js",
    "errors.js",
    "host.js",
    "primitives.js",
    "retry.js",
    "workflow.js",
    "z-formats.js",
    "z-json.js",
    "z-parse.js",
    "z-schemas.js",
    "z.js",
);
