//! Who brings the tools of a namespace: `[tools.github]` in a manifest, or an entry of `.mcp.json`.

use crate::fields::{Fields, FieldsError, one_or_many};
use crate::grant::ToolPattern;
use crate::{BindingName, Grant, Rule};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How many there may be.
const UPSTREAMS_MAX: usize = 64;
/// How long a call may take unless it is said.
const TIMEOUT_MS: u64 = 60_000;
/// How long it may be said to take.
const TIMEOUT_MS_MAX: u64 = 24 * 3600 * 1000;
/// The name that no namespace has: what tells about all of them goes by it.
const RESERVED: &str = "tools";

/// Who brings the tools of a namespace, and what is said about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Where they come from.
    pub source: UpstreamSource,
    /// Which of them may be called without asking: names, or beginnings of names with a star.
    pub allow: Vec<String>,
    /// Which of them someone has to be asked about.
    pub ask: Vec<String>,
    /// Which of them are not there for anyone.
    pub deny: Vec<String>,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u64,
    /// What they are for.
    pub description: Option<String>,
}

/// Where the tools of a namespace come from. Texts may hold `${env:NAME}`, `${file:PATH}` and `${secret:NAME}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamSource {
    /// An MCP server that is started: `command = ["npx", "-y", "server"]`, `env = { TOKEN = "${env:GH_TOKEN}" }`, `cwd`.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables it gets.
        env: BTreeMap<String, String>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// An MCP server over HTTP: `url`, `headers = { Authorization = "Bearer ${secret:NAME}" }`.
    Url {
        /// Where it is.
        url: String,
        /// What requests to it say.
        headers: BTreeMap<String, String>,
    },
    /// An OpenAPI description: `openapi = "petstore.yaml"` (a path or URL), `base`, `headers`, as above.
    OpenApi {
        /// Where the description is.
        openapi: String,
        /// Where the operations are, if it is not where the description says.
        base: Option<String>,
        /// What requests say.
        headers: BTreeMap<String, String>,
    },
}

impl Upstream {
    /// Tools from somewhere, about which nothing is said.
    pub fn new(source: UpstreamSource) -> Self {
        let (allow, ask, deny) = (Vec::new(), Vec::new(), Vec::new());
        Upstream { source, allow, ask, deny, timeout_ms: TIMEOUT_MS, description: None }
    }

    fn from_value(value: &Value, at: &str) -> Result<Upstream, FieldsError> {
        let mut fields = Fields::of(value, at)?;
        let said = ["command", "url", "openapi"].into_iter().filter(|key| fields.has(key)).collect::<Vec<_>>();
        let source = match said.as_slice() {
            ["command"] => UpstreamSource::Command {
                command: command(&mut fields)?,
                env: table(&mut fields, "env", variable)?,
                cwd: fields.take("cwd")?,
            },
            ["url"] => {
                UpstreamSource::Url { url: url(&mut fields, "url")?, headers: table(&mut fields, "headers", header)? }
            }
            ["openapi"] => UpstreamSource::OpenApi {
                openapi: fields.need("openapi")?,
                base: if fields.has("base") { Some(url(&mut fields, "base")?) } else { fields.take("base")? },
                headers: table(&mut fields, "headers", header)?,
            },
            [] => {
                // A wrong name is more likely than a missing one.
                for key in ["command", "url", "openapi"] {
                    fields.raw(key);
                }
                let mistyped = fields.finish().err().filter(|error| error.message.contains("did you mean"));
                let message = "write one of `command`, `url` or `openapi`";
                return Err(mistyped.unwrap_or_else(|| FieldsError::new(at, message)));
            }
            several => {
                let message = format!("write only one of `{}`", several.join("` and `"));
                return Err(fields.wrong(several[1], message));
            }
        };
        let upstream = Upstream {
            source,
            allow: names(&mut fields, "allow")?,
            ask: names(&mut fields, "ask")?,
            deny: names(&mut fields, "deny")?,
            timeout_ms: timeout_ms(&mut fields)?,
            description: fields.take("description")?,
        };
        fields.finish()?;
        Ok(upstream)
    }

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| {
            // What is empty goes without saying.
            let empty = match &value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(table) => table.is_empty(),
                _ => false,
            };
            if !empty {
                out.insert(key.to_owned(), value);
            }
        };
        match &self.source {
            UpstreamSource::Command { command, env, cwd } => {
                put("command", json!(command));
                put("env", json!(env));
                put("cwd", json!(cwd));
            }
            UpstreamSource::Url { url, headers } => {
                put("url", json!(url));
                put("headers", json!(headers));
            }
            UpstreamSource::OpenApi { openapi, base, headers } => {
                put("openapi", json!(openapi));
                put("base", json!(base));
                put("headers", json!(headers));
            }
        }
        put("allow", json!(self.allow));
        put("ask", json!(self.ask));
        put("deny", json!(self.deny));
        put("timeout", json!(format!("{}ms", self.timeout_ms)));
        put("description", json!(self.description));
        Value::Object(out)
    }
}

/// Reads the `tools` of a manifest.
pub(super) fn upstreams(fields: &mut Fields<'_>) -> Result<BTreeMap<BindingName, Upstream>, FieldsError> {
    let Some((value, at)) = fields.raw("tools") else { return Ok(BTreeMap::new()) };
    let Value::Object(table) = value else {
        return Err(FieldsError::new(&at, "write a table for each namespace: `[tools.github]`"));
    };
    let mut all = BTreeMap::new();
    for (name, value) in table {
        let at = format!("{at}.{name}");
        let namespace = namespace(name).map_err(|error| FieldsError::new(&at, error))?;
        all.insert(namespace, Upstream::from_value(value, &at)?);
    }
    bounded(all, &at)
}

/// The table that [`upstreams`] reads.
pub(super) fn to_value(all: &BTreeMap<BindingName, Upstream>) -> Value {
    all.iter().map(|(name, upstream)| (name.to_string(), upstream.to_value())).collect::<Map<_, _>>().into()
}

/// The grants that go without saying: all of a namespace that is brought, unless some of it is granted in so many words.
pub(super) fn implied(all: &BTreeMap<BindingName, Upstream>, grants: &[Grant]) -> Vec<Grant> {
    let named = |namespace: &BindingName| {
        grants.iter().any(|grant| {
            let of = |pattern: &ToolPattern| pattern.namespace() == Some(namespace.as_str());
            grant.rule != Rule::Deny && matches!(&grant.power, crate::Power::Tool(tool) if of(&tool.name))
        })
    };
    all.keys().filter(|name| !named(name)).map(|name| Grant::tool(ToolPattern::all_of(name.clone()))).collect()
}

/// Reads `.mcp.json` as it is: `{"mcpServers": {"name": {"command", "args", "env", "cwd"} or {"url", "headers"}}}`.
///
/// Its other keys are someone else's. Names become identifiers: `my-server` is `my_server`. `${NAME}` there means a variable of
/// the environment, which is `${env:NAME}` here.
pub fn from_mcp_servers(value: &Value) -> Result<BTreeMap<BindingName, Upstream>, FieldsError> {
    const KEY: &str = "mcpServers";
    let servers = match value.get(KEY) {
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(FieldsError::new(KEY, "write a table")),
        None => return Err(FieldsError::new("", format!("`{KEY}` is missing"))),
    };
    let mut all = BTreeMap::new();
    for (name, value) in servers {
        let at = format!("{KEY}.{name}");
        let own = namespace(&identifier(name)).map_err(|error| FieldsError::new(&at, error))?;
        let upstream = Upstream::new(server(value, &at)?);
        if all.insert(own.clone(), upstream).is_some() {
            return Err(FieldsError::new(&at, format!("two servers would be called `{own}` in a program")));
        }
    }
    bounded(all, KEY)
}

fn server(value: &Value, at: &str) -> Result<UpstreamSource, FieldsError> {
    let mut fields = Fields::of(value, at)?;
    let plain = |table: BTreeMap<String, String>| table.into_iter().map(|(k, v)| (k, of_environment(&v))).collect();
    if fields.has("url") {
        let headers = table(&mut fields, "headers", header)?;
        return Ok(UpstreamSource::Url { url: of_environment(&url(&mut fields, "url")?), headers: plain(headers) });
    }
    if !fields.has("command") {
        return Err(FieldsError::new(at, "a server has a `command` or a `url`"));
    }
    let mut line: Vec<String> = command(&mut fields)?;
    line.extend(fields.take::<Vec<String>>("args")?.unwrap_or_default());
    let env = table(&mut fields, "env", variable)?;
    let command = line.iter().map(|word| of_environment(word)).collect();
    Ok(UpstreamSource::Command { command, env: plain(env), cwd: fields.take("cwd")? })
}

fn bounded<T>(all: BTreeMap<BindingName, T>, at: &str) -> Result<BTreeMap<BindingName, T>, FieldsError> {
    match all.len() {
        0..=UPSTREAMS_MAX => Ok(all),
        _ => Err(FieldsError::new(at, format!("there are at most {UPSTREAMS_MAX} namespaces"))),
    }
}

fn namespace(name: &str) -> Result<BindingName, String> {
    match BindingName::new(name) {
        Ok(name) if name.as_str() == RESERVED => Err(format!("`{RESERVED}` cannot be a namespace of tools")),
        Ok(name) => Ok(name),
        Err(error) => Err(error.to_string()),
    }
}

/// The identifier that is most like a name.
fn identifier(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
    let name: String = name.chars().map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// `${NAME}` as `${env:NAME}`; all else as it is.
fn of_environment(text: &str) -> String {
    let mut pieces = text.split("${");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece.split_once('}').map_or("", |(name, _)| name);
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        out.push_str(if plain { "${env:" } else { "${" });
        out.push_str(piece);
    }
    out
}

fn command(fields: &mut Fields<'_>) -> Result<Vec<String>, FieldsError> {
    let command: Vec<String> = fields.take_with("command", one_or_many)?.unwrap_or_default();
    match command.first() {
        Some(program) if !program.trim().is_empty() => Ok(command),
        _ => Err(fields.wrong("command", "name the program, then its arguments")),
    }
}

fn url(fields: &mut Fields<'_>, key: &str) -> Result<String, FieldsError> {
    let url: String = fields.need(key)?;
    // What begins with something that is filled in later is looked at then.
    let known = ["https://", "http://", "${"].iter().any(|start| url.len() > start.len() && url.starts_with(start));
    if known { Ok(url) } else { Err(fields.wrong(key, "write a URL that starts with `https://` or `http://`")) }
}

/// A table of texts whose keys are checked.
fn table(
    fields: &mut Fields<'_>,
    key: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<BTreeMap<String, String>, FieldsError> {
    let all: BTreeMap<String, String> = fields.take(key)?.unwrap_or_default();
    for name in all.keys() {
        check(name).map_err(|error| fields.wrong(key, format!("`{name}`: {error}")))?;
    }
    Ok(all)
}

fn variable(name: &str) -> Result<(), String> {
    let ok = !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_control());
    if ok { Ok(()) } else { Err("this cannot be the name of a variable".into()) }
}

fn header(name: &str) -> Result<(), String> {
    crate::headers::check_name(&name.to_ascii_lowercase())
}

/// Names of functions, or beginnings of names with a star.
fn names(fields: &mut Fields<'_>, key: &str) -> Result<Vec<String>, FieldsError> {
    let names: Vec<String> = fields.take_with(key, one_or_many)?.unwrap_or_default();
    for name in &names {
        let beginning = name.strip_suffix('*').unwrap_or(name);
        if name.is_empty() || beginning.contains(|c: char| c == '*' || c.is_whitespace() || c.is_control()) {
            let message = format!("`{name}` names no tool: write `create_issue`, `create_*` or `*`");
            return Err(fields.wrong(key, message));
        }
    }
    Ok(names)
}

fn timeout_ms(fields: &mut Fields<'_>) -> Result<u64, FieldsError> {
    match fields.duration("timeout")?.map(|timeout| u64::try_from(timeout.as_millis())) {
        None => Ok(TIMEOUT_MS),
        Some(Ok(ms)) if (1..=TIMEOUT_MS_MAX).contains(&ms) => Ok(ms),
        Some(_) => Err(fields.wrong("timeout", "write a time from `1ms` to `24h`")),
    }
}
