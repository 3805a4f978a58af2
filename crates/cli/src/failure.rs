use crate::exit::Exit;
use crate::paint::{self, ERROR, HINT};
use isolith_core::EngineError;
use isolith_runner::{PlanError, RunError};
use std::fmt::Display;

/// Why a command could not do what it was asked, with what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Failure {
    /// Asked wrongly.
    pub(crate) fn usage(message: impl Display, hint: impl Display) -> Failure {
        Failure { exit: Exit::Usage, message: message.to_string(), hint: Some(hint.to_string()) }
    }

    /// The program is at fault, and the message says where.
    pub(crate) fn program(message: impl Display) -> Failure {
        Failure { exit: Exit::Failed, message: message.to_string(), hint: None }
    }

    /// Our fault, or the system's.
    pub(crate) fn internal(doing: &str, error: &dyn std::error::Error) -> Failure {
        let mut message = format!("{doing}: {error}");
        let mut source = error.source();
        while let Some(error) = source {
            message.push_str(&format!(": {error}"));
            source = error.source();
        }
        let hint = "`isolith doctor` looks at what this machine offers";
        Failure { exit: Exit::Internal, message, hint: Some(hint.into()) }
    }

    pub(crate) fn report(&self) -> Exit {
        paint::complain(ERROR, "error", &self.message);
        if let Some(hint) = &self.hint {
            paint::complain(HINT, "hint", hint);
        }
        self.exit
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Plan(error @ PlanError::Limit(_)) => {
                Failure::usage(error, "`isolith run --help` lists the limits")
            }
            RunError::Plan(error @ PlanError::SourceTooLarge { .. }) => {
                Failure::usage(error, "pass data as `--input FILE`, not inside the program")
            }
            RunError::Suspended(error) => {
                Failure::usage(error, "give the file that `isolith run --suspend FILE` wrote, unchanged")
            }
            RunError::Engine(EngineError::Suspended(error)) => {
                Failure::usage(error, "resume it with the build of isolith that suspended it")
            }
            RunError::Engine(error @ EngineError::Unsupported(_)) => {
                Failure::usage(error, "`isolith doctor` looks at what there is here, and `--engine` chooses")
            }
            RunError::Engine(error) => Failure::internal("running the program", &error),
            RunError::Entropy(_) => Failure::internal("starting the program", &error),
        }
    }
}
