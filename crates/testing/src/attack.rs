use crate::suite::{self, SuiteError};
use crate::{Tool, conformance_root};
use isolith_core::{ErrorKind, Limits, Outcome, Status};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// One hostile program and what may come of it. `conformance/attacks/README.md` describes the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// Such as `js.cpu.while-true`.
    pub id: String,
    /// Its group, such as `js.cpu`.
    pub area: String,
    /// Always `javascript`.
    pub language: String,
    /// The program.
    pub code: Code,
    /// What it may use.
    pub limits: AttackLimits,
    /// What it may do.
    #[serde(default)]
    pub grants: AttackGrants,
    /// What may come of it.
    pub expect: Expect,
    /// The program of a second run, which `expect` then judges instead of the first.
    pub after: Option<String>,
    /// A run beside it that must not suffer.
    pub parallel: Option<Neighbour>,
    /// What to look at on the host's side, besides what is always looked at.
    pub hostcheck: Option<HostCheck>,
    /// Whether all that is reported must stay within twice the limit on output.
    #[serde(default)]
    pub outcheck: bool,
    /// How many pieces of output there must be.
    pub logcount: Option<usize>,
    /// What it tries.
    pub why: String,
    /// Where the idea is from.
    pub source: String,
}

/// A program that a case holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Text.
    Text(String),
    /// Not text: JSON can spell lone surrogates, which no UTF-8 source can hold. To be refused before it runs.
    NotText,
}

/// What an attack may use.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AttackLimits {
    timeout_ms: u64,
    memory_mb: u64,
    output_kb: u64,
    tool_calls: u32,
}

/// What an attack may do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackGrants {
    /// Tools that are granted.
    #[serde(default)]
    pub tools: Vec<Tool>,
}

/// A run that goes on beside an attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Neighbour {
    /// Its program.
    pub code: String,
    /// Its value.
    pub value: Value,
    /// How soon it must have it.
    pub within_ms: u64,
}

/// Something to look at on the host's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCheck {
    /// No tool is called after the result, also some time later.
    LateTools,
    /// Never more calls than the limit.
    ToolCount,
}

/// What may come of an attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Expect {
    /// A value: this one, one of these, or one whose text matches.
    #[serde(rename_all = "camelCase")]
    Value {
        /// This one.
        #[serde(default, deserialize_with = "present")]
        value: Option<Value>,
        /// One of these.
        #[serde(default)]
        any_of: Vec<Value>,
        /// A regular expression of JavaScript.
        pattern: Option<String>,
    },
    /// A failure of one of these classes.
    Error {
        /// The classes.
        class: Vec<Class>,
    },
    /// One of several.
    AnyOf {
        /// Those.
        of: Vec<Expect>,
    },
    /// Whatever, as long as nothing else happens.
    NoEffect,
}

/// A class of failures, as the cases name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The source cannot be parsed.
    Syntax,
    /// The program threw.
    Runtime,
    /// Its value cannot be given out.
    InvalidResult,
    /// Too long, by the wall or by the CPU.
    Timeout,
    /// Too much memory.
    Memory,
    /// Too deep.
    Stack,
    /// It waits for what can never come.
    Unsettled,
    /// Too much output, or too large a value.
    Output,
    /// Too many calls.
    Tools,
    /// Policy refused it.
    Denied,
    /// The source was refused before it ran.
    Input,
}

/// How a run that was to be judged ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// With a value, `undefined` counting as `null`.
    Value(String),
    /// With an error of this kind.
    Failed(ErrorKind),
    /// Not at all: it was refused before it ran.
    Refused,
}

impl Attack {
    /// Whether the text of a value matches a pattern is JavaScript's to say; `matches(pattern, text)` asks it.
    pub fn met_by(&self, ended: &Ended, matches: &dyn Fn(&str, &str) -> bool) -> bool {
        self.expect.met_by(ended, matches)
    }
}

impl Expect {
    fn met_by(&self, ended: &Ended, matches: &dyn Fn(&str, &str) -> bool) -> bool {
        match (self, ended) {
            (Expect::NoEffect, _) => true,
            (Expect::AnyOf { of }, _) => of.iter().any(|expect| expect.met_by(ended, matches)),
            (Expect::Error { class }, Ended::Failed(kind)) => class.iter().any(|class| class.covers(*kind)),
            (Expect::Error { class }, Ended::Refused) => class.contains(&Class::Input),
            (Expect::Value { value, any_of, pattern }, Ended::Value(json)) => {
                let found: Option<Value> = serde_json::from_str(json).ok();
                let equal = |wanted: &Value| found.as_ref() == Some(wanted);
                let text = found.as_ref().and_then(Value::as_str).unwrap_or(json);
                value.as_ref().is_some_and(equal)
                    || any_of.iter().any(equal)
                    || pattern.as_ref().is_some_and(|pattern| matches(pattern, text))
            }
            (Expect::Value { .. }, Ended::Failed(_) | Ended::Refused) | (Expect::Error { .. }, Ended::Value(_)) => {
                false
            }
        }
    }
}

impl Class {
    /// Whether a failure of ours is of this class.
    pub fn covers(self, kind: ErrorKind) -> bool {
        match self {
            Class::Syntax => kind == ErrorKind::Syntax,
            Class::Runtime | Class::InvalidResult => kind == ErrorKind::Thrown,
            Class::Timeout => matches!(kind, ErrorKind::Timeout | ErrorKind::CpuLimit),
            Class::Memory => kind == ErrorKind::MemoryLimit,
            Class::Stack => kind == ErrorKind::StackOverflow,
            Class::Unsettled => kind == ErrorKind::Stalled,
            Class::Output => kind == ErrorKind::OutputLimit,
            Class::Tools => kind == ErrorKind::CallLimit,
            Class::Denied => kind == ErrorKind::Denied,
            // Refusals of a source come without an outcome; see `Ended::Refused`.
            Class::Input => false,
        }
    }
}

impl Ended {
    /// How this outcome counts.
    pub fn of(outcome: &Outcome) -> Ended {
        match (&outcome.error, outcome.status) {
            (Some(error), _) => Ended::Failed(error.kind),
            (None, Status::Ok) => Ended::Value(outcome.value.as_ref().map_or("null", |json| json.text()).into()),
            // Nobody asked for a suspension: it is as wrong as a failure of ours.
            (None, Status::Suspended | Status::Error) => Ended::Failed(ErrorKind::Internal),
        }
    }
}

impl AttackLimits {
    /// As limits of a run.
    pub fn limits(&self) -> Limits {
        Limits {
            wall: self.timeout(),
            cpu: self.timeout(),
            memory_bytes: self.memory_mb << 20,
            output_bytes: self.output_kb << 10,
            calls: self.tool_calls,
            ..Limits::default()
        }
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(serde_json::from_str(raw.get()).map_or(Code::NotText, Code::Text))
    }
}

fn is_by_program(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
        && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("js-"))
}

/// A key that is there, even when it says `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Every attack by a program, in the order of its files. Those on the server are `crates/cli`'s.
pub fn attacks() -> Result<Vec<Attack>, SuiteError> {
    let mut attacks = Vec::new();
    let files = suite::entries(&conformance_root().join("attacks"))?;
    for path in files.into_iter().filter(|path| is_by_program(path)) {
        for (index, line) in suite::read(&path)?.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let attack = serde_json::from_str(line).map_err(|source| SuiteError::Line {
                path: path.clone(),
                line: index + 1,
                source,
            })?;
            attacks.push(attack);
        }
    }
    Ok(attacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expect: &str, ended: Ended) -> Option<bool> {
        let expect: Expect = serde_json::from_str(expect).ok()?;
        Some(expect.met_by(&ended, &|pattern, text| text.contains(pattern)))
    }

    #[test]
    fn endings_are_held_against_what_is_expected() {
        let value = |json: &str| Ended::Value(json.into());
        let failed = Ended::Failed;
        let rows = [
            (r#"{"kind":"value","value":[1,"x"]}"#, value("[1, \"x\"]"), true),
            (r#"{"kind":"value","value":1}"#, value("2"), false),
            (r#"{"kind":"value","value":null}"#, value("null"), true),
            (r#"{"kind":"value","value":null}"#, value("0"), false),
            (r#"{"kind":"value","anyOf":["a","b"]}"#, value("\"b\""), true),
            (r#"{"kind":"value","pattern":"bc"}"#, value("\"abcd\""), true),
            (r#"{"kind":"value","pattern":"\"b\""}"#, value("{\"b\":1}"), true),
            (r#"{"kind":"value","value":1}"#, failed(ErrorKind::Thrown), false),
            (r#"{"kind":"error","class":["runtime"]}"#, failed(ErrorKind::Thrown), true),
            (r#"{"kind":"error","class":["invalid-result"]}"#, failed(ErrorKind::Thrown), true),
            (r#"{"kind":"error","class":["timeout"]}"#, failed(ErrorKind::CpuLimit), true),
            (r#"{"kind":"error","class":["timeout"]}"#, failed(ErrorKind::Timeout), true),
            (r#"{"kind":"error","class":["memory","stack"]}"#, failed(ErrorKind::StackOverflow), true),
            (r#"{"kind":"error","class":["unsettled"]}"#, failed(ErrorKind::Stalled), true),
            (r#"{"kind":"error","class":["runtime"]}"#, failed(ErrorKind::Internal), false),
            (r#"{"kind":"error","class":["runtime"]}"#, value("1"), false),
            (r#"{"kind":"error","class":["syntax"]}"#, Ended::Refused, false),
            (r#"{"kind":"error","class":["input"]}"#, Ended::Refused, true),
            (
                r#"{"kind":"any-of","of":[{"kind":"value","value":1},{"kind":"error","class":["tools"]}]}"#,
                failed(ErrorKind::CallLimit),
                true,
            ),
            (r#"{"kind":"any-of","of":[{"kind":"value","value":1}]}"#, failed(ErrorKind::CallLimit), false),
            (r#"{"kind":"no-effect"}"#, failed(ErrorKind::Internal), true),
        ];
        for (expect, ended, expected) in rows {
            assert_eq!(met(expect, ended.clone()), Some(expected), "{expect} {ended:?}");
        }
    }

    #[test]
    fn code_that_is_not_text_is_known_as_such() {
        let code = |json: &str| serde_json::from_str::<Code>(json).ok();
        assert_eq!(code(r#""return '\ud800'""#), Some(Code::NotText));
        assert_eq!(code(r#""return '\ud83d\ude00'""#), Some(Code::Text("return '\u{1f600}'".into())));
    }
}
