//! What runs programs: the engine that every run has unless it asks for another.

use crate::error::Refusal;
use crate::runs::Runs;
use axum::http::StatusCode;
use isolith_core::{EngineChoice, Grant, Housing, Isolation, Rule};
use isolith_runner::{Plan, Runner};
use std::sync::Arc;

/// The engines of a machine, besides the one that starts in microseconds.
pub trait Engines: Send + Sync {
    /// What runs programs in such a housing, or why there is nothing that does. It may take a while the first time, and is called where
    /// that holds nobody up.
    fn runner(&self, housing: Housing) -> Result<Runner, String>;
}

/// Where a run is, and what that means for it.
pub(crate) struct Placed {
    pub(crate) runner: Runner,
    pub(crate) housing: Housing,
}

impl Placed {
    /// Whether the run can be taken out of memory when someone has to be asked.
    pub(crate) fn can_leave(&self) -> bool {
        self.housing.engine() != EngineChoice::V8
    }

    /// Says whether a run has to be able to leave memory. `comes_back` says that its client answers calls in requests of their own.
    pub(crate) fn bind(&self, plan: &mut Plan, comes_back: bool, others: bool) {
        let asks = plan.grants.iter().any(|grant| grant.rule == Rule::Ask);
        // Who brings a tool may want someone to be asked about it. In V8 that is refused when it comes to it.
        let owners = others && self.can_leave() && plan.grants.iter().any(is_others);
        plan.must_suspend = comes_back || asks || owners;
    }
}

fn is_others(grant: &Grant) -> bool {
    matches!(&grant.power, isolith_core::Power::Tool(tool) if !tool.is_embedders())
}

impl Runs {
    /// What a run in this housing is run by.
    pub(crate) async fn placed(&self, housing: Housing) -> Result<Placed, Refusal> {
        if housing.engine() == EngineChoice::Quickjs && housing.isolation == Isolation::None {
            return Ok(Placed { runner: self.runner.clone(), housing });
        }
        let missing = |why: String| Refusal::new(StatusCode::BAD_REQUEST, "engine.missing", why).at("engine");
        let Some(engines) = self.engines.clone() else { return Err(missing("there is one engine here".into())) };
        let found = tokio::task::spawn_blocking(move || engines.runner(housing)).await;
        let found = found.map_err(|error| Refusal::internal("starting an engine", &error))?;
        let runner = found.map_err(|why| missing(why).hint("`isolith engine list` says what is there"))?;
        Ok(Placed { runner, housing })
    }
}

/// The engines of a server, where it has more than one.
pub(crate) type Others = Option<Arc<dyn Engines>>;
