//! Who the agents of a run are.

use super::worktree::InWorktrees;
use crate::args::Attended;
use crate::failure::Failure;
use crate::source;
use isolith_agents::{Agent, Agents, AgentsConfig, Setting};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The largest file about agents.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    agents: AgentsConfig,
}

/// The agents that a file names; those of this user; or the command-line agents that are known, each if it is there.
pub(super) fn crew(args: &Attended, harness: Option<&Value>, setting: &Setting) -> Result<Arc<dyn Agent>, Failure> {
    if args.mock {
        return Ok(Arc::new(Agents::mock()));
    }
    let wrong = |path: &PathBuf, error: &dyn std::fmt::Display| {
        Failure::usage(
            format!("`{}`: {error}", path.display()),
            "`[agents.NAME]` with `kind = \"claude\"`, `\"command\"`, `\"anthropic\"`, …",
        )
    };
    // THREAT[T-AGENT-005]: a file of the project would say which programs are run. Only one that is named, or the user's own, is read.
    let own = || {
        std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))
    };
    let own = || own().map(|folder| folder.join("isolith/agents.toml")).filter(|path| path.exists());
    let config = match args.agents.clone().or_else(own) {
        Some(path) => {
            let text = source::text(&path, FILE_BYTES_MAX)?;
            toml::from_str::<File>(&text).map_err(|error| wrong(&path, &error))?.agents
        }
        None => {
            let known = json!({ "default": "claude", "claude": { "kind": "claude" }, "codex": { "kind": "codex" }, "copilot": { "kind": "copilot" } });
            serde_json::from_value(known).map_err(|error| Failure::internal("setting up agents", &error))?
        }
    };
    let agents =
        Agents::of(config, setting).map_err(|error| Failure::usage(error, "see `isolith workflow run --help`"))?;
    let agents = match harness.and_then(Value::as_str) {
        Some(harness) => agents.prefer(harness),
        None => agents,
    };
    Ok(Arc::new(InWorktrees { agents, folder: setting.folder.clone() }))
}
