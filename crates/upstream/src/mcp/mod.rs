//! MCP servers.

mod child;
mod handler;
mod http;
mod lines;
mod server;

pub(crate) use server::{Dialled, Server};

/// The largest message that a server may send.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 20;
