//! The HTTP API: runs for clients in any language, with their tools.
//!
//! A [`Server`] serves requests, streams of events, WebSockets and pairs of pipes; behind all of them stands the same set of runs.
//! A run that waits for its client leaves memory after a moment, and outlives the process.

mod app;
mod asked;
mod body;
mod caller;
mod checker;
mod code_mode;
mod connection;
mod engines;
mod error;
mod handle;
mod isolates;
mod listen;
mod mcp;
mod metrics;
mod openapi;
mod outbox;
mod pipes;
mod queue;
mod recorded;
mod replies;
mod routes;
mod run;
mod runs;
mod sessions;
mod settings;
mod signature;
mod trace;
mod wakes;
mod wire;
mod words;
mod work;
mod workspaces;

pub use caller::{Household, Wanted};
pub use checker::{Checker, Mistake};
pub use engines::Engines;
pub use listen::{Parts, Server};
pub use openapi::document as openapi;
pub use settings::Settings;
pub use trace::{Adopt, Trace};
