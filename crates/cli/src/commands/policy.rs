//! What another policy would have said to what runs did.

use crate::Done;
use crate::args::Policy;
use crate::decision::{Compared, Decider, Decision, compare, compare_builtins};
use crate::exit::Exit;
use crate::paint::{ERROR, GOOD, QUIET};
use crate::terminal::inert;
use crate::{grants, journals, show};
use isolith_core::{CallId, RunId, narrow};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;

/// A decision that would be another.
#[derive(Serialize)]
struct Flip {
    run: RunId,
    name: String,
    /// None for what is there or not, whatever is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallId>,
    what: String,
    before: Decision,
    after: Decision,
}

pub(crate) fn policy(args: Policy) -> Done {
    let Policy::Test { file, runs, json } = args;
    test(&file, &runs, json)
}

fn test(file: &Path, names: &[String], as_json: bool) -> Done {
    let policy = grants::manifest(file)?;
    let journals = journals::open()?;
    let runs = journals::named(&journals, names)?;
    let (mut flips, mut calls, mut unknown) = (Vec::new(), 0usize, 0usize);
    for run in &runs {
        let recorded = journals::recorded(&journals, run)?;
        let new = narrow(&policy.grants, &recorded.header.requested).grants;
        let (mut before, mut after) = (Decider::new(&recorded.header.grants), Decider::new(&new));
        let mut note = |call: Option<CallId>, compared: Vec<Compared>| {
            calls += compared.len();
            let flipped = compared.into_iter().filter(|both| both.before.decision != both.after.decision);
            flips.extend(flipped.map(|both| Flip {
                run: run.clone(),
                name: recorded.header.name.clone(),
                call,
                what: both.what,
                before: both.before,
                after: both.after,
            }));
        };
        note(None, compare_builtins(&recorded, &before, &after));
        for made in recorded.made() {
            match compare(&recorded, made, &mut before, &mut after) {
                Some(compared) => note(Some(made.id), compared),
                None => unknown += 1,
            }
        }
    }
    if as_json {
        let all = json!({ "runs": runs.len(), "decisions": calls, "unknown": unknown, "flips": flips });
        show::line(&show::to_json(&all));
    } else {
        print(&flips, runs.len(), calls, unknown);
    }
    Ok(if flips.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn print(flips: &[Flip], runs: usize, calls: usize, unknown: usize) {
    let terminal = std::io::stdout().is_terminal();
    for Flip { name, call, what, before, after, .. } in flips {
        let (from, to) = (before.decision.text(), after.decision.text());
        let stricter = after.decision as u8 > before.decision as u8;
        let change = format!("{from} → {to}");
        let change = if stricter { change.style(ERROR).to_string() } else { change.style(GOOD).to_string() };
        let reason = match (&after.why, &after.asks, &after.grant) {
            (Some(why), ..) => why.clone(),
            (None, Some(asks), _) => format!("`{asks}`"),
            (None, None, Some(grant)) => format!("`{grant}`"),
            (None, None, None) => String::new(),
        };
        let call = call.map(|call| format!(", call {}", call.0)).unwrap_or_default();
        let place = format!("({name}{call}: {reason})");
        anstream::println!("{change} {} {}", inert(what, terminal), inert(&place, terminal).style(QUIET));
    }
    let left_out = if unknown > 0 { format!(", not known well enough: {unknown}") } else { String::new() };
    let summary = format!("runs: {runs}, decisions: {calls}, would change: {}{left_out}", flips.len());
    anstream::println!("{}", summary.style(QUIET));
}
