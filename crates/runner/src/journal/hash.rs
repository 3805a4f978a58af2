use isolith_core::{Act, CallId, CallOutcome, Digest, HostCall, Outcome, Output};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What a run asked for and what was done about it, in the order of its calls.
#[derive(Default)]
pub(crate) struct Asked {
    calls: BTreeMap<CallId, Vec<Act>>,
}

impl Asked {
    /// A call was made. Until it is decided it counts as one that came to nothing.
    pub(crate) fn made(&mut self, id: CallId, call: &HostCall) {
        if let Some(label) = call.label().filter(|_| call.exercises()) {
            self.made_as(id, label);
        }
    }

    pub(crate) fn made_as(&mut self, id: CallId, (grant, what): (String, String)) {
        self.calls.insert(id, vec![Act { grant, what, outcome: CallOutcome::Cancelled }]);
    }

    pub(crate) fn decided(&mut self, id: CallId, acts: Vec<Act>) {
        self.calls.insert(id, acts);
    }

    /// Adds what is known besides, which counts more.
    pub(crate) fn extend(&mut self, later: Asked) {
        self.calls.extend(later.calls);
    }

    pub(crate) fn acts(&self, id: CallId) -> &[Act] {
        self.calls.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// What a program wrote so far, as one short text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outputs {
    count: usize,
    sum: String,
}

impl Outputs {
    pub(crate) fn of<'a>(all: impl Iterator<Item = &'a Output>) -> Outputs {
        let mut outputs = Outputs::default();
        all.for_each(|output| outputs.add(output));
        outputs
    }

    pub(crate) fn add(&mut self, Output { stream, text, .. }: &Output) {
        self.count += 1;
        self.sum = Digest::of(&format!("{}{stream:?}{}:{text}", self.sum, text.len())).to_string();
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Display for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.16}", self.count, self.sum)
    }
}

/// What an outcome comes down to: its value or error, what was written and what was done. Times and usage are not in it.
pub(crate) fn outcome_hash(outcome: &Outcome, asked: &Asked) -> Digest {
    #[derive(Serialize)]
    struct Essence<'a> {
        status: isolith_core::Status,
        value: Option<&'a isolith_core::Json>,
        error: Option<Error<'a>>,
        outputs: String,
        calls: Vec<&'a Act>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        kind: isolith_core::ErrorKind,
        name: &'a str,
        message: &'a str,
        code: Option<&'a str>,
        line: Option<u32>,
        column: Option<u32>,
    }
    let error = outcome.error.as_ref().map(|error| Error {
        kind: error.kind,
        name: &error.name,
        message: &error.message,
        code: error.code.as_deref(),
        line: error.line,
        column: error.column,
    });
    let outputs = Outputs::of(outcome.outputs.iter()).to_string();
    let calls = asked.calls.values().flatten().collect();
    let essence = Essence { status: outcome.status, value: outcome.value.as_ref(), error, outputs, calls };
    // Plain data of ours always has a JSON form.
    Digest::of(&serde_json::to_string(&essence).unwrap_or_default())
}
