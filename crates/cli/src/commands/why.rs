//! Why a call of a recorded run was allowed, asked about or refused.

use crate::Done;
use crate::args::Why;
use crate::decision::{Decider, Decision};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::QUIET;
use crate::terminal::inert;
use crate::{journals, show};
use isolith_core::{Act, CallId, Json};
use isolith_runner::{Made, Recorded};
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::IsTerminal;

#[derive(Serialize)]
struct Explanation<'a> {
    run: &'a isolith_core::RunId,
    call: CallId,
    what: String,
    /// The call itself, where it was kept.
    asked: Option<&'a Json>,
    /// What the grants say; nothing for a call that none has a say about.
    decided: Option<Decision>,
    /// What was done.
    acts: &'a [Act],
    /// Whether a reply was delivered, and what went wrong.
    answered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a isolith_core::CallError>,
    /// What policy took from the run's grants.
    narrowed: &'a [isolith_core::Narrowing],
}

pub(crate) fn why(args: &Why) -> Done {
    let journals = journals::open()?;
    let run = journals::find(&journals, &args.run)?;
    let recorded = journals::recorded(&journals, &run)?;
    let Some(call) = args.call else { return list(&recorded, args.json) };
    let explained = explain(&recorded, CallId(call)).ok_or_else(|| {
        Failure::usage(
            format!("the run has no call {call} [replay.unknown]"),
            format!("`isolith why {run}` lists its calls"),
        )
    })?;
    if args.json {
        show::line(&show::to_json(&explained));
    } else {
        print(&explained, &recorded.header.name);
    }
    Ok(Exit::Ok)
}

/// Decides about every call up to this one, so that budgets are counted as they were.
fn explain(recorded: &Recorded, id: CallId) -> Option<Explanation<'_>> {
    let mut decider = Decider::new(&recorded.header.grants);
    for made in recorded.made() {
        let decided = made.call().and_then(|call| decider.call(&call));
        if made.id != id {
            continue;
        }
        let delivered = recorded.delivered(id);
        return Some(Explanation {
            run: &recorded.header.run,
            call: id,
            what: made.label(),
            asked: made.call.as_ref(),
            decided,
            acts: recorded.acts(id),
            answered: delivered.is_some(),
            error: delivered.and_then(isolith_runner::Delivered::error),
            narrowed: &recorded.header.narrowed,
        });
    }
    None
}

fn list(recorded: &Recorded, as_json: bool) -> Done {
    let mut decider = Decider::new(&recorded.header.grants);
    let mut all = Vec::new();
    for made in recorded.made() {
        let Some(decision) = made.call().and_then(|call| decider.call(&call)) else { continue };
        let word = decision.decision.text();
        if as_json {
            all.push(serde_json::json!({ "call": made.id, "what": made.label(), "decision": word }));
        } else {
            anstream::println!("call {} {word} {}", made.id.0, shown(made));
        }
    }
    if as_json {
        show::line(&show::to_json(&all));
    }
    Ok(Exit::Ok)
}

fn shown(made: &Made) -> String {
    inert(&made.label(), std::io::stdout().is_terminal()).into_owned()
}

fn print(explained: &Explanation<'_>, name: &str) {
    let terminal = std::io::stdout().is_terminal();
    let line = |key: &str, text: &str| {
        anstream::println!("{} {}", format!("{key:<9}").style(QUIET), inert(text, terminal));
    };
    line("call", &format!("{} of {name}: {}", explained.call.0, explained.what));
    if let Some(asked) = explained.asked {
        line("asked", asked.text());
    }
    match &explained.decided {
        None if explained.asked.is_none() => line("decided", "not known: the call was too large to be kept"),
        None => line("decided", "nothing: no grant has a say about this"),
        Some(decision) => print_decision(decision, &line),
    }
    for act in explained.acts {
        let outcome = show::to_json(&act.outcome);
        line("done", &format!("{} by `{}`: {}", act.what, act.grant, outcome.trim_matches('"')));
    }
    match (explained.answered, explained.error) {
        (false, _) => line("answered", "no: the run ended first, or waits"),
        (true, None) => line("answered", "yes"),
        (true, Some(error)) => {
            let code = error.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
            line("answered", &format!("{}: {}{code}", error.name, error.message));
        }
    }
    for lost in explained.narrowed {
        let left = if lost.effective.is_empty() { "nothing".into() } else { lost.effective.join("`, `") };
        line("policy", &format!("left `{left}` of `{}`", lost.requested));
    }
}

fn print_decision(decision: &Decision, line: &dyn Fn(&str, &str)) {
    let Decision { decision: word, grant, asks, why, wanted, budgets } = decision;
    line("decided", word.text());
    if let Some(grant) = grant {
        line("grant", &format!("`{grant}`"));
        // Bounds on arguments are not in a grant's short form.
        let value = serde_json::to_value(grant).unwrap_or_default();
        if let Some(bounds) = value.get("args").filter(|bounds| bounds.as_object().is_none_or(|all| !all.is_empty())) {
            line("bounds", &bounds.to_string());
        }
    }
    if let Some(asks) = asks {
        line("asks", &format!("`{asks}`"));
    }
    if let Some(why) = why {
        line("because", why);
    }
    if let Some(wanted) = wanted {
        line("wanted", &format!("`{wanted}`"));
    }
    for budget in budgets {
        line("budget", &format!("`{}`: {} of {} used before", budget.of, budget.used, budget.calls));
    }
}
