//! A case: a request or a program, what it is granted, and what may come of it.

use crate::fixtures::Fixtures;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `conformance/attacks/README.md` describes the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[allow(dead_code, reason = "some fields are for readers of the cases")]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) area: String,
    pub(crate) language: String,
    pub(crate) request: Request,
    pub(crate) limits: CaseLimits,
    pub(crate) grants: CaseGrants,
    pub(crate) expect: Expect,
    pub(crate) why: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) setup: Setup,
    #[serde(default)]
    pub(crate) oracle: Oracle,
    pub(crate) rss_allow_mb: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) url: Option<String>,
    pub(crate) js: Option<String>,
    pub(crate) method: Option<String>,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    #[serde(default)]
    pub(crate) headers_list: Vec<(String, String)>,
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) url_pad: usize,
    #[serde(default)]
    pub(crate) mode: Mode,
    pub(crate) repeat: Option<u32>,
    pub(crate) redirect: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    #[default]
    Text,
    Json,
    HeadersOnly,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CaseLimits {
    pub(crate) timeout_ms: u64,
    pub(crate) response_kb: u64,
    pub(crate) memory_mb: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CaseGrants {
    #[serde(default)]
    pub(crate) egress: Vec<HostGrant>,
    /// Nothing to set: what is not public is blocked unless it is granted by address.
    #[serde(default)]
    #[allow(dead_code, reason = "always so")]
    pub(crate) block_private: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostGrant {
    pub(crate) host: String,
    pub(crate) port: Option<Value>,
    #[serde(default)]
    pub(crate) scheme: Option<OneOrMany>,
    pub(crate) path: Option<OneOrMany>,
    #[serde(default)]
    pub(crate) methods: Vec<String>,
    pub(crate) inject: Option<Inject>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> Vec<&str> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many.iter().map(String::as_str).collect(),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inject {
    pub(crate) header: Option<String>,
    pub(crate) query: Option<String>,
    pub(crate) value: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct Setup {
    pub(crate) dns: BTreeMap<String, Value>,
    pub(crate) host_env: BTreeMap<String, String>,
}

/// What must be true of what the fixtures saw, whatever the run says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct Oracle {
    pub(crate) dial: Option<usize>,
    pub(crate) internal: Option<usize>,
    pub(crate) denied: Option<usize>,
    pub(crate) allowed: Option<usize>,
    pub(crate) raw_absent: Option<String>,
    pub(crate) denied_raw_absent: Option<String>,
    pub(crate) raw_absent_path: Option<String>,
    pub(crate) host_header: Option<String>,
    pub(crate) no101: bool,
    pub(crate) secret_at: Option<Vec<String>>,
    pub(crate) secret_in_output: Option<Value>,
    pub(crate) secret_in_logs_or_db: Option<Value>,
    pub(crate) cookie_next_run: Option<usize>,
    pub(crate) open_connections_after: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Expect {
    Value {
        value: Option<Value>,
        #[serde(default, rename = "anyOf")]
        any_of: Vec<Value>,
        pattern: Option<String>,
    },
    Error {
        class: Vec<String>,
    },
    Denied,
    NoEffect,
    AnyOf {
        of: Vec<Expect>,
    },
}

/// The name of the secret that grants inject.
pub(crate) const SECRET_NAME: &str = "FIXTURE";

impl Case {
    /// The case with the fixtures' ports in place of their names.
    pub(crate) fn parse(line: &str, fixtures: &Fixtures) -> Result<Case, serde_json::Error> {
        let ports = [("A", &fixtures.allowed), ("D", &fixtures.denied), ("I", &fixtures.internal)];
        let mut text = line.to_owned();
        for (name, origin) in ports {
            text = text.replace(&format!("{{{{{name}PORT}}}}"), &origin.port().to_string());
        }
        // Whatever a program could take for a placeholder: it is told none.
        text = text.replace("{{SECRET_PLACEHOLDER}}", &format!("${{{SECRET_NAME}}}"));
        serde_json::from_str(&text)
    }

    pub(crate) fn program(&self) -> String {
        let request = &self.request;
        if let Some(js) = &request.js {
            return js.clone();
        }
        let mut init = Map::new();
        let fields = [("method", &request.method), ("body", &request.body), ("redirect", &request.redirect)];
        for (name, value) in fields {
            value.iter().for_each(|value| drop(init.insert(name.to_owned(), json!(value))));
        }
        if !request.headers.is_empty() {
            init.insert("headers".into(), json!(request.headers));
        }
        if !request.headers_list.is_empty() {
            init.insert("headers".into(), json!(request.headers_list));
        }
        let url = json!(request.url);
        let pad = match request.url_pad {
            0 => String::new(),
            pad => format!(" + '?pad=' + 'a'.repeat({pad})"),
        };
        let take = match request.mode {
            Mode::Text => "seen.push([r.status, r.statusText, r.url, [...r.headers], await r.text()])",
            Mode::Json => "seen.push(typeof await r.json())",
            Mode::HeadersOnly => "seen.push(r.status), held.push(r)",
        };
        let (init, times) = (json!(init), request.repeat.unwrap_or(1));
        format!(
            "const seen = [], held = [];\nfor (let i = 0; i < {times}; i++) {{\n  \
               const r = await fetch({url}{pad}, {init});\n  {take};\n}}\nreturn seen;\n"
        )
    }

    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for grant in &self.grants.egress {
            flags.extend(["--allow-net".to_owned(), grant.line()]);
        }
        for grant in &self.grants.egress {
            let Some(inject) = &grant.inject else { continue };
            let value = inject.value.replace("{{SECRET}}", &format!("${{{SECRET_NAME}}}"));
            let credential = match (&inject.header, &inject.query) {
                (Some(header), _) => format!("{header}: {value}"),
                (None, Some(query)) => format!("query {query}={value}"),
                (None, None) => continue,
            };
            flags.extend(["--credential".to_owned(), format!("{}: {credential}", grant.place())]);
        }
        flags
    }

    pub(crate) fn injects(&self) -> bool {
        self.grants.egress.iter().any(|grant| grant.inject.is_some())
    }

    /// Whether anything at this port is granted by name.
    pub(crate) fn grants_port(&self, port: u16) -> bool {
        self.grants.egress.iter().any(|grant| grant.ports() == port.to_string())
    }
}

impl HostGrant {
    fn line(&self) -> String {
        match self.methods.as_slice() {
            [] => self.place(),
            methods => format!("{} {}", methods.join(","), self.place()),
        }
    }

    fn place(&self) -> String {
        let scheme = match self.scheme.as_ref().map(OneOrMany::all).unwrap_or_default().as_slice() {
            [one] => (*one).to_owned(),
            _ => "http(s)".to_owned(),
        };
        let paths = self.path.as_ref().map(OneOrMany::all).unwrap_or_default().join(",");
        format!("{scheme}://{}:{}{paths}", self.host, self.ports())
    }

    fn ports(&self) -> String {
        match &self.port {
            None => "*".to_owned(),
            Some(Value::String(port)) => port.clone(),
            Some(port) => port.to_string(),
        }
    }
}
