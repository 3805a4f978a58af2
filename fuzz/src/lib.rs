//! Random input for the decisions of `isolith-core`, and a slow second opinion on them.
//!
//! Each target is a function from bytes that panics when something is wrong. The property tests in `tests/`, the small
//! driver in `main.rs` and, with nightly, libFuzzer all call the same functions.

#![allow(clippy::panic, reason = "a panic is how a target says that something is wrong")]

pub mod admission;
pub mod manifest;
pub mod narrow;
pub mod oracle;
mod pick;
pub mod policy;
pub mod wire;

/// A target: its name and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 4] =
    [("admission", admission::check), ("manifest", manifest::check), ("narrow", narrow::check), ("wire", wire::check)];
