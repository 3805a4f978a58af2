//! The tools of others, behind one trait: MCP servers by command or URL, and OpenAPI descriptions.
//!
//! A [`Toolbox`] has a namespace for each of them. Nothing is started or asked before it is needed; what was started is kept
//! for many runs, and started again after it died. Whatever a server says is bounded, checked against its own schemas and
//! without the secrets that it was given.

mod fail;
mod listing;
mod mcp;
mod names;
mod openapi;
mod place;
mod redaction;
mod route;
mod rules;
mod state;
mod text;
mod toolbox;
mod values;

pub use toolbox::{Setting, Toolbox};
