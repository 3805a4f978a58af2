//! Who brings tools: what is read, what goes without saying, and what others call a server.

use isolith_core::{BindingName, Manifest, Upstream, UpstreamSource, from_mcp_servers, narrow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn texts(table: &[(&str, &str)]) -> BTreeMap<String, String> {
    table.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn tables_are_read_as_they_are_meant() {
    let manifest = Manifest::from_value(&json!({"tools": {
        "a": {"command": "server", "timeout": 5, "allow": "list_*", "deny": ["x", "y"]},
        "b": {"url": "https://b.example/mcp", "headers": {"X-Key": "${secret:K}"}, "description": "B"},
        "c": {"openapi": "https://c.example/openapi.json", "ask": "*"},
    }}))
    .unwrap();
    let a = UpstreamSource::Command { command: words(&["server"]), env: texts(&[]), cwd: None };
    let b = UpstreamSource::Url { url: "https://b.example/mcp".into(), headers: texts(&[("X-Key", "${secret:K}")]) };
    let c = "https://c.example/openapi.json".to_owned();
    let c = UpstreamSource::OpenApi { openapi: c, base: None, headers: texts(&[]) };
    let expected = [
        ("a", Upstream { timeout_ms: 5_000, allow: words(&["list_*"]), deny: words(&["x", "y"]), ..Upstream::new(a) }),
        ("b", Upstream { description: Some("B".into()), ..Upstream::new(b) }),
        ("c", Upstream { ask: words(&["*"]), ..Upstream::new(c) }),
    ];
    let expected: BTreeMap<BindingName, Upstream> =
        expected.into_iter().map(|(name, upstream)| (BindingName::new(name).unwrap(), upstream)).collect();
    assert_eq!(manifest.tools, expected);
    assert_eq!(manifest.tools.values().next_back().unwrap().timeout_ms, 60_000);
}

#[test]
fn what_is_brought_is_granted_unless_a_part_of_it_is() {
    for (grants, expected) in [
        (json!([]), "tool:g.*"),
        (json!(["tool:other.*", "kv:a"]), "tool:other.* kv:a tool:g.*"),
        (json!(["deny tool:g.delete_*"]), "deny tool:g.delete_* tool:g.*"),
        (json!(["tool:g.list"]), "tool:g.list"),
        (json!(["ask tool:g.*"]), "ask tool:g.*"),
        (json!(["tool:g"]), "tool:g tool:g.*"),
    ] {
        let value = json!({"grants": grants, "tools": {"g": {"command": "x"}}});
        let manifest = Manifest::from_value(&value).unwrap();
        let shown = |manifest: &Manifest| manifest.grants.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(&manifest), expected);
        let again = Manifest::from_value(&manifest.to_value()).unwrap();
        assert_eq!((&again, again.digest()), (&manifest, manifest.digest()));
    }
    // A policy has its say about it, as about everything else.
    let own = Manifest::from_value(&json!({"tools": {"g": {"command": "x"}}})).unwrap();
    let policy = Manifest::from_value(&json!({"grants": ["ask tool:g.list_*"]})).unwrap();
    let left = narrow(&policy.grants, &own.grants);
    assert_eq!(left.grants.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ask tool:g.list_*"]);
    assert_eq!(left.report.len(), 1);
}

fn servers(value: Value) -> Result<Vec<(String, UpstreamSource)>, String> {
    let read = from_mcp_servers(&json!({ "mcpServers": value, "inputs": [] })).map_err(|error| error.to_string())?;
    Ok(read.into_iter().map(|(name, upstream)| (name.to_string(), upstream.source)).collect())
}

#[test]
fn mcp_json_is_read_as_it_is() {
    let read = servers(json!({
        "file-system": {"type": "stdio", "command": "npx", "args": ["-y", "${PACKAGE}"], "env": {"A": "${A}", "B": "x${B:-y}"}},
        "3d": {"type": "http", "url": "${BASE}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "disabled": false},
    }));
    let files = UpstreamSource::Command {
        command: words(&["npx", "-y", "${env:PACKAGE}"]),
        env: texts(&[("A", "${env:A}"), ("B", "x${B:-y}")]),
        cwd: None,
    };
    let headers = texts(&[("Authorization", "Bearer ${env:TOKEN}")]);
    let solid = UpstreamSource::Url { url: "${env:BASE}/mcp".into(), headers };
    assert_eq!(read, Ok(vec![("_3d".into(), solid), ("file_system".into(), files)]));
    for (value, wrong) in [
        (
            json!({"a-b": {"command": "x"}, "a.b": {"command": "y"}}),
            "`mcpServers.a.b`: two servers would be called `a_b`",
        ),
        (json!({"tools": {"command": "x"}}), "`mcpServers.tools`: `tools` cannot be a namespace"),
        (json!({"a": {}}), "`mcpServers.a`: a server has a `command` or a `url`"),
        (json!({"a": {"command": "x", "args": "y"}}), "`mcpServers.a.args`: "),
        (json!([]), "`mcpServers`: write a table"),
    ] {
        let error = servers(value.clone()).unwrap_err();
        assert!(error.starts_with(wrong), "{value}: {error}");
    }
    assert_eq!(from_mcp_servers(&json!({})).unwrap_err().to_string(), "`mcpServers` is missing");
}
