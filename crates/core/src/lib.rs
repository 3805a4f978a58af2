//! The nouns of isolith and every decision about them.
//!
//! A program in an isolate is a pure, resumable machine: it computes, and it asks the host. This crate
//! says what a program is ([`Program`]), what it may use ([`Limits`], [`Grant`]), what it can ask
//! ([`HostCall`]), how it proceeds ([`Engine`], [`Isolate`], [`Step`]) and how it ended ([`Outcome`]).
//! Nothing here performs I/O, reads a clock, draws a random number or needs a runtime.

mod call;
mod engine;
mod future;
mod grant;
mod json;
mod limits;
mod outcome;
mod program;
mod suspended;
mod time;

pub use call::{BodyId, CallError, CallId, HostCall, HostReply, MAX_READ_BYTES, PendingCall};
pub use engine::{End, Engine, EngineError, Failure, Host, Isolate, OutputSink, Seed, Start, Step, Turn, Unsupported};
pub use future::BoxFuture;
pub use grant::{BindingName, Grant, InvalidName};
pub use json::{InvalidJson, Json};
pub use limits::{InvalidLimit, Limits};
pub use outcome::{CallOutcome, CallRecord, ErrorKind, Exercised, Outcome, Output, RunError, Status, Stream, Usage};
pub use program::{Digest, Form, Module, Program};
pub use suspended::{Suspended, SuspendedError};
pub use time::Timestamp;
