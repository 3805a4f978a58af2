//! The same programs elsewhere: on another isolith, or on a Cloudflare Worker.
//!
//! [`Remote`] is the engine of another isolith over one WebSocket: isolates live there, and what they ask is performed here, behind
//! the same gate as ever. [`Worker`] speaks to the Worker of TanStack's Cloudflare isolate driver, which runs a program from its
//! start in every round. Whatever comes from the other side is taken for hostile.

mod address;
mod dial;
mod engine;
mod isolate;
mod link;
mod peer;
mod socket;
mod state;
mod worker;

pub use address::{Address, AddressError};
pub use engine::Remote;
pub use socket::ConnectError;
pub use worker::{ItsLimits, Worker};
