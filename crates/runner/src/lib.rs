//! One run, from a plan to an outcome.
//!
//! The runner prepares a program, starts an isolate of whatever engine it was given, answers its calls through a
//! [`Host`](isolith_core::Host) and keeps the run within its limits. It knows no engine and no store by name.

mod capture;
mod clock;
mod drive;
mod hint;
mod journal;
mod lineage;
mod plan;
mod programs;
mod replay;
mod report;
mod resume;
mod review;
mod runner;
mod take_up;
mod tools;

pub use clock::Time;
pub use isolith_program::{Language, ModuleSource, SourceError};
pub use journal::{
    Checkpoints, Delivered, Durable, Ending, Header, JournalError, Made, Recorded, RecordedTurn, Recording,
    ResumedJournal, Undelivered,
};
pub use lineage::Lineage;
pub use plan::{Patience, Plan, PlanError};
pub use programs::ProgramFiles;
pub use replay::{Alike, Divergence, Look, Replayed, Seen, Stopped, Verdict};
pub use resume::{SuspendedRun, SuspendedRunError};
pub use review::{Ahead, Asked, Review};
pub use runner::{Again, Attend, Ended, RunError, Runner};
pub use take_up::{TakeUp, TakeUpError};
pub use tools::{NoTools, ToolFn, Tools};
