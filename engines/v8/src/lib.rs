//! V8 in a jailed process: the same programs, the same prelude and the same host calls as every engine, with a compiler behind them.
//!
//! V8 is a convenience here and the process is the boundary. A supervisor (this side: [`V8`]) keeps a zygote, a process that has
//! loaded the library and the prelude and enclosed itself. For each run the zygote makes a copy of itself, which gives up what is left
//! ([`Wall`]) and then takes a program over a socket. The supervisor believes nothing that comes back and enforces every limit on
//! its own side; what it cannot have stopped it kills.
//!
//! The library is not part of this crate: [`install`] takes it from the wheel of `mini-racer`.

mod ask;
mod end;
mod engine;
mod frame;
pub mod install;
mod isolate;
mod jail;
mod protocol;
mod supervisor;
mod sys;
pub mod worker;

pub use engine::{Launch, Options, StartError, V8};
pub use jail::{Jail, Wall, WallReport};
pub use worker::JailMode;
