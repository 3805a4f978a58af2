//! The body of a request for a run, read: every field is known, and every mistake is told with its place.

use crate::error::Refusal;
use crate::sessions::manifest_of;
use crate::trace::Trace;
use isolith_core::{
    BindingName, CallId, Grant, Json, Manifest, RunId, SessionName, ToolGrant, Woken, is_sessions_own, narrow,
    narrow_limits, nearest, quantity,
};
use isolith_runner::Language;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// What someone wants to be run.
pub(crate) struct Asked {
    pub(crate) run: Option<RunId>,
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) language: Language,
    pub(crate) input: Option<Json>,
    pub(crate) args: Vec<(BindingName, Json)>,
    /// Grants, limits, clock and chance, as in a manifest.
    pub(crate) manifest: Manifest,
    pub(crate) tools: Vec<ToolGrant>,
    pub(crate) seed: Option<u64>,
    pub(crate) wait: Option<Duration>,
    /// The session that it runs in.
    pub(crate) session: Option<SessionName>,
    /// What its spans belong to; no part of the body.
    pub(crate) trace: Option<Trace>,
}

const FIELDS: [&str; 18] = [
    "program",
    "code",
    "name",
    "language",
    "input",
    "args",
    "grants",
    "limits",
    "time",
    "random",
    "tools",
    "seed",
    "run",
    "wait",
    "session",
    "file",
    "engine",
    "isolation",
];
const RUN_CHARS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 200;
const TOOLS_MAX: usize = 1_000;

/// A JSON object with its values as the text they came as. A key that comes twice is a mistake: two readers could disagree.
pub(crate) struct Table(pub(crate) Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Table;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
                let mut table: Vec<(String, Json)> = Vec::new();
                while let Some(entry) = map.next_entry::<String, Json>()? {
                    table.push(entry);
                }
                // THREAT[T-SERVER-013]: a body of very many keys. Each is not held against all others: they are sorted once.
                let mut keys: Vec<&str> = table.iter().map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                match keys.windows(2).find(|pair| pair[0] == pair[1]) {
                    Some(pair) => Err(A::Error::custom(format_args!("`{}` is there twice", pair[0]))),
                    None => Ok(Table(table)),
                }
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Table {
    pub(crate) fn read(body: &[u8]) -> Result<Table, Refusal> {
        let text = std::str::from_utf8(body).map_err(|_| Refusal::invalid("the body is not UTF-8"))?;
        serde_json::from_str(text)
            .map_err(|error| Refusal::invalid(format!("the body is not what is expected: {error}")))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.swap_remove(at).1)
    }

    pub(crate) fn parse<T: serde::de::DeserializeOwned>(
        &mut self,
        key: &str,
        what: &str,
    ) -> Result<Option<T>, Refusal> {
        let Some(json) = self.take(key) else { return Ok(None) };
        json.parse().map(Some).map_err(|_| Refusal::invalid(format!("`{key}` is {what}")).at(key))
    }

    /// Refuses what nobody asked for, and names what was probably meant.
    pub(crate) fn finish(self, known: &[&str]) -> Result<(), Refusal> {
        let Some((key, _)) = self.0.into_iter().next() else { return Ok(()) };
        let refusal = Refusal::invalid(format!("there is no field `{key}`")).at(key.clone());
        Err(match nearest(&key, known.iter().copied()) {
            Some(near) => refusal.hint(format!("did you mean `{near}`?")),
            None => refusal.hint(format!("there are `{}`", known.join("`, `"))),
        })
    }
}

/// Reads a list of tables, each of which names a call of a run by its `id`.
pub(crate) fn about_calls(
    given: Option<Json>,
    field: &str,
    with: &str,
    most: usize,
) -> Result<Vec<(CallId, Table)>, Refusal> {
    let wrong = |message: String| Refusal::invalid(message).at(field);
    let given = given.ok_or_else(|| wrong(format!("`{field}` is missing")))?;
    let all: Vec<Table> =
        given.parse().map_err(|_| wrong(format!("`{field}` is a list of `{{\"id\", \"{with}\"}}`")))?;
    if all.is_empty() || all.len() > most {
        return Err(wrong(format!("`{field}` has at least one, and at most {most}")));
    }
    let mut read: Vec<(CallId, Table)> = Vec::with_capacity(all.len());
    for (n, mut table) in all.into_iter().enumerate() {
        let at = format!("{field}[{n}]");
        let id = table.parse::<u32>("id", "a call's number")?;
        let id = CallId(id.ok_or_else(|| Refusal::invalid("`id` is missing").at(&at))?);
        if read.iter().any(|(known, _)| *known == id) {
            return Err(Refusal::invalid(format!("call {} is answered twice", id.0)).at(at));
        }
        read.push((id, table));
    }
    Ok(read)
}

impl Asked {
    pub(crate) fn read(mut table: Table) -> Result<Asked, Refusal> {
        let program: Option<String> = table.parse("program", "the program's source, as text")?;
        let code: Option<String> = table.parse("code", "the program's source, as text")?;
        let source = match (program, code) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid("`program` and `code` are the same: give one").at("code"));
            }
            (Some(source), None) | (None, Some(source)) => Some(source),
            (None, None) => None,
        };
        let name: Option<String> = table.parse("name", "a text")?;
        let language = match table.parse::<String>("language", "a text")?.as_deref() {
            None | Some("auto") => Language::Auto,
            Some("javascript") => Language::JavaScript,
            Some("typescript") => Language::TypeScript,
            Some(_) => {
                return Err(Refusal::invalid("`language` is `auto`, `javascript` or `typescript`").at("language"));
            }
        };
        let input = table.take("input");
        let args = arguments(table.take("args"))?;
        let tools = tools(table.take("tools"))?;
        let manifest = manifest(&mut table)?;
        let seed = table.parse("seed", "a whole number of 64 bits")?;
        let run = table.parse("run", "a text")?.map(run_id).transpose()?;
        let wait = table.take("wait").map(|json| duration(&json, "wait")).transpose()?;
        let session = table.parse("session", "the name of a session")?.map(session).transpose()?;
        // A mistyped `program` is a field that is not known: that is said first, because it helps more.
        table.finish(&FIELDS)?;
        let Some(source) = source else { return Err(Refusal::invalid("`program` is missing").at("program")) };
        let name = name.unwrap_or_else(|| "program.ts".into());
        if name.is_empty()
            || name.chars().count() > NAME_CHARS_MAX
            || name.contains(|c: char| c.is_control() || c == '/')
        {
            return Err(Refusal::invalid("`name` is a file name, not a path").at("name"));
        }
        Ok(Asked { run, source, name, language, input, args, manifest, tools, seed, wait, session, trace: None })
    }

    /// What a session says: no more than its manifest has, and all of that where nothing is asked for.
    pub(crate) fn within(&mut self, session: &Woken) -> Result<(), Refusal> {
        let Some(manifest) = manifest_of(session)? else { return Ok(()) };
        let asked = std::mem::take(&mut self.manifest.grants);
        self.manifest.grants = match asked.is_empty() {
            true => manifest.grants,
            false => {
                let (own, others): (Vec<Grant>, Vec<Grant>) = asked.into_iter().partition(is_sessions_own);
                own.into_iter().chain(narrow(&manifest.grants, &others).grants).collect()
            }
        };
        self.manifest.limits = narrow_limits(&manifest.limits, &self.manifest.limits);
        self.manifest.ambient = manifest.ambient.and(self.manifest.ambient);
        let housing = self.manifest.housing.under(manifest.housing);
        self.manifest.housing = housing.map_err(|error| Refusal::invalid(error.to_string()).at("engine"))?;
        Ok(())
    }
}

/// The name of a session.
pub(crate) fn session(text: String) -> Result<SessionName, Refusal> {
    SessionName::new(&text).map_err(|error| Refusal::invalid(error.to_string()).at("session"))
}

/// A name of a run. Nothing in it means anything to a path, a URL or a log.
pub(crate) fn run_id(text: String) -> Result<RunId, Refusal> {
    let fits = (1..=RUN_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !fits {
        let message = format!("`run` is 1 to {RUN_CHARS_MAX} of A-Z, a-z, 0-9, `_` and `-`");
        return Err(Refusal::invalid(message).at("run"));
    }
    Ok(RunId(text))
}

/// `"10s"`, or a number of seconds.
pub(crate) fn duration(json: &Json, field: &str) -> Result<Duration, Refusal> {
    let text = json.parse::<String>().unwrap_or_else(|_| json.text().to_owned());
    quantity::duration(&text).map_err(|error| Refusal::invalid(error).at(field))
}

fn arguments(json: Option<Json>) -> Result<Vec<(BindingName, Json)>, Refusal> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let wrong = |message: String| Refusal::invalid(message).at("args");
    let table: Table = json.parse().map_err(|_| wrong("`args` is an object of globals".into()))?;
    let named = |(name, value): (String, Json)| {
        let name = BindingName::new(&name).map_err(|error| wrong(format!("`{name}`: {error}")))?;
        Ok((name, value))
    };
    table.0.into_iter().map(named).collect()
}

fn manifest(table: &mut Table) -> Result<Manifest, Refusal> {
    let mut fields = serde_json::Map::new();
    for key in ["grants", "limits", "time", "random", "engine", "isolation"] {
        if let Some(json) = table.take(key) {
            let value = json.parse().map_err(|error| Refusal::invalid(error.to_string()).at(key))?;
            fields.insert(key.into(), value);
        }
    }
    if fields.is_empty() {
        return Ok(Manifest::default());
    }
    Manifest::from_value(&fields.into()).map_err(|error| {
        let at = error.at.clone();
        Refusal::invalid(error.to_string()).at(at).hint("`isolith manifest schema` prints what can stand there")
    })
}

/// Tools that the client brings: names, or tables with schemas.
fn tools(json: Option<Json>) -> Result<Vec<ToolGrant>, Refusal> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let all: Vec<Json> = json.parse().map_err(|_| Refusal::invalid("`tools` is a list").at("tools"))?;
    if all.len() > TOOLS_MAX {
        return Err(Refusal::invalid(format!("a run has at most {TOOLS_MAX} tools")).at("tools"));
    }
    let mut grants: Vec<ToolGrant> = Vec::with_capacity(all.len());
    for (n, json) in all.iter().enumerate() {
        let at = format!("tools[{n}]");
        let grant =
            tool(json, &at).map_err(|refusal| if refusal.field.is_none() { refusal.at(&at) } else { refusal })?;
        if grants.iter().any(|known| known.name == grant.name) {
            return Err(Refusal::invalid(format!("the tool `{}` is there twice", grant.name)).at(at));
        }
        grants.push(grant);
    }
    Ok(grants)
}

fn tool(json: &Json, at: &str) -> Result<ToolGrant, Refusal> {
    let binding = |name: &str| BindingName::new(name).map_err(|error| Refusal::invalid(format!("`{name}`: {error}")));
    if let Ok(name) = json.parse::<String>() {
        return Ok(ToolGrant::new(binding(&name)?));
    }
    let mut table: Table = json.parse().map_err(|_| Refusal::invalid("a tool is its name, or an object"))?;
    let Some(name) = table.parse::<String>("name", "a text")? else {
        return Err(Refusal::invalid("`name` is missing"));
    };
    let _: Option<String> = table.parse("description", "a text")?;
    let (input, output) = (table.take("input"), table.take("output"));
    table.finish(&["name", "description", "input", "output"]).map_err(|refusal| {
        let field = refusal.field.clone().unwrap_or_default();
        refusal.at(format!("{at}.{field}"))
    })?;
    Ok(ToolGrant { input, output, ..ToolGrant::new(binding(&name)?) })
}

/// The grants of tools that the client brings.
pub(crate) fn tool_grants(tools: &[ToolGrant]) -> impl Iterator<Item = Grant> + '_ {
    tools.iter().map(|tool| isolith_core::Power::Tool(tool.clone()).into())
}
