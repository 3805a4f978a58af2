use crate::Tool;
use isolith_core::{BindingName, Grant, InvalidJson, InvalidName, Json, Limits, ToolPattern};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// What a program of the conformance suite is given: the `//! ` lines of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Tools that are granted.
    pub tools: Vec<Tool>,
    /// Tools of namespaces that are granted; `n.echo` does what `echo` does.
    pub namespaces: Vec<ToolPattern>,
    /// The default limits with those that the file sets.
    pub limits: Limits,
    /// What the program sees as `input`.
    pub input: Option<Json>,
    /// What it sees as globals.
    pub args: Vec<(BindingName, Json)>,
    /// Where its clock starts, in milliseconds since 1970; live without it.
    pub time_ms: Option<u64>,
    /// Where its randomness grows from.
    pub seed: Option<u64>,
}

/// Why a header cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// Not TOML, or a key or a value that is not known.
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// An argument that cannot be a global.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A value that JSON cannot carry.
    #[error(transparent)]
    Json(#[from] InvalidJson),
    /// A key that changes nothing.
    #[error("`oracle = true` says nothing: leave it out")]
    Oracle,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    tools: Vec<Tool>,
    namespaces: Vec<ToolPattern>,
    limits: WrittenLimits,
    input: Option<toml::Value>,
    args: toml::Table,
    time: Option<u64>,
    seed: Option<u64>,
    /// Read by `oracle.mjs` only.
    oracle: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenLimits {
    cpu_ms: Option<u64>,
    wall_ms: Option<u64>,
    memory_mb: Option<u64>,
    stack_kb: Option<u64>,
    output_kb: Option<u64>,
    value_kb: Option<u64>,
    payload_kb: Option<u64>,
    calls: Option<u32>,
}

impl Header {
    /// Reads the lines of a header, as one TOML document.
    pub(crate) fn parse(text: &str) -> Result<Header, HeaderError> {
        let written: Written = toml::from_str(text)?;
        if written.oracle == Some(true) {
            return Err(HeaderError::Oracle);
        }
        let args = written.args.iter().map(|(name, value)| Ok((BindingName::new(name)?, Json::of(value)?)));
        Ok(Header {
            tools: written.tools,
            namespaces: written.namespaces,
            limits: written.limits.over(Limits::default()),
            input: written.input.map(|input| Json::of(&input)).transpose()?,
            args: args.collect::<Result<_, HeaderError>>()?,
            time_ms: written.time,
            seed: written.seed,
        })
    }

    /// The grants of all these tools.
    pub fn grants(&self) -> Result<Arc<[Grant]>, InvalidName> {
        let own = self.tools.iter().map(|tool| tool.grant());
        own.chain(self.namespaces.iter().map(|pattern| Ok(Grant::tool(pattern.clone())))).collect()
    }

    /// Whether two runs must be equal in everything but how long they took.
    pub fn is_repeatable(&self) -> bool {
        self.time_ms.is_some() || self.seed.is_some()
    }
}

impl WrittenLimits {
    fn over(self, base: Limits) -> Limits {
        let kib = |given: Option<u64>, default| given.map_or(default, |n| n << 10);
        Limits {
            cpu: self.cpu_ms.map_or(base.cpu, Duration::from_millis),
            wall: self.wall_ms.map_or(base.wall, Duration::from_millis),
            memory_bytes: self.memory_mb.map_or(base.memory_bytes, |n| n << 20),
            stack_bytes: kib(self.stack_kb, base.stack_bytes),
            output_bytes: kib(self.output_kb, base.output_bytes),
            value_bytes: kib(self.value_kb, base.value_bytes),
            payload_bytes: kib(self.payload_kb, base.payload_bytes),
            calls: self.calls.unwrap_or(base.calls),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = r#"
            tools = ["echo", "body"]
            namespaces = ["n.*"]
            limits = { cpu_ms = 5, memory_mb = 16, calls = 0, stack_kb = 64 }
            input = { z = 1, a = [true, 1.5, "x"] }
            args = { city = "Oslo" }
            time = 7
            seed = 9
            oracle = false
        "#;
        let header = Header::parse(text).ok();
        let expected = Header {
            tools: vec![Tool::Echo, Tool::Body],
            namespaces: ToolPattern::new("n.*").into_iter().collect(),
            limits: Limits {
                cpu: Duration::from_millis(5),
                memory_bytes: 16 << 20,
                calls: 0,
                stack_bytes: 64 << 10,
                ..Limits::default()
            },
            input: Json::from_text(r#"{"z":1,"a":[true,1.5,"x"]}"#.into()).ok(),
            args: BindingName::new("city").into_iter().zip(Json::of("Oslo")).collect(),
            time_ms: Some(7),
            seed: Some(9),
        };
        assert_eq!(header, Some(expected));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let rows = [
            "colour = 1",
            "limits = { speed = 1 }",
            "tools = [\"rm\"]",
            "namespaces = [\"n.*x\"]",
            "oracle = true",
            "seed = -1",
            "args = { 1a = 1 }",
            "x",
        ];
        for text in rows {
            assert!(Header::parse(text).is_err(), "{text}");
        }
    }
}
