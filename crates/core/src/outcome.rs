use crate::{Ask, HostCall, Json, Narrowing, PendingCall, RunId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How a run ended, and everything worth knowing about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run's name in audits, when it had one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<RunId>,
    /// How it ended.
    pub status: Status,
    /// The value, when there is one; absent also for `undefined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// What was written, in order.
    pub outputs: Vec<Output>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// What it ran on; absent for what did not begin.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ran_on: Option<RanOn>,
    /// What it used.
    pub usage: Usage,
    /// Each host call that exercised a grant, in the order made.
    pub calls: Vec<CallRecord>,
    /// What the run was allowed to do.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub grants: Vec<String>,
    /// What was asked for it and not, or not wholly, allowed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub narrowed: Vec<Narrowing>,
    /// The grants that were used, with counts.
    pub exercised: Vec<Exercised>,
    /// What was asked for and refused.
    pub denied: Vec<Exercised>,
    /// What a suspended run waits for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waiting_for: Vec<PendingCall>,
    /// The calls that a suspended run makes only if someone agrees.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvals: Vec<Ask>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It returned.
    Ok,
    /// It failed; the error says how.
    Error,
    /// It waits, outside memory, and can be resumed.
    Suspended,
}

/// Where a line of output went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// `console.log`, `info`, `debug` and their like.
    Stdout,
    /// `console.warn`, `console.error`.
    Stderr,
}

/// One piece of output: what one console call wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Where to.
    pub stream: Stream,
    /// The text, without the final newline.
    pub text: String,
    /// When, in milliseconds of the run's own time since its start.
    pub at_ms: u64,
}

/// The closed set of ways a run can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The source cannot be parsed.
    Syntax,
    /// The program threw, or its value cannot be expressed as JSON.
    Thrown,
    /// It took too long, waiting included.
    Timeout,
    /// It computed for too long.
    CpuLimit,
    /// It wanted more memory than its limit.
    MemoryLimit,
    /// Its calls nested too deep.
    StackOverflow,
    /// It wrote too much, or its value is too large.
    OutputLimit,
    /// It made too many host calls.
    CallLimit,
    /// Policy refused something and the program did not catch it.
    Denied,
    /// It waits for something that can never come.
    Stalled,
    /// A replay asked for something else than the record.
    Divergence,
    /// Someone stopped it.
    Cancelled,
    /// The engine cannot do what was asked.
    Unsupported,
    /// Our fault.
    Internal,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// One of the closed set.
    pub kind: ErrorKind,
    /// `TypeError`, `RangeError`, ... as the program's own error says, or a name of ours.
    pub name: String,
    /// For people and models.
    pub message: String,
    /// A stable code, where the error came from a host call: `egress.denied`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Frames, with positions in the author's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Line of the author's source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in that line, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What a run took place on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanOn {
    /// The engine that brought it to its end.
    pub engine: Cow<'static, str>,
    /// The jail of the process that it had to itself, where it had one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jail: Option<JailReceipt>,
    /// What came of the attempt to put a faster engine in the place of the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub switch: Option<Switch>,
}

impl RanOn {
    /// On this engine, in this process.
    pub fn engine(name: &'static str) -> RanOn {
        RanOn { engine: Cow::Borrowed(name), ..RanOn::default() }
    }
}

/// How a jail turned out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JailReceipt {
    /// The walls that the system refused.
    pub missing: Vec<MissingWall>,
}

/// A wall that does not stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingWall {
    /// Which.
    pub wall: String,
    /// What the system said.
    pub why: String,
}

/// An attempt to put a faster engine in the place of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// What the run had computed by then.
    pub after_cpu_us: u64,
    /// Whether the other engine took over.
    pub taken_over: bool,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From start to end, waiting included.
    pub wall_us: u64,
    /// Computing only.
    pub cpu_us: u64,
    /// The guest's memory at its largest.
    pub memory_peak_bytes: u64,
    /// Host calls made that exercise a grant.
    pub calls: u32,
    /// Bytes of replies, as the guest received them.
    pub bytes_in: u64,
    /// Bytes of arguments, outputs and value, as the guest sent them.
    pub bytes_out: u64,
}

/// One host call, as the receipt lists it: what, not with which content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The grant it exercised, such as `tool:search`; for a refusal the smallest one that would have allowed it.
    pub grant: String,
    /// What was asked for: `GET https://api.example.com/v1/users`.
    pub what: String,
    /// How it went.
    pub outcome: CallOutcome,
    /// From being performed to being answered.
    pub duration_us: u64,
}

/// How one host call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Done.
    Ok,
    /// Tried, and failed.
    Failed,
    /// Refused by policy.
    Denied,
    /// The run ended first.
    Cancelled,
    /// Not answered yet: the run is suspended.
    Waiting,
}

/// A grant and how often it was used or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exercised {
    /// The grant, such as `tool:search`.
    pub grant: String,
    /// How often.
    pub count: u32,
}

impl HostCall {
    /// Whether it exercises a grant. Timers and going on with a body do not, and do not count as calls.
    pub fn exercises(&self) -> bool {
        !matches!(
            self,
            HostCall::ReadBody { .. } | HostCall::Sleep { .. } | HostCall::WriteBody { .. } | HostCall::Drop { .. }
        )
    }

    /// What is asked for, as receipts say it until the gate knows better; nothing for what exercises no grant.
    pub fn label(&self) -> Option<(String, String)> {
        let same = |grant: String| Some((grant.clone(), grant));
        match self {
            HostCall::Tool { name, .. } => Some((format!("tool:{name}"), name.to_string())),
            HostCall::Invoke { name, .. } => Some((format!("invoke:{name}"), name.to_string())),
            HostCall::Fetch(fetch) => {
                let shown: String = fetch.url.split(['?', '#']).next().unwrap_or_default().chars().take(500).collect();
                Some((format!("egress:{} {shown}", fetch.method), format!("{} {shown}", fetch.method)))
            }
            HostCall::Kv { space, op } => Some((format!("kv:{space}"), format!("{} {space}", op.verb()))),
            HostCall::Files { op, .. } => {
                let access = if op.access() == crate::Access::Read { "read" } else { "write" };
                Some((format!("files:{access} {}", op.path()), format!("{} {}", op.verb(), op.path())))
            }
            HostCall::Reveal { name } => same(format!("secret:reveal {name}")),
            HostCall::ReadBody { .. } | HostCall::Sleep { .. } | HostCall::WriteBody { .. } | HostCall::Drop { .. } => {
                None
            }
        }
    }
}
