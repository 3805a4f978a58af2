//! What a program is and asks for, in a file: `isolith.toml`, or the same as JSON. An operator's policy has the same keys.

use crate::fields::{Fields, FieldsError};
use crate::grant::grants;
use crate::{Ambient, BindingName, Digest, EngineChoice, Grant, Housing, Isolation, Limits, Power, Source};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

mod diff;
mod upstream;

pub use diff::Change;
pub use upstream::{Upstream, UpstreamSource, from_mcp_servers};

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
    /// Who brings the tools of namespaces. A namespace that is brought is granted, unless the grants say which part of it is.
    pub tools: BTreeMap<BindingName, Upstream>,
    /// What it may use.
    pub limits: Limits,
    /// What it may know of the world.
    pub ambient: Ambient,
    /// What it is to run on.
    pub housing: Housing,
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
        let mut manifest = Manifest {
            name: fields.take("name")?,
            version: fields.take("version")?,
            description: fields.take("description")?,
            grants: grants(&mut fields)?,
            tools: upstream::upstreams(&mut fields)?,
            limits: match fields.raw("limits") {
                Some((value, at)) => limits(value, &at)?,
                None => Limits::default(),
            },
            ambient: Ambient { time: source(&mut fields, "time")?, random: source(&mut fields, "random")? },
            housing: housing(&mut fields)?,
            network: match fields.raw("network") {
                Some((value, at)) => network(value, &at)?,
                None => Network::default(),
            },
        };
        fields.finish()?;
        let implied = upstream::implied(&manifest.tools, &manifest.grants);
        manifest.grants.extend(implied);
        manifest
            .limits
            .check()
            .map_err(|error| FieldsError::new(&format!("limits.{}", error.name), error.to_string()))?;
        Ok(manifest)
    }

    /// The whole manifest, with what was left out filled in.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, value) in [("name", &self.name), ("version", &self.version), ("description", &self.description)] {
            value.iter().for_each(|text| drop(out.insert(key.into(), json!(text))));
        }
        out.insert("grants".into(), self.grants.iter().map(Grant::to_value).collect());
        if !self.tools.is_empty() {
            out.insert("tools".into(), upstream::to_value(&self.tools));
        }
        out.insert("limits".into(), write_limits(&self.limits));
        for (key, value) in [("time", self.ambient.time), ("random", self.ambient.random)] {
            if value != Source::Live {
                out.insert(key.into(), json!(value));
            }
        }
        self.housing.engine.iter().for_each(|engine| drop(out.insert("engine".into(), json!(engine))));
        if self.housing.isolation != Isolation::None {
            out.insert("isolation".into(), json!(self.housing.isolation));
        }
        if self.network != Network::default() {
            let set = [("proxy", &self.network.proxy), ("ca", &self.network.ca)].into_iter();
            let set = set.filter_map(|(key, value)| Some((key.to_owned(), json!(value.as_ref()?))));
            out.insert("network".into(), set.collect::<Map<_, _>>().into());
        }
        Value::Object(out)
    }

    /// What it hashes to: two manifests with the same meaning have the same digest, whatever their order and layout. Names
    /// and descriptions count, because people decide by them.
    pub fn digest(&self) -> Digest {
        let sorted = Manifest { grants: sorted(&self.grants), ..self.clone() };
        Digest(*blake3::hash(canonical(&sorted.to_value()).as_bytes()).as_bytes())
    }
}

/// Grants in an order of their own, at every level: theirs means nothing.
fn sorted(grants: &[Grant]) -> Vec<Grant> {
    let mut sorted = grants.to_vec();
    for grant in &mut sorted {
        grant.budgets.sort();
        if let Power::Invoke(invoke) = &mut grant.power {
            invoke.grants = self::sorted(&invoke.grants);
        }
    }
    sorted.sort_by_cached_key(|grant| canonical(&grant.to_value()));
    sorted.dedup();
    sorted
}

/// A value as text, tables sorted by key whatever the map they are kept in.
fn canonical(value: &Value) -> String {
    let all = |items: Vec<String>| items.join(",");
    match value {
        Value::Object(table) => {
            let mut entries: Vec<(&String, &Value)> = table.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            format!("{{{}}}", all(entries.iter().map(|(key, v)| format!("{}:{}", json!(key), canonical(v))).collect()))
        }
        Value::Array(items) => format!("[{}]", all(items.iter().map(canonical).collect())),
        plain => plain.to_string(),
    }
}

/// Each limit: its key, a number to compare, and how it is written.
fn limit_rows(limits: &Limits) -> Vec<(&'static str, u128, String)> {
    let time = |key, d: Duration| {
        let us = d.as_micros();
        (key, us, if us.is_multiple_of(1000) { format!("{}ms", us / 1000) } else { format!("{us}us") })
    };
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
    // Nothing is timed more finely than this, and what is shown is what is kept.
    let micros = |time: Duration| Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let limits = Limits {
        wall: fields.duration("timeout")?.map_or(default.wall, micros),
        cpu: fields.duration("cpu")?.map_or(default.cpu, micros),
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

fn housing(fields: &mut Fields<'_>) -> Result<Housing, FieldsError> {
    let engine = match fields.take::<String>("engine")? {
        None => None,
        Some(name) => {
            let choice = EngineChoice::named(&name);
            Some(choice.ok_or_else(|| fields.wrong("engine", "write `quickjs`, `v8` or `auto`"))?)
        }
    };
    let isolation = match fields.take::<String>("isolation")? {
        None => Isolation::None,
        Some(name) => Isolation::named(&name).ok_or_else(|| fields.wrong("isolation", "write `none` or `process`"))?,
    };
    Ok(Housing { engine, isolation })
}

fn network(value: &Value, at: &str) -> Result<Network, FieldsError> {
    let mut fields = Fields::of(value, at)?;
    let network = Network { proxy: fields.take("proxy")?, ca: fields.take("ca")? };
    fields.finish()?;
    Ok(network)
}
