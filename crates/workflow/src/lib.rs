//! Deterministic workflows: files that call agents, made into programs that an isolate runs.
//!
//! [`load()`] reads a workflow file without running any of it: its metadata, what it calls, and the module that it
//! becomes. [`helper()`] does the same for a file that a workflow imports.

//!
//! A [`Bundle`] is a workflow with everything that comes along; [`run()`] runs it under a journal, and [`take_up()`] goes on with a
//! run where its journal ends. What it asks of the world goes through one host (`host`): agents, people, signals and the time; what else it
//! was granted is for whoever performs that.

mod alike;
mod bundle;
mod control;
mod error;
mod event;
mod export;
mod fault;
mod host;
mod imported;
mod kept;
mod load;
mod mail;
mod pace;
mod run;
mod settings;
mod tally;

pub use alike::alike;
pub use bundle::{Bundle, BundleError, DECLARATIONS, Files, limits};
pub use control::Control;

pub use error::{LoadError, SyntaxFault};
pub use event::{Audience, Event, Heard};
pub use export::{By, Entry, by, entries, lines, name_of};
pub use fault::Fault;
pub use host::Means;
pub use imported::{ImportError, Imported, Line};
pub use kept::Kept;
pub use load::{AgentSite, Calls, Loaded, Meta, PRIMITIVES, calls, helper, load, patches};
pub use mail::{Letters, Mailbox, Question};
pub use run::{Around, End, Finished, Keep, run, take_up};
pub use settings::{AGENTS_MAX, CONCURRENCY_MAX, Settings};
pub use tally::signals_told;
