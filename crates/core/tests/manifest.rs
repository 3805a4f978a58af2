//! The manifest: its schema, its mistakes, its digest and what counts as an escalation.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "manifest/broken.rs"]
mod broken;
#[path = "manifest/changes.rs"]
mod changes;
#[path = "manifest/upstream.rs"]
mod upstream;

use isolith_core::{Manifest, SCHEMA};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn sample() -> Value {
    json!({
        "$schema": "https://isolith.dev/manifest.schema.json",
        "name": "report",
        "version": "1.2.0",
        "description": "Sends the weekly report",
        "grants": [
            "egress:GET https://api.example.com/v1/",
            "deny egress:*.evil.example",
            "ask tool:publish",
            "kv:read facts",
            "files:write out",
            "secret:reveal SHOWN",
            {"kind": "egress", "host": "api.github.com", "scheme": "https", "port": [443, 8443], "method": ["GET", "POST"],
             "path": ["/repos", "/user/"], "credential": {"bearer": "GITHUB_TOKEN"}, "redact": false, "calls": 50},
            {"kind": "egress", "url": "https://a.example", "credential": {"header": "X-Key", "value": "key ${A}"}},
            {"kind": "egress", "host": "*", "scheme": ["http", "https"], "port": "*", "rule": "ask",
             "credential": {"query": "key", "value": "${A}"}},
            {"kind": "egress", "host": "10.0.0.0/8", "port": 8080, "credential": {"basic": "me", "password": "${P}"}},
            {"kind": "egress", "host": "s3.example", "credential": {"sigv4": {"access_key": "ID", "secret_key": "KEY",
             "session_token": "TOKEN", "region": "eu-central-1", "service": "s3"}}},
            {"kind": "kv", "name": "cache", "access": "write", "quota": "4MiB"},
            {"kind": "files", "path": "docs", "access": "read", "quota": 0, "rule": "ask"},
            {"kind": "tool", "name": "pay", "input": {"type": "object"}, "output": true, "command": ["pay", "--json"],
             "timeout": "5s", "args": {"amount": ["<= 100", "> 0"], "n": 5, "to.country": "D*"}, "calls": 3},
            {"kind": "invoke", "name": "helper", "program": "helper.ts", "args": {"n": "< 9"},
             "grants": ["kv:cache", {"kind": "tool", "name": "pay"}]},
            {"kind": "secret", "name": "GITHUB_TOKEN", "from": "env:GITHUB_TOKEN"},
            {"kind": "secret", "name": "A", "from": "${file:/run/a}", "reveal": true},
            {"kind": "kv", "name": "shared", "budgets": [{"of": "operator kv:shared", "calls": 9}]},
            {"kind": "builtin", "name": "WebAssembly", "rule": "allow"},
            "deny builtin:SharedArrayBuffer",
        ],
        "tools": {
            "github": {"command": ["npx", "-y", "server"], "env": {"TOKEN": "${env:GH_TOKEN}"}, "cwd": "x",
             "allow": "list_*", "ask": ["create_issue"], "deny": ["*"], "timeout": "5s", "description": "Issues"},
            "search": {"url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer ${secret:T}"}},
            "pets": {"openapi": "petstore.yaml", "base": "http://localhost:1/v1", "headers": {"x-key": "${env:K}"}},
        },
        "limits": {
            "timeout": "1m", "cpu": 5, "memory": "64MiB", "stack": "256KiB", "source": 65536, "output": "2MiB",
            "value": "1MiB", "payload": "1MiB", "suspended": "8MiB", "egress_response": "8MiB", "egress_requests": 10,
            "calls": 100, "calls_in_flight": 4,
        },
        "time": "virtual",
        "random": "banned",
        "network": {"proxy": "env", "ca": "ca.pem"},
    })
}

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn a_full_manifest_is_accepted_by_the_reader_and_by_the_schema() {
    let manifest = Manifest::from_value(&sample()).unwrap();
    let errors: Vec<String> = validator().iter_errors(&sample()).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    // What it writes is what both read, and nothing is lost on the way.
    let written = manifest.to_value();
    assert!(validator().is_valid(&written), "{written:#}");
    assert_eq!(Manifest::from_value(&written).unwrap(), manifest);
    let empty = Manifest::from_value(&json!({})).unwrap();
    assert_eq!(empty, Manifest::default());
    assert!(validator().is_valid(&json!({})));
    for network in [json!({"proxy": "http://p:1"}), json!({"ca": "x.pem"}), json!({})] {
        let manifest = Manifest::from_value(&json!({ "network": network })).unwrap();
        assert_eq!(Manifest::from_value(&manifest.to_value()).unwrap(), manifest);
    }
}

/// The keys that the reader knows at a place, as its own complaint about one that nobody has lists them.
fn known(manifest: Value) -> BTreeSet<String> {
    let message = Manifest::from_value(&manifest).unwrap_err().message;
    let (_, list) = message.split_once("there are ").unwrap_or_else(|| panic!("{message}"));
    list.split(", ").map(|key| key.trim_matches('`').to_owned()).collect()
}

fn in_schema(pointer: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let table = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!(table.get("additionalProperties"), Some(&json!(false)), "{pointer}");
    table["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_schema_has_the_readers_keys_and_no_others() {
    let nobodys = "qqqqqqqqqqqqqqqq";
    assert_eq!(known(json!({ nobodys: 1 })), in_schema(""));
    assert_eq!(known(json!({"limits": { nobodys: 1 }})), in_schema("/properties/limits"));
    assert_eq!(known(json!({"network": { nobodys: 1 }})), in_schema("/properties/network"));
    for (kind, needs) in [
        ("egress", json!({"host": "h.example"})),
        ("kv", json!({"name": "a"})),
        ("files", json!({"path": "a"})),
        ("tool", json!({"name": "a"})),
        ("invoke", json!({"name": "a"})),
        ("secret", json!({"name": "a"})),
        ("builtin", json!({"name": "WebAssembly"})),
    ] {
        let mut grant = needs;
        grant["kind"] = json!(kind);
        grant[nobodys] = json!(1);
        let mut known = known(json!({ "grants": [grant] }));
        // Read, but not for people to write. What is not called cannot be counted.
        if kind != "builtin" {
            known.insert("budgets".into());
        }
        assert_eq!(known, in_schema(&format!("/$defs/{kind}")), "{kind}");
    }
    for (n, own) in [json!({"command": "x"}), json!({"url": "https://x"}), json!({"openapi": "x"})].iter().enumerate() {
        let mut wrong = own.clone();
        wrong[nobodys] = json!(1);
        assert_eq!(known(json!({"tools": {"x": wrong}})), in_schema(&format!("/$defs/upstream/oneOf/{n}")), "{own}");
    }
    let credential = |value: Value| known(json!({"grants": [{"kind": "egress", "host": "h", "credential": value}]}));
    let mut all = BTreeSet::new();
    for (n, own) in [
        json!({"header": "x", "value": "y"}),
        json!({"bearer": "x"}),
        json!({"basic": "x", "password": "y"}),
        json!({"query": "x", "value": "y"}),
        json!({"sigv4": {"access_key": "a", "secret_key": "b", "region": "c", "service": "d"}}),
    ]
    .into_iter()
    .enumerate()
    {
        let keys = in_schema(&format!("/$defs/egress/properties/credential/oneOf/{n}"));
        assert_eq!(keys, own.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>());
        all.extend(keys);
        let mut wrong = own;
        wrong[nobodys] = json!(1);
        assert!(credential(wrong).is_subset(&all), "{n}");
    }
    assert_eq!(
        credential(json!({ nobodys: 1 })),
        ["header", "bearer", "basic", "query", "sigv4"].map(str::to_owned).into()
    );
}

#[test]
fn every_key_has_a_description() {
    fn look(at: &str, value: &Value) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            if key == "properties" {
                for (name, property) in inner.as_object().unwrap() {
                    let told = property.get("description").is_some() || property.get("$ref").is_some();
                    assert!(told, "{at}: {name}");
                }
            }
            look(&format!("{at}/{key}"), inner);
        }
        value.as_array().into_iter().flatten().for_each(|inner| look(at, inner));
    }
    look("", &serde_json::from_str(SCHEMA).unwrap());
}

#[test]
fn order_and_layout_do_not_change_the_digest() {
    let digest = |value: &Value| Manifest::from_value(value).unwrap().digest();
    let one = sample();
    let mut turned = sample();
    turned["grants"].as_array_mut().unwrap().reverse();
    assert_eq!(digest(&one), digest(&turned));
    let mut twice = sample();
    let first = twice["grants"][0].clone();
    twice["grants"].as_array_mut().unwrap().push(first);
    assert_eq!(digest(&one), digest(&twice));
    // The same said differently.
    for (a, b) in [
        (json!(["egress:API.example.com."]), json!([{"kind": "egress", "host": "api.example.com", "scheme": "https"}])),
        (json!([{"kind": "egress", "host": "h", "method": ["POST", "get"]}]), json!(["egress:GET,POST https://h"])),
        (
            json!([{"kind": "tool", "name": "t", "args": {"n": ["> 0", "<= 5"]}}]),
            json!([{"kind": "tool", "name": "t", "args": {"n": ["<= 5", "> 0"]}}]),
        ),
        (
            json!([{"kind": "invoke", "name": "i", "grants": ["kv:a", "kv:b"]}]),
            json!([{"kind": "invoke", "name": "i", "grants": ["kv:b", "kv:a"]}]),
        ),
        (json!([{"kind": "kv", "name": "a", "quota": "1MiB"}]), json!([{"name": "a", "quota": 1048576, "kind": "kv"}])),
        (json!(["egress:https://h/%76%31"]), json!(["egress:https://h/v1"])),
    ] {
        assert_eq!(digest(&json!({ "grants": a })), digest(&json!({ "grants": b })), "{a}");
    }
    assert_eq!(digest(&json!({"limits": {"timeout": "30s"}})), digest(&json!({})));
    assert_eq!(digest(&json!({"limits": {"timeout": 90}})), digest(&json!({"limits": {"timeout": "1.5m"}})));
}

#[test]
fn any_change_in_meaning_changes_the_digest() {
    let mut seen = vec![("sample".to_owned(), Manifest::from_value(&sample()).unwrap().digest())];
    let mut add = |what: String, value: Value| {
        let digest = Manifest::from_value(&value).unwrap_or_else(|error| panic!("{what}: {error}")).digest();
        let same = seen.iter().find(|(_, other)| *other == digest);
        assert!(same.is_none(), "{what} and {same:?}");
        seen.push((what, digest));
    };
    for key in ["name", "version", "description"] {
        let mut value = sample();
        value[key] = json!("other");
        add(key.into(), value);
    }
    for n in 0..sample()["grants"].as_array().unwrap().len() {
        let mut value = sample();
        value["grants"].as_array_mut().unwrap().remove(n);
        add(format!("without grant {n}"), value);
    }
    for key in
        ["timeout", "cpu", "memory", "stack", "source", "output", "value", "payload", "suspended", "egress_response"]
    {
        let mut value = sample();
        value["limits"].as_object_mut().unwrap().remove(key);
        add(format!("without limit {key}"), value);
    }
    for us in [1_000, 1_001, 1_500] {
        let mut value = sample();
        value["limits"]["cpu"] = json!(format!("{us}us"));
        add(format!("cpu {us}us"), value);
    }
    for (key, text) in [("time", "live"), ("time", "banned"), ("random", "live"), ("random", "virtual")] {
        let mut value = sample();
        value[key] = json!(text);
        add(format!("{key} {text}"), value);
    }
    for (path, other) in [
        ("/grants/6/host", json!("gitlab.com")),
        ("/grants/6/port", json!(443)),
        ("/grants/6/method", json!("GET")),
        ("/grants/6/path", json!("/repos")),
        ("/grants/6/credential", json!({"bearer": "OTHER"})),
        ("/grants/6/redact", json!(true)),
        ("/grants/6/calls", json!(51)),
        ("/grants/12/rule", json!("deny")),
        ("/grants/12/path", json!("/docs")),
        ("/grants/13/args/amount", json!("<= 100")),
        ("/grants/13/command", json!(["pay"])),
        ("/grants/13/timeout", json!("6s")),
        ("/grants/13/input", json!({"type": "array"})),
        ("/grants/14/grants", json!(["kv:cache"])),
        ("/grants/15/from", json!("env:OTHER")),
        ("/grants/16/reveal", json!(false)),
        ("/grants/18/name", json!("SharedArrayBuffer")),
        ("/grants/18/rule", json!("deny")),
        ("/tools/github/command", json!(["npx", "server"])),
        ("/tools/github/env", json!({})),
        ("/tools/github/deny", json!([])),
        ("/tools/github/timeout", json!("6s")),
        ("/tools/search/url", json!("http://mcp.example/mcp")),
        ("/tools/search/headers", json!({})),
        ("/tools/pets/base", json!("http://localhost:2")),
        ("/tools/pets", json!({"url": "http://localhost:1/v1"})),
        ("/network/proxy", json!("http://p:1")),
    ] {
        let mut value = sample();
        *value.pointer_mut(path).unwrap() = other;
        add(path.into(), value);
    }
}
