//! A suspended run as someone sees it who is to agree to its next calls.

use crate::resume::SuspendedRun;
use isolith_core::{Ask, CallRecord, Grant, HostCall, Method, Power, Target};
use isolith_program::{Need, prepare_with};
use serde::Serialize;

/// How many things a program may still do are named.
const AHEAD_MAX: usize = 50;

/// What there is to know before one agrees.
#[derive(Clone, Debug, Serialize)]
pub struct Review {
    /// The program's name.
    pub name: String,
    /// What its author wrote.
    pub source: String,
    /// What is asked.
    pub asks: Vec<Asked>,
    /// What it did so far.
    pub done: Vec<CallRecord>,
    /// What reading the program says may still come, from the asking line on. A loop may come back to what is before it.
    pub ahead: Vec<Ahead>,
    /// Lines where it does something that cannot be told from its text.
    pub unclear: Vec<u32>,
}

/// A question, with the lines of the program that may have led to it.
#[derive(Clone, Debug, Serialize)]
pub struct Asked {
    /// The question.
    #[serde(flatten)]
    pub ask: Ask,
    /// The lines; one where only one can be meant.
    pub lines: Vec<u32>,
}

/// What may still come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ahead {
    /// The smallest grant that it needs.
    pub grant: String,
    /// Where.
    pub lines: Vec<u32>,
}

impl SuspendedRun {
    /// What someone is shown who is asked about these calls.
    pub fn review(&self, asks: &[Ask]) -> Review {
        let prepared = prepare_with(self.source(), self.name(), self.saved.language(), self.modules());
        let known = prepared.and_then(|prepared| prepared.needs()).ok();
        let needs: &[Need] = known.as_ref().map_or(&[], |known| &known.needs);
        let asked: Vec<Asked> = asks
            .iter()
            .map(|ask| {
                let call = self.saved.queue.iter().find(|pending| pending.id == ask.id).map(|pending| &pending.call);
                let meant = needs.iter().filter(|need| call.is_some_and(|call| leads_to(need, call)));
                Asked { ask: ask.clone(), lines: lines(meant.flat_map(|need| &need.places).map(|place| place.line)) }
            })
            .collect();
        let from = asked.iter().filter_map(|asked| asked.lines.first()).min().copied().unwrap_or(0);
        // As many questions as there are lines they may come from: then these lines are asked about, and not ahead.
        let is_asked = |line: &u32| {
            let own = asked.iter().filter(|asked| asked.lines.contains(line));
            own.clone().next().is_some_and(|first| own.count() >= first.lines.len())
        };
        let later = |need: &Need| {
            let places = need.places.iter().map(|place| place.line);
            let lines = lines(places.filter(|line| *line >= from && !is_asked(line)));
            (!lines.is_empty()).then(|| Ahead { grant: Grant::from(need.power.clone()).to_string(), lines })
        };
        let ahead = needs.iter().filter_map(later).take(AHEAD_MAX).collect();
        let unclear = known.as_ref().map(|known| lines(known.unknown.iter().map(|unknown| unknown.place.line)));
        Review {
            name: self.name().to_owned(),
            source: self.source().to_owned(),
            asks: asked,
            done: self.calls().to_vec(),
            ahead,
            unclear: unclear.unwrap_or_default(),
        }
    }
}

/// Whether a call may be one that reading the program found.
fn leads_to(need: &Need, call: &HostCall) -> bool {
    match (&need.power, call) {
        (Power::Tool(tool), HostCall::Tool { name, .. }) => tool.name.covers(name),
        (Power::Invoke(invoke), HostCall::Invoke { name, .. }) => invoke.name == *name,
        (Power::Kv(kv), HostCall::Kv { space, .. }) => kv.name == *space,
        (Power::Secret(secret), HostCall::Reveal { name }) => secret.name == *name,
        (Power::Files(files), HostCall::Files { op, .. }) => {
            isolith_core::GuestPath::new(op.path()).is_ok_and(|path| files.path.covers(&path))
        }
        (Power::Egress(egress), HostCall::Fetch(fetch)) => {
            match (Method::new(&fetch.method), Target::parse(&fetch.url)) {
                (Ok(method), Ok(target)) => egress.covers(&method, &target),
                _ => false,
            }
        }
        _ => false,
    }
}

fn lines(all: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut lines: Vec<u32> = all.collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
