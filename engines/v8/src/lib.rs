//! V8 in a jailed process: the same programs, the same prelude and the same host calls as every engine, with a compiler behind them.
//!
//! V8 is a convenience here and the process is the boundary, which is `isolith-jail`'s to draw. What is here is what lives inside: the
//! library's functions ([`worker`]), the half of the engine that is written in JavaScript, and the words in which both are told things.
//!
//! The library is not part of this crate: [`install`] takes it from the wheel of `mini-racer`.

mod dialect;
mod engine;
pub mod install;
mod sys;
pub mod worker;

pub use engine::{Options, StartError, V8};
pub use isolith_jail::{Jail, JailMode, Launch};
