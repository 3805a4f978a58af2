//! The worker: a process that makes copies of itself, each for one run, and holds nothing that is worth having.
//!
//! A supervisor starts it and talks to it over standard input. It sets up what lives inside once; that is the zygote. Asked for a
//! worker, it makes a copy of itself, which shuts itself in, takes one program over a socket of its own, runs it to its end and exits.
//! Nothing of one run is there in the next.

pub(crate) mod control;
mod line;
mod settings;
mod zygote;

pub use line::Line;
pub(crate) use settings::Settings;
pub use zygote::{Inside, SetUp, fail, gather, leave, limit_cpu, limit_data, main};
