//! The wire protocol of TanStack's Cloudflare isolate driver, as its Worker speaks it.
//!
//! The driver sends the whole program again in every round, with all results so far, and expects it to be run from the start. Here
//! the run that waits for those results goes on instead, wherever it is; only when none is known is the program run again, with the
//! results given to its calls in their order.

use crate::asked::Asked;
use crate::error::Refusal;
use crate::run::{Chain, Stage};
use isolith_core::{
    BindingName, CallError, CallId, ErrorKind, HostCall, HostReply, Json, Limits, Manifest, Outcome, RunId, Status,
    ToolGrant, ToolName,
};
use isolith_runner::Language;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// A round as the driver sends it. Fields that it may grow are its own affair.
#[derive(Deserialize)]
pub(crate) struct Round {
    #[serde(default)]
    pub(crate) code: Value,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
    #[serde(default, rename = "toolResults")]
    results: BTreeMap<String, ToolResult>,
    #[serde(default)]
    timeout: Option<f64>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

#[derive(Deserialize)]
struct ToolResult {
    #[serde(default)]
    success: bool,
    #[serde(default, deserialize_with = "present")]
    value: Option<Json>,
    error: Option<String>,
}

/// What a program returned, where `null` is something and nothing is `undefined`.
#[derive(Deserialize)]
struct Returned {
    #[serde(default, deserialize_with = "present")]
    value: Option<Json>,
}

/// A field that is there, `null` or not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

const TIMEOUT_MS: f64 = 30_000.0;
const TIMEOUT_MS_MAX: f64 = 24.0 * 3600.0 * 1000.0;

/// What cannot be the name of a function in the guest.
const RESERVED: &str = "await break case catch class const continue debugger default delete do else enum export extends false finally \
    for function if implements import in instanceof interface let new null package private protected public return static super \
    switch this throw true try typeof var void while with yield";

/// A round, checked.
pub(crate) struct Checked {
    code: String,
    tools: Vec<BindingName>,
    /// Results in the order of the calls: `tc_0`, `tc_1`, …
    pub(crate) results: Vec<HostReply>,
    timeout: Duration,
    base: [u8; 32],
    /// What each number of results from the front hashes to, none first.
    digests: Vec<[u8; 32]>,
}

impl Round {
    /// What is wrong with it is said as the Worker says it.
    pub(crate) fn check(self) -> Result<Checked, String> {
        let Value::String(code) = self.code else { return Err("Code is required".into()) };
        let given = self.tools.ok_or("tools is not iterable")?;
        let mut tools: Vec<BindingName> = Vec::new();
        for Tool { name } in given {
            let rule = "/^[a-zA-Z_$][a-zA-Z0-9_$]*$/ (letters, digits, _, $; cannot start with a digit)";
            let binding =
                BindingName::new(name.clone()).map_err(|_| format!("Invalid tool name '{name}': must match {rule}"))?;
            if RESERVED.split_ascii_whitespace().any(|word| word == name) {
                return Err(format!("Invalid tool name '{name}': reserved JavaScript keyword"));
            }
            if !tools.contains(&binding) {
                tools.push(binding);
            }
        }
        let ms = self.timeout.filter(|ms| ms.is_finite() && *ms >= 1.0).unwrap_or(TIMEOUT_MS).min(TIMEOUT_MS_MAX);
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(code.as_str()).chain(tools.iter().map(BindingName::as_str)) {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        hasher.update(&ms.to_le_bytes());
        let base = *hasher.finalize().as_bytes();
        let (results, digests) = in_order(&self.results);
        Ok(Checked { code, tools, results, timeout: Duration::from_micros((ms * 1000.0) as u64), base, digests })
    }
}

/// Results from the first on; those behind a gap are for calls that this program has not made.
fn in_order(given: &BTreeMap<String, ToolResult>) -> (Vec<HostReply>, Vec<[u8; 32]>) {
    let (mut replies, mut digests) = (Vec::new(), vec![[0; 32]]);
    while let Some(ToolResult { success, value, error }) = given.get(&format!("tc_{}", replies.len())) {
        let reply = match success {
            true => HostReply::Value { json: value.clone() },
            false => {
                let message =
                    error.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| "Tool call failed".into());
                HostReply::Failed {
                    error: CallError { name: "Error".into(), message, code: Some("tool.failed".into()) },
                }
            }
        };
        let text = match &reply {
            HostReply::Value { json } => json.as_ref().map_or("", Json::text),
            HostReply::Failed { error } => &error.message,
            HostReply::Body { .. } | HostReply::Bytes { .. } | HostReply::Response { .. } => "",
        };
        let before = digests.last().copied().unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&before).update(&[u8::from(*success)]).update(text.as_bytes());
        digests.push(*hasher.finalize().as_bytes());
        replies.push(reply);
    }
    (replies, digests)
}

impl Checked {
    /// Where a run would be found that waits for the last of these results: with the most recent calls open, however many they are.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let made = self.results.len();
        (0..made).rev().take(OPEN_MAX).map(move |answered| (answered, self.chain(answered).key(made)))
    }

    /// How a run is found again once this many results were given to it.
    pub(crate) fn chain(&self, answered: usize) -> Chain {
        Chain { base: self.base, answered: self.digests.get(answered).copied().unwrap_or_default() }
    }

    /// The program, to be run from the start.
    pub(crate) fn asked(&self) -> Asked {
        let limits = Limits { wall: self.timeout, cpu: self.timeout.min(CPU_MAX), ..Limits::default() };
        Asked {
            run: None,
            source: format!("{}{}", prelude(&self.tools), self.code),
            name: "program.js".into(),
            language: Language::JavaScript,
            input: None,
            args: Vec::new(),
            manifest: Manifest { limits, ..Manifest::default() },
            tools: self.tools.iter().cloned().map(ToolGrant::new).collect(),
            seed: None,
            wait: None,
            session: None,
            trace: None,
        }
    }

    pub(crate) fn timeout_ms(&self) -> u128 {
        self.timeout.as_millis()
    }
}

/// Calls that are open at one time and looked for. More than these, and the program is run again.
const OPEN_MAX: usize = 64;
const CPU_MAX: Duration = Duration::from_secs(600);

/// What makes the guest look like the Worker's: tools as globals of their own names, console lines as its driver expects them.
/// On one line and before the program, so that lines keep their numbers. Names were checked, and are data here; whatever is used is
/// taken before any of them is defined, because a tool may be called `Object` or `console`.
fn prelude(tools: &[BindingName]) -> String {
    let names: Vec<&str> = tools.iter().map(BindingName::as_str).collect();
    format!(
        "{{const own = tools, console = globalThis.console, define = Object.defineProperty, json = JSON.stringify, string = String; \
         const text = (x) => {{ if (typeof x === 'string') return x; try {{ return json(x) ?? string(x) }} catch {{ return string(x) }} }}; \
         for (const [name, mark] of [['log', ''], ['info', 'INFO: '], ['warn', 'WARN: '], ['error', 'ERROR: ']]) \
         {{ const write = console[name].bind(console); console[name] = (...all) => write('%s', mark + all.map(text).join(' ')) }} \
         for (const name of {}) define(globalThis, name, {{ value: (args) => own[name](args === undefined ? {{}} : args), writable: true, configurable: true }})}} ",
        json!(names)
    )
}

/// The answer to a round.
pub(crate) fn answer(checked: &Checked, id: &RunId, stage: &Stage, logs_sent: usize) -> Result<String, Refusal> {
    let text = match stage {
        Stage::Ended(text) | Stage::Waiting(text, _) => text,
        Stage::Refused(refusal) => return Err(refusal.clone()),
        Stage::Running => return Ok(timed_out(checked, &[])),
    };
    let outcome: Outcome =
        serde_json::from_str(text).map_err(|error| Refusal::internal("reading an outcome", &error))?;
    let logs: Vec<&str> = outcome.outputs.iter().skip(logs_sent).map(|output| output.text.as_str()).collect();
    Ok(match outcome.status {
        Status::Ok => {
            // Put together by hand: the value stays the text it is.
            let returned: Returned =
                serde_json::from_str(text).map_err(|error| Refusal::internal("reading a value", &error))?;
            let value = returned.value.as_ref().map(|value| format!("\"value\":{value},")).unwrap_or_default();
            format!("{{\"status\":\"done\",\"success\":true,{value}\"logs\":{}}}", json!(logs))
        }
        Status::Error => failed(checked, &outcome, &logs),
        Status::Suspended => need_tools(&outcome, id, &logs),
    })
}

fn need_tools(outcome: &Outcome, id: &RunId, logs: &[&str]) -> String {
    let mut open: Vec<(CallId, &ToolName, Option<&Json>)> = Vec::new();
    for pending in &outcome.waiting_for {
        if let HostCall::Tool { name, args } = &pending.call {
            open.push((pending.id, name, args.as_ref()));
        }
    }
    open.sort_by_key(|(id, ..)| *id);
    let first = (outcome.usage.calls as usize).saturating_sub(open.len());
    let calls: Vec<String> = open
        .iter()
        .enumerate()
        .map(|(n, (_, name, args))| {
            let args = args.map_or("{}", Json::text);
            format!("{{\"id\":\"tc_{}\",\"name\":\"{name}\",\"args\":{args}}}", first + n)
        })
        .collect();
    let (calls, logs) = (calls.join(","), json!(logs));
    format!("{{\"status\":\"need_tools\",\"toolCalls\":[{calls}],\"logs\":{logs},\"continuationId\":\"{id}\"}}")
}

fn failed(checked: &Checked, outcome: &Outcome, logs: &[&str]) -> String {
    let Some(error) = &outcome.error else { return timed_out(checked, logs) };
    let name = match error.kind {
        ErrorKind::Timeout | ErrorKind::CpuLimit => return timed_out(checked, logs),
        ErrorKind::MemoryLimit => "MemoryLimitError",
        ErrorKind::StackOverflow => "RangeError",
        ErrorKind::Syntax => "SyntaxError",
        _ => error.name.as_str(),
    };
    let mut shown = json!({ "name": name, "message": error.message });
    if let Some(stack) = &error.stack {
        shown["stack"] = json!(stack);
    }
    json!({ "status": "done", "success": false, "error": shown, "logs": logs }).to_string()
}

fn timed_out(checked: &Checked, logs: &[&str]) -> String {
    let message = format!("Execution timed out after {}ms", checked.timeout_ms());
    json!({ "status": "done", "success": false, "error": { "name": "TimeoutError", "message": message }, "logs": logs })
        .to_string()
}

/// A program that is not run, as the Worker says it.
pub(crate) fn not_run(message: &str) -> String {
    json!({ "status": "error", "error": { "name": "Error", "message": message } }).to_string()
}
