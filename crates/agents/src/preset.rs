//! Coding agents that are known: how they are started, and how they say what they did.

mod claude;
mod codex;
mod copilot;

use crate::attempts::{Answer, Answers, Ask, Terms};
use crate::command::{Heard, Program, argument};
use crate::words::said;
use crate::{Agent, AgentError, PresetConfig, Progress, Reply, Request, Step};
use isolith_core::{BoxFuture, Json};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::NamedTempFile;

/// Which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Claude,
    Codex,
    Copilot,
}

/// A coding agent that an operator set up.
pub(crate) struct Preset {
    terms: Terms,
    tool: Tool,
    program: Program,
    args: Vec<String>,
    /// Whether it asks nobody. It is the operator's to say, and off unless it is said.
    skips_permissions: bool,
}

/// Listens to the lines that an agent prints. Lines that it does not know are nothing.
trait Listener: Send {
    /// A line that is JSON, as it is and as it was written.
    fn line(&mut self, line: &Value, written: &str, progress: &dyn Progress);

    /// What it came to, or what went wrong.
    fn answer(self: Box<Self>) -> Result<Answer, String>;
}

impl Preset {
    pub(crate) fn new(name: &str, tool: Tool, config: PresetConfig, folder: &Path) -> Preset {
        let PresetConfig { program, args, env, cwd, model, timeout, repairs, unsafe_skip_permissions } = config;
        let terms = Terms { name: name.to_owned(), model, repairs, limit: timeout };
        let program = Program::new(name, &program, env, cwd.as_deref(), folder);
        Preset { terms, tool, program, args, skips_permissions: unsafe_skip_permissions }
    }

    /// Its arguments, and what it reads from its stdin. `file` holds the schema.
    fn arguments<'a>(&self, ask: &Ask<'a>, file: Option<&NamedTempFile>) -> (Vec<String>, &'a str) {
        let folder = ask.folder.unwrap_or(self.program.folder()).to_string_lossy().into_owned();
        let mut args: Vec<String> = Vec::new();
        let mut add = |more: &[&str]| args.extend(more.iter().map(|arg| (*arg).to_owned()));
        // Prompts go by stdin where that works: what is in arguments is shown to everyone on the machine, and may not be long.
        let input = match self.tool {
            Tool::Claude => {
                add(&["-p", "--output-format", "stream-json", "--verbose", "--add-dir", &folder]);
                if self.skips_permissions {
                    add(&["--dangerously-skip-permissions"]);
                }
                if let Some(schema) = ask.schema {
                    add(&["--json-schema", schema.text()]);
                }
                ask.model.iter().for_each(|model| add(&["--model", model]));
                ask.prompt
            }
            Tool::Codex => {
                add(&["exec", "--json", "--skip-git-repo-check", "-C", &folder]);
                if self.skips_permissions {
                    add(&["--dangerously-bypass-approvals-and-sandbox"]);
                }
                if let Some(file) = file {
                    add(&["--output-schema", &file.path().to_string_lossy()]);
                }
                ask.model.iter().for_each(|model| add(&["-m", model]));
                ask.prompt
            }
            Tool::Copilot => {
                add(&["-p", &argument(ask.prompt), "--output-format", "json", "--no-ask-user", "--silent"]);
                add(&["-C", &folder]);
                if self.skips_permissions {
                    add(&["--allow-all-tools"]);
                }
                ask.model.iter().for_each(|model| add(&["--model", model]));
                ""
            }
        };
        args.extend(self.args.iter().cloned());
        if self.tool == Tool::Codex {
            // The prompt is on its stdin.
            args.push("-".into());
        }
        (args, input)
    }

    fn listener(&self) -> Box<dyn Listener> {
        match self.tool {
            Tool::Claude => Box::<claude::Claude>::default(),
            Tool::Codex => Box::<codex::Codex>::default(),
            Tool::Copilot => Box::<copilot::Copilot>::default(),
        }
    }

    async fn answer(&self, ask: Ask<'_>) -> Result<Answer, AgentError> {
        let failed = |cause: String| AgentError::failed(&self.terms.name, cause);
        let wanted = ask.schema.filter(|_| self.tool == Tool::Codex);
        let file = wanted.map(written).transpose();
        let file = file.map_err(|error| failed(format!("the schema could not be written down: {}", error.kind())))?;
        let (args, input) = self.arguments(&ask, file.as_ref());
        let mut listener = self.listener();
        let heard = self.program.run(args, input, ask.folder, |written| {
            if let Ok(line) = serde_json::from_str::<Value>(written) {
                listener.line(&line, written, ask.progress);
            }
        });
        let Heard { failure, .. } = heard.await?;
        match (listener.answer(), failure) {
            (Ok(answer), None) => Ok(answer),
            // What it says went wrong tells more than how it ended.
            (Err(cause), None) => Err(failed(said(&cause))),
            (Ok(_), Some(failure)) => Err(failed(failure)),
            (Err(cause), Some(failure)) => Err(failed(format!("{failure} ({})", said(&cause)))),
        }
    }
}

impl Agent for Preset {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move {
            if let Some(role) = &request.agent_type {
                let message = format!("`{}` is not given the agent type `{}`", self.terms.name, said(role));
                progress.report(Step::Note { message });
            }
            self.terms.run(self, &request, &progress).await
        })
    }
}

impl Answers for Preset {
    fn takes_schema(&self) -> bool {
        self.tool != Tool::Copilot
    }

    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>> {
        Box::pin(self.answer(ask))
    }
}

/// A schema as a file, which goes with what is returned.
fn written(schema: &Json) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("isolith-schema-").suffix(".json").tempfile()?;
    file.write_all(schema.text().as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// A text of a line.
fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// A number of a line.
fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// The sum of some numbers of a line, if any is there.
fn sum(value: &Value, pointers: &[&str]) -> Option<u64> {
    let found: Vec<u64> = pointers.iter().filter_map(|pointer| count(value, pointer)).collect();
    (!found.is_empty()).then(|| found.iter().fold(0, |all: u64, one| all.saturating_add(*one)))
}

fn tell_text(progress: &dyn Progress, text: &str) {
    if !text.trim().is_empty() {
        progress.report(Step::Text { text: said(text) });
    }
}

fn tell_tool(progress: &dyn Progress, name: &str) {
    progress.report(Step::Tool { name: said(name) });
}
