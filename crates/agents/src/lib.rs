//! Who answers the prompts of a workflow: programs, coding agents, model APIs, and a mock.
//!
//! An [`Agent`] takes a [`Request`] and gives a [`Reply`]. [`Agents`] has several by their names, as an [`AgentsConfig`] says.
//! Whatever an agent answers is bounded in size and time; what is asked for with a schema is checked against it, and asked
//! for again a bounded number of times. Keys and permissions are the operator's: a request cannot widen them.

mod agents;
mod api;
mod attempts;
mod command;
mod config;
mod error;
mod extract;
mod mock;
mod ordered;
mod preset;
mod request;
mod schema;
mod session;
mod words;

pub use agents::{Agents, Setting};
pub use config::{AgentConfig, AgentsConfig, ApiConfig, CommandConfig, PresetConfig, PromptBy, SessionConfig};
pub use error::{AgentError, raw_output};
pub use mock::{Mock, smallest};
pub use request::{Agent, Progress, Reply, Request, Silent, Step};
pub use schema::{SCHEMA_BYTES_MAX, SchemaError, check_schema, validate};
pub use session::Workshop;
