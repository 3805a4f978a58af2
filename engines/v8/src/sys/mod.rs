//! Everything that is `unsafe` in this crate: the library's functions.
//!
//! What is offered to the other modules is safe to call in the worker that it is made for. The worker is the untrusted side: a
//! mistake in here costs a run its process, and nothing else, because the process is jailed.

#![allow(unsafe_code, reason = "this is the leaf in which it is kept")]

mod buffers;
mod callbacks;
mod helpers;
mod library;
mod memory;
mod scope;
mod v8;

pub(crate) use helpers::start_helpers;
pub(crate) use memory::{Exceeded, limit_memory, memory_used};
pub(crate) use scope::{Compile, Scope};
pub(crate) use v8::{Compiling, Guest, Stop, bound_stack, enter, run, set_up, stop, stopped_at};
