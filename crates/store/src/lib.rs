//! What outlives a run: key spaces, secrets, audit, consent, snippets, runs, keys to a server, in SQLite files of one data folder, and journals.
//!
//! A [`DataFolder`] opens each store when it is asked for. Several processes may use one folder at the same time. What was
//! acknowledged is on disk: a process that is killed at any moment loses nothing of it.

mod audit;
mod backup;
mod chunks;
mod consent;
mod database;
mod error;
mod folder;
mod journals;
mod keys;
mod kv;
mod migrations;
mod readers;
mod runs;
mod secrets;
mod sessions;
mod snippets;
mod workflows;
mod workspace;

pub use audit::{Audit, AuditQuery, Retention};
pub use backup::Copied;
pub use consent::{Answer, Consent};
pub use error::StoreError;
pub use folder::DataFolder;
pub use journals::{JOURNAL_BYTES_MAX, JournalFile, Journals, Lines};
pub use keys::{Keys, NewKey};
pub use kv::Kv;
pub use runs::Runs;
pub use secrets::{KeySource, SecretEntry, Secrets};
pub use sessions::Sessions;
pub use snippets::{NewSnippet, SavedSnippet, Snippet, SnippetEntry, Snippets};
pub use workflows::{Flow, FlowState, Mail, Workflows};
