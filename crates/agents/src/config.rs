//! `[agents.<name>]`: who can be asked, as an operator writes it.

mod table;

use isolith_core::{FieldsError, SecretName, SecretSource};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use table::Table;

/// How many there may be.
const AGENTS_MAX: usize = 64;
/// How long a request may take unless it is said.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long it may be said to take.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);
const REPAIRS: u32 = 2;
const RETRIES: u32 = 4;
/// How often either may be said to be done.
const AGAIN_MAX: u32 = 10;
const TOKENS_MAX: u32 = 1_000_000;
const DEFAULT: &str = "default";
const KINDS: [&str; 8] = ["command", "claude", "codex", "copilot", "anthropic", "openai", "session", "mock"];
/// How many programs one request may run in a session.
const TURNS_MAX: u32 = 64;
const TURNS: u32 = 16;
const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-6";
const ANTHROPIC_TOKENS: u32 = 4096;
const OPENAI_URL: &str = "https://api.openai.com/v1";

/// The agents of an operator: a table for each, and `default` for which of them is asked when nobody says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct AgentsConfig {
    /// Who is asked when a request names nobody, or nobody who is there.
    pub default: Option<String>,
    /// All of them.
    pub agents: BTreeMap<String, AgentConfig>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentConfig {
    /// `kind = "command"`: any program.
    Command(CommandConfig),
    /// `kind = "claude"`: Claude Code.
    Claude(PresetConfig),
    /// `kind = "codex"`: Codex.
    Codex(PresetConfig),
    /// `kind = "copilot"`: Copilot.
    Copilot(PresetConfig),
    /// `kind = "anthropic"`: the Messages API.
    Anthropic(ApiConfig),
    /// `kind = "openai"`: the Chat Completions API, of whoever offers it.
    Openai(ApiConfig),
    /// `kind = "session"`: another agent, with a session to work in.
    Session(SessionConfig),
    /// `kind = "mock"`: see [`crate::Mock`].
    Mock,
}

/// How a program gets the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptBy {
    /// On its stdin.
    Stdin,
    /// As its last argument.
    Last,
    /// Wherever its arguments say `{prompt}`.
    Place,
}

/// A program that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandConfig {
    /// What is started: a name that is looked for in `PATH`, or a path from the operator's folder.
    pub program: String,
    /// Its arguments; `{prompt}` and `{model}` are filled in. There is no shell.
    pub args: Vec<String>,
    /// How it gets the prompt.
    pub prompt: PromptBy,
    /// The variables it gets besides the few that every program does.
    pub env: Vec<String>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// What `{model}` is unless the author says otherwise.
    pub model: Option<String>,
    /// How long a request may take, attempts included.
    pub timeout: Duration,
    /// How often an answer is asked for again that is not what the schema says.
    pub repairs: u32,
}

/// A coding agent that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetConfig {
    /// What is started, if not what it is usually called.
    pub program: String,
    /// Arguments besides those that are known.
    pub args: Vec<String>,
    /// The variables it gets besides the few that every program does.
    pub env: Vec<String>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// The model unless the author says otherwise.
    pub model: Option<String>,
    /// How long a request may take, attempts included.
    pub timeout: Duration,
    /// How often an answer is asked for again that is not what the schema says.
    pub repairs: u32,
    /// It asks nobody before it does anything at all. Prompts come from workflows, and what they read from anywhere.
    pub unsafe_skip_permissions: bool,
}

/// An agent that works in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// Which session: its files and keys.
    pub session: String,
    /// The agent that thinks.
    pub agent: String,
    /// How many programs one request may run.
    pub turns: u32,
}

impl SessionConfig {
    fn read(table: &mut Table<'_>) -> Result<SessionConfig, FieldsError> {
        let session = table.text("session")?.ok_or_else(|| table.missing("session"))?;
        let agent = table.text("agent")?.ok_or_else(|| table.missing("agent"))?;
        Ok(SessionConfig { session, agent, turns: table.count("turns", 1..=TURNS_MAX)?.unwrap_or(TURNS) })
    }
}

/// A model behind an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiConfig {
    /// Where it is.
    pub url: String,
    /// The key, which is read when it is needed.
    pub key: Option<SecretSource>,
    /// The model unless the author says otherwise.
    pub model: Option<String>,
    /// How much it may write.
    pub max_tokens: Option<u32>,
    /// How long a request may take, attempts included.
    pub timeout: Duration,
    /// How often an answer is asked for again that is not what the schema says.
    pub repairs: u32,
    /// How often a request is sent again that the server had no time for.
    pub retries: u32,
}

impl TryFrom<Map<String, Value>> for AgentsConfig {
    type Error = FieldsError;

    fn try_from(written: Map<String, Value>) -> Result<AgentsConfig, FieldsError> {
        let mut config = AgentsConfig::default();
        for (name, value) in &written {
            if name == DEFAULT {
                let text = value.as_str().ok_or_else(|| wrong(DEFAULT, "write the name of an agent"))?;
                config.default = Some(text.to_owned());
                continue;
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(wrong(name, "a name has letters, digits, `-`, `_` and `.`"));
            }
            config.agents.insert(name.clone(), AgentConfig::read(name, value)?);
        }
        if config.agents.len() > AGENTS_MAX {
            return Err(wrong("", format!("there are at most {AGENTS_MAX} agents")));
        }
        for (name, agent) in &config.agents {
            let AgentConfig::Session(session) = agent else { continue };
            match config.agents.get(&session.agent) {
                Some(AgentConfig::Session(_)) => {
                    return Err(wrong(name, "`agent` names one that works in a session itself"));
                }
                Some(_) => {}
                None => {
                    let known = config.agents.keys().map(String::as_str);
                    return Err(wrong(name, unknown("agent", &session.agent, known)));
                }
            }
        }
        if let Some(default) = config.default.as_ref().filter(|default| !config.agents.contains_key(*default)) {
            let known = config.agents.keys().map(String::as_str);
            return Err(wrong(DEFAULT, unknown("agent", default, known)));
        }
        Ok(config)
    }
}

impl AgentConfig {
    fn read(name: &str, value: &Value) -> Result<AgentConfig, FieldsError> {
        let mut table = Table::of(value, name)?;
        // What is called by the name of a kind is of that kind.
        let kind = match table.text("kind")? {
            Some(kind) => kind,
            None if KINDS.contains(&name) => name.to_owned(),
            None => return Err(wrong(name, format!("`kind` is missing: write one of {}", listed(KINDS)))),
        };
        let config = match kind.as_str() {
            "command" => AgentConfig::Command(CommandConfig::read(&mut table)?),
            "claude" => AgentConfig::Claude(PresetConfig::read(&mut table, "claude")?),
            "codex" => AgentConfig::Codex(PresetConfig::read(&mut table, "codex")?),
            "copilot" => AgentConfig::Copilot(PresetConfig::read(&mut table, "copilot")?),
            "anthropic" => {
                let mut api = ApiConfig::read(&mut table, ANTHROPIC_URL)?;
                api.model.get_or_insert_with(|| ANTHROPIC_MODEL.to_owned());
                api.max_tokens.get_or_insert(ANTHROPIC_TOKENS);
                AgentConfig::Anthropic(api)
            }
            "openai" => AgentConfig::Openai(ApiConfig::read(&mut table, OPENAI_URL)?),
            "session" => AgentConfig::Session(SessionConfig::read(&mut table)?),
            "mock" => AgentConfig::Mock,
            other => return Err(table.wrong("kind", unknown("kind", other, KINDS))),
        };
        table.finish()?;
        Ok(config)
    }
}

impl CommandConfig {
    fn read(table: &mut Table<'_>) -> Result<CommandConfig, FieldsError> {
        let program = program(table, None)?;
        let args = table.texts("args")?;
        let placed = args.iter().any(|arg| arg.contains("{prompt}"));
        let prompt = match table.text("prompt")?.as_deref() {
            None if placed => PromptBy::Place,
            Some(_) if placed => return Err(table.wrong("prompt", "`args` already say where: `{prompt}`")),
            None | Some("stdin") => PromptBy::Stdin,
            Some("last") => PromptBy::Last,
            Some(_) => return Err(table.wrong("prompt", "write `stdin` or `last`, or `{prompt}` in `args`")),
        };
        Ok(CommandConfig {
            program,
            args,
            prompt,
            env: variables(table)?,
            cwd: table.text("cwd")?.map(PathBuf::from),
            model: model(table)?,
            timeout: timeout(table)?,
            repairs: table.count("repairs", 0..=AGAIN_MAX)?.unwrap_or(REPAIRS),
        })
    }
}

impl PresetConfig {
    fn read(table: &mut Table<'_>, usual: &str) -> Result<PresetConfig, FieldsError> {
        Ok(PresetConfig {
            program: program(table, Some(usual))?,
            args: table.texts("args")?,
            env: variables(table)?,
            cwd: table.text("cwd")?.map(PathBuf::from),
            model: model(table)?,
            timeout: timeout(table)?,
            repairs: table.count("repairs", 0..=AGAIN_MAX)?.unwrap_or(REPAIRS),
            unsafe_skip_permissions: table.flag("unsafe_skip_permissions")?,
        })
    }
}

impl ApiConfig {
    fn read(table: &mut Table<'_>, usual: &str) -> Result<ApiConfig, FieldsError> {
        let url = table.text("url")?.unwrap_or_else(|| usual.to_owned());
        isolith_core::Target::parse(&url).map_err(|why| table.wrong("url", why.to_string()))?;
        let key = table.text("key")?.map(|key| secret(&key)).transpose();
        Ok(ApiConfig {
            url: url.trim_end_matches('/').to_owned(),
            key: key.map_err(|why| table.wrong("key", why))?,
            model: model(table)?,
            max_tokens: table.count("max_tokens", 1..=TOKENS_MAX)?,
            timeout: timeout(table)?,
            repairs: table.count("repairs", 0..=AGAIN_MAX)?.unwrap_or(REPAIRS),
            retries: table.count("retries", 0..=AGAIN_MAX)?.unwrap_or(RETRIES),
        })
    }
}

/// `env:NAME`, `file:PATH`, `command:…`, `store:NAME`, or the name of a secret in the store.
fn secret(written: &str) -> Result<SecretSource, String> {
    let named = match written.contains(':') {
        true => SecretSource::try_from(written.to_owned()).ok(),
        false => SecretName::new(written).ok().map(SecretSource::Store),
    };
    // Whoever writes the key itself is told so without it being repeated.
    named.ok_or_else(|| {
        "this names no secret: write `env:NAME`, `file:PATH`, `command:…` or the name of one in the store".to_owned()
    })
}

fn program(table: &mut Table<'_>, usual: Option<&str>) -> Result<String, FieldsError> {
    match table.text("program")?.or(usual.map(str::to_owned)) {
        Some(program) if program.trim().is_empty() => Err(table.wrong("program", "name the program")),
        Some(program) => Ok(program),
        None => Err(table.missing("program")),
    }
}

fn variables(table: &mut Table<'_>) -> Result<Vec<String>, FieldsError> {
    let names = table.texts("env")?;
    let odd = |name: &&String| name.is_empty() || name.contains(|c: char| c == '=' || c.is_control());
    match names.iter().find(odd) {
        Some(name) => Err(table.wrong("env", format!("`{name}` is not the name of a variable"))),
        None => Ok(names),
    }
}

fn model(table: &mut Table<'_>) -> Result<Option<String>, FieldsError> {
    let Some(model) = table.text("model")? else { return Ok(None) };
    crate::words::model(&model).map_err(|why| table.wrong("model", why))?;
    Ok(Some(model))
}

fn timeout(table: &mut Table<'_>) -> Result<Duration, FieldsError> {
    match table.duration("timeout")? {
        None => Ok(TIMEOUT),
        Some(timeout) if timeout >= Duration::from_millis(1) && timeout <= TIMEOUT_MAX => Ok(timeout),
        Some(_) => Err(table.wrong("timeout", "write a time from `1ms` to `24h`")),
    }
}

fn wrong(at: &str, message: impl Into<String>) -> FieldsError {
    FieldsError { at: at.to_owned(), message: message.into() }
}

fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn unknown<'a>(what: &str, word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match isolith_core::nearest(word, known.clone()) {
        Some(near) => format!("there is no {what} `{word}`: did you mean `{near}`?"),
        None => format!("there is no {what} `{word}`; there are {}", listed(known)),
    }
}

#[cfg(test)]
mod tests;
