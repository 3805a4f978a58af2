//! The worker: a process that makes copies of itself, each for one run, and holds nothing that is worth having.
//!
//! A supervisor starts it and talks to it over standard input. It sets up what runs inside (V8 with the prelude) once; that is the
//! zygote. Asked for a worker, it makes a copy of itself, which shuts itself in, takes one program over a socket of its own, runs it to
//! its end and exits. Nothing of one run is there in the next.

pub(crate) mod control;
mod digest;
mod guest;
mod line;
mod natives;
mod plain_url;
mod random;
mod settings;
pub(crate) mod told;
mod zygote;

pub(crate) use guest::GUEST;
pub use guest::V8_INSIDE;
pub use line::Line;
pub use settings::{JailMode, Settings};
pub use zygote::{Inside, SetUp, main};
