//! From what the engine saw to what people and models are told.

use crate::hint;
use isolith_core::{
    CallOutcome, CallRecord, End, ErrorKind, Exercised, Failure, Json, Outcome, Output, PendingCall, RunError, Status,
    Usage,
};
use isolith_program::{Prepared, SourceError};

/// The parts of an outcome that do not depend on how the run ended.
pub(crate) struct Receipt {
    pub(crate) outputs: Vec<Output>,
    pub(crate) usage: Usage,
    pub(crate) calls: Vec<CallRecord>,
}

impl Receipt {
    pub(crate) fn ended(self, end: End, prepared: &Prepared, granted: &[String]) -> Outcome {
        match end {
            End::Value(value) => self.outcome(Status::Ok, value, None),
            End::Failed(failure) => self.outcome(Status::Error, None, Some(explain(failure, prepared, granted))),
        }
    }

    pub(crate) fn not_a_program(self, error: &SourceError) -> Outcome {
        let error = RunError {
            kind: ErrorKind::Syntax,
            name: "SyntaxError".into(),
            message: error.message.clone(),
            stack: None,
            line: Some(error.line),
            column: Some(error.column),
            hint: error.hint.clone(),
        };
        self.outcome(Status::Error, None, Some(error))
    }

    pub(crate) fn suspended(self, waiting_for: Vec<PendingCall>) -> Outcome {
        Outcome { waiting_for, ..self.outcome(Status::Suspended, None, None) }
    }

    fn outcome(self, status: Status, value: Option<Json>, error: Option<RunError>) -> Outcome {
        let count = |outcome: fn(CallOutcome) -> bool| tally(&self.calls, outcome);
        Outcome {
            status,
            value,
            error,
            exercised: count(|o| o != CallOutcome::Denied),
            denied: count(|o| o == CallOutcome::Denied),
            outputs: self.outputs,
            usage: self.usage,
            calls: self.calls,
            waiting_for: Vec::new(),
        }
    }
}

/// How often each grant was used, in the order of first use.
fn tally(calls: &[CallRecord], counts: fn(CallOutcome) -> bool) -> Vec<Exercised> {
    let mut all: Vec<Exercised> = Vec::new();
    for call in calls.iter().filter(|call| counts(call.outcome)) {
        let grant = format!("{}:{}", call.kind, call.name);
        match all.iter_mut().find(|e| e.grant == grant) {
            Some(known) => known.count += 1,
            None => all.push(Exercised { grant, count: 1 }),
        }
    }
    all
}

fn explain(failure: Failure, prepared: &Prepared, granted: &[String]) -> RunError {
    let mapped = failure.stack.as_deref().map(|stack| prepared.map_stack(stack)).unwrap_or_default();
    let hint = hint::for_failure(&failure, prepared.source(), mapped.line, granted);
    RunError {
        kind: failure.kind,
        name: failure.name,
        message: failure.message,
        stack: (!mapped.text.is_empty()).then_some(mapped.text),
        line: mapped.line,
        column: mapped.column,
        hint,
    }
}
