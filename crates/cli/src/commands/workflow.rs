//! Workflows: programs under a journal, that go on where they stopped.

mod approve;
mod artifacts;
mod bench;
mod check;
mod consent;
mod crew;
mod fork;
mod go;
mod look;
mod post;
mod tell;
mod view;
mod worktree;

use crate::args::{OneFlow, Workflow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{Done, job, show, source};
use isolith_core::{Json, RunId};
use isolith_store::{Flow, Workflows};
use serde_json::json;
use std::path::Path;

const HOW: &str = "`isolith workflow list` shows the runs";
/// The most text of one workflow file.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn workflow(args: Workflow) -> Done {
    match args {
        Workflow::Run(args) => go::run(*args),
        Workflow::Resume(args) => go::resume(&args),
        Workflow::List { json } => look::list(json),
        Workflow::Show(flow) => look::show(&flow),
        Workflow::Watch(flow) => look::watch(&flow),
        Workflow::Stop(flow) => order(&flow, post::STOP),
        Workflow::Pause(flow) => order(&flow, post::PAUSE),
        Workflow::Retry(args) => fork::retry(&args),
        Workflow::Fork { resume, at } => fork::fork(&resume, at),
        Workflow::Signal { flow, name, value } => signal(&flow, &name, value),
        Workflow::Answer { flow, key, value } => answer(&flow, &key, &value),
        Workflow::Save { file, name } => save(&file, name),
        Workflow::Check { file, json } => check::check(&file, json),
        Workflow::ReplayCheck { file, runs, json } => check::replay_check(&file, &runs, json),
        Workflow::Export { flow, form } => look::export(&flow, &form),
        Workflow::Import { file } => fork::import(&file),
        Workflow::Types => {
            show::line(isolith_workflow::DECLARATIONS.trim_end());
            Ok(Exit::Ok)
        }
    }
}

pub(crate) fn store() -> Result<Workflows, Failure> {
    job::data_folder()?.workflows().map_err(job::store)
}

/// Forgets what is known of a run besides its journal.
pub(crate) fn forget(run: &RunId) -> Result<(), Failure> {
    store()?.remove(run).map_err(job::store)?;
    match std::fs::remove_file(tell::path(run)?) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::internal("forgetting the events of a run", &error))
        }
        _ => Ok(()),
    }
}

/// The run by its name, by the beginning of one, or the last.
fn find(store: &Workflows, name: &str) -> Result<Flow, Failure> {
    let beginning = if name == "last" { "" } else { name };
    let mut found = store.list(beginning, 2).map_err(job::store)?.into_iter();
    match (found.next(), found.next()) {
        (Some(flow), _) if name == "last" || flow.run.0 == name => Ok(flow),
        (Some(flow), None) if !name.is_empty() => Ok(flow),
        (Some(_), Some(_)) => Err(Failure::usage(format!("several runs begin with `{name}` [workflow.unknown]"), HOW)),
        _ => Err(Failure::usage(format!("there is no run `{name}` [workflow.unknown]"), HOW)),
    }
}

/// One that can still hear what is sent to it.
fn going(store: &Workflows, name: &str) -> Result<RunId, Failure> {
    let flow = find(store, name)?;
    if flow.state.is_over() {
        let message = format!("the run {} is {} [workflow.over]", flow.run, flow.state.word());
        return Err(Failure::usage(message, "`isolith workflow retry` or `fork` begins a new one from it"));
    }
    Ok(flow.run)
}

fn order(args: &OneFlow, what: &str) -> Done {
    let store = store()?;
    let run = going(&store, &args.run)?;
    if what == post::PAUSE && !look::is_alive(&find(&store, &run.0)?) {
        let hint = format!("`isolith workflow resume {run}` goes on with it");
        return Err(Failure::usage(format!("no process has the run {run}, so that there is nothing to pause"), hint));
    }
    store.send(&run, post::ORDER, what, &Json::null()).map_err(job::store)?;
    let word = if what == post::STOP { "is to stop" } else { "is to pause" };
    look::said(&run, word, args.json);
    if what == post::STOP && !look::is_alive(&find(&store, &run.0)?) {
        // Nobody is there to hear it.
        let process = std::process::id();
        store.set(&run, isolith_store::FlowState::Stopped, process, None).map_err(job::store)?;
    }
    Ok(Exit::Ok)
}

fn signal(args: &OneFlow, name: &str, value: String) -> Done {
    let wrong =
        |error| Failure::usage(format!("`{name}` carries no JSON: {error}"), "text stands in quotes: '\"text\"'");
    let value = Json::from_text(value).map_err(wrong)?;
    let store = store()?;
    let run = going(&store, &args.run)?;
    store.send(&run, post::SIGNAL, name, &value).map_err(job::store)?;
    look::said(&run, &format!("is told `{name}`"), args.json);
    Ok(Exit::Ok)
}

fn answer(args: &OneFlow, key: &str, value: &str) -> Done {
    let store = store()?;
    let run = going(&store, &args.run)?;
    let text = || Json::of(value).unwrap_or_else(|_| Json::null());
    let value = Json::from_text(value.to_owned()).unwrap_or_else(|_| text());
    if approve::is_key(key) && approve::verdict(&value).is_none() {
        let hint = "`yes`, `run`, `always`, `no`, or JSON such as '{\"decision\": \"approve\", \"args\": {…}}'";
        return Err(Failure::usage(format!("`{key}` asks for someone's word, which this is not"), hint));
    }
    store.send(&run, post::ANSWER, key, &value).map_err(job::store)?;
    look::said(&run, &format!("is answered `{key}`"), args.json);
    Ok(Exit::Ok)
}

fn save(file: &Path, name: Option<String>) -> Done {
    let bundle = check::bundle(file)?;
    let text = source::text(file, FILE_BYTES_MAX)?;
    if bundle.program().1.iter().any(|module| !module.name.starts_with('@') && !is_file(file, &module.name)) {
        let hint = "bundle it into one file first, or run it by its path";
        return Err(Failure::usage("a workflow of several files cannot be kept by name", hint));
    }
    let name = name.unwrap_or_else(|| bundle.meta.name.clone());
    store()?.save(&name, &text).map_err(job::store)?;
    show::line(&show::to_json(&json!({ "saved": name })));
    Ok(Exit::Ok)
}

fn is_file(file: &Path, module: &str) -> bool {
    file.file_name().is_some_and(|name| module.ends_with(&*name.to_string_lossy()))
}
