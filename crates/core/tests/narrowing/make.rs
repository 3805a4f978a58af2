//! Grants and calls that are likely to meet.

use isolith_core::{
    Access, BindingName, Budget, Grant, GuestPath, Json, Method, Rule, SecretName, Target, ToolName, admit,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use std::net::IpAddr;

/// One thing that a guest can ask for.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Fetch(Method, Target),
    Address(Method, Target, IpAddr),
    Kv(BindingName, Access),
    Files(GuestPath, Access),
    Tool(ToolName, Json),
    Invoke(BindingName, Json),
    Reveal(SecretName),
}

const NAMES: [&str; 3] = ["a", "b", "c"];
/// What tools are granted by, and what is called.
const PATTERNS: [&str; 9] = ["a", "b", "g.*", "g.x*", "g.xy*", "g.xy", "g.y", "h.*", "a.xy"];
const CALLED: [&str; 9] = ["a", "b", "g.x", "g.xy", "g.xyz", "g.y", "g.z", "h.xy", "a.xy"];

pub(crate) fn verdict(grants: &[Grant], ask: &Ask) -> Rule {
    let rule = |decision: Result<isolith_core::Admitted<'_>, isolith_core::Refusal>| match decision {
        Ok(admitted) if admitted.ask => Rule::Ask,
        Ok(_) => Rule::Allow,
        Err(_) => Rule::Deny,
    };
    match ask {
        Ask::Fetch(method, target) => rule(admit::egress(grants, method, target)),
        Ask::Address(method, target, address) => match admit::address(grants, method, target, *address) {
            Ok(()) => Rule::Allow,
            Err(_) => Rule::Deny,
        },
        Ask::Kv(name, access) => rule(admit::kv(grants, name, *access)),
        Ask::Files(path, access) => rule(admit::files(grants, path, *access)),
        Ask::Tool(name, args) => rule(admit::tool(grants, name, Some(args))),
        Ask::Invoke(name, args) => rule(admit::invoke(grants, name, Some(args))),
        Ask::Reveal(name) => rule(admit::reveal(grants, name)),
    }
}

/// The secrets that would be sent along.
pub(crate) fn secrets(grants: &[Grant], ask: &Ask) -> Vec<String> {
    let Ask::Fetch(method, target) = ask else { return Vec::new() };
    let Ok(admitted) = admit::egress(grants, method, target) else { return Vec::new() };
    let isolith_core::Power::Egress(egress) = &admitted.grant.power else { return Vec::new() };
    let names = egress.credential.iter().flat_map(|credential| credential.secrets());
    names.map(|name| name.to_string()).collect()
}

fn egress() -> impl Strategy<Value = Value> {
    let host = select(vec![
        "*",
        "*.example",
        "*.x.example",
        "a.x.example",
        "b.x.example",
        "x.example",
        "localhost",
        "*.localhost",
        "*.arpa",
        "nas.home.arpa",
        "10.0.0.0/8",
        "10.0.0.1",
        "10.0.0.0/30",
        "0.0.0.0/0",
        "[::/0]",
        "[fd00::/8]",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::/96]",
        "8.8.8.8",
    ]);
    let scheme = prop_oneof![Just(json!("https")), Just(json!("http")), Just(json!(["http", "https"]))];
    let port = prop_oneof![
        3 => Just(Value::Null),
        1 => Just(json!("*")),
        1 => Just(json!([80, 443])),
        1 => Just(json!(8080)),
    ];
    let methods = subsequence(vec!["GET", "POST", "PUT"], 0..3);
    let paths = subsequence(vec!["/v1", "/v1/", "/v1/x", "/V1", "/a%20b", "/admin", "/v1/x/y"], 0..3);
    let credential = prop_oneof![
        3 => Just(Value::Null),
        1 => select(vec!["S", "T"]).prop_map(|name| json!({"bearer": name})),
        1 => Just(json!({"basic": "${S}", "password": "${T}"})),
    ];
    (host, scheme, port, methods, paths, credential, any::<bool>()).prop_map(
        |(host, scheme, port, methods, paths, credential, redact)| {
            let mut out = json!({"kind": "egress", "host": host, "scheme": scheme, "redact": redact});
            for (key, value) in [("port", port), ("credential", credential)] {
                if !value.is_null() {
                    out[key] = value;
                }
            }
            for (key, list) in [("method", methods), ("path", paths)] {
                if !list.is_empty() {
                    out[key] = json!(list);
                }
            }
            out
        },
    )
}

fn bounds() -> impl Strategy<Value = Value> {
    let some = vec![
        ("n", json!("<= 5")),
        ("n", json!(["< 5", "> 0"])),
        ("n", json!(">= 3")),
        ("r", json!("me/*")),
        ("r", json!("me/**")),
        ("o.k", json!("x")),
    ];
    subsequence(some, 0..3)
        .prop_map(|all| all.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<serde_json::Map<_, _>>().into())
}

fn other() -> impl Strategy<Value = Value> {
    let access = || select(vec!["read", "write"]);
    let paths = select(vec![".", "docs", "docs/a", "docs/a/b", "out", "/", "/etc"]);
    prop_oneof![
        (select(&NAMES[..]), access(), 0_u64..4)
            .prop_map(|(name, access, quota)| json!({"kind": "kv", "name": name, "access": access, "quota": quota})),
        (paths, access(), 0_u64..4)
            .prop_map(|(path, access, quota)| json!({"kind": "files", "path": path, "access": access, "quota": quota})),
        (select(&PATTERNS[..]), bounds(), 0..3, 1_u64..4, 0..3).prop_map(|(name, args, command, timeout, input)| {
            let mut out = json!({"kind": "tool", "name": name, "args": args, "timeout": timeout});
            // What names several has neither.
            if name.ends_with('*') {
                return out;
            }
            if command > 0 {
                out["command"] = json!([format!("run{command}")]);
            }
            if input > 0 {
                out["input"] = json!({"minProperties": input});
            }
            out
        }),
        (select(&NAMES[..]), bounds(), subsequence(vec!["kv:a", "kv:read a", "deny kv:b", "kv:b"], 0..4))
            .prop_map(|(name, args, grants)| json!({"kind": "invoke", "name": name, "args": args, "grants": grants})),
        (select(vec!["S", "T"]), any::<bool>(), 0..3).prop_map(|(name, reveal, from)| {
            let mut out = json!({"kind": "secret", "name": name, "reveal": reveal});
            if from > 0 {
                out["from"] = json!(format!("env:V{from}"));
            }
            out
        }),
    ]
}

/// There is nothing to ask about, and nothing to count.
pub(crate) fn builtin() -> impl Strategy<Value = Grant> {
    let names = vec!["builtin:WebAssembly", "builtin:SharedArrayBuffer", "deny builtin:WebAssembly"];
    select(names).prop_map(|text| text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

pub(crate) fn grant() -> impl Strategy<Value = Grant> {
    prop_oneof![12 => called(), 1 => builtin()]
}

fn called() -> impl Strategy<Value = Grant> {
    let rule = prop_oneof![5 => Just("allow"), 2 => Just("ask"), 1 => Just("deny")];
    let calls = prop_oneof![4 => Just(None), 1 => (0_u32..4).prop_map(Some)];
    (prop_oneof![3 => egress(), 2 => other()], rule, calls).prop_map(|(mut value, rule, calls)| {
        value["rule"] = json!(rule);
        if let Some(calls) = calls {
            value["calls"] = json!(calls);
        }
        Grant::from_value(&value, "").unwrap_or_else(|error| panic!("{value}: {error}"))
    })
}

pub(crate) fn grants() -> impl Strategy<Value = Vec<Grant>> {
    prop::collection::vec(grant(), 0..6)
}

/// Budgets that a hostile request might name.
pub(crate) fn forged(grant: &Grant, of: &Grant) -> Grant {
    let of = format!("operator {of}");
    Grant { budgets: vec![Budget { of, calls: 1_000_000 }], ..grant.clone() }
}

fn target() -> impl Strategy<Value = Target> {
    let host = select(vec![
        "a.x.example",
        "b.x.example",
        "A.X.example.",
        "x.example",
        "y.example",
        "other.org",
        "localhost",
        "w.localhost",
        "nas.home.arpa",
        "x.arpa",
        "10.0.0.1",
        "10.0.0.2",
        "10.9.9.9",
        "8.8.8.8",
        "127.0.0.1",
        "[fd00::1]",
        "[fd00::2]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::10.0.0.1]",
        "[2002:a00:1::]",
        "[2606:4700::1]",
    ]);
    let port = select(vec!["", "", "", ":80", ":443", ":8080", ":9"]);
    let path = select(vec![
        "",
        "/",
        "/v1",
        "/v1/",
        "/v1/x",
        "/v1/x/y/z",
        "/V1/x",
        "/v10",
        "/a%20b",
        "/admin",
        "/%61dmin",
        "//admin",
        "/admin;x",
        "/ADMIN/x",
        "/v1/..%2fadmin",
        "/v1%2fx",
        "/%2561dmin",
        "/v1//x",
        "/%761/x",
        "/v1/%c0%af",
        "/a%2%30b",
    ]);
    (select(vec!["https", "http"]), host, port, path)
        .prop_map(|(scheme, host, port, path)| Target::parse(&format!("{scheme}://{host}{port}{path}")).unwrap())
}

pub(crate) fn ask() -> impl Strategy<Value = Ask> {
    let method = || select(vec!["GET", "POST", "PUT", "DELETE"]).prop_map(|method| Method::new(method).unwrap());
    let name = || select(&NAMES[..]).prop_map(|name| BindingName::new(name).unwrap());
    let tool = select(&CALLED[..]).prop_map(|name| ToolName::new(name).unwrap());
    let access = || prop_oneof![Just(Access::Read), Just(Access::Write)];
    let address = select(vec![
        "10.0.0.1",
        "10.0.0.2",
        "10.9.9.9",
        "127.0.0.1",
        "::1",
        "8.8.8.8",
        "fd00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "169.254.169.254",
        "64:ff9b::808:808",
    ])
    .prop_map(|address| address.parse().unwrap());
    let path = select(vec![".", "docs", "docs/a", "docs/a/b/c", "docsx", "out/x", "/", "/etc/hosts"]);
    let args = || {
        select(vec![
            r#"{}"#,
            r#"{"n": 5}"#,
            r#"{"n": 4, "r": "me/x"}"#,
            r#"{"n": "4"}"#,
            r#"{"n": 1, "n": 9}"#,
            r#"{"r": "me/x/y"}"#,
            r#"{"n": 4, "r": "me/x", "o": {"k": "x"}}"#,
            r#"{"r": "me/.."}"#,
            r#"{"n": 4, "z": "\ud800"}"#,
            "null",
            r#"{"n": 9}"#,
        ])
        .prop_map(|text| Json::from_text(text.into()).unwrap())
    };
    prop_oneof![
        6 => (method(), target()).prop_map(|(method, target)| Ask::Fetch(method, target)),
        3 => (method(), target(), address).prop_map(|(method, target, address)| Ask::Address(method, target, address)),
        1 => (name(), access()).prop_map(|(name, access)| Ask::Kv(name, access)),
        1 => (path, access()).prop_map(|(path, access)| Ask::Files(GuestPath::new(path).unwrap(), access)),
        2 => (tool, args()).prop_map(|(name, args)| Ask::Tool(name, args)),
        1 => (name(), args()).prop_map(|(name, args)| Ask::Invoke(name, args)),
        1 => select(vec!["S", "T"]).prop_map(|name| Ask::Reveal(SecretName::new(name).unwrap())),
    ]
}
