//! Runs code that nobody has read, from Rust.
//!
//! A program starts with no authority at all and can do what it was granted. Tools are functions of yours:
//!
//! ```
//! use isolith::{Isolith, json};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let isolith = Isolith::builder()
//!     .tool("price", |name: String| async move {
//!         match name.as_str() {
//!             "tea" => Ok(3.5),
//!             _ => Err(format!("there is no {name}")),
//!         }
//!     })
//!     .build()?;
//!
//! let outcome = isolith.run("return { total: 2 * await tools.price('tea') }").await?;
//! assert_eq!(outcome.value()?, json!({ "total": 7 }));
//!
//! // A program's failure is an outcome, too: the error has a kind, a place and often a hint.
//! let outcome = isolith.run("await tools.price('gold')").await?;
//! assert_eq!(outcome.error().unwrap().message, "there is no gold");
//!
//! // What was not granted does not exist.
//! let outcome = isolith.run("return typeof fetch").await?;
//! assert_eq!(outcome.value()?, json!("undefined"));
//! # Ok(()) })
//! # }
//! ```
//!
//! Grants are written as they are on the command line and in manifests; keys, secrets and audit live in a data folder:
//!
//! ```
//! use isolith::{Isolith, Job, json};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let data = tempfile::tempdir()?;
//! # let data = data.path();
//! let isolith = Isolith::builder().data_folder(data).grant("kv:notes").build()?;
//! isolith.run("await kv.put('n', 41)").await?;
//!
//! let job = Job::new("console.log('adding', input); return await kv.get('n') + input").input(json!(1));
//! let outcome = isolith.run(job).await?;
//! assert_eq!(outcome.value()?, json!(42));
//! assert_eq!(outcome.outcome.outputs[0].text, "adding 1");
//! # Ok(()) })
//! # }
//! ```

mod embed;

pub use embed::{BuildError, Builder, CodeInterpreter, Isolith, Job, NotOk, Ran, RunCodeOptions, RunFailed, Workspace};

/// Workspaces as they are declared, and what comes of using them.
pub mod workspace {
    pub use isolith_core::{FilesError, FilesOp, SessionName};
    pub use isolith_workspace::Answer;
    pub use isolith_workspace::contract::{
        Capabilities, CodeError, CodeOutput, Declared, Network, NoSettings, Offer, Provider, RunCodeResult,
        ScriptSettings, Switch, WorkspaceFailed, WorkspaceRef,
    };
}

pub use isolith_core::{Grant, Json, Limits, Outcome, RunError as ProgramError, Stream};
pub use isolith_runner::{Language, Time};
pub use serde_json::{Value, json};
