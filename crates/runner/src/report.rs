//! From what the engine saw to what people and models are told.

use crate::hint;
use isolith_core::{
    Ask, CallOutcome, CallRecord, End, ErrorKind, Exercised, Failure, Grant, Host, Json, Outcome, Output, PendingCall,
    RanOn, RunError, RunId, Status, Usage,
};
use isolith_program::{Prepared, SourceError};
use std::borrow::Cow;

/// The parts of an outcome that do not depend on how the run ended.
#[derive(Default)]
pub(crate) struct Receipt {
    pub(crate) id: Option<RunId>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) ran_on: Option<RanOn>,
    pub(crate) usage: Usage,
    pub(crate) calls: Vec<CallRecord>,
}

impl Receipt {
    pub(crate) fn ended(self, end: End, prepared: &Prepared, grants: &[Grant]) -> Outcome {
        match end {
            End::Value(value) => self.outcome(Status::Ok, value, None),
            End::Failed(failure) => {
                let error = explain(failure, prepared, grants, &self.calls);
                self.outcome(Status::Error, None, Some(error))
            }
        }
    }

    /// The outcome of a text that is no program. `name` is the program's own: lines are those of its file, and what is wrong
    /// with a module is told with the module's place in front.
    pub(crate) fn not_a_program(self, error: &SourceError, name: &str) -> Outcome {
        let (file, line, column) = (error.file(), error.line, error.column);
        let is_own = error.is_in(name);
        let error = RunError {
            kind: ErrorKind::Syntax,
            name: "SyntaxError".into(),
            message: if is_own { error.message.clone() } else { format!("{file}:{line}:{column}: {}", error.message) },
            code: None,
            stack: (!is_own).then(|| format!("    at {file}:{line}:{column}")),
            line: is_own.then_some(line),
            column: is_own.then_some(column),
            hint: error.hint.clone(),
        };
        self.outcome(Status::Error, None, Some(error))
    }

    /// What someone is asked about is not what the run's client has to answer.
    pub(crate) fn suspended(self, mut waiting_for: Vec<PendingCall>, approvals: Vec<Ask>) -> Outcome {
        waiting_for.retain(|pending| approvals.iter().all(|ask| ask.id != pending.id));
        Outcome { waiting_for, approvals, ..self.outcome(Status::Suspended, None, None) }
    }

    fn outcome(self, status: Status, value: Option<Json>, error: Option<RunError>) -> Outcome {
        let count = |outcome: fn(CallOutcome) -> bool| tally(&self.calls, outcome);
        Outcome {
            run: self.id,
            status,
            value,
            error,
            exercised: count(|o| o != CallOutcome::Denied),
            denied: count(|o| o == CallOutcome::Denied),
            outputs: self.outputs,
            ran_on: self.ran_on,
            usage: self.usage,
            calls: self.calls,
            grants: Vec::new(),
            narrowed: Vec::new(),
            waiting_for: Vec::new(),
            approvals: Vec::new(),
        }
    }
}

/// How often each grant was used, in the order of first use.
fn tally(calls: &[CallRecord], counts: fn(CallOutcome) -> bool) -> Vec<Exercised> {
    let mut all: Vec<Exercised> = Vec::new();
    for call in calls.iter().filter(|call| counts(call.outcome)) {
        match all.iter_mut().find(|e| e.grant == call.grant) {
            Some(known) => known.count += 1,
            None => all.push(Exercised { grant: call.grant.clone(), count: 1 }),
        }
    }
    all
}

fn explain(failure: Failure, prepared: &Prepared, grants: &[Grant], calls: &[CallRecord]) -> RunError {
    let mapped = failure.stack.as_deref().map(|stack| prepared.map_stack(stack)).unwrap_or_default();
    // Policy said no, and the program did not cope with that.
    let refused = failure.code.as_deref().is_some_and(|code| code.ends_with(".denied"));
    let kind = if failure.kind == ErrorKind::Thrown && refused { ErrorKind::Denied } else { failure.kind };
    let failure = Failure { kind, ..failure };
    let about = hint::About { program: prepared, line: mapped.line, grants, calls };
    let hint = hint::for_failure(&failure, &about);
    RunError {
        kind,
        name: failure.name,
        message: failure.message,
        code: failure.code,
        stack: (!mapped.text.is_empty()).then_some(mapped.text),
        line: mapped.line,
        column: mapped.column,
        hint,
    }
}

/// The outcome without the secrets that the host knows of, and whether there were any. (Outputs were scrubbed as they were written.)
pub(crate) fn scrubbed(mut outcome: Outcome, host: &dyn Host) -> (Outcome, bool) {
    let mut changed = false;
    let mut scrub = |text: &mut String| {
        if let Cow::Owned(clean) = host.scrub(text) {
            (*text, changed) = (clean, true);
        }
    };
    if let Some(error) = &mut outcome.error {
        scrub(&mut error.message);
        error.stack.iter_mut().for_each(&mut scrub);
        error.hint.iter_mut().for_each(&mut scrub);
    }
    for call in &mut outcome.calls {
        scrub(&mut call.grant);
        scrub(&mut call.what);
    }
    if let Some(value) = &outcome.value
        && let Cow::Owned(clean) = host.scrub(value.text())
    {
        // A secret may look like a number: what is left then is no JSON, and no value.
        changed = true;
        outcome.value = Json::from_text(clean).or_else(|_| Json::of("[redacted]")).ok();
    }
    (outcome, changed)
}
