//! A program of an operator: where it runs, what it gets of our environment, and what is shown of what it says.

use super::process::{Ended, Failed, Job, STDOUT_BYTES_MAX};
use crate::AgentError;
use crate::words::{learn, said};
use isolith_gate::Redactor;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variables of ours that every program gets: where people and things are.
const VARIABLES: [&str; 14] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// A program, ready to be started as often as it is needed.
pub(crate) struct Program {
    name: String,
    program: PathBuf,
    env: Vec<String>,
    folder: PathBuf,
}

/// What a program that ended had to say, without the values of variables that it was given on purpose.
pub(crate) struct Heard {
    pub(crate) stdout: String,
    /// How it ended, if not well.
    pub(crate) failure: Option<String>,
}

impl Program {
    pub(crate) fn new(name: &str, program: &str, env: Vec<String>, cwd: Option<&Path>, folder: &Path) -> Program {
        // A path is from the operator's folder, wherever the program runs.
        let path = if program.contains('/') { folder.join(program) } else { program.into() };
        let folder = cwd.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd));
        Program { name: name.to_owned(), program: path, env, folder }
    }

    /// Where it runs, unless a request has a place of its own.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs it. `heard` gets each line of its stdout as it comes.
    pub(crate) async fn run(
        &self,
        args: Vec<String>,
        input: &str,
        folder: Option<&Path>,
        mut heard: impl FnMut(&str) + Send,
    ) -> Result<Heard, AgentError> {
        let (environment, redactor) = self.environment();
        let job = Job {
            program: self.program.clone(),
            args,
            environment,
            cwd: folder.unwrap_or(&self.folder).to_owned(),
            input: input.as_bytes().to_vec(),
        };
        let ended = job.run(|line| heard(&redactor.text(line))).await;
        let ended = ended.map_err(|error| AgentError::failed(&self.name, self.why(&error)))?;
        let failure = failure(&ended, &redactor);
        // THREAT[T-SECRET-005]: the program repeats a secret that it was given.
        let stdout = redactor.text(&String::from_utf8_lossy(&ended.stdout)).into_owned();
        Ok(Heard { stdout, failure })
    }

    // THREAT[T-TOOL-001]: an agent is reached with a workflow's prompts. The host's environment is full of credentials that
    // it has no use for, so it gets the few variables that make programs work, and those that the operator names.
    fn environment(&self) -> (Vec<(OsString, OsString)>, Redactor) {
        let redactor = Redactor::new();
        let value = |name: &str| std::env::var_os(name).map(|value| (OsString::from(name), value));
        let mut environment: Vec<_> = VARIABLES.iter().filter_map(|name| value(name)).collect();
        for name in self.env.iter().filter(|name| !VARIABLES.contains(&name.as_str())) {
            let Some(pair) = value(name) else { continue };
            if let Some(secret) = pair.1.to_str() {
                learn(&redactor, name, secret);
            }
            environment.push(pair);
        }
        (environment, redactor)
    }

    fn why(&self, error: &Failed) -> String {
        let program = self.program.display();
        match error {
            Failed::Start(error) => format!("`{program}` could not be started: {}", error.kind()),
            Failed::Io(error) => format!("`{program}` was lost: {}", error.kind()),
            Failed::TooLarge => format!("`{program}` printed more than {} MiB", STDOUT_BYTES_MAX >> 20),
        }
    }
}

fn failure(ended: &Ended, redactor: &Redactor) -> Option<String> {
    if ended.status.success() {
        return None;
    }
    let how = match ended.status.code() {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let said = said(&redactor.text(&String::from_utf8_lossy(&ended.stderr_tail)));
    Some(if said.is_empty() { how } else { format!("{how}: {said}") })
}
