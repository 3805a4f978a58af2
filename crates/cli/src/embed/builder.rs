use super::{Isolith, tool::tool};
use isolith_core::{EngineError, Grant, InvalidName, Limits, Power, SecretSource};
use isolith_gate::Means;
use isolith_gate::egress::{Net, NetOptions};
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::{ProgramFiles, Runner, ToolFn, Tools};
use isolith_store::{DataFolder, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

/// Says what programs may do, and makes an [`Isolith`] of it.
#[derive(Default)]
pub struct Builder {
    tools: Vec<(String, ToolFn)>,
    grants: Vec<String>,
    limits: Limits,
    folder: Option<PathBuf>,
    data: Option<PathBuf>,
    live: Option<u32>,
}

/// Why an [`Isolith`] cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A grant that cannot be read.
    #[error("`{grant}`: {message}")]
    Grant {
        /// As it was written.
        grant: String,
        /// What is wrong with it.
        message: String,
    },
    /// A name that no function can have.
    #[error(transparent)]
    Tool(#[from] InvalidName),
    /// A limit that cannot be kept.
    #[error(transparent)]
    Limits(#[from] isolith_core::InvalidLimit),
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The data folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network cannot be set up.
    #[error("{0}")]
    Network(String),
    /// The working folder is not known.
    #[error("the working folder is not known")]
    Folder(#[source] std::io::Error),
}

impl Builder {
    /// Brings a function, which programs call as `tools.<name>(argument)`. Its argument comes from JSON and its answer goes back
    /// as JSON; an error is one that the program can catch.
    pub fn tool<A, R, E, F, Fut>(mut self, name: &str, function: F) -> Builder
    where
        A: DeserializeOwned + Send + 'static,
        R: Serialize,
        E: Display,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.tools.push((name.to_owned(), tool(function)));
        self
    }

    /// Grants something, as on the command line: `egress:GET https://api.example.com/v1/`, `kv:notes`, `files:read docs`.
    pub fn grant(mut self, grant: &str) -> Builder {
        self.grants.push(grant.to_owned());
        self
    }

    /// What each run may use.
    pub fn limits(self, limits: Limits) -> Builder {
        Builder { limits, ..self }
    }

    /// What relative paths of granted files are relative to; otherwise the working folder.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Builder {
        Builder { folder: Some(folder.into()), ..self }
    }

    /// Where keys, secrets and audit are kept. Without it there are none of them, and nothing is written anywhere.
    pub fn data_folder(self, data: impl Into<PathBuf>) -> Builder {
        Builder { data: Some(data.into()), ..self }
    }

    /// How many programs can be under way at one time [default: 1,000].
    pub fn live(self, live: u32) -> Builder {
        Builder { live: Some(live), ..self }
    }

    /// Everything that can be wrong with what was said is said here, before anything runs.
    pub fn build(self) -> Result<Isolith, BuildError> {
        self.limits.check()?;
        let mut tools = Tools::default();
        for (name, function) in self.tools {
            tools = tools.with(&name, function)?;
        }
        let mut grants: Vec<Grant> = tools.grants().to_vec();
        for text in &self.grants {
            let read = text.parse::<Grant>();
            grants.push(read.map_err(|error| BuildError::Grant { grant: text.clone(), message: error.to_string() })?);
        }
        let options = Options::default();
        let engine = QuickJs::new(Options { live: self.live.unwrap_or(options.live), ..options })?;
        let runner = Runner::new(Arc::new(engine));
        let folder = self.folder.map_or_else(std::env::current_dir, Ok).map_err(BuildError::Folder)?;
        let net =
            Net::new(NetOptions { proxy: None, ca: None }).map_err(|error| BuildError::Network(error.to_string()))?;
        let mut means = Means::new(Arc::new(net), folder.clone());
        means.tools = Arc::new(tools);
        means.programs = Some(Arc::new(ProgramFiles::new(runner.clone(), folder)));
        let data = self.data.map(DataFolder::open).transpose()?;
        if let Some(data) = &data {
            means.kv = Some(Arc::new(data.kv()?));
            means.audit = Some(Arc::new(data.audit()?));
            let stored = |grant: &Grant| matches!(&grant.power, Power::Secret(secret) if matches!(secret.from, None | Some(SecretSource::Store(_))));
            if grants.iter().any(stored) {
                means.secrets = Some(Arc::new(data.secrets()?));
            }
        }
        let (grants, in_memory) = (grants.into(), <_>::default());
        Ok(Isolith { runner, grants, limits: self.limits, means: Arc::new(means), data, in_memory })
    }
}
