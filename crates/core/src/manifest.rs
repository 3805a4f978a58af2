//! What a program is and asks for, in a file: `isolith.toml`, or the same as JSON. An operator's policy has the same keys.

use crate::fields::{Fields, FieldsError};
use crate::grant::grants;
use crate::{Ambient, Digest, Grant, Limits, Narrowing, Power, Rule, Source, narrow};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The JSON Schema of a manifest, for editors.
pub const SCHEMA: &str = include_str!("manifest.schema.json");

/// What a program is and asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// What it is called.
    pub name: Option<String>,
    /// Which version of it.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it is to be allowed.
    pub grants: Vec<Grant>,
    /// What it may use.
    pub limits: Limits,
    /// What it may know of the world.
    pub ambient: Ambient,
    /// How requests reach the network. An operator's business: it means nothing in a program's own manifest.
    pub network: Network,
}

/// How requests reach the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// A proxy that all requests go through, as a URL, or `env` for what the environment says.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) to trust besides the platform's.
    pub ca: Option<String>,
}

impl Manifest {
    /// Reads one. TOML is read into the same values by whoever has the file.
    pub fn from_value(value: &Value) -> Result<Manifest, FieldsError> {
        let mut fields = Fields::of(value, "")?;
        let _: Option<String> = fields.take("$schema")?;
        let manifest = Manifest {
            name: fields.take("name")?,
            version: fields.take("version")?,
            description: fields.take("description")?,
            grants: grants(&mut fields)?,
            limits: match fields.raw("limits") {
                Some((value, at)) => limits(value, &at)?,
                None => Limits::default(),
            },
            ambient: Ambient { time: source(&mut fields, "time")?, random: source(&mut fields, "random")? },
            network: match fields.raw("network") {
                Some((value, at)) => network(value, &at)?,
                None => Network::default(),
            },
        };
        fields.finish()?;
        manifest.limits.check().map_err(|error| FieldsError::new("limits", error.to_string()))?;
        Ok(manifest)
    }

    /// The whole manifest, with what was left out filled in.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, value) in [("name", &self.name), ("version", &self.version), ("description", &self.description)] {
            value.iter().for_each(|text| drop(out.insert(key.into(), json!(text))));
        }
        out.insert("grants".into(), self.grants.iter().map(Grant::to_value).collect());
        out.insert("limits".into(), write_limits(&self.limits));
        for (key, value) in [("time", self.ambient.time), ("random", self.ambient.random)] {
            if value != Source::Live {
                out.insert(key.into(), json!(value));
            }
        }
        if self.network != Network::default() {
            out.insert("network".into(), json!({ "proxy": self.network.proxy, "ca": self.network.ca }));
        }
        Value::Object(out)
    }

    /// What it hashes to: two manifests with the same meaning have the same digest, whatever their order and layout. Names
    /// and descriptions count, because people decide by them.
    pub fn digest(&self) -> Digest {
        let mut sorted = self.clone();
        sorted.grants.sort_by_key(|grant| grant.to_value().to_string());
        sorted.grants.dedup();
        // Tables come out sorted by key.
        Digest(*blake3::hash(sorted.to_value().to_string().as_bytes()).as_bytes())
    }

    /// What changed from `old` to this, and which of it lets the program do more.
    pub fn diff(&self, old: &Manifest) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut text = |what: &str, old: &Option<String>, new: &Option<String>| {
            if old != new {
                let show = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".into());
                changes.push(Change { what: format!("{what}: {} is now {}", show(old), show(new)), escalates: false });
            }
        };
        text("name", &old.name, &self.name);
        text("version", &old.version, &self.version);
        text("description", &old.description, &self.description);
        grants_diff(old, self, &mut changes);
        limits_diff(&old.limits, &self.limits, &mut changes);
        for (what, old, new) in
            [("time", old.ambient.time, self.ambient.time), ("random", old.ambient.random, self.ambient.random)]
        {
            if old != new {
                let what = format!("{what}: {} is now {}", json!(old), json!(new));
                changes.push(Change { what, escalates: new < old });
            }
        }
        if old.network != self.network {
            changes.push(Change { what: "network: its settings changed".into(), escalates: true });
        }
        changes
    }
}

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// In words.
    pub what: String,
    /// Whether the program may do something that it could not do before.
    pub escalates: bool,
}

fn grants_diff(old: &Manifest, new: &Manifest, changes: &mut Vec<Change>) {
    for grant in new.grants.iter().filter(|grant| !old.grants.contains(grant)) {
        // What the old grants hold whole is nothing new; a ban never is.
        let partly: Vec<Narrowing> = narrow(&old.grants, std::slice::from_ref(grant)).report;
        let escalates = grant.rule != Rule::Deny && (!partly.is_empty() || reaches_further(grant, &old.grants));
        changes.push(Change { what: format!("granted: `{grant}`"), escalates });
    }
    for grant in old.grants.iter().filter(|grant| !new.grants.contains(grant)) {
        let banned = grant.rule == Rule::Deny;
        let what =
            if banned { format!("no longer forbidden: `{grant}`") } else { format!("no longer granted: `{grant}`") };
        changes.push(Change { what, escalates: banned });
    }
}

/// Narrowing keeps a credential that the ceiling brings; a new one in the grant itself is new.
fn reaches_further(grant: &Grant, old: &[Grant]) -> bool {
    let Power::Egress(egress) = &grant.power else { return false };
    let known = |power: &Power| matches!(power, Power::Egress(e) if e.credential == egress.credential && (e.redact || !egress.redact));
    !old.iter().any(|grant| known(&grant.power))
}

fn limits_diff(old: &Limits, new: &Limits, changes: &mut Vec<Change>) {
    let (old_rows, new_rows) = (limit_rows(old), limit_rows(new));
    for ((key, old, old_text), (_, new, new_text)) in old_rows.into_iter().zip(new_rows) {
        if old != new {
            changes.push(Change { what: format!("limit {key}: {old_text} is now {new_text}"), escalates: new > old });
        }
    }
}

/// Each limit: its key, a number to compare, and how it is written.
fn limit_rows(limits: &Limits) -> Vec<(&'static str, u128, String)> {
    let time = |key, d: std::time::Duration| (key, d.as_micros(), format!("{}ms", d.as_millis()));
    let size = |key, bytes: u64| (key, u128::from(bytes), bytes.to_string());
    let count = |key, n: u32| (key, u128::from(n), n.to_string());
    vec![
        time("timeout", limits.wall),
        time("cpu", limits.cpu),
        size("memory", limits.memory_bytes),
        size("stack", limits.stack_bytes),
        size("source", limits.source_bytes),
        size("output", limits.output_bytes),
        size("value", limits.value_bytes),
        size("payload", limits.payload_bytes),
        size("suspended", limits.suspended_bytes),
        size("egress_response", limits.egress_response_bytes),
        count("egress_requests", limits.egress_requests),
        count("calls", limits.calls),
        count("calls_in_flight", limits.calls_in_flight),
    ]
}

fn limits(value: &Value, at: &str) -> Result<Limits, FieldsError> {
    let mut fields = Fields::of(value, at)?;
    let default = Limits::default();
    let wall = fields.duration("timeout")?;
    let limits = Limits {
        wall: wall.unwrap_or(default.wall),
        cpu: fields.duration("cpu")?.unwrap_or(default.cpu),
        memory_bytes: fields.size("memory")?.unwrap_or(default.memory_bytes),
        stack_bytes: fields.size("stack")?.unwrap_or(default.stack_bytes),
        source_bytes: fields.size("source")?.unwrap_or(default.source_bytes),
        output_bytes: fields.size("output")?.unwrap_or(default.output_bytes),
        value_bytes: fields.size("value")?.unwrap_or(default.value_bytes),
        payload_bytes: fields.size("payload")?.unwrap_or(default.payload_bytes),
        suspended_bytes: fields.size("suspended")?.unwrap_or(default.suspended_bytes),
        egress_response_bytes: fields.size("egress_response")?.unwrap_or(default.egress_response_bytes),
        egress_requests: fields.take("egress_requests")?.unwrap_or(default.egress_requests),
        calls: fields.take("calls")?.unwrap_or(default.calls),
        calls_in_flight: fields.take("calls_in_flight")?.unwrap_or(default.calls_in_flight),
    };
    fields.finish()?;
    Ok(limits)
}

fn write_limits(limits: &Limits) -> Value {
    let default = limit_rows(&Limits::default());
    let rows = limit_rows(limits).into_iter().zip(default).filter(|(row, default)| row != default);
    rows.map(|((key, number, text), _)| {
        let counted = key.starts_with("calls") || key == "egress_requests";
        (key.to_owned(), if counted { json!(number as u64) } else { json!(text) })
    })
    .collect::<Map<_, _>>()
    .into()
}

fn source(fields: &mut Fields<'_>, key: &str) -> Result<Source, FieldsError> {
    let Some(text) = fields.take::<String>(key)? else { return Ok(Source::Live) };
    match text.as_str() {
        "live" => Ok(Source::Live),
        "virtual" => Ok(Source::Virtual),
        "banned" => Ok(Source::Banned),
        _ => Err(fields.wrong(key, "write `live`, `virtual` or `banned`")),
    }
}

fn network(value: &Value, at: &str) -> Result<Network, FieldsError> {
    let mut fields = Fields::of(value, at)?;
    let network = Network { proxy: fields.take("proxy")?, ca: fields.take("ca")? };
    fields.finish()?;
    Ok(network)
}
