use isolith_core::{Json, Limits, Stream};
use isolith_runner::{Language, Time};
use serde::Serialize;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) type OnOutput = Arc<dyn Fn(Stream, &str) + Send + Sync>;

/// A program, and what goes with one run of it.
#[derive(Clone)]
pub struct Job {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) language: Language,
    pub(super) input: Option<Json>,
    pub(super) seed: Option<u64>,
    pub(super) time: Time,
    pub(super) limits: Option<Limits>,
    pub(super) on_output: Option<OnOutput>,
    pub(super) cancel: CancellationToken,
}

impl Job {
    /// A program, in any shape: statements with `return`, a function, a module, TypeScript or JavaScript.
    pub fn new(source: impl Into<String>) -> Job {
        Job {
            source: source.into(),
            name: "program.ts".into(),
            language: Language::Auto,
            input: None,
            seed: None,
            time: Time::Live,
            limits: None,
            on_output: None,
            cancel: CancellationToken::new(),
        }
    }

    /// What to call it in errors and stacks: a file name.
    pub fn name(self, name: impl Into<String>) -> Job {
        Job { name: name.into(), ..self }
    }

    /// What it is written in, where that is not to be guessed.
    pub fn language(self, language: Language) -> Job {
        Job { language, ..self }
    }

    /// What it sees as `input`. What has no form in JSON is seen as nothing.
    pub fn input(self, input: impl Serialize) -> Job {
        Job { input: Json::of(&input).ok(), ..self }
    }

    /// Fixes all its randomness.
    pub fn seed(self, seed: u64) -> Job {
        Job { seed: Some(seed), ..self }
    }

    /// The time it lives in.
    pub fn time(self, time: Time) -> Job {
        Job { time, ..self }
    }

    /// What it may use, in place of the usual.
    pub fn limits(self, limits: Limits) -> Job {
        Job { limits: Some(limits), ..self }
    }

    /// Hears what it writes, as it writes it. Called from inside the run: it must not block.
    pub fn on_output(self, hear: impl Fn(Stream, &str) + Send + Sync + 'static) -> Job {
        Job { on_output: Some(Arc::new(hear)), ..self }
    }

    /// Stops it when this is cancelled.
    pub fn cancelled_by(self, cancel: CancellationToken) -> Job {
        Job { cancel, ..self }
    }
}

impl From<&str> for Job {
    fn from(source: &str) -> Job {
        Job::new(source)
    }
}

impl From<String> for Job {
    fn from(source: String) -> Job {
        Job::new(source)
    }
}
