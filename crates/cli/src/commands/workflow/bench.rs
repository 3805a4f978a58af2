//! Where agents that work in sessions have their programs run.

use crate::commands::session;
use crate::terminal::Nowhere;
use isolith_agents::Workshop;
use isolith_core::{BoxFuture, Grant, RunId, SessionName};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use isolith_runner::{Attend, Plan, Runner};
use std::sync::Arc;

/// Runs programs in sessions of this user, with their files and keys and nothing else.
pub(super) struct Bench {
    pub(super) runner: Runner,
}

impl Workshop for Bench {
    fn run<'a>(&'a self, session: &'a str, program: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let name = SessionName::new(session).map_err(|error| error.to_string())?;
            let woken = session::open().and_then(|store| session::wake(&store, &name));
            let woken = woken.map_err(|failure| failure.to_string())?;
            let grants: Arc<[Grant]> = woken.own_grants(&[]).into();
            let mut plan = Plan::new(program, "program.ts");
            let run = RunId(uuid::Uuid::now_v7().to_string());
            (plan.id, plan.grants) = (Some(run.clone()), Arc::clone(&grants));
            let mut load = |path: &str| isolith_workspace::module_text(&*woken.open.files, &grants, path);
            if let Err(error) = plan.find_modules(&mut load) {
                return Ok(error.render());
            }
            let net = Net::new(NetOptions { proxy: None, ca: None }).map_err(|error| error.to_string())?;
            let mut means = Means::new(Arc::new(net), std::path::PathBuf::from("/nonexistent"));
            means.tree = Some(Arc::clone(&woken.open.files));
            means.kv = Some(Arc::clone(&woken.open.keys));
            let identity = Identity { run, program: plan.digest().to_string() };
            let gate = Gate::new(grants, plan.limits, identity, means)?;
            let ended = self.runner.run(plan, Attend::new(Arc::new(gate), Arc::new(Nowhere))).await;
            let outcome = ended.map_err(|error| error.to_string())?.outcome;
            let mut told: Vec<String> = outcome.outputs.iter().map(|output| output.text.clone()).collect();
            told.push(match (&outcome.error, &outcome.value) {
                (Some(error), _) => format!("it failed: {}: {}", error.name, error.message),
                (None, Some(value)) => format!("it returned {}", value.text()),
                (None, None) => "it returned nothing".into(),
            });
            Ok(told.join("\n"))
        })
    }
}
