//! Manifests that are refused, with the place and a message that helps.

use isolith_core::Manifest;
use serde_json::{Value, json};

#[test]
fn every_mistake_is_told_with_its_place() {
    let grant = |value: Value| json!({"grants": ["kv:ok", value]});
    let egress = |key: &str, value: Value| {
        let mut grant = json!({"kind": "egress", "host": "h.example"});
        grant[key] = value;
        json!({"grants": ["kv:ok", grant]})
    };
    let rows: Vec<(Value, &str, &str)> = vec![
        (json!([]), "", "write a table"),
        (json!({"nam": "x"}), "nam", "did you mean `name`?"),
        (json!({"grant": []}), "grant", "did you mean `grants`?"),
        (json!({"whatever": 1}), "whatever", "there is no such key; there are `$schema`, `name`"),
        (json!({"name": 5}), "name", "string"),
        (json!({"grants": "kv:a"}), "grants", "write a list of grants"),
        (json!({"limits": {"timout": "1s"}}), "limits.timout", "did you mean `timeout`?"),
        (json!({"limits": {"timeout": "1 fortnight"}}), "limits.timeout", "30s"),
        (json!({"limits": {"timeout": 0}}), "limits.timeout", "between"),
        (json!({"limits": {"memory": "1tb"}}), "limits.memory", "64MiB"),
        (json!({"limits": {"memory": "1"}}), "limits.memory", "between 8 MiB"),
        (json!({"limits": {"memory": true}}), "limits.memory", "write a number"),
        (json!({"limits": {"calls": -1}}), "limits.calls", "u32"),
        (json!({"limits": []}), "limits", "write a table"),
        (json!({"time": "frozen"}), "time", "`live`, `virtual` or `banned`"),
        (json!({"network": {"proxi": "x"}}), "network.proxi", "did you mean `proxy`?"),
        (json!({"tools": []}), "tools", "a table for each namespace"),
        (json!({"tools": {"a-b": {"url": "https://x"}}}), "tools.a-b", "cannot name a binding"),
        (json!({"tools": {"tools": {"url": "https://x"}}}), "tools.tools", "cannot be a namespace"),
        (json!({"tools": {"x": "npx"}}), "tools.x", "write a table"),
        (json!({"tools": {"x": {}}}), "tools.x", "one of `command`, `url` or `openapi`"),
        (json!({"tools": {"x": {"comand": "y"}}}), "tools.x.comand", "did you mean `command`?"),
        (
            json!({"tools": {"x": {"command": "y", "url": "https://x"}}}),
            "tools.x.url",
            "only one of `command` and `url`",
        ),
        (json!({"tools": {"x": {"command": []}}}), "tools.x.command", "name the program"),
        (json!({"tools": {"x": {"command": "y", "headers": {}}}}), "tools.x.headers", "there is no such key"),
        (json!({"tools": {"x": {"command": "y", "evn": {}}}}), "tools.x.evn", "did you mean `env`?"),
        (json!({"tools": {"x": {"command": "y", "env": {"A=B": "c"}}}}), "tools.x.env", "name of a variable"),
        (json!({"tools": {"x": {"command": "y", "env": {"A": 1}}}}), "tools.x.env", "string"),
        (json!({"tools": {"x": {"url": "ftp://x"}}}), "tools.x.url", "starts with `https://`"),
        (json!({"tools": {"x": {"url": "https://x", "headers": {"Host": "y"}}}}), "tools.x.headers", "`Host`: "),
        (json!({"tools": {"x": {"openapi": "y", "base": "z"}}}), "tools.x.base", "starts with `https://`"),
        (json!({"tools": {"x": {"openapi": "y", "allow": "a*b"}}}), "tools.x.allow", "names no tool"),
        (json!({"tools": {"x": {"openapi": "y", "deny": [""]}}}), "tools.x.deny", "names no tool"),
        (json!({"tools": {"x": {"openapi": "y", "timeout": 0}}}), "tools.x.timeout", "from `1ms`"),
        (grant(json!(5)), "grants[1]", "write a table"),
        (grant(json!("kv")), "grants[1]", "is no grant"),
        (grant(json!("egres:h")), "grants[1]", "did you mean `egress`?"),
        (grant(json!("kv:a b")), "grants[1]", "cannot name a binding"),
        (grant(json!("files:docs")), "grants[1]", "write `files:read docs` or `files:write docs`"),
        (grant(json!("files:read out/a /")), "grants[1]", "without spaces"),
        (grant(json!("egress:ftp://h")), "grants[1]", "`ftp` is no scheme"),
        (grant(json!("egress:https://u@h")), "grants[1]", "a grant names no user"),
        (grant(json!("egress:https://h:0")), "grants[1]", "`0` is no port"),
        (grant(json!("egress:https://h:+80")), "grants[1]", "is no port"),
        (grant(json!("egress:https://h/a/../b")), "grants[1]", "lead elsewhere"),
        (grant(json!({"name": "a"})), "grants[1]", "`kind` is missing"),
        (grant(json!({"knd": "kv", "name": "a"})), "grants[1].knd", "did you mean `kind`?"),
        (grant(json!({"kind": "kw", "name": "a"})), "grants[1].kind", "did you mean `kv`?"),
        (grant(json!({"kind": "kv"})), "grants[1]", "`name` is missing"),
        (grant(json!({"kind": "kv", "name": "a", "acess": "read"})), "grants[1].acess", "did you mean `access`?"),
        (grant(json!({"kind": "kv", "name": "a", "access": "r"})), "grants[1].access", "write `read` or `write`"),
        (grant(json!({"kind": "kv", "name": "a", "rule": "maybe"})), "grants[1].rule", "allow"),
        (grant(json!({"kind": "kv", "name": "a", "quota": -1})), "grants[1].quota", "positive"),
        (grant(json!({"kind": "files", "path": "../x"})), "grants[1].path", "leads above the root"),
        (grant(json!({"kind": "files", "path": " x"})), "grants[1].path", "without spaces"),
        (grant(json!("tool:g.*x")), "grants[1]", "a star stands at the end"),
        (grant(json!("tool:*")), "grants[1]", "a star stands at the end"),
        (grant(json!("tool:g.a.b")), "grants[1]", "on both sides of one dot"),
        (grant(json!("tool:tools.*")), "grants[1]", "`tools` cannot be a namespace"),
        (grant(json!({"kind": "tool", "name": "g.*", "command": ["x"]})), "grants[1].command", "more than one tool"),
        (grant(json!({"kind": "tool", "name": "g.a*", "input": {}})), "grants[1].input", "more than one tool"),
        (grant(json!({"kind": "tool", "name": "g.*", "output": {}})), "grants[1].output", "more than one tool"),
        (grant(json!({"kind": "tool", "name": "t", "input": 5})), "grants[1].input", "a JSON Schema is a table"),
        (grant(json!({"kind": "tool", "name": "t", "args": 5})), "grants[1].args", "write a table"),
        (grant(json!({"kind": "tool", "name": "t", "args": {"n": "<= x"}})), "grants[1].args.n", "not a number"),
        (grant(json!({"kind": "tool", "name": "t", "args": {"n": "<= NaN"}})), "grants[1].args.n", "not a number"),
        (grant(json!({"kind": "tool", "name": "t", "args": {"n": "<= 1e999"}})), "grants[1].args.n", "not a number"),
        (grant(json!({"kind": "tool", "name": "t", "args": {"n": []}})), "grants[1].args.n", "at least one bound"),
        (grant(json!({"kind": "tool", "name": "t", "args": {"n": {}}})), "grants[1].args.n", "write a bound"),
        (grant(json!({"kind": "tool", "name": "t", "timeout": 0})), "grants[1].timeout", "from `1ms`"),
        (
            grant(json!({"kind": "invoke", "name": "i", "grants": ["kv:a", {"kind": "kv", "nam": "b"}]})),
            "grants[1].grants[1].nam",
            "did you mean `name`?",
        ),
        (grant(json!({"kind": "secret", "name": "a b"})), "grants[1].name", "cannot name a secret"),
        (
            grant(json!({"kind": "secret", "name": "A", "from": "vault:x"})),
            "grants[1].from",
            "`env`, `file`, `command` and `store`",
        ),
        (
            grant(json!({"kind": "builtin", "name": "eval"})),
            "grants[1].name",
            "there are `WebAssembly`, `SharedArrayBuffer`",
        ),
        (grant(json!({"kind": "builtin", "name": "Webassembly"})), "grants[1].name", "did you mean `WebAssembly`?"),
        (
            grant(json!({"kind": "builtin", "name": "WebAssembly", "rule": "ask"})),
            "grants[1].rule",
            "no call to ask about",
        ),
        (grant(json!({"kind": "builtin", "name": "WebAssembly", "calls": 1})), "grants[1].calls", "there are `kind`"),
        (grant(json!("ask builtin:WebAssembly")), "grants[1]", "no call to ask about"),
        (grant(json!("builtin:")), "grants[1]", "cannot be granted"),
        (grant(json!({"kind": "egress"})), "grants[1]", "`host` is missing"),
        (egress("host", json!("example.*")), "grants[1].host", "is not a host"),
        (egress("host", json!("0x7f.1")), "grants[1].host", "is not a host"),
        (egress("host", json!("[10.0.0.1")), "grants[1].host", "is not a host"),
        (egress("url", json!("gopher://h")), "grants[1].url", "no scheme"),
        (egress("scheme", json!("ftp")), "grants[1].scheme", "write `https`, `http` or both"),
        (egress("port", json!(0)), "grants[1].port", "from 1 to 65535"),
        (egress("port", json!([])), "grants[1].port", "from 1 to 65535"),
        (egress("port", json!(65536)), "grants[1].port", "u16"),
        (egress("method", json!("CONNECT")), "grants[1].method", "never sent"),
        (egress("method", json!([])), "grants[1].method", "at least one"),
        (egress("path", json!("v1")), "grants[1].path", "start with `/`"),
        (egress("path", json!([])), "grants[1].path", "at least one"),
        (egress("path", json!("/users/{id}")), "grants[1].path", "as it stands in a URL"),
        (egress("path", json!("/a;b")), "grants[1].path", "`;`"),
        (egress("path", json!("/a%2fb")), "grants[1].path", "different things"),
        (egress("credential", json!("TOKEN")), "grants[1].credential", "write a table"),
        (egress("credential", json!({})), "grants[1].credential", "write one of `header`"),
        (egress("credential", json!({"beerer": "T"})), "grants[1].credential.beerer", "did you mean `bearer`?"),
        (
            egress("credential", json!({"header": "host", "value": "x"})),
            "grants[1].credential.header",
            "not the program's to set",
        ),
        (
            egress("credential", json!({"header": "Content_Length", "value": "x"})),
            "grants[1].credential.header",
            "not the program's to set",
        ),
        (egress("credential", json!({"header": "x-a", "value": "${A"})), "grants[1].credential.value", "without `}`"),
        (
            egress("credential", json!({"header": "x-a", "value": "a\r\nb"})),
            "grants[1].credential.value",
            "printable ASCII",
        ),
        (egress("credential", json!({"header": "x-a"})), "grants[1].credential", "`value` is missing"),
        (egress("credential", json!({"query": "", "value": "x"})), "grants[1].credential.query", "name the parameter"),
        (
            egress("credential", json!({"bearer": "A", "header": "x", "value": "y"})),
            "grants[1].credential.bearer",
            "no such key",
        ),
        (
            egress(
                "credential",
                json!({"sigv4": {"access_key": "a", "secret_key": "b", "region": "a\nb", "service": "s3"}}),
            ),
            "grants[1].credential.sigv4",
            "ASCII letters",
        ),
        (egress("redact", json!("no")), "grants[1].redact", "boolean"),
        (egress("calls", json!(-1)), "grants[1].calls", "u32"),
        (egress("metod", json!("GET")), "grants[1].metod", "did you mean `method`?"),
    ];
    assert!(rows.len() >= 25);
    let mut wrong = Vec::new();
    for (value, at, message) in rows {
        match Manifest::from_value(&value) {
            Ok(_) => wrong.push(format!("{value} was accepted")),
            Err(error) if error.at != at || !error.message.contains(message) => {
                wrong.push(format!("{value}\n    {} | {}\n    wanted {at} | {message}", error.at, error.message));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
