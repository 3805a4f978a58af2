//! `--plan`: a run that reads and changes nothing, to learn what it would ask about. It goes on until it needs an answer that nobody knows.

use crate::exit::Exit;
use crate::paint::{self, QUIET};
use crate::terminal::inert;
use crate::{Done, show};
use isolith_core::{
    Access, Answer, Ask, BoxFuture, CallId, Grant, Host, HostCall, HostReply, Outcome, Rule, Status, ToolName, judge,
};
use isolith_gate::Upstreams;
use isolith_runner::{Ended, Review};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

/// What a rehearsal came to know.
#[derive(Default)]
pub(crate) struct Notes {
    /// Changes that were left out; the program went on as if they had been made.
    skipped: Vec<String>,
    /// Calls that were not made, and whose answers nobody knows.
    unknown: BTreeMap<CallId, String>,
}

/// A host that lets a program read, and asks nobody.
pub(crate) struct Rehearsal {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) grants: Arc<[Grant]>,
    pub(crate) upstreams: Option<Arc<dyn Upstreams>>,
    pub(crate) notes: Arc<Mutex<Notes>>,
}

/// What is done with a call.
enum Part {
    /// It is made, asked about or refused as ever.
    Played,
    /// It is left out, and answered with nothing.
    Skipped,
    /// It is not made, and nobody knows its answer.
    Unknown,
}

impl Rehearsal {
    async fn part(&self, call: &HostCall) -> Part {
        match judge(&self.grants, call) {
            Some(Ok(admitted)) if admitted.ask => return Part::Played,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Part::Played,
        }
        match call {
            HostCall::Tool { name, .. } if name.is_reserved() => Part::Played,
            HostCall::Tool { name, .. } => self.tool(name).await,
            HostCall::Fetch(fetch) if matches!(fetch.method.as_str(), "GET" | "HEAD" | "OPTIONS") => Part::Played,
            // What another program would do is not known either.
            HostCall::Fetch(_) | HostCall::Invoke { .. } => Part::Unknown,
            HostCall::Kv { op, .. } if op.access() == Access::Write => Part::Skipped,
            HostCall::Files { op, .. } if op.access() == Access::Write => Part::Skipped,
            _ => Part::Played,
        }
    }

    /// Nobody knows what a tool does, except that its owner wants to be asked.
    async fn tool(&self, name: &ToolName) -> Part {
        match (&self.upstreams, name.namespace()) {
            (Some(upstreams), Some(_)) if upstreams.rule(name).await != Rule::Allow => Part::Played,
            _ => Part::Unknown,
        }
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Rehearsal {
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let what = self.host.describe(&call).map_or_else(String::new, |(_, what)| what);
            match self.part(&call).await {
                Part::Played => self.host.call(id, call).await,
                Part::Skipped => {
                    self.notes().skipped.push(what);
                    HostReply::done().into()
                }
                Part::Unknown => {
                    self.notes().unknown.insert(id, what);
                    std::future::pending().await
                }
            }
        })
    }

    fn describe(&self, call: &HostCall) -> Option<(String, String)> {
        self.host.describe(call)
    }

    fn leave(&self, unanswered: &[CallId]) -> bool {
        let unknown: Vec<CallId> = self.notes().unknown.keys().copied().collect();
        let rest: Vec<CallId> = unanswered.iter().filter(|id| !unknown.contains(id)).copied().collect();
        self.host.leave(&rest)
    }

    fn asks(&self) -> Vec<Ask> {
        self.host.asks()
    }

    fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.host.scrub(text)
    }
}

/// Shows what was learnt. Nothing of it is kept.
pub(crate) fn tell(ended: &Ended, notes: &Mutex<Notes>, as_json: bool) -> Done {
    let notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    let Outcome { status, approvals, error, .. } = &ended.outcome;
    let review = ended.suspended.as_ref().map(|run| run.review(approvals));
    let unknown: Vec<&String> = notes.unknown.values().collect();
    if as_json {
        let (asks, ahead) = review.as_ref().map(|review| (json!(review.asks), json!(review.ahead))).unwrap_or_default();
        let stopped = if *status == Status::Suspended { "unknown" } else { "end" };
        let plan = json!({
            "asks": if asks.is_null() { json!([]) } else { asks }, "skipped": notes.skipped, "not_made": unknown,
            "stopped": stopped, "ahead": if ahead.is_null() { json!([]) } else { ahead }, "error": error,
        });
        show::line(&show::to_json(&plan));
        return Ok(Exit::Ok);
    }
    let colours = std::io::stdout().is_terminal();
    for line in lines(review.as_ref(), &notes.skipped, &unknown) {
        show::line(&inert(&line, colours));
    }
    match (status, error) {
        (Status::Suspended, _) => {
            paint::note(QUIET, "it stops here: what comes next depends on answers that nobody knows yet");
        }
        (_, Some(error)) => paint::note(QUIET, &inert(&format!("it failed: {}: {}", error.name, error.message), true)),
        _ => paint::note(QUIET, "it ran to its end"),
    }
    Ok(Exit::Ok)
}

fn lines(review: Option<&Review>, skipped: &[String], unknown: &[&String]) -> Vec<String> {
    let mut lines = Vec::new();
    let at = |numbers: &[u32]| {
        let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        if all.is_empty() { String::new() } else { format!(", line {}", all.join(" or ")) }
    };
    for asked in review.into_iter().flat_map(|review| &review.asks) {
        let with = asked.ask.args.as_ref().map(|args| format!(" with {}", args.text())).unwrap_or_default();
        lines.push(format!("asks: {}{with} (`{}`{})", asked.ask.what, asked.ask.grant, at(&asked.lines)));
    }
    lines.extend(skipped.iter().map(|what| format!("left out: {what}")));
    lines.extend(unknown.iter().map(|what| format!("not made: {what}")));
    for ahead in review.into_iter().flat_map(|review| &review.ahead) {
        lines.push(format!("may come: `{}`{}", ahead.grant, at(&ahead.lines)));
    }
    if lines.is_empty() {
        lines.push("it asks about nothing and changes nothing".into());
    }
    lines
}
