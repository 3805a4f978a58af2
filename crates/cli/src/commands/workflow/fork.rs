//! New runs from what others were told.

use super::go::take_up;
use super::{find, look, post, store};
use crate::args::ResumeWorkflow;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{Done, job, journals, source};
use isolith_core::{HostReply, Json, Recorder as _, RunId};
use isolith_runner::Recorded;
use isolith_store::{Flow, FlowState, JOURNAL_BYTES_MAX, Workflows};
use isolith_workflow::{By, by, name_of, signals_told};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Begins anew from before the last answer that was a failure, or where there is none from before the last answer.
pub(super) fn retry(args: &ResumeWorkflow) -> Done {
    let flow = find(&store()?, &args.run)?;
    if look::is_alive(&flow) {
        return Err(Failure::usage(format!("the run {} goes on [workflow.alive]", flow.run), "stop it first"));
    }
    let recorded = journals::recorded(&journals::open()?, &flow.run)?;
    let answers = recorded.answers();
    let failed = |reply: &HostReply| match reply {
        HostReply::Failed { .. } => true,
        HostReply::Value { json: Some(json) } => json.parse::<Value>().is_ok_and(|told| told.get("error").is_some()),
        _ => false,
    };
    let last = answers.iter().rposition(|(_, reply)| failed(reply));
    fork_at(args, &flow, last.unwrap_or_else(|| answers.len().saturating_sub(1)))
}

pub(super) fn fork(args: &ResumeWorkflow, at: usize) -> Done {
    let flow = find(&store()?, &args.run)?;
    fork_at(args, &flow, at)
}

fn fork_at(args: &ResumeWorkflow, flow: &Flow, keep: usize) -> Done {
    let journals = journals::open()?;
    let lines = journals.read(&flow.run).map_err(job::store)?;
    let lines = lines.ok_or_else(|| {
        Failure::usage(format!("the journal of {} is gone [replay.unknown]", flow.run), "nothing can be forked")
    })?;
    let there = journals::recorded(&journals, &flow.run)?.answers().len();
    if keep > there {
        let hint = format!("`isolith workflow show {}` counts them", flow.run);
        return Err(Failure::usage(format!("only {there} answers are on record [workflow.step]"), hint));
    }
    let records = up_to(&lines.records, keep)?;
    let store = Arc::new(store()?);
    let begun = begin(&store, &records, flow.name.clone(), flow.settings.clone())?;
    take_up(&store, &begun, &args.attended, &args.grants)
}

/// The records in which the program was told so many answers.
fn up_to(records: &[String], keep: usize) -> Result<Vec<String>, Failure> {
    let (mut told, mut kept, mut whole) = (0, Vec::new(), true);
    for record in records {
        let mut value: Value =
            serde_json::from_str(record).map_err(|error| Failure::internal("reading a journal", &error))?;
        if let Some(turn) = value.get_mut("turn") {
            let replies = turn["replies"].as_array_mut();
            let count = replies.as_ref().map_or(0, |replies| replies.len());
            whole = told + count <= keep;
            if let Some(replies) = replies.filter(|_| !whole && told < keep) {
                // What came together is told in part: the rest is asked for again.
                replies.truncate(keep - told);
                kept.push(value.to_string());
                break;
            }
            told += count;
        }
        let ended = value.get("end").or_else(|| value.get("suspended"));
        if ended.is_some_and(|ended| ended["redacted"] == json!(true)) {
            kept.push("\"redacted\"".into());
        }
        if !whole || value.get("end").is_some() {
            break;
        }
        if value.get("suspended").is_none() {
            kept.push(record.clone());
        }
    }
    Ok(kept)
}

/// Writes a new run down that has been told this.
fn begin(store: &Workflows, records: &[String], name: String, settings: Json) -> Result<Flow, Failure> {
    let run = RunId(uuid::Uuid::now_v7().to_string());
    let damaged = || Failure::usage("the journal does not begin as one does [replay.damaged]", "export it again");
    let (first, rest) = records.split_first().ok_or_else(damaged)?;
    let mut first: Value = serde_json::from_str(first).map_err(|_| damaged())?;
    let start = first.get_mut("start").ok_or_else(damaged)?;
    start["run"] = json!(run);
    let digest = start["program"].as_str().unwrap_or_default().to_owned();
    let all: Vec<String> = std::iter::once(first.to_string()).chain(rest.iter().cloned()).collect();
    let recorded = Recorded::read(&all).map_err(|error| Failure::usage(error, "export it again"))?;
    let mut journal = journals::open()?.create(&run).map_err(job::store)?;
    let wrote = all.iter().try_for_each(|record| journal.append(record)).and_then(|()| journal.sync());
    wrote.map_err(|problem| Failure::usage(problem.0, "make room"))?;
    let (created, changed) = Default::default();
    let process = std::process::id();
    let flow = Flow { run, name, state: FlowState::Waiting, process, created, changed, digest, settings, result: None };
    store.begin(&flow).map_err(job::store)?;
    // Signals are counted from the first: what it was told already is on record, and what is in these places is never looked at.
    for (name, count) in signals_told(&recorded) {
        for _ in 0..count {
            store.send(&flow.run, post::SIGNAL, &name, &Json::null()).map_err(job::store)?;
        }
    }
    Ok(flow)
}

/// Brings in a journal from another machine, as a run that can be looked at and gone on with.
pub(super) fn import(file: &Path) -> Done {
    let text = source::text(file, JOURNAL_BYTES_MAX)?;
    let records: Vec<String> = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    let read = Recorded::read(&records)
        .map_err(|error| Failure::usage(error, "`isolith workflow export RUN --form journal` prints one"))?;
    let By { harness, mock } = by(&read);
    let settings = json!({ "args": null, "answers": {}, "budget": null, "cap": null, "concurrency": null, "mock": mock, "agents": null, "harness": harness, "output": null, "foreign": true });
    let settings = Json::of(&settings).map_err(|error| Failure::internal("keeping settings", &error))?;
    let store = store()?;
    let name = name_of(&read).unwrap_or_else(|| read.header.name.clone());
    let flow = begin(&store, &records, name, settings)?;
    if read.end.is_some() {
        store.set(&flow.run, FlowState::Finished, std::process::id(), None).map_err(job::store)?;
    }
    look::said(&flow.run, "is here", false);
    Ok(Exit::Ok)
}
