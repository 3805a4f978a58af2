//! Calls that wait for someone's word, of all runs that this data folder keeps.

use crate::args::{Agree, Approvals};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, GOOD, QUIET};
use crate::pending::{failed, now};
use crate::terminal::inert;
use crate::{Done, job, show};
use isolith_core::{
    Approval, Ask, CallId, Consent, Decision, Heard, Json, Keeper, RunRecord, RunStore as _, Verdict, Word,
};
use isolith_runner::{Asked, Review, RunError, SuspendedRun};
use isolith_store::Runs;
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Lines of the program that are shown around the one that asks.
const AROUND: u32 = 4;
const HINT: &str = "`isolith approvals list` shows what waits";

pub(crate) fn approvals(args: Approvals) -> Done {
    let store = job::data_folder()?.runs().map_err(job::store)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal("starting the runtime", &error))?;
    runtime.block_on(async {
        match args {
            Approvals::List { json } => list(&store, json).await,
            Approvals::Show { run, json } => show(&store, &run, json).await,
            Approvals::Approve { which, always, run_long, args, json } => {
                let consent = match (always, run_long) {
                    (true, _) => Consent::Always,
                    (_, true) => Consent::Run,
                    _ => Consent::Once,
                };
                let edited = args.map(|text| {
                    let hint = "give JSON, such as `--args '{\"to\": \"me\"}'`";
                    Json::from_text(text)
                        .map_err(|error| Failure::usage(format!("`--args` is not JSON: {error}"), hint))
                });
                let verdict = Verdict { args: edited.transpose()?, ..Verdict::approve(consent) };
                decide(&store, &which, verdict, json).await
            }
            Approvals::Deny { which, reason, json } => decide(&store, &which, Verdict::deny(reason), json).await,
        }
    })
}

/// What nobody has answered, and could still.
async fn open(store: &Runs) -> Result<Vec<Approval>, Failure> {
    let mut all = store.approvals(None, None).await.map_err(failed)?;
    let now = now();
    all.retain(|approval| approval.said.is_none() && approval.ask.expires_us > now);
    Ok(all)
}

async fn list(store: &Runs, as_json: bool) -> Done {
    let open = open(store).await?;
    if as_json {
        show::line(&show::to_json(&open.iter().map(to_value).collect::<Vec<_>>()));
        return Ok(Exit::Ok);
    }
    for approval in &open {
        let Approval { run, ask, .. } = approval;
        let until = jiff::Timestamp::from_microsecond(ask.expires_us.as_micros().cast_signed());
        let until = until.map(|at| at.strftime("%F %R").to_string()).unwrap_or_default();
        let line = format!("{run} {} until {until}  {} (`{}`)", ask.id.0, ask.what, ask.grant);
        show::line(&inert(&line, std::io::stdout().is_terminal()));
    }
    if open.is_empty() {
        paint::note(QUIET, "nothing waits for an approval");
    }
    Ok(Exit::Ok)
}

fn to_value(approval: &Approval) -> Value {
    let mut value = json!(approval.ask);
    value["run"] = json!(approval.run.0);
    value["caller"] = json!(approval.caller.0);
    value
}

/// The approvals of one run, which may be named by the beginning of its name.
async fn of_run(store: &Runs, name: &str) -> Result<Vec<Approval>, Failure> {
    let mut found = open(store).await?;
    found.retain(|approval| approval.run.0.starts_with(name));
    let Some(first) = found.first().cloned() else {
        return Err(Failure::usage(format!("no run `{name}` waits for an approval"), HINT));
    };
    if found.iter().any(|other| (&other.run, &other.caller) != (&first.run, &first.caller)) {
        return Err(Failure::usage(format!("several runs begin with `{name}`"), HINT));
    }
    Ok(found)
}

async fn record(store: &Runs, approval: &Approval) -> Result<RunRecord, Failure> {
    let found = store.get(&approval.caller, &approval.run).await.map_err(failed)?;
    found.ok_or_else(|| Failure::usage(format!("the run `{}` is not kept any more", approval.run), HINT))
}

async fn show(store: &Runs, run: &str, as_json: bool) -> Done {
    let found = of_run(store, run).await?;
    let Some(first) = found.first() else { return Ok(Exit::Ok) };
    let record = record(store, first).await?;
    let bytes = record.suspended.unwrap_or_default();
    let suspended = SuspendedRun::from_bytes(&bytes).map_err(RunError::Suspended)?;
    let asks: Vec<Ask> = found.iter().map(|approval| approval.ask.clone()).collect();
    let review = suspended.review(&asks);
    if as_json {
        let mut value = json!(review);
        value["run"] = json!(first.run.0);
        show::line(&show::to_json(&value));
        return Ok(Exit::Ok);
    }
    let colours = std::io::stdout().is_terminal();
    for line in told(&review) {
        show::line(&inert(&line, colours));
    }
    let hint = format!("`isolith approvals approve {run}` or `isolith approvals deny {run}`", run = first.run);
    paint::note(QUIET, &hint);
    Ok(Exit::Ok)
}

/// A review as lines of text.
fn told(review: &Review) -> Vec<String> {
    let mut lines = vec![format!("{} asks:", review.name)];
    for Asked { ask, lines: at } in &review.asks {
        let place = match at.as_slice() {
            [] => String::new(),
            at => format!(", line {}", joined(at, " or ")),
        };
        lines.push(format!("  {}: {} because of `{}`{place}", ask.id.0, ask.what, ask.grant));
        lines.extend(ask.args.as_ref().map(|args| format!("     with {}", args.text())));
    }
    lines.push("done so far:".into());
    lines.extend(review.done.iter().map(|call| format!("  {} ({})", call.what, show::to_json(&call.outcome))));
    if review.done.is_empty() {
        lines.push("  nothing".into());
    }
    lines.push("may still come:".into());
    lines.extend(review.ahead.iter().map(|ahead| format!("  `{}`, line {}", ahead.grant, joined(&ahead.lines, ", "))));
    if review.ahead.is_empty() && review.unclear.is_empty() {
        lines.push("  nothing that asks for anything".into());
    }
    if !review.unclear.is_empty() {
        lines.push(format!("  what cannot be told from the text, line {}", joined(&review.unclear, ", ")));
    }
    lines.push("the program:".into());
    let marked: Vec<u32> = review.asks.iter().flat_map(|asked| asked.lines.iter().copied()).collect();
    for (n, text) in (1u32..).zip(review.source.lines()) {
        let near = marked.is_empty() || marked.iter().any(|line| n.abs_diff(*line) <= AROUND);
        if near {
            let mark = if marked.contains(&n) { '>' } else { ' ' };
            lines.push(format!("{mark} {n:4} | {text}"));
        }
    }
    lines
}

fn joined(numbers: &[u32], by: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(by)
}

async fn decide(store: &Runs, which: &Agree, verdict: Verdict, as_json: bool) -> Done {
    let found = of_run(store, &which.run).await?;
    let chosen: Vec<&Approval> = match which.calls.as_slice() {
        [] if found.len() > 1 && !which.all => {
            let calls: Vec<String> = found.iter().map(|approval| approval.ask.id.0.to_string()).collect();
            let hint = format!("name one of the calls {}, or `--all`", calls.join(", "));
            return Err(Failure::usage("several calls of this run wait", hint));
        }
        [] => found.iter().collect(),
        calls => calls.iter().map(|call| of_call(&found, *call)).collect::<Result<_, _>>()?,
    };
    if chosen.len() > 1 && verdict.args.is_some() {
        return Err(Failure::usage("other arguments are for one call", "name the call"));
    }
    for approval in &chosen {
        verdict.check(&approval.ask).map_err(|error| Failure::usage(error, HINT))?;
    }
    for approval in &chosen {
        let word = Word {
            caller: approval.caller.clone(),
            run: approval.run.clone(),
            call: approval.ask.id,
            ask: None,
            verdict: verdict.clone(),
            by: "terminal".into(),
            at: now(),
        };
        match store.decide(word).await.map_err(failed)? {
            // With one that is good for the whole run, the others have their answer too.
            Heard::Yes | Heard::Twice if verdict.consent != Consent::Once => {}
            Heard::Yes => {}
            Heard::Twice => return Err(Failure::usage("someone was earlier: this call has its answer", HINT)),
            Heard::Late | Heard::Unknown => return Err(Failure::usage("this call does not wait any more", HINT)),
        }
    }
    told_of(store, &chosen, &verdict, as_json).await
}

fn of_call(found: &[Approval], call: u32) -> Result<&Approval, Failure> {
    let wanted = found.iter().find(|approval| approval.ask.id == CallId(call));
    wanted.ok_or_else(|| Failure::usage(format!("call {call} of this run does not wait for an approval"), HINT))
}

async fn told_of(store: &Runs, chosen: &[&Approval], verdict: &Verdict, as_json: bool) -> Done {
    let Some(first) = chosen.first() else { return Ok(Exit::Ok) };
    if as_json {
        let calls: Vec<u32> = chosen.iter().map(|approval| approval.ask.id.0).collect();
        show::line(&show::to_json(&json!({ "run": first.run.0, "calls": calls, "verdict": verdict })));
    }
    let word = if verdict.decision == Decision::Approve { "approved" } else { "denied" };
    for approval in chosen {
        paint::note(GOOD, &inert(&format!("{word}: {}", approval.ask.what), true));
    }
    let next = match record(store, first).await?.keeper {
        Keeper::Terminal => format!("`isolith resume {}` goes on with it", first.run),
        Keeper::Server => "the server goes on with it".to_owned(),
        Keeper::Client => {
            "the process that serves its client goes on with it, at once or when it is asked again".to_owned()
        }
    };
    paint::note(QUIET, &next);
    Ok(Exit::Ok)
}
