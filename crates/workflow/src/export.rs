//! A journal as lines for people and other tools: one for each answer, in the order in which the program was told.

use crate::host::{AGENT, ASK};
use crate::imported::Line;
use isolith_core::{HostCall, HostReply, Json};
use isolith_runner::Recorded;
use serde::{Deserialize, Serialize};

/// One answer on record.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Where it stands.
    pub sequence: usize,
    /// The number of the call.
    pub call: u32,
    /// What was asked: `workflow.agent`, `GET https://…`.
    pub what: String,
    /// The key of an agent's call or of a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The digest of everything that was asked.
    pub input: String,
    /// When the program was told, in microseconds since 1970.
    pub at_us: u64,
    /// What it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Why it was told of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it cost.
    pub output_tokens: u64,
}

#[derive(Deserialize)]
struct Asked {
    seq: u64,
    key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    ok: Answered,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    text: String,
    #[serde(default)]
    data: Option<Json>,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cached: bool,
}

fn asked(call: Option<HostCall>) -> Option<Asked> {
    match call? {
        HostCall::Tool { name, args } if matches!(name.to_string().as_str(), AGENT | ASK) => args?.parse().ok(),
        _ => None,
    }
}

fn told(reply: &HostReply) -> Option<Answered> {
    match reply {
        HostReply::Value { json: Some(json) } => json.parse::<Told>().ok().map(|told| told.ok),
        _ => None,
    }
}

/// The answers that this run brought, in the form of other implementations. Failures have none there.
pub fn lines(recorded: &Recorded) -> Vec<Line> {
    let line = |(made, reply): (&isolith_runner::Made, HostReply)| {
        let (Asked { seq, key }, Answered { text, data, output_tokens, cached }) = (asked(made.call())?, told(&reply)?);
        (!cached).then_some(Line { seq, key, text, data, output_tokens })
    };
    recorded.answers().into_iter().filter_map(line).collect()
}

/// The name of the workflow that a run is of.
pub fn name_of(recorded: &Recorded) -> Option<String> {
    let (_, rest) = recorded.header.source.split_once("await drive({ name: ")?;
    serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
}

/// Whose answers a run was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct By {
    /// The agents that its workflow prefers.
    #[serde(default)]
    pub harness: Option<serde_json::Value>,
    /// Whether they were made up.
    #[serde(default)]
    pub mock: bool,
}

/// Whose answers a run was told, as far as its journal says so.
pub fn by(recorded: &Recorded) -> By {
    #[derive(Deserialize)]
    struct Given {
        by: By,
    }
    recorded.header.input().and_then(|input| input.parse::<Given>().ok()).map(|given| given.by).unwrap_or_default()
}

/// Everything that the program was told.
pub fn entries(recorded: &Recorded) -> Vec<Entry> {
    let when: std::collections::BTreeMap<_, _> =
        recorded.turns.iter().flat_map(|turn| turn.replies.iter().map(|reply| (reply.id, turn.now))).collect();
    let entry = |(sequence, (made, reply)): (usize, (&isolith_runner::Made, HostReply))| Entry {
        sequence,
        call: made.id.0,
        what: made.label(),
        key: asked(made.call()).map(|asked| asked.key),
        input: made.digest.clone(),
        at_us: when.get(&made.id).map_or(0, |now| now.as_micros()),
        error: match &reply {
            HostReply::Failed { error } => Some(error.message.clone()),
            _ => None,
        },
        output_tokens: told(&reply).map_or(0, |told| told.output_tokens),
        output: match reply {
            HostReply::Value { json } => json,
            _ => None,
        },
    };
    recorded.answers().into_iter().enumerate().map(entry).collect()
}
