//! Grants from JSON or TOML: the same keys in both, and every mistake told with its place.

use super::{
    Access, BindingName, Bound, Bounds, Budget, Builtin, Credential, Egress, FilesGrant, Grant, GuestPath, HostPattern,
    InvokeGrant, KvGrant, Method, PathPrefix, Ports, Power, Rule, Schemes, SecretGrant, SecretName, SecretSource,
    SigV4, Template, ToolGrant, ToolPattern, files, kv,
};
use crate::Json;
use crate::fields::{Fields, FieldsError, one_or_many};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// What is wrong with a grant, and where.
pub type GrantError = FieldsError;

/// The longest that a call of a tool may be given.
const TIMEOUT_MS_MAX: u64 = 7 * 24 * 3600 * 1000;

const KINDS: [&str; 7] = ["egress", "kv", "files", "tool", "invoke", "secret", "builtin"];

impl Grant {
    /// Reads one grant: a table with `kind`, or one line of text. `at` is where it stands, for errors.
    pub fn from_value(value: &Value, at: &str) -> Result<Grant, GrantError> {
        if let Value::String(text) = value {
            return text.parse::<Grant>().map_err(|error| error.under(at));
        }
        let mut fields = Fields::of(value, at)?;
        let kind: String = fields.need("kind")?;
        let rule: Rule = fields.take("rule")?.unwrap_or_default();
        let is_called = kind != "builtin";
        let calls: Option<u32> = if is_called { fields.take("calls")? } else { None };
        let power = match kind.as_str() {
            "egress" => Power::Egress(egress(&mut fields, rule)?),
            "kv" => Power::Kv(KvGrant {
                name: fields.need("name")?,
                access: access(&mut fields)?,
                quota_bytes: fields.size("quota")?.unwrap_or(kv::QUOTA_BYTES),
            }),
            "files" => Power::Files(FilesGrant {
                path: {
                    let text: String = fields.need("path")?;
                    files_path(&text).map_err(|error| fields.wrong("path", error))?
                },
                access: access(&mut fields)?,
                quota_bytes: fields.size("quota")?.unwrap_or(files::QUOTA_BYTES),
            }),
            "tool" => Power::Tool(tool(&mut fields)?),
            "invoke" => Power::Invoke(InvokeGrant {
                name: fields.need("name")?,
                program: fields.take("program")?,
                grants: grants(&mut fields)?,
                args: bounds(&mut fields)?,
            }),
            "secret" => Power::Secret(SecretGrant {
                name: fields.need("name")?,
                from: fields.take("from")?,
                reveal: fields.take("reveal")?.unwrap_or(false),
            }),
            "builtin" => {
                let name: String = fields.need("name")?;
                Power::Builtin(Builtin::named(&name).map_err(|error| fields.wrong("name", error))?)
            }
            other => return Err(fields.wrong("kind", unknown_kind(other))),
        };
        // What narrowing made of several grants is counted under each of them.
        let budgets = if is_called { fields.take("budgets")?.unwrap_or_default() } else { Vec::new() };
        let mut grant = Grant { power, rule, budgets };
        check_rule(&grant).map_err(|error| fields.wrong("rule", error))?;
        fields.finish()?;
        if let Some(calls) = calls {
            grant.budgets.push(Budget { of: grant.to_string(), calls });
        }
        Ok(grant)
    }

    /// The table that [`Grant::from_value`] reads.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| {
            out.insert(key.to_owned(), value);
        };
        match &self.power {
            Power::Egress(egress) => write_egress(egress, &mut put),
            Power::Kv(kv) => {
                put("kind", json!("kv"));
                put("name", json!(kv.name));
                put("access", json!(kv.access));
                put("quota", json!(kv.quota_bytes));
            }
            Power::Files(files) => {
                put("kind", json!("files"));
                put("path", json!(files.path));
                put("access", json!(files.access));
                put("quota", json!(files.quota_bytes));
            }
            Power::Tool(tool) => {
                put("kind", json!("tool"));
                put("name", json!(tool.name));
                tool.input.iter().for_each(|s| put("input", s.parse().unwrap_or_default()));
                tool.output.iter().for_each(|s| put("output", s.parse().unwrap_or_default()));
                write_bounds(&tool.args, &mut put);
                if !tool.command.is_empty() {
                    put("command", json!(tool.command));
                }
                put("timeout", json!(format!("{}ms", tool.timeout_ms)));
            }
            Power::Invoke(invoke) => {
                put("kind", json!("invoke"));
                put("name", json!(invoke.name));
                invoke.program.iter().for_each(|p| put("program", json!(p)));
                if !invoke.grants.is_empty() {
                    put("grants", invoke.grants.iter().map(Grant::to_value).collect());
                }
                write_bounds(&invoke.args, &mut put);
            }
            Power::Secret(secret) => {
                put("kind", json!("secret"));
                put("name", json!(secret.name));
                secret.from.iter().for_each(|from| put("from", json!(from)));
                if secret.reveal {
                    put("reveal", json!(true));
                }
            }
            Power::Builtin(builtin) => {
                put("kind", json!("builtin"));
                put("name", json!(builtin));
            }
        }
        if self.rule != Rule::Allow {
            put("rule", json!(self.rule));
        }
        match self.budgets.as_slice() {
            [] => {}
            [budget] if budget.of == self.to_string() => put("calls", json!(budget.calls)),
            budgets => put("budgets", json!(budgets)),
        }
        Value::Object(out)
    }
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Grant::from_value(&value, "").map_err(serde::de::Error::custom)
    }
}

/// Reads the `grants` of a manifest, a policy or a program that is called.
pub(crate) fn grants(fields: &mut Fields<'_>) -> Result<Vec<Grant>, GrantError> {
    let Some((value, at)) = fields.raw("grants") else { return Ok(Vec::new()) };
    let Value::Array(items) = value else { return Err(GrantError::new(&at, "write a list of grants")) };
    items.iter().enumerate().map(|(i, item)| Grant::from_value(item, &format!("{at}[{i}]"))).collect()
}

fn tool(fields: &mut Fields<'_>) -> Result<ToolGrant, GrantError> {
    let name: ToolPattern = fields.need("name")?;
    if name.exact().is_none() {
        for key in ["command", "input", "output"] {
            if fields.has(key) {
                return Err(fields.wrong(key, format!("`{name}` names more than one tool: write this for one of them")));
            }
        }
    }
    Ok(ToolGrant {
        name,
        input: schema(fields, "input")?,
        output: schema(fields, "output")?,
        args: bounds(fields)?,
        command: fields.take_with("command", one_or_many)?.unwrap_or_default(),
        timeout_ms: timeout_ms(fields)?,
    })
}

/// A grant of `kind` from one line of text.
pub(super) fn one_line(kind: &str, what: &str) -> Result<Grant, GrantError> {
    let wrong = |error: String| GrantError::new("", error);
    let name = |text: &str| BindingName::new(text).map_err(|error| wrong(error.to_string()));
    let (access, rest) = match what.split_once(char::is_whitespace) {
        Some(("read", rest)) => (Some(Access::Read), rest.trim()),
        Some(("write", rest)) => (Some(Access::Write), rest.trim()),
        _ => (None, what),
    };
    let power = match kind {
        "egress" => Power::Egress(what.parse().map_err(wrong)?),
        "kv" => {
            Power::Kv(KvGrant { name: name(rest)?, access: access.unwrap_or_default(), quota_bytes: kv::QUOTA_BYTES })
        }
        "files" => Power::Files(FilesGrant {
            path: files_path(rest).map_err(wrong)?,
            access: access.ok_or_else(|| wrong(format!("write `files:read {rest}` or `files:write {rest}`")))?,
            quota_bytes: files::QUOTA_BYTES,
        }),
        "tool" => Power::Tool(ToolGrant::new(ToolPattern::new(what).map_err(|error| wrong(error.to_string()))?)),
        "invoke" => {
            Power::Invoke(InvokeGrant { name: name(what)?, program: None, grants: Vec::new(), args: Bounds::default() })
        }
        "secret" => {
            let revealed = what.strip_prefix("reveal ");
            let name = SecretName::new(revealed.unwrap_or(what).trim()).map_err(wrong)?;
            Power::Secret(SecretGrant { name, from: None, reveal: revealed.is_some() })
        }
        "builtin" => Power::Builtin(Builtin::named(what).map_err(wrong)?),
        other => return Err(wrong(unknown_kind(other))),
    };
    Ok(Grant::allow(power))
}

/// Whether a grant of this kind can have its rule.
pub(super) fn check_rule(grant: &Grant) -> Result<(), String> {
    match (&grant.power, grant.rule) {
        (Power::Builtin(builtin), Rule::Ask) => {
            Err(format!("`{builtin}` is there or not, with no call to ask about: write `allow` or `deny`"))
        }
        _ => Ok(()),
    }
}

fn unknown_kind(kind: &str) -> String {
    match crate::fields::nearest(kind, KINDS) {
        Some(near) => format!("there is no kind `{kind}`: did you mean `{near}`?"),
        None => format!("there is no kind `{kind}`: there are {}", KINDS.map(|k| format!("`{k}`")).join(", ")),
    }
}

fn access(fields: &mut Fields<'_>) -> Result<Access, GrantError> {
    let Some(text) = fields.take::<String>("access")? else { return Ok(Access::default()) };
    match text.as_str() {
        "read" => Ok(Access::Read),
        "write" | "read-write" | "read_write" => Ok(Access::Write),
        _ => Err(fields.wrong("access", "write `read` or `write`")),
    }
}

fn schema(fields: &mut Fields<'_>, key: &str) -> Result<Option<Json>, GrantError> {
    let Some((value, at)) = fields.raw(key) else { return Ok(None) };
    if !value.is_object() && !value.is_boolean() {
        return Err(GrantError::new(&at, "a JSON Schema is a table"));
    }
    Json::of(value).map(Some).map_err(|error| GrantError::new(&at, error.to_string()))
}

fn bounds(fields: &mut Fields<'_>) -> Result<Bounds, GrantError> {
    let Some((value, at)) = fields.raw("args") else { return Ok(Bounds::default()) };
    let Value::Object(table) = value else {
        return Err(GrantError::new(&at, "write a table such as `{ amount = \"<= 100\" }`"));
    };
    let mut all = Vec::new();
    for (path, bound) in table {
        let at = format!("{at}.{path}");
        let texts = one_or_many::<Value>(bound).map_err(|error| GrantError::new(&at, error))?;
        if texts.is_empty() {
            return Err(GrantError::new(&at, "name at least one bound, or leave the key out"));
        }
        for text in texts {
            if matches!(text, Value::Null | Value::Array(_) | Value::Object(_)) {
                return Err(GrantError::new(&at, "write a bound such as `<= 100` or `me/*`"));
            }
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            all.push((path.clone(), Bound::try_from(text).map_err(|error| GrantError::new(&at, error))?));
        }
    }
    Ok(Bounds::new(all))
}

fn write_bounds(bounds: &Bounds, put: &mut impl FnMut(&str, Value)) {
    if !bounds.is_empty() {
        put("args", json!(bounds));
    }
}

/// A part of the file tree as grants name it. One line of text could not hold spaces around it, and what is shown has to be
/// what is meant.
fn files_path(text: &str) -> Result<GuestPath, String> {
    let path = GuestPath::new(text).map_err(|error| error.to_string())?;
    let shown = path.to_string();
    if shown.trim() == shown { Ok(path) } else { Err("write the path without spaces around it".into()) }
}

fn timeout_ms(fields: &mut Fields<'_>) -> Result<u64, GrantError> {
    match fields.duration("timeout")?.map(|timeout| u64::try_from(timeout.as_millis())) {
        None => Ok(super::tool::TIMEOUT_MS),
        Some(Ok(ms)) if (1..=TIMEOUT_MS_MAX).contains(&ms) => Ok(ms),
        Some(_) => Err(fields.wrong("timeout", "write a time from `1ms` to `7d`")),
    }
}

/// At least one: an empty list would otherwise mean all there are.
fn some<T>(fields: &Fields<'_>, key: &str, list: Option<Vec<T>>) -> Result<Option<Vec<T>>, GrantError> {
    match list {
        Some(list) if list.is_empty() => Err(fields.wrong(key, "name at least one, or leave the key out")),
        list => Ok(list),
    }
}

fn egress(fields: &mut Fields<'_>, rule: Rule) -> Result<Egress, GrantError> {
    // `url` is the one-line form; the parts can be given one by one instead.
    let line: Option<String> = fields.take("url")?;
    let mut egress = match &line {
        Some(line) => line.parse::<Egress>().map_err(|error| fields.wrong("url", error))?,
        None => Egress::to(fields.need::<HostPattern>("host")?),
    };
    let line_says_port = egress.ports != Ports::Usual;
    if rule == Rule::Deny && !line.is_some_and(|line| line.contains("://")) {
        egress.ban_everything_unsaid();
    }
    let ports_said = line_says_port || fields.has("port");
    if let Some(schemes) = fields.take_with("scheme", one_or_many::<String>)? {
        egress.schemes = match schemes.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["https"] => Schemes::Https,
            ["http"] => Schemes::Http,
            ["http", "https"] | ["https", "http"] => Schemes::Both,
            _ => return Err(fields.wrong("scheme", "write `https`, `http` or both")),
        };
        // With its scheme said, a ban is for the port that is said too, or the usual one.
        if !ports_said {
            egress.ports = Ports::Usual;
        }
    }
    if let Some((value, at)) = fields.raw("port") {
        egress.ports = match value {
            Value::String(text) if text == "*" => Ports::Any,
            value => {
                let ports: Vec<u16> = one_or_many(value).map_err(|error| GrantError::new(&at, error))?;
                if ports.is_empty() || ports.contains(&0) {
                    return Err(GrantError::new(&at, "write a port from 1 to 65535, a list of them or \"*\""));
                }
                Ports::Only(ports.into_iter().collect())
            }
        };
    }
    let methods = fields.take_with("method", one_or_many::<Method>)?;
    if let Some(methods) = some(fields, "method", methods)? {
        egress.methods = methods.into_iter().collect();
    }
    let paths = fields.take_with("path", one_or_many::<PathPrefix>)?;
    if let Some(paths) = some(fields, "path", paths)? {
        egress.paths = super::text::anywhere_or(paths.into_iter().collect());
    }
    if let Some((value, at)) = fields.raw("credential") {
        egress.credential = Some(credential(value, &at)?);
    }
    egress.redact = fields.take("redact")?.unwrap_or(true);
    Ok(egress)
}

fn credential(value: &Value, at: &str) -> Result<Credential, GrantError> {
    let mut fields = Fields::of(value, at)?;
    let credential = if let Some(name) = fields.take::<String>("header")? {
        header(&name, fields.need("value")?).map_err(|error| fields.wrong("header", error))?
    } else if let Some(name) = fields.take::<SecretName>("bearer")? {
        Credential::Bearer(name)
    } else if let Some(user) = fields.take::<Template>("basic")? {
        Credential::Basic { user, password: fields.need("password")? }
    } else if let Some(name) = fields.take::<String>("query")? {
        query(&name, fields.need("value")?).map_err(|error| fields.wrong("query", error))?
    } else if let Some(key) = fields.take::<SigV4>("sigv4")? {
        sigv4(key).map_err(|error| fields.wrong("sigv4", error))?
    } else {
        fields.finish()?;
        return Err(GrantError::new(at, "write one of `header`, `bearer`, `basic`, `query` or `sigv4`"));
    };
    fields.finish()?;
    Ok(credential)
}

/// A header's credential, if a header of that name may carry one.
pub(super) fn header(name: &str, value: Template) -> Result<Credential, String> {
    let name = name.trim().to_ascii_lowercase();
    crate::headers::check_name(&name)?;
    Ok(Credential::Header { name, value })
}

fn query(name: &str, value: Template) -> Result<Credential, String> {
    let name = name.trim().to_owned();
    if name.is_empty() || name.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return Err("name the parameter, in printable ASCII".into());
    }
    Ok(Credential::Query { name, value })
}

fn sigv4(key: SigV4) -> Result<Credential, String> {
    // Both become part of a header.
    let sound = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if !sound(&key.region) || !sound(&key.service) {
        return Err("a region and a service are made of ASCII letters, digits and `-`".into());
    }
    Ok(Credential::SigV4(key))
}

impl Credential {
    /// Reads what follows a target in `--credential`: `Authorization: Bearer ${TOKEN}`, `bearer TOKEN`,
    /// `basic user:${PASSWORD}`, `query key=${KEY}`, `sigv4 REGION/SERVICE ACCESS_KEY SECRET_KEY [SESSION_TOKEN]`.
    pub fn from_line(line: &str) -> Result<Credential, String> {
        let template = |text: &str| Template::new(text.trim()).map_err(|error| error.to_string());
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        match word {
            "bearer" => Ok(Credential::Bearer(SecretName::new(rest.trim())?)),
            "basic" => {
                let (user, password) = rest.split_once(':').ok_or("write `basic user:${PASSWORD}`")?;
                Ok(Credential::Basic { user: template(user)?, password: template(password)? })
            }
            "query" => {
                let (name, value) = rest.split_once('=').ok_or("write `query name=${SECRET}`")?;
                query(name, template(value)?)
            }
            "sigv4" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let (place, keys) = words.split_first().ok_or("write `sigv4 REGION/SERVICE ACCESS_KEY SECRET_KEY`")?;
                let (region, service) = place.split_once('/').ok_or("write `REGION/SERVICE` after `sigv4`")?;
                let [access, secret, token @ ..] = keys else { return Err("name the secrets of the two keys".into()) };
                sigv4(SigV4 {
                    access_key: SecretName::new(access)?,
                    secret_key: SecretName::new(secret)?,
                    session_token: token.first().map(|name| SecretName::new(name)).transpose()?,
                    region: region.to_owned(),
                    service: service.to_owned(),
                })
            }
            _ => {
                let (name, value) = line.split_once(':').ok_or("write `Header: value with ${SECRET}`")?;
                header(name, template(value)?)
            }
        }
    }
}

fn write_egress(egress: &Egress, put: &mut impl FnMut(&str, Value)) {
    put("kind", json!("egress"));
    put("host", json!(egress.host));
    put(
        "scheme",
        match egress.schemes {
            Schemes::Https => json!("https"),
            Schemes::Http => json!("http"),
            Schemes::Both => json!(["http", "https"]),
        },
    );
    match &egress.ports {
        Ports::Usual => {}
        Ports::Any => put("port", json!("*")),
        Ports::Only(ports) => put("port", json!(ports)),
    }
    if !egress.methods.is_empty() {
        put("method", json!(egress.methods));
    }
    if !egress.paths.is_empty() {
        put("path", json!(egress.paths));
    }
    if let Some(credential) = &egress.credential {
        put(
            "credential",
            match credential {
                Credential::Header { name, value } => json!({ "header": name, "value": value }),
                Credential::Bearer(name) => json!({ "bearer": name }),
                Credential::Basic { user, password } => json!({ "basic": user, "password": password }),
                Credential::Query { name, value } => json!({ "query": name, "value": value }),
                Credential::SigV4(sigv4) => json!({ "sigv4": sigv4 }),
            },
        );
    }
    if !egress.redact {
        put("redact", json!(false));
    }
}

impl SecretSource {
    /// Reads `env:NAME` and its like.
    pub fn new(text: &str) -> Result<Self, String> {
        SecretSource::try_from(text.to_owned())
    }
}
