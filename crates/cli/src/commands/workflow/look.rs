//! Runs of workflows, looked at.

use super::view::{View, Wish, report};
use super::{find, post, store, tell};
use crate::args::OneFlow;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::inert;
use crate::{Done, job, journals, show};
use isolith_core::{HostCall, Json, RunId};
use isolith_runner::Recorded;
use isolith_store::{Flow, FlowState, Workflows};
use isolith_workflow::{Event, entries, lines};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// How many runs a list shows.
const LISTED: u32 = 100;
/// How often it is looked for what is new.
const PAUSE_BETWEEN: Duration = Duration::from_millis(100);

/// Whether a process has it. One that was killed left its number behind, which another program may have by now: the journal is what counts.
pub(super) fn is_alive(flow: &Flow) -> bool {
    let here = || journals::open().ok().is_some_and(|journals| journals.is_written(&flow.run));
    flow.state == FlowState::Running && here()
}

/// Where it stands, in a word.
fn word(flow: &Flow) -> &'static str {
    if flow.state == FlowState::Running && !is_alive(flow) { "interrupted" } else { flow.state.word() }
}

fn to_value(flow: &Flow) -> Value {
    json!({
        "run": flow.run,
        "name": flow.name,
        "status": word(flow),
        "created": flow.created.as_micros() / 1000,
        "changed": flow.changed.as_micros() / 1000,
        "digest": flow.digest,
        "settings": flow.settings,
        "result": flow.result,
    })
}

pub(super) fn list(as_json: bool) -> Done {
    let flows = store()?.list("", LISTED).map_err(job::store)?;
    if as_json {
        show::line(&show::to_json(&flows.iter().map(to_value).collect::<Vec<_>>()));
        return Ok(Exit::Ok);
    }
    let terminal = std::io::stdout().is_terminal();
    for flow in &flows {
        show::line(&format!("{}  {:<11}  {}", flow.run, word(flow), inert(&flow.name, terminal)));
    }
    Ok(Exit::Ok)
}

pub(super) fn show(args: &OneFlow) -> Done {
    let flow = find(&store()?, &args.run)?;
    let recorded = journals::recorded(&journals::open()?, &flow.run)?;
    let (told, open) = (entries(&recorded), unanswered(&recorded));
    if args.json {
        let mut shown = to_value(&flow);
        (shown["answers"], shown["waitingFor"]) = (json!(told), json!(open));
        show::line(&show::to_json(&shown));
        return Ok(Exit::Ok);
    }
    let terminal = std::io::stdout().is_terminal();
    let line = |text: String| show::line(&inert(&text, terminal));
    line(format!("{} {} ({})", flow.run, word(&flow), flow.name));
    for entry in &told {
        let what = entry.key.as_deref().unwrap_or(&entry.what);
        let output = entry.output.as_ref().map(|json| json.text()).or(entry.error.as_deref()).unwrap_or_default();
        line(format!("  {:>4}  {what}  {}", entry.sequence + 1, cut(output)));
    }
    open.iter().for_each(|call| line(format!("     …  {call}")));
    if let Some(result) = &flow.result {
        line(format!("  {}", cut(result.text())));
    }
    Ok(Exit::Ok)
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(120).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What it has asked for and was not told.
fn unanswered(recorded: &Recorded) -> Vec<String> {
    let open = recorded.made().filter(|made| recorded.delivered(made.id).is_none());
    let name = |made: &isolith_runner::Made| match made.call() {
        Some(HostCall::Tool { args: Some(args), .. }) => {
            let args: Value = args.parse().unwrap_or_default();
            let key = args.get("key").or(args.get("signal")).and_then(Value::as_str);
            key.map_or_else(|| made.label(), |key| format!("{} {key}", made.label()))
        }
        _ => made.label(),
    };
    if recorded.end.is_some() { Vec::new() } else { open.map(name).collect() }
}

pub(super) fn watch(args: &OneFlow) -> Done {
    let store = store()?;
    let run = find(&store, &args.run)?.run;
    let (wishes, wished) = std::sync::mpsc::channel();
    let view = if args.json { None } else { View::start(wishes).ok() };
    let exit = watched(args, &store, &run, view.as_ref(), &wished);
    let board = view.map(View::finish);
    let exit = exit?;
    if let Some(board) = board {
        anstream::eprint!("{}", report(&board));
    }
    Ok(exit)
}

fn watched(args: &OneFlow, store: &Workflows, run: &RunId, view: Option<&View>, wished: &Receiver<Wish>) -> Done {
    let path = tell::path(run)?;
    let opened =
        std::fs::File::open(&path).map_err(|error| Failure::internal("opening the events of a run", &error))?;
    let (mut events, mut line) = (BufReader::new(opened), String::new());
    loop {
        let flow = find(store, &run.0)?;
        while events.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            if let Some(view) = view {
                serde_json::from_str::<Event>(&line).iter().for_each(|event| view.hear(event));
            } else if args.json {
                show::line(line.trim_end());
            } else if let Some(text) = serde_json::from_str::<Event>(&line)
                .ok()
                .and_then(|event| tell::plain(&event, std::io::stdout().is_terminal()))
            {
                show::line(&text);
            }
            line.clear();
        }
        let order = |what| store.send(run, post::ORDER, what, &Json::null()).map_err(job::store);
        for wish in wished.try_iter() {
            match wish {
                Wish::Pause => order(post::PAUSE)?,
                Wish::Resume => order(post::RESUME)?,
                Wish::Stop => order(post::STOP)?,
                Wish::Leave => return Ok(Exit::Ok),
            }
        }
        // Whoever looks around stays until they leave.
        if !is_alive(&flow) && view.is_none() {
            return Ok(if flow.state == FlowState::Finished { Exit::Ok } else { Exit::Failed });
        }
        std::thread::sleep(PAUSE_BETWEEN);
    }
}

pub(super) fn export(args: &OneFlow, form: &str) -> Done {
    let flow = find(&store()?, &args.run)?;
    let journals = journals::open()?;
    let recorded = journals::recorded(&journals, &flow.run)?;
    match form {
        "lines" => lines(&recorded).iter().for_each(|line| show::line(&show::to_json(line))),
        "journal" => {
            let kept = journals.read(&flow.run).map_err(job::store)?;
            kept.iter().flat_map(|lines| &lines.records).for_each(|record| show::line(record));
        }
        _ => entries(&recorded).iter().for_each(|entry| show::line(&show::to_json(entry))),
    }
    Ok(Exit::Ok)
}

/// Says what became of an order.
pub(super) fn said(run: &RunId, what: &str, as_json: bool) {
    if as_json {
        show::line(&show::to_json(&json!({ "run": run, "said": what })));
    } else {
        show::line(&run.0);
        crate::paint::note(crate::paint::QUIET, &format!("{run} {what}"));
    }
}
