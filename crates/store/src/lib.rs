//! What outlives a run: keys, secrets, audit, consent. SQLite files in one data folder.
//!
//! A [`DataFolder`] opens each store when it is asked for. Several processes may use one folder at the same time. What was
//! acknowledged is on disk: a process that is killed at any moment loses nothing of it.

mod audit;
mod consent;
mod database;
mod error;
mod folder;
mod kv;
mod migrations;
mod secrets;

pub use audit::{Audit, AuditQuery, Retention};
pub use consent::{Answer, Consent};
pub use error::StoreError;
pub use folder::DataFolder;
pub use kv::Kv;
pub use secrets::{KeySource, SecretEntry, Secrets};
