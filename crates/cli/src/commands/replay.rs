//! Recorded runs done once more, and looked at on the way.

use crate::Done;
use crate::args::Replay;
use crate::commands::workbench::Workbench;
use crate::commands::workbenches::Workbenches;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, ERROR, GOOD, HINT, QUIET};
use crate::terminal::inert;
use crate::{journals, show};
use isolith_core::{CallId, RunId, Status};
use isolith_program::{Goal, parse_check};
use isolith_runner::{Look, Made, Recorded, Replayed, RunError, Stopped, Verdict};
use isolith_store::Journals;
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) fn replay(args: Replay) -> Done {
    let journals = journals::open()?;
    if let Some(age) = args.older_than {
        return forget_old(&journals, age, args.json);
    }
    let Some(name) = &args.run else {
        if args.forget {
            let hint = "name a run, or say `--older-than 7d`";
            return Err(Failure::usage("`--forget` has to know what to forget", hint));
        }
        return list(&journals, args.json);
    };
    let run = journals::find(&journals, name)?;
    if args.forget {
        journals::forget(&journals, &run)?;
        return Ok(Exit::Ok);
    }
    let recorded = journals::recorded(&journals, &run)?;
    let mut workbenches = Workbenches::default();
    let (workbench, replayed) = workbenches.replay(&recorded)?;
    if let Some(call) = args.until {
        return until(workbench, &recorded, call, args.eval, args.json);
    }
    if args.json {
        let mut found = findings(&recorded, &replayed);
        found["outcome"] = json!(replayed.outcome);
        show::line(&show::to_json(&found));
    } else {
        say(&recorded, &replayed);
    }
    Ok(exit(&replayed.verdict))
}

/// Forgets runs that ended so long ago. What waits, or goes on, stays; so do workflows, which are gone on with by their journals.
fn forget_old(journals: &Journals, age: Duration, as_json: bool) -> Done {
    let flows = crate::commands::workflow::store()?;
    let mut forgotten = 0;
    for run in journals.older_than(age).map_err(crate::job::store)? {
        let ended = matches!(journals::read(journals, &run), Ok(Ok(recorded)) if recorded.end.is_some());
        if ended && flows.get(&run).map_err(crate::job::store)?.is_none() {
            journals::forget(journals, &run)?;
            forgotten += 1;
        }
    }
    if as_json {
        show::line(&show::to_json(&json!({ "forgotten": forgotten })));
    } else {
        show::line(&format!("forgotten: {forgotten}"));
    }
    Ok(Exit::Ok)
}

/// How a replay turned out, for scripts.
pub(crate) fn exit(verdict: &Verdict) -> Exit {
    match verdict {
        Verdict::Same { .. } | Verdict::SameSoFar { .. } => Exit::Ok,
        Verdict::Different(_) => Exit::Failed,
        Verdict::Redacted => Exit::Usage,
    }
}

/// The same as JSON.
pub(crate) fn findings(recorded: &Recorded, replayed: &Replayed) -> Value {
    let header = &recorded.header;
    let mut found = json!({ "run": header.run, "name": header.name, "verdict": word(&replayed.verdict) });
    match &replayed.verdict {
        Verdict::Same { hash } => found["hash"] = json!(hash),
        Verdict::SameSoFar { ended } => found["ended"] = json!(ended),
        Verdict::Different(divergence) => {
            let (at, expected, found_) = (&divergence.at, &divergence.expected, &divergence.found);
            found["code"] = json!("replay.divergence");
            found["divergence"] = json!({ "at": at, "expected": expected, "found": found_ });
        }
        Verdict::Redacted => found["code"] = json!("replay.redacted"),
    }
    if replayed.other_build {
        found["other_build"] = json!(true);
    }
    found
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Same { .. } => "same",
        Verdict::SameSoFar { .. } => "same_so_far",
        Verdict::Different(_) => "different",
        Verdict::Redacted => "redacted",
    }
}

/// The same for a person: what is as it should be on stdout, what is not on stderr.
pub(crate) fn say(recorded: &Recorded, replayed: &Replayed) {
    let name = inert(&recorded.header.name, std::io::stdout().is_terminal()).into_owned();
    let good = |text: String| anstream::println!("{name}: {}", text.style(GOOD));
    match &replayed.verdict {
        Verdict::Same { hash } => good(format!("the same outcome, {hash:.16}")),
        Verdict::SameSoFar { ended: None } => good("the same as far as the journal goes, which has no end".into()),
        Verdict::SameSoFar { ended: Some(kind) } => {
            let kind = show::to_json(kind);
            good(format!("the same until it was ended by {}, which no replay repeats", kind.trim_matches('"')));
        }
        Verdict::Different(divergence) => {
            let terminal = std::io::stderr().is_terminal();
            paint::complain(ERROR, "error", &inert(&format!("{name}: {divergence}"), terminal));
            let hint = if replayed.other_build {
                "it was recorded by another build of the engine: replay it with that one"
            } else {
                "the journal or the engine was changed since"
            };
            paint::complain(HINT, "hint", hint);
        }
        Verdict::Redacted => {
            let why = "it was told a secret, which its journal does not hold [replay.redacted]";
            paint::complain(ERROR, "error", &format!("{name} cannot be replayed exactly: {why}"));
            paint::complain(HINT, "hint", "`isolith why` still explains its calls");
        }
    }
}

fn list(journals: &Journals, as_json: bool) -> Done {
    let mut all = Vec::new();
    for run in journals.list().map_err(crate::job::store)? {
        let found = match journals::read(journals, &run)? {
            Ok(recorded) => described(&recorded),
            Err(_) => json!({ "run": run, "state": "damaged" }),
        };
        if !as_json {
            print_described(&run, &found);
        }
        all.push(found);
    }
    if as_json {
        show::line(&show::to_json(&all));
    } else if all.is_empty() {
        anstream::eprintln!("{}", "no run is recorded: `isolith run --record FILE` records one".style(QUIET));
    }
    Ok(Exit::Ok)
}

fn described(recorded: &Recorded) -> Value {
    let state = match &recorded.end {
        None if recorded.suspended.is_some() => "suspended",
        None => "unfinished",
        Some(end) if end.status == Status::Ok => "ok",
        Some(_) => "error",
    };
    let calls = recorded.made().filter(|made| made.call().is_none_or(|call| call.exercises())).count();
    json!({
        "run": recorded.header.run,
        "name": recorded.header.name,
        "program": recorded.header.program,
        "started": recorded.header.started,
        "state": state,
        "calls": calls,
        "redacted": recorded.redacted,
    })
}

fn print_described(run: &RunId, found: &Value) {
    let text = |key: &str| found[key].as_str().unwrap_or_default();
    let name = inert(text("name"), std::io::stdout().is_terminal()).into_owned();
    let calls = found["calls"].as_u64().unwrap_or_default();
    anstream::println!("{run} {name} {}", format!("({}, {calls} calls)", text("state")).style(QUIET));
}

fn until(workbench: &Workbench, recorded: &Recorded, call: u32, expressions: Vec<String>, as_json: bool) -> Done {
    for expression in &expressions {
        parse_check(&format!("(\n{expression}\n)"), Goal::Script).map_err(|error| {
            Failure::usage(format!("`{expression}` is no expression: {}", error.message), "such as `orders.length`")
        })?;
    }
    if recorded.redacted {
        let why = "this run was told a secret, which its journal does not hold [replay.redacted]";
        return Err(Failure::usage(why, "`isolith why` still explains its calls"));
    }
    let look = Look { until: CallId(call), expressions };
    let stopped = workbench.runtime.block_on(workbench.runner.replay_until(recorded, &look));
    let stopped = stopped.map_err(|error: RunError| Failure::from(error))?;
    let Some(stopped) = stopped else {
        let hint = format!("`isolith why {}` lists its calls", recorded.header.run);
        return Err(Failure::usage(format!("the run has no call {call} [replay.unknown]"), hint));
    };
    let stopped = match stopped {
        Ok(stopped) => stopped,
        Err(divergence) => return Err(Failure::program(divergence)),
    };
    if as_json {
        let calls =
            |all: &[Made]| all.iter().map(|made| json!({ "call": made.id, "what": made.label() })).collect::<Vec<_>>();
        let pending = |made: &Made| json!({ "call": made.id, "what": made.label(), "asked": made.call });
        show::line(&show::to_json(&json!({
            "run": recorded.header.run,
            "until": call,
            "outputs": stopped.outputs,
            "answered": calls(&stopped.answered),
            "pending": stopped.pending.iter().map(pending).collect::<Vec<_>>(),
            "seen": stopped.seen,
        })));
    } else {
        print_stopped(&stopped, call);
    }
    Ok(Exit::Ok)
}

fn print_stopped(stopped: &Stopped, call: u32) {
    let terminal = std::io::stdout().is_terminal();
    let title = |text: &str| anstream::println!("{}", text.style(QUIET));
    title(&format!("stopped before the reply to call {call}"));
    if !stopped.outputs.is_empty() {
        title("written so far:");
    }
    stopped.outputs.iter().for_each(|output| anstream::println!("  {}", inert(&output.text, terminal)));
    for (heading, calls) in [("answered so far:", &stopped.answered), ("waiting for:", &stopped.pending)] {
        if !calls.is_empty() {
            title(heading);
        }
        for made in calls {
            anstream::println!("  call {} {}", made.id.0, inert(&made.label(), terminal));
        }
    }
    match &stopped.seen {
        None => title("its variables cannot be shown: it looks at its own text"),
        Some(seen) if seen.is_empty() => title("it has no variables at its top"),
        Some(seen) => {
            title("variables:");
            for one in seen {
                let value = one.value.replace('\n', "\n  ");
                anstream::println!("  {} = {}", inert(&one.name, terminal), inert(&value, terminal));
            }
        }
    }
}
