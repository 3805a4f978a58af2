//! isolith measured: what a run, a call, a suspension and an idle isolate cost on the machine at hand.
//!
//! [`measure()`] is what `isolith bench` prints. Some things can only be measured in a process of their own; [`child()`] is
//! what runs there. The comparison with other runtimes is the binary of this crate, started by `benches/run`; [`peer()`] is
//! isolith's part in it.

mod options;
mod report;

mod machine;
mod measure;
mod stopwatch;

mod child;
mod lab;
mod memory;
mod sources;
mod spawn;

mod asked;
mod calls;
mod cold;
mod compute;
mod gate;
mod idle;
mod programs;
mod start;
mod suspend;
mod throughput;

mod batches;
mod job;
mod on;
mod peer;
mod ratio;

mod error;

pub use child::child;
pub use error::Error;
pub use job::{Job, Line, Measured, Times, Work};
pub use machine::Machine;
pub use measure::measure;
pub use memory::Memory;
pub use on::{On, worker};
pub use options::{Mode, Options};
pub use peer::peer;
pub use report::{Goal, Report, Row, Skipped};
pub use sources::{CALL_PAYLOADS, HELLO, IDLE, KERNELS, Kernel, Payload, TRIVIAL, calling, heavy};
pub use spawn::{Spawned, spawn};
