//! What two isoliths say to each other when one runs isolates for the other: the traits [`Engine`](crate::Engine) and
//! [`Isolate`](crate::Isolate) as messages.
//!
//! A message is bytes: its kind, the number of the isolate it is about, and its fields in order, each preceded by its length where
//! it has one. Values of programs stay the text they are. Nothing nests, so there is no depth to bound, and a length is held
//! against what is really there before anything is made of it.
//!
//! Whoever asks numbers the isolates of a connection upwards and has one request for each under way. The answer to
//! [`request::advance`] is what happened on the way, in its order, and then where the run stands.

mod bytes;
mod call;
pub mod event;
pub mod request;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use request::{Opening, Request};

/// Both sides speak this one or nothing: a limit that only one of them knew would not be kept.
pub const VERSION: u64 = 1;

/// The largest message. Both sides refuse a larger one by its announced length.
pub const MESSAGE_BYTES_MAX: usize = 32 << 20;

/// The most that a payload, a value or a piece of output may have, so that a message has room for it.
pub const CONTENT_BYTES_MAX: u64 = 24 << 20;

/// A message that says nothing we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message is malformed")]
pub struct Malformed;
