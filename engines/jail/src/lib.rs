//! Engines in jailed processes: whatever lives inside, the process around it is a boundary of its own.
//!
//! A supervisor (this side: [`Jailed`]) keeps a zygote, a process that has loaded what an engine needs and enclosed itself. For each
//! run the zygote makes a copy of itself, which gives up what is left ([`Wall`]) and then takes a program over a socket. The
//! supervisor holds the secrets, the sockets and the store, and the worker none of them; it believes nothing that comes back and
//! enforces every limit on its own side; what it cannot have stopped it kills.
//!
//! An engine brings the two ends: an [`Inside`](worker::Inside) that lives in the worker, and a [`Dialect`] in which it is told things.

mod account;
mod dialect;
mod end;
mod engine;
pub mod frame;
mod isolate;
mod options;
mod os;
mod protocol;
mod queue;
mod supervisor;
mod walls;
pub mod worker;

pub use dialect::{Counted, Dialect, Suspending};
pub use end::EndKind;
pub use engine::{Jailed, Kind};
pub use options::{JailMode, Launch, Options};
pub use queue::Queue;
pub use supervisor::ZygoteError;
pub use walls::{Call, Jail, V8_CALLS, WASM_CALLS, Wall, WallReport};
