//! The host side of every grant: decides in pure code, then acts, then writes it down.

#![expect(clippy::result_large_err, reason = "a refusal is made once a call, and callers take it apart at once")]

mod approvals;
mod bodies;
mod book;
mod calls;
mod command;
pub mod egress;
mod fetch;
mod files;
mod gate;
mod held;
mod ledger;
mod means;
mod outside;
mod redact;
mod requests;
mod schema;
mod secrets;
mod send;
mod upstream;
mod whole;

pub use approvals::{Approvals, Asking, Desk};
pub use bodies::BodySource;
pub use command::run_command;
pub use files::{FilesAnswer, Folders, HostFolder};
pub use gate::{Gate, Identity};
pub use means::{Approver, Code, Invocation, Invoked, Means, Programs, Question};
pub use redact::{RedactStream, Redactor};
pub use schema::{Schema, Schemas};
pub use secrets::{Secret, Vault};
pub use send::Sent;
pub use upstream::{ToolProgram, Upstreams};
