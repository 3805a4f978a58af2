use crate::host::{AGENT, WAIT};
use isolith_core::{HostCall, HostReply, Json};
use isolith_runner::Recorded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run has used. All of it can be counted again from what it was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    /// Agents that were called.
    pub agents: u32,
    /// Output tokens.
    pub spent: u64,
    /// Signals that were delivered, by name.
    pub signals: BTreeMap<String, usize>,
    /// Agents that are at work: called, and not answered.
    #[serde(skip)]
    pub busy: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(default)]
    ok: Option<Good>,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Good {
    output_tokens: u64,
    cached: bool,
    timed_out: bool,
}

impl Tally {
    /// What is on record.
    pub(crate) fn of(recorded: &Recorded) -> Tally {
        Tally::default().and(recorded)
    }

    /// What it had used when everything that was answered was on record: who is at work will be called again.
    pub(crate) fn answered(&self) -> Tally {
        Tally { agents: self.agents - self.busy.min(self.agents), busy: 0, ..self.clone() }
    }

    /// With what is on record besides.
    pub(crate) fn and(self, recorded: &Recorded) -> Tally {
        let mut tally = self;
        for (made, reply) in recorded.answers() {
            let (Some(HostCall::Tool { name, args }), HostReply::Value { json: Some(json) }) = (made.call(), reply)
            else {
                continue;
            };
            let Ok(told) = json.parse::<Told>() else { continue };
            let good = told.ok.as_ref();
            match name.to_string().as_str() {
                AGENT => {
                    tally.agents += u32::from(!good.is_some_and(|good| good.cached));
                    tally.spent += told.output_tokens + good.map_or(0, |good| good.output_tokens);
                }
                WAIT if good.is_some_and(|good| !good.timed_out) => {
                    if let Some(signal) = args.and_then(|args: Json| args.parse::<Named>().ok()) {
                        *tally.signals.entry(signal.signal).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        tally
    }
}

/// How many signals of each name a run was told.
pub fn signals_told(recorded: &Recorded) -> BTreeMap<String, usize> {
    Tally::of(recorded).signals
}

#[derive(Deserialize)]
struct Named {
    signal: String,
}
