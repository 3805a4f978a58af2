//! The host side of every grant: decides in pure code, then acts, then writes it down.

mod bodies;
mod command;
pub mod egress;
mod files;
mod redact;
mod schema;
mod secrets;

pub use bodies::BodySource;
