//! Settings from a file. What the flags or the environment say counts more.

use crate::args::{CONNECTIONS_MAX, RUNS_MAX, Serve};
use crate::failure::Failure;
use isolith_core::{nearest, quantity};
use std::path::PathBuf;
use std::time::Duration;

const KEYS: [&str; 19] = [
    "listen",
    "host",
    "policy",
    "ca",
    "tls_cert",
    "tls_key",
    "workspaces",
    "record",
    "jitless",
    "require_jail",
    "auto_after",
    "hold",
    "keep",
    "approval_time",
    "drain",
    "idle",
    "live_runs",
    "live_runs_per_caller",
    "connections",
];

/// The arguments, with what a file says where they say nothing.
pub(crate) fn merged(mut args: Serve) -> Result<Serve, Failure> {
    let Some(path) = args.config.clone() else { return Ok(args) };
    let text = crate::source::text(&path, 1 << 20)?;
    let shown = path.display();
    let wrong = |message: String| {
        Failure::usage(format!("in `{shown}`: {message}"), format!("there are `{}`", KEYS.join("`, `")))
    };
    let table: toml::Table = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    for (key, value) in table {
        let read = Value { key: &key, value: &value };
        let failed = |message: String| wrong(format!("`{key}`: {message}"));
        match key.as_str() {
            "listen" => {
                args.listen = args.listen.or(Some(
                    read.text()
                        .and_then(|t| t.parse().map_err(|_| "write an address such as `127.0.0.1:4747`".into()))
                        .map_err(failed)?,
                ));
            }
            "host" => args.host.extend(read.texts().map_err(failed)?),
            "policy" => args.policy = args.policy.or(Some(folder.join(read.text().map_err(failed)?))),
            "ca" => args.ca = args.ca.or(Some(folder.join(read.text().map_err(failed)?))),
            "tls_cert" => args.tls_cert = args.tls_cert.or(Some(folder.join(read.text().map_err(failed)?))),
            "tls_key" => args.tls_key = args.tls_key.or(Some(folder.join(read.text().map_err(failed)?))),
            "workspaces" => args.workspaces = args.workspaces.or(Some(folder.join(read.text().map_err(failed)?))),
            "record" => args.record |= read.switch().map_err(failed)?,
            "jitless" => args.engines.jitless |= read.switch().map_err(failed)?,
            "require_jail" => args.engines.require_jail |= read.switch().map_err(failed)?,
            "auto_after" => {
                args.engines.auto_after = args.engines.auto_after.or(Some(read.duration().map_err(failed)?));
            }
            "hold" => args.hold = args.hold.or(Some(read.duration().map_err(failed)?)),
            "keep" => args.keep = args.keep.or(Some(read.duration().map_err(failed)?)),
            "approval_time" => args.approval_time = args.approval_time.or(Some(read.duration().map_err(failed)?)),
            "drain" => args.drain = args.drain.or(Some(read.duration().map_err(failed)?)),
            "idle" => args.idle = args.idle.or(Some(read.duration().map_err(failed)?)),
            "live_runs" => args.live_runs = args.live_runs.or(Some(read.number(RUNS_MAX).map_err(failed)?)),
            "live_runs_per_caller" => {
                args.live_runs_per_caller = args.live_runs_per_caller.or(Some(read.number(RUNS_MAX).map_err(failed)?));
            }
            "connections" => {
                args.connections = args.connections.or(Some(read.number(CONNECTIONS_MAX).map_err(failed)?));
            }
            _ => {
                let near = nearest(&key, KEYS).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
                return Err(wrong(format!("there is no key `{key}`{near}")));
            }
        }
    }
    Ok(args)
}

struct Value<'a> {
    key: &'a str,
    value: &'a toml::Value,
}

impl Value<'_> {
    fn text(&self) -> Result<String, String> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| format!("`{}` is a text", self.key))
    }

    fn switch(&self) -> Result<bool, String> {
        self.value.as_bool().ok_or_else(|| "write `true` or `false`".into())
    }

    fn texts(&self) -> Result<Vec<String>, String> {
        match self.value {
            toml::Value::Array(all) => all
                .iter()
                .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| "write a list of names".into()))
                .collect(),
            _ => Ok(vec![self.text()?]),
        }
    }

    fn duration(&self) -> Result<Duration, String> {
        let text = self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned);
        quantity::duration(&text)
    }

    fn number(&self, most: u32) -> Result<u32, String> {
        let number = self.value.as_integer().and_then(|number| u32::try_from(number).ok());
        number.filter(|number| (1..=most).contains(number)).ok_or_else(|| format!("write a number from 1 to {most}"))
    }
}
