//! Workflows read, and held against what earlier ones did.

use super::{FILE_BYTES_MAX, consent, find, store};
use crate::commands::workbench::Workbench;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, ERROR};
use crate::terminal::inert;
use crate::{Done, job, journals, show, source};
use isolith_core::{Grant, Power};
use isolith_program::{Language, needs};
use isolith_store::{Flow, StoreError};
use isolith_workflow::{Bundle, BundleError, Files, alike};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many recorded runs are held against a file.
const RUNS_MAX: u32 = 10_000;

/// A workflow by its file, or by the name under which it is kept.
pub(super) fn bundle(file: &Path) -> Result<Bundle, Failure> {
    let kept = |name: &str| match store().map(|store| store.saved(name)) {
        Ok(Ok(found)) => found,
        _ => None,
    };
    let names = || store().ok().and_then(|store| store.names().ok()).unwrap_or_default();
    let (text, root, path) = if file.exists() {
        let (root, path) = place(file)?;
        (source::text(file, FILE_BYTES_MAX)?, root, path)
    } else {
        let name = file.to_string_lossy();
        let missing = || {
            Failure::usage(
                format!("there is no file, and no saved workflow, `{name}`"),
                "`isolith workflow save FILE` keeps one by its name",
            )
        };
        (kept(&name).ok_or_else(missing)?, PathBuf::from("."), "saved.ts".to_owned())
    };
    let mut read = |wanted: &str| read_below(&root, wanted);
    let mut files = Files { read: &mut read, saved: &kept, names: &names };
    Bundle::read(&text, &path, &mut files).map_err(|error| match error {
        BundleError::Load(error) => Failure::program(format!("{}: {error}", file.display())),
        error => Failure::program(error),
    })
}

/// The folder that imports stay in, and where the file is below it.
fn place(file: &Path) -> Result<(PathBuf, String), Failure> {
    let cannot =
        |error: std::io::Error| Failure::usage(format!("cannot read `{}`: {error}", file.display()), "name a file");
    let file = file.canonicalize().map_err(cannot)?;
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).map_err(cannot)?;
    let own = file.parent().unwrap_or(Path::new("/")).to_owned();
    let root = if file.starts_with(&here) { here } else { own };
    let path = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into_owned();
    Ok((root, path))
}

// THREAT[T-WORKFLOW-003]: an import leads out of the folder, by dots or by a link, and what it finds goes to agents.
fn read_below(root: &Path, path: &str) -> Result<Option<String>, String> {
    let dir =
        cap_std::fs::Dir::open_ambient_dir(root, cap_std::ambient_authority()).map_err(|error| error.to_string())?;
    match dir.metadata(path) {
        Ok(found) if found.is_file() && found.len() <= FILE_BYTES_MAX => {}
        Ok(found) if found.is_file() => return Err(format!("it is larger than {FILE_BYTES_MAX} bytes")),
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    dir.read_to_string(path).map(Some).map_err(|error| error.to_string())
}

/// Something that a workflow will reach for.
pub(super) struct Wanted {
    pub(super) grant: Grant,
    /// Whether it is granted.
    pub(super) met: bool,
}

/// What it will reach for, by static reading. What the libraries of workflows use is no need of the workflow.
pub(super) fn needs_of(bundle: &Bundle, granted: &[Grant]) -> Vec<Wanted> {
    let own = bundle.program().1.iter().filter(|module| !module.name.starts_with('@'));
    let mut all: Vec<Wanted> = Vec::new();
    for needs in own.filter_map(|module| needs(&module.source, &module.name, Language::Auto).ok()) {
        let lacking = needs.lacking(granted).len();
        // What cannot be granted to a workflow is no need that a grant could meet.
        for grant in needs.manifest().into_iter().filter(|grant| !matches!(grant.power, Power::Builtin(_))) {
            let with: Vec<Grant> = granted.iter().chain([&grant]).cloned().collect();
            let met = needs.lacking(&with).len() == lacking;
            if !all.iter().any(|known| known.grant == grant) {
                all.push(Wanted { grant, met });
            }
        }
    }
    all
}

pub(super) fn check(file: &Path, as_json: bool) -> Done {
    let bundle = bundle(file)?;
    if as_json {
        let children: Vec<&String> = bundle.children.keys().collect();
        let found = json!({
            "meta": bundle.meta,
            "digest": bundle.digest().to_string(),
            "workflows": children,
            "patches": bundle.patches,
            "agents": bundle.loaded.agents.len(),
            "needs": needs_of(&bundle, &[]).iter().map(|need| need.grant.to_string()).collect::<Vec<_>>(),
        });
        show::line(&show::to_json(&found));
        return Ok(Exit::Ok);
    }
    consent::described(&bundle, &[]).iter().for_each(|line| show::line(&inert(line, true)));
    show::line(&format!("  digest     {}", bundle.digest()));
    Ok(Exit::Ok)
}

/// Replays recorded runs with a changed file: whether each asks for the same, told the same.
pub(super) fn replay_check(file: &Path, runs: &[String], as_json: bool) -> Done {
    let bundle = bundle(file)?;
    let (source, modules) = bundle.program();
    let store = store()?;
    let flows: Vec<Flow> = match runs {
        [] => {
            let all = store.list("", RUNS_MAX).map_err(job::store)?;
            all.into_iter().filter(|flow| flow.name == bundle.meta.name).collect()
        }
        runs => runs.iter().map(|run| find(&store, run)).collect::<Result<_, _>>()?,
    };
    let journals = journals::open()?;
    let workbench = Workbench::small(&job::On::default())?;
    let (mut bad, mut all) = (0, Vec::new());
    for flow in &flows {
        let recorded = match journals.read(&flow.run) {
            Ok(None) => continue,
            Ok(Some(_)) => journals::recorded(&journals, &flow.run)?,
            Err(error @ StoreError::Journal { .. }) => return Err(job::store(error)),
            Err(error) => return Err(job::store(error)),
        };
        let held = workbench.runtime.block_on(workbench.runner.compatible(&recorded, source, modules, alike))?;
        let found: Value = match &held {
            Ok(()) => json!({ "run": flow.run, "verdict": "compatible" }),
            Err(at) => {
                bad += 1;
                json!({ "run": flow.run, "verdict": "diverges", "at": at.at, "expected": at.expected, "found": at.found })
            }
        };
        if as_json {
            show::line(&show::to_json(&found));
        } else if let Err(at) = &held {
            paint::complain(ERROR, "diverges", &inert(&format!("{}: {at}", flow.run), true));
        }
        all.push(found);
    }
    if !as_json {
        show::line(&format!("runs: {}, compatible: {}, diverge: {bad}", all.len(), all.len() - bad));
    }
    Ok(if bad == 0 { Exit::Ok } else { Exit::Failed })
}
