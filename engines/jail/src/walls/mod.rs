// THREAT[T-ENGINE-003]: a bug in an engine gives a program its whole process; there is nothing in that process that is worth having.
//! The jail of a worker: what is taken from its process before any code of a guest runs.
//!
//! It is put up in two parts. The zygote encloses itself once: it leaves the network, the files and the user that started it. Each
//! copy of it then shuts itself in: descriptors, capabilities, Landlock, limits, system calls. A wall that the kernel refuses is
//! reported, not passed over.

mod calls;
mod enclose;
mod filter;
mod shut;
mod wall;

pub use calls::{Call, V8_CALLS, WASM_CALLS};
pub(crate) use enclose::enclose;
pub(crate) use filter::Filter;
pub(crate) use shut::{Shut, namespaces_of_a_copy, shut_in};
pub use wall::{Jail, Wall, WallReport};
