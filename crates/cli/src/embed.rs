//! The face of the crate.

mod builder;
mod job;
mod tool;
mod workspace;

pub use builder::{BuildError, Builder};
pub use job::Job;
pub use workspace::{CodeInterpreter, RunCodeOptions, Workspace};

use isolith_core::{
    Digest, Grant, Host, Limits, Outcome, OutputSink, RunError as ProgramError, RunId, Stream, Timestamp,
};
use isolith_gate::{Gate, Identity, Means};
use isolith_runner::{Attend, Plan, Runner};
use isolith_store::DataFolder;
use serde_json::Value;
use std::sync::Arc;

/// Runs programs. Cloning it is cheap and gives the same one.
#[derive(Clone)]
pub struct Isolith {
    runner: Runner,
    grants: Arc<[Grant]>,
    limits: Limits,
    means: Arc<Means>,
    data: Option<DataFolder>,
    in_memory: workspace::InMemory,
}

/// A program that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Everything about it.
    pub outcome: Outcome,
}

/// A program did not return, and this is how it failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: {}", error.name, error.message)]
pub struct NotOk {
    /// Its error.
    pub error: Box<ProgramError>,
}

/// Why there is no outcome. Not the program's fault.
#[derive(Debug, thiserror::Error)]
pub enum RunFailed {
    /// It cannot be run like this, or not now.
    #[error(transparent)]
    Run(#[from] isolith_runner::RunError),
    /// A grant cannot be used.
    #[error("{0}")]
    Grant(String),
    /// It ran, and what it did could not be written down.
    #[error("the audit cannot be written: {0}")]
    Audit(String),
}

impl Isolith {
    /// With nothing granted, until something is.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Runs a program, or a [`Job`], to its end.
    pub async fn run(&self, job: impl Into<Job>) -> Result<Ran, RunFailed> {
        let Job { source, name, language, input, seed, time, limits, on_output, cancel } = job.into();
        let id = RunId(uuid::Uuid::now_v7().to_string());
        let limits = limits.unwrap_or(self.limits);
        let identity = Identity { run: id.clone(), program: Digest::of(&source).to_string() };
        let mut plan = Plan::new(source, name);
        (plan.id, plan.limits, plan.grants) = (Some(id), limits, Arc::clone(&self.grants));
        (plan.language, plan.input, plan.seed, plan.time) = (language, input, seed, time);
        let gate =
            Gate::new(Arc::clone(&self.grants), limits, identity, Arc::clone(&self.means)).map_err(RunFailed::Grant)?;
        let sink: Arc<dyn OutputSink> = Arc::new(Heard(on_output));
        let mut attend = Attend::new(Arc::new(gate) as Arc<dyn Host>, sink);
        attend.cancel = cancel;
        let ended = self.runner.run(plan, attend).await?;
        if let Some(audit) = &self.means.audit
            && !ended.outcome.calls.is_empty()
        {
            audit.flush().await.map_err(RunFailed::Audit)?;
        }
        Ok(Ran { outcome: ended.outcome })
    }
}

impl Ran {
    /// What it returned: null for nothing.
    pub fn value(&self) -> Result<Value, NotOk> {
        if let Some(error) = &self.outcome.error {
            return Err(NotOk { error: Box::new(error.clone()) });
        }
        Ok(self.outcome.value.as_ref().and_then(|json| json.parse().ok()).unwrap_or(Value::Null))
    }

    /// How it failed, if it did.
    pub fn error(&self) -> Option<&ProgramError> {
        self.outcome.error.as_ref()
    }
}

/// Passes output on as it comes.
struct Heard(Option<job::OnOutput>);

impl OutputSink for Heard {
    fn write(&self, stream: Stream, text: String, _: Timestamp) {
        if let Some(hear) = &self.0 {
            hear(stream, &text);
        }
    }
}
