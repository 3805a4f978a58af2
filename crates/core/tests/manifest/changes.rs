//! Which changes let a program do more.

use isolith_core::Manifest;
use serde_json::{Value, json};

fn escalates(old: &Value, new: &Value) -> bool {
    let read = |value: &Value| Manifest::from_value(value).unwrap_or_else(|error| panic!("{value}: {error}"));
    read(new).diff(&read(old)).iter().any(|change| change.escalates)
}

/// Old, new, and whether new is more.
fn check(rows: Vec<(Value, Value, bool)>) {
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(old, new, more)| escalates(old, new) != *more)
        .map(|(old, new, more)| format!("{old} -> {new}: more should be {more}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (old, new, _) in &rows {
        assert!(!escalates(old, old), "{old}");
        let manifest = Manifest::from_value(new).unwrap();
        assert_eq!(manifest.diff(&manifest), []);
    }
}

#[test]
fn changes_of_who_brings_tools() {
    let t = |tools: Value| json!({ "tools": tools });
    let github = || json!({"command": ["server"]});
    check(vec![
        (json!({}), t(json!({"github": github()})), true),
        (t(json!({"github": github()})), json!({}), false),
        (t(json!({"github": github()})), t(json!({"github": {"command": ["other"]}})), true),
        (t(json!({"github": github()})), t(json!({"github": {"command": ["server"], "allow": ["*"]}})), true),
        (t(json!({"github": github(), "b": github()})), t(json!({"github": github()})), false),
        (t(json!({"github": github()})), json!({"tools": {"github": github()}, "grants": ["tool:github.*"]}), false),
        (t(json!({"github": github()})), json!({"tools": {"github": github()}, "grants": ["tool:github.a"]}), false),
        (json!({"tools": {"github": github()}, "grants": ["tool:github.a"]}), t(json!({"github": github()})), true),
    ]);
}

#[test]
fn changes_of_grants() {
    let g = |grants: Value| json!({ "grants": grants });
    let one = |old: &str, new: &str, more: bool| (g(json!([old])), g(json!([new])), more);
    let table = |old: Value, new: Value, more: bool| (g(json!([old])), g(json!([new])), more);
    let h = |key: &str, value: Value| {
        let mut grant = json!({"kind": "egress", "host": "h.example"});
        grant[key] = value;
        grant
    };
    let tool = |key: &str, value: Value| {
        let mut grant = json!({"kind": "tool", "name": "t"});
        grant[key] = value;
        grant
    };
    let plain = json!({"kind": "egress", "host": "h.example"});
    check(vec![
        (g(json!([])), g(json!(["kv:a"])), true),
        (g(json!(["kv:a"])), g(json!([])), false),
        one("egress:a.example.com", "egress:*.example.com", true),
        one("egress:*.example.com", "egress:a.example.com", false),
        one("egress:*", "egress:*.example.com", false),
        one("egress:*", "egress:localhost", true),
        one("egress:https://h.example", "egress:http://h.example", true),
        one("egress:http(s)://h.example", "egress:http://h.example", false),
        one("egress:https://h.example", "egress:https://h.example:8443", true),
        one("egress:https://h.example:*", "egress:https://h.example:8443", false),
        one("egress:GET https://h.example", "egress:GET,POST https://h.example", true),
        one("egress:GET,POST https://h.example", "egress:POST https://h.example", false),
        one("egress:GET https://h.example", "egress:https://h.example", true),
        one("egress:https://h.example/v1", "egress:https://h.example", true),
        one("egress:https://h.example/v1", "egress:https://h.example/v1/x", false),
        one("egress:https://h.example/v1/", "egress:https://h.example/v1", true),
        one("egress:10.0.0.0/8", "egress:10.1.0.0/16", false),
        one("egress:10.1.0.0/16", "egress:10.0.0.0/8", true),
        one("tool:github.list_issues", "tool:github.*", true),
        one("tool:github.*", "tool:github.list_issues", false),
        one("tool:github.*", "tool:github.list_*", false),
        one("tool:github.list_*", "tool:github.l*", true),
        one("tool:github.*", "tool:gitlab.*", true),
        one("tool:github.*", "ask tool:github.list_*", false),
        one("ask tool:github.*", "tool:github.list_*", true),
        (g(json!(["tool:g.*", "ask tool:g.create_*"])), g(json!(["tool:g.*"])), true),
        (g(json!(["tool:g.*", "deny tool:g.delete_*"])), g(json!(["tool:g.*", "deny tool:g.*"])), false),
        (
            g(json!(["egress:GET https://h.example", "egress:POST https://h.example"])),
            g(json!(["egress:GET,POST https://h.example"])),
            false,
        ),
        (
            g(json!(["egress:https://h.example", "egress:http://h.example"])),
            g(json!(["egress:http(s)://h.example"])),
            false,
        ),
        (g(json!(["egress:https://h.example"])), g(json!(["egress:https://h.example:443"])), false),
        table(plain.clone(), h("credential", json!({"bearer": "T"})), true),
        table(h("credential", json!({"bearer": "T"})), plain.clone(), false),
        table(h("credential", json!({"bearer": "T"})), h("credential", json!({"bearer": "U"})), true),
        table(h("redact", json!(true)), h("redact", json!(false)), true),
        table(h("redact", json!(false)), h("redact", json!(true)), false),
        table(plain.clone(), h("calls", json!(5)), false),
        table(h("calls", json!(5)), plain, true),
        table(h("calls", json!(5)), h("calls", json!(6)), true),
        table(h("calls", json!(6)), h("calls", json!(5)), false),
        one("ask egress:h.example", "egress:h.example", true),
        one("egress:h.example", "ask egress:h.example", false),
        (g(json!(["egress:*", "deny egress:evil.example"])), g(json!(["egress:*"])), true),
        (g(json!(["egress:*"])), g(json!(["egress:*", "deny egress:evil.example"])), false),
        (
            g(json!(["egress:*", "deny egress:a.evil.example"])),
            g(json!(["egress:*", "deny egress:*.evil.example"])),
            false,
        ),
        (
            g(json!(["egress:*", "deny egress:*.evil.example"])),
            g(json!(["egress:*", "deny egress:a.evil.example"])),
            true,
        ),
        (g(json!(["egress:*", "ask egress:a.example"])), g(json!(["egress:*"])), true),
        (g(json!(["egress:*", "ask egress:a.example"])), g(json!(["egress:b.example", "ask egress:a.example"])), false),
        (g(json!(["egress:b.example", "ask egress:a.example"])), g(json!(["egress:b.example"])), false),
        (
            g(json!(["egress:*.x.example", {"kind": "egress", "host": "a.x.example", "calls": 1}])),
            g(json!(["egress:*.x.example"])),
            true,
        ),
        one("kv:read a", "kv:a", true),
        one("kv:a", "kv:read a", false),
        table(json!({"kind": "kv", "name": "a", "quota": 10}), json!({"kind": "kv", "name": "a", "quota": 11}), true),
        table(json!({"kind": "kv", "name": "a", "quota": 10}), json!({"kind": "kv", "name": "a", "quota": 9}), false),
        one("files:read docs", "files:read docs/a", false),
        one("files:read docs", "files:read .", true),
        one("files:read docs", "files:write docs", true),
        table(tool("command", json!(["a"])), tool("command", json!(["b"])), true),
        table(tool("input", json!({"type": "object"})), tool("rule", json!("allow")), true),
        table(tool("rule", json!("allow")), tool("input", json!({"type": "object"})), false),
        table(tool("args", json!({"n": "<= 5"})), tool("args", json!({"n": "<= 6"})), true),
        table(tool("args", json!({"n": "<= 5"})), tool("args", json!({"n": "< 5"})), false),
        table(tool("args", json!({"n": "<= 5"})), tool("args", json!({"n": "<= 5", "m": "x"})), false),
        table(tool("args", json!({"n": "<= 5"})), tool("args", json!({"m": "x"})), true),
        table(tool("timeout", json!("1s")), tool("timeout", json!("2s")), true),
        table(tool("timeout", json!("2s")), tool("timeout", json!("1s")), false),
        one("secret:A", "secret:reveal A", true),
        one("secret:reveal A", "secret:A", false),
        one("builtin:WebAssembly", "builtin:SharedArrayBuffer", true),
        one("builtin:WebAssembly", "deny builtin:WebAssembly", false),
        one("deny builtin:WebAssembly", "builtin:WebAssembly", true),
        table(
            json!({"kind": "secret", "name": "A", "from": "env:A"}),
            json!({"kind": "secret", "name": "A", "from": "env:B"}),
            true,
        ),
        table(json!({"kind": "invoke", "name": "i"}), json!({"kind": "invoke", "name": "i", "grants": ["kv:a"]}), true),
        table(
            json!({"kind": "invoke", "name": "i", "grants": ["kv:a", "kv:b"]}),
            json!({"kind": "invoke", "name": "i", "grants": ["kv:read b"]}),
            false,
        ),
        table(
            json!({"kind": "invoke", "name": "i", "program": "a.ts"}),
            json!({"kind": "invoke", "name": "i", "program": "b.ts"}),
            true,
        ),
    ]);
}

#[test]
fn changes_of_everything_else() {
    let limit = |key: &str, value: Value| json!({"limits": { key: value }});
    check(vec![
        (json!({"name": "a"}), json!({"name": "b", "version": "2", "description": "c"}), false),
        (limit("timeout", json!("10s")), limit("timeout", json!("11s")), true),
        (limit("timeout", json!("10s")), limit("timeout", json!("9s")), false),
        (limit("memory", json!("64MiB")), limit("memory", json!("65MiB")), true),
        (limit("calls", json!(5)), limit("calls", json!(6)), true),
        (limit("egress_requests", json!(6)), limit("egress_requests", json!(5)), false),
        (json!({}), limit("cpu", json!("11s")), true),
        (limit("cpu", json!("11s")), json!({}), false),
        (json!({"time": "banned"}), json!({"time": "live"}), true),
        (json!({"time": "banned"}), json!({"time": "virtual"}), true),
        (json!({"time": "live"}), json!({"time": "virtual"}), false),
        (json!({"random": "virtual"}), json!({}), true),
        (json!({}), json!({"random": "banned"}), false),
        (json!({}), json!({"network": {"proxy": "http://p:1"}}), true),
        (json!({"network": {"ca": "a.pem"}}), json!({}), true),
    ]);
}

#[test]
fn a_change_is_told_in_words() {
    let read = |value: Value| Manifest::from_value(&value).unwrap();
    let old = read(
        json!({"name": "a", "grants": ["kv:a", "deny egress:x.example"], "limits": {"calls": 5}, "time": "banned"}),
    );
    let new = read(json!({"name": "b", "grants": ["kv:b"], "limits": {"calls": 6, "timeout": "1500us"}}));
    let told: Vec<(String, bool)> = new.diff(&old).into_iter().map(|change| (change.what, change.escalates)).collect();
    let wanted = [
        ("name: a is now b", false),
        ("granted: `kv:b`", true),
        ("no longer granted: `kv:a`", false),
        ("no longer forbidden: `deny egress:http(s)://x.example:*`", true),
        ("limit timeout: 30000ms is now 1500us", false),
        ("limit calls: 5 is now 6", true),
        ("time: \"banned\" is now \"live\"", true),
    ];
    assert_eq!(told, wanted.map(|(what, more)| (what.to_owned(), more)));
}
