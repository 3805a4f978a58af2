//! What a person sees, and agrees to, before a workflow runs for the first time.

use super::check::{self, Wanted};
use crate::args::Attended;
use crate::failure::Failure;
use crate::paint::{self, HINT};
use crate::terminal::inert;
use crate::{ask, job};
use isolith_core::{Grant, RunId};
use isolith_workflow::Bundle;
use serde_json::Value;

/// What is agreed to, besides grants: that it runs at all, and calls agents.
const RUNS: &str = "workflow";

// THREAT[T-WORKFLOW-001]: a workflow is agreed to by what it is, never by its name, and never by a file of the project.
/// Asks, unless it was agreed to before or on the command line. Without anyone to ask it is refused.
pub(super) fn gate(bundle: &Bundle, grants: &[Grant], args: &Attended, no_prompt: bool) -> Result<(), Failure> {
    let harmless = args.mock && grants.is_empty() && bundle.meta.output.is_none();
    if args.yes || harmless || args.agreed == Some(bundle.digest().to_string()) {
        return Ok(());
    }
    let consent = job::data_folder()?.consent().map_err(job::store)?;
    let digest = bundle.digest().to_string();
    let wanted: Vec<String> = grants.iter().map(ToString::to_string).chain([RUNS.to_owned()]).collect();
    if wanted.iter().all(|one| consent.allowed(&digest, one) == Some(true)) {
        return Ok(());
    }
    if no_prompt || !ask::at_terminal() {
        let message = format!("nobody has agreed to the workflow `{}` yet [workflow.consent]", bundle.meta.name);
        return Err(Failure::usage(message, "look at it with `isolith workflow check FILE`, then run it with `--yes`"));
    }
    described(bundle, grants).iter().for_each(|line| paint::note(paint::QUIET, &inert(line, true)));
    loop {
        match ask::typed("run it? [y]es, [a]lways for exactly this workflow, [v]iew its text, [n]o: ").as_deref() {
            Some("y" | "yes") => return Ok(()),
            Some("a" | "always") => {
                return wanted.iter().try_for_each(|one| consent.remember(&digest, one, true)).map_err(job::store);
            }
            Some("v" | "view") => paint::note(paint::QUIET, &inert(&bundle.loaded.module, true)),
            Some("n" | "no" | "") | None => {
                paint::complain(HINT, "note", "it was not run");
                return Err(Failure::usage("the workflow was not agreed to [workflow.consent]", "nothing was done"));
            }
            Some(_) => {}
        }
    }
}

// THREAT[T-WORKFLOW-004]: a journal brings its program along. To go on with one from elsewhere is to run code that nobody here agreed to.
/// The same for a run that was begun elsewhere.
pub(super) fn foreign(run: &RunId, args: &Attended, no_prompt: bool) -> Result<(), Failure> {
    // What was agreed to before is a text, and not what a journal says that it was told.
    if args.yes {
        return Ok(());
    }
    let hint = format!("look at it with `isolith workflow export {run} --form journal`, then go on with `--yes`");
    let refused = || {
        Failure::usage(
            "this run was begun elsewhere, and nobody here has agreed to its program [workflow.consent]",
            &hint,
        )
    };
    if no_prompt || !ask::at_terminal() {
        return Err(refused());
    }
    paint::complain(HINT, "asks", &format!("the run {run} was begun elsewhere; its program came with its journal"));
    match ask::typed("run it? [y]es, [n]o: ").as_deref() {
        Some("y" | "yes") => Ok(()),
        _ => Err(refused()),
    }
}

/// A workflow in a few lines.
pub(super) fn described(bundle: &Bundle, grants: &[Grant]) -> Vec<String> {
    let meta = &bundle.meta;
    let mut lines = vec![format!("{}: {}", meta.name, meta.description)];
    if let Some(when) = &meta.when_to_use {
        lines.push(format!("  when       {when}"));
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(harness) = &meta.harness {
        lines.push(format!("  agents by  {}", text(harness)));
    }
    let phases: Vec<String> =
        meta.phases.iter().flatten().map(|phase| text(phase.get("title").unwrap_or(phase))).collect();
    if !phases.is_empty() {
        lines.push(format!("  phases     {}", phases.join(", ")));
    }
    for site in &bundle.loaded.agents {
        let what = site.label.as_ref().or(site.prompt.as_ref()).map_or_else(String::new, |what| format!(": {what}"));
        lines.push(format!("  line {:<5} calls an agent{what}", site.line));
    }
    if !bundle.children.is_empty() {
        let names: Vec<&str> = bundle.children.keys().map(String::as_str).collect();
        lines.push(format!("  workflows  {}", names.join(", ")));
    }
    for Wanted { grant, met } in check::needs_of(bundle, grants) {
        let lacks = if met { "" } else { " (not granted: it will be refused)" };
        lines.push(format!("  needs      {grant}{lacks}"));
    }
    match grants {
        [] => lines.push("  may do     nothing but call agents".into()),
        grants => lines.extend(grants.iter().map(|grant| format!("  may do     {grant}"))),
    }
    if let Some(folder) = &meta.output {
        lines.push(format!("  writes to  {folder}"));
    }
    lines.push("  agents can spend tokens, and do what they may do themselves".into());
    lines
}
