//! What the driver asks of one peer, and what that answers: one argument of JSON, lines of JSON. Shared with the peers in
//! Rust; the harness of the peers on Node reads the same.

use crate::memory::Memory;
use serde::{Deserialize, Serialize};

/// Work for one process of one peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Job {
    /// A new isolate, a plain program that returns 2, its result as JSON, away with it; over and over.
    Fresh {
        /// For how long.
        ms: u64,
        /// The body of a function.
        source: String,
    },
    /// The same with async programs that call tools.
    Calls {
        /// For how long each.
        ms: u64,
        /// Bodies of async functions that return `"done"`.
        programs: Vec<Work>,
    },
    /// Each program once, in a new isolate.
    Kernels {
        /// Bodies of functions.
        programs: Vec<Work>,
    },
    /// The first two on `auto`, each beside the same on `quickjs` in the same process.
    Ratios {
        /// For how long each.
        ms: u64,
        /// As of the first.
        source: String,
        /// As of the second.
        programs: Vec<Work>,
    },
    /// Programs that wait for their first call, all at the same time.
    Memory {
        /// How many.
        count: u32,
        /// The body of an async function.
        source: String,
    },
    /// Prints the text that a plain program returns.
    Hello {
        /// The body of a function.
        source: String,
    },
}

/// One program of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    /// Of the row.
    pub id: String,
    /// The program.
    pub source: String,
    /// By how much to divide its time.
    pub count: u32,
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Of the row.
    pub id: String,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// The result of a computation, to be equal in all peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// Time.
    Times(Times),
    /// Memory of one isolate.
    Memory(Memory),
    /// How many times what something else takes in the same process.
    Ratio {
        /// So many times.
        ratio: f64,
    },
}

/// How long one thing took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// What the process computed, in all its threads.
    pub cpu_us: f64,
    /// What passed on the wall.
    pub wall_us: f64,
}
