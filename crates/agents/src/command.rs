//! Any program as an agent: the prompt in, text or JSON out. There is no shell in between.

pub(crate) mod process;
mod program;

pub(crate) use program::{Heard, Program};

use crate::attempts::{Answer, Answers, Ask, Terms};
use crate::{Agent, AgentError, CommandConfig, Progress, PromptBy, Reply, Request, Step};
use isolith_core::BoxFuture;
use std::path::Path;
use std::sync::Arc;

const PROMPT: &str = "{prompt}";
const MODEL: &str = "{model}";

/// A program that an operator named.
pub(crate) struct Command {
    terms: Terms,
    program: Program,
    args: Vec<String>,
    prompt: PromptBy,
}

impl Command {
    pub(crate) fn new(name: &str, config: CommandConfig, folder: &Path) -> Command {
        let CommandConfig { program, args, prompt, env, cwd, model, timeout, repairs } = config;
        let terms = Terms { name: name.to_owned(), model, repairs, limit: timeout };
        Command { terms, program: Program::new(name, &program, env, cwd.as_deref(), folder), args, prompt }
    }

    fn arguments(&self, ask: &Ask<'_>) -> Vec<String> {
        let model = ask.model.unwrap_or_default();
        let fill = |arg: &String| match arg.as_str() {
            PROMPT => argument(ask.prompt),
            // What the model's name brings is not looked through again, and has no braces anyway.
            _ => arg.replace(MODEL, model).replace(PROMPT, ask.prompt),
        };
        let mut arguments: Vec<String> = self.args.iter().map(fill).collect();
        if self.prompt == PromptBy::Last {
            arguments.push(argument(ask.prompt));
        }
        arguments
    }
}

// THREAT[T-AGENT-001]: a prompt that begins with a dash would be an option, and options are the operator's.
/// A prompt as an argument of its own.
pub(crate) fn argument(prompt: &str) -> String {
    if prompt.starts_with('-') { format!(" {prompt}") } else { prompt.to_owned() }
}

impl Agent for Command {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move {
            if request.model.is_some() && !self.args.iter().any(|arg| arg.contains(MODEL)) {
                let message = format!("`{}` takes no model: its arguments have no `{MODEL}`", self.terms.name);
                progress.report(Step::Note { message });
            }
            self.terms.run(self, &request, &progress).await
        })
    }
}

impl Answers for Command {
    fn takes_schema(&self) -> bool {
        false
    }

    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>> {
        Box::pin(async move {
            let input = if self.prompt == PromptBy::Stdin { ask.prompt } else { "" };
            let Heard { stdout, failure } = self.program.run(self.arguments(&ask), input, ask.folder, |_| ()).await?;
            match failure {
                Some(cause) => Err(AgentError::failed(&self.terms.name, cause)),
                // A program ends its last line; that is not part of what it says.
                None => Ok(Answer { text: stdout.trim_end_matches(['\n', '\r']).to_owned(), ..Answer::default() }),
            }
        })
    }
}
