use isolith_core::{EngineError, InvalidName, Step};
use isolith_runner::{RunError, SourceError};
use std::io;

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The runner could not do its part.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A program of ours was refused.
    #[error("a measured program was refused")]
    Source(#[source] Box<SourceError>),
    /// A tool of ours has a name that cannot be.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A program did something else than it was written for: its time would mean nothing.
    #[error("the program for {what} did not do its work: {found}")]
    Wrong {
        /// What was being measured.
        what: &'static str,
        /// What was seen instead.
        found: String,
    },
    /// A process of ours said nothing that makes sense.
    #[error("`{command}` gave no measurement: {found}")]
    Child {
        /// As it was started.
        command: String,
        /// What it said.
        found: String,
    },
    /// The task of [`child`](crate::child()) is not one.
    #[error("there is no task `{0}`")]
    Task(String),
    /// The system refused something.
    #[error("cannot {doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Error {
        Error::Source(Box::new(error))
    }
}

impl Error {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::System { doing, source }
    }

    pub(crate) fn wrong(what: &'static str, step: &Step) -> Error {
        Error::Wrong { what, found: format!("{step:?}").chars().take(300).collect() }
    }
}
