use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a call of a workflow, or the workflow, failed: what a script finds in `error.workflowError`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum Fault {
    /// Something could not be started, or broke.
    AdapterSpawn {
        /// What: an adapter's name, `run` for the script itself, `workflow` for another workflow.
        adapter: String,
        /// Why.
        cause: String,
    },
    /// What came back is not what the schema says.
    SchemaValidation {
        /// What is wrong with it.
        issues: Vec<String>,
        /// How often it was tried.
        attempts: u32,
        /// What came back, or the beginning of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_output: Option<String>,
    },
    /// The tokens of the run are spent.
    BudgetExhausted {
        /// So many are.
        spent: u64,
        /// Of so many.
        total: u64,
    },
    /// The run called as many agents as it may.
    AgentCapExceeded {
        /// So many.
        cap: u32,
    },
    /// Nobody is there to answer, and nothing was said beforehand.
    UnansweredQuestion {
        /// Which question.
        key: String,
    },
    /// Something that no workflow may do.
    SandboxViolation {
        /// What.
        message: String,
    },
    /// The run is to end.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// It took too long.
    Timeout {
        /// What did.
        what: String,
        /// How long it was given, in milliseconds.
        ms: u64,
    },
    /// Told the same, the program asks for something else than is on record.
    Divergence {
        /// Where.
        call: String,
        /// What is on record.
        expected: String,
        /// What it asks for.
        found: String,
    },
}

impl Fault {
    /// A failure of the run itself.
    pub fn of_run(cause: impl Into<String>) -> Fault {
        Fault::AdapterSpawn { adapter: "run".into(), cause: cause.into() }
    }

    /// What everything comes to once the run is stopped.
    pub fn stopped() -> Fault {
        Fault::of_run("run stopped")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::AdapterSpawn { adapter, cause } => write!(f, "AdapterSpawn ({adapter}): {cause}"),
            Fault::SchemaValidation { issues, attempts, .. } => {
                write!(f, "SchemaValidation after {attempts}: {}", issues.join("; "))
            }
            Fault::BudgetExhausted { spent, total } => {
                write!(f, "BudgetExhausted: {spent} of {total} tokens are spent")
            }
            Fault::AgentCapExceeded { cap } => write!(f, "AgentCapExceeded: the run may call {cap} agents"),
            Fault::UnansweredQuestion { key } => write!(f, "UnansweredQuestion: {key}"),
            Fault::SandboxViolation { message } => write!(f, "SandboxViolation: {message}"),
            Fault::Cancelled { reason } => write!(f, "Cancelled: {reason}"),
            Fault::Timeout { what, ms } => write!(f, "Timeout: {what} took longer than {ms} ms"),
            Fault::Divergence { call, expected, found } => {
                write!(f, "Divergence at {call}: the record has {expected}, but the program asks for {found}")
            }
        }
    }
}
