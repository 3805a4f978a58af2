//! Manifests: whether they are right, what they grant, what changed, and their schema.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::place::{Place, place};

const OLD: &str = r#"
name = "digest"
version = "1.0.0"
grants = ["egress:GET https://api.example.com/v1/", "kv:read cache"]

[limits]
timeout = "10s"
"#;

fn json_of(place: &Place, code: i32, args: &[&str]) -> Value {
    let ran = place.isolith(args);
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn check_says_what_is_granted() {
    let place = place();
    place.write("isolith.toml", OLD);
    let ran = place.isolith(&["manifest", "check", "isolith.toml"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((ran.code, lines[0]), (0, "digest 1.0.0 is right"), "{}", ran.stderr);
    assert!(lines[1].starts_with("digest "), "{}", ran.stdout);
    assert_eq!(lines[2..], ["  egress:GET https://api.example.com/v1/", "  kv:read cache"]);
    place.write("empty.toml", "");
    let ran = place.isolith(&["manifest", "check", "empty.toml"]);
    assert!(ran.code == 0 && ran.stdout.contains("it grants nothing"), "{}", ran.stdout);
}

#[test]
fn toml_and_json_mean_the_same() {
    let place = place();
    place.write("isolith.toml", OLD);
    let twin = json!({
        "limits": { "timeout": "10s" },
        "grants": [
            { "kind": "kv", "name": "cache", "access": "read" },
            { "kind": "egress", "host": "api.example.com", "scheme": "https", "method": "GET", "path": "/v1/" },
        ],
        "version": "1.0.0",
        "name": "digest",
    });
    place.write("isolith.json", &twin.to_string());
    let one = json_of(&place, 0, &["manifest", "check", "isolith.toml", "--json"]);
    let two = json_of(&place, 0, &["manifest", "check", "isolith.json", "--json"]);
    assert_eq!(one["digest"], two["digest"]);
    assert_eq!(one["manifest"]["limits"], json!({ "timeout": "10000ms" }));
    // What is printed is itself a manifest, of the same digest.
    place.write("printed.json", &one["manifest"].to_string());
    let three = json_of(&place, 0, &["manifest", "check", "printed.json", "--json"]);
    assert_eq!((&three["digest"], &three["manifest"]), (&one["digest"], &one["manifest"]));
    let same = json_of(&place, 0, &["manifest", "diff", "isolith.toml", "isolith.json", "--json"]);
    assert_eq!((&same["escalates"], &same["changes"]), (&json!(false), &json!([])));
}

#[test]
fn diff_fails_when_more_is_allowed() {
    let place = place();
    place.write("old.toml", OLD);
    let rows = [
        ("\"kv:read cache\"", "\"kv:cache\"", true),
        ("\"kv:read cache\"", "\"kv:read cache\", \"egress:evil.example\"", true),
        ("GET https", "GET,POST https", true),
        ("https://api.example.com/v1/", "https://*.example.com/v1/", true),
        ("example.com/v1/", "example.com/", true),
        ("https://", "http(s)://", true),
        ("\"10s\"", "\"20s\"", true),
        ("\"kv:read cache\"", "\"deny egress:*.internal.example\", \"kv:read cache\"", false),
        ("/v1/", "/v1/users", false),
        (", \"kv:read cache\"", "", false),
        ("\"10s\"", "\"5s\"", false),
        ("1.0.0", "1.0.1", false),
        ("[limits]", "random = \"banned\"\n[limits]", false),
    ];
    for (from, to, escalates) in rows {
        let new = OLD.replace(from, to);
        assert_ne!(new, OLD);
        // A key of the top level stands before the tables.
        let new = if to.contains("random") { format!("random = \"banned\"\n{OLD}") } else { new };
        place.write("new.toml", &new);
        let code = i32::from(escalates);
        let found = json_of(&place, code, &["manifest", "diff", "old.toml", "new.toml", "--json"]);
        assert_eq!(found["escalates"], json!(escalates), "{from} → {to}: {found:#}");
        assert!(!found["changes"].as_array().unwrap().is_empty(), "{from} → {to}");
        let ran = place.isolith(&["manifest", "diff", "old.toml", "new.toml"]);
        assert_eq!((ran.code, ran.stdout.contains("escalates")), (code, escalates), "{from} → {to}: {}", ran.stdout);
    }
    let ran = place.isolith(&["manifest", "diff", "old.toml", "old.toml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "nothing changed\n"));
    let ran = place.isolith(&["manifest", "diff", "old.toml", "gone.toml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn lifting_a_ban_is_allowing_more() {
    let place = place();
    place.write("old.toml", "grants = [\"egress:example.com\", \"deny egress:example.com/admin\"]\n");
    place.write("new.toml", "grants = [\"egress:example.com\"]\n");
    assert_eq!(json_of(&place, 1, &["manifest", "diff", "old.toml", "new.toml", "--json"])["escalates"], json!(true));
    assert_eq!(json_of(&place, 0, &["manifest", "diff", "new.toml", "old.toml", "--json"])["escalates"], json!(false));
}

#[test]
fn the_schema_knows_what_the_reader_knows() {
    let place = place();
    let schema = json_of(&place, 0, &["manifest", "schema"]);
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"), "{schema:#}");
    let keys = |value: &Value| value["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in ["name", "version", "description", "grants", "limits", "time", "random", "network"] {
        assert!(keys(&schema).iter().any(|known| known == key), "{key} is not in {:?}", keys(&schema));
    }
    // A manifest can say which schema it keeps to.
    place.write("m.json", &json!({ "$schema": "isolith.schema.json", "grants": [] }).to_string());
    assert_eq!(place.isolith(&["manifest", "check", "m.json"]).code, 0);
}

#[test]
fn files_that_are_no_manifests_are_told_apart() {
    let place = place();
    for (name, text, message) in [
        ("m.toml", "grants = [", "is not TOML"),
        ("m.json", "{", "is not JSON"),
        ("m.json", "[]", "in `m.json`"),
        ("m.toml", "grants = 5", "write a list of grants"),
        ("m.toml", "[limits]\ntimeout = \"0s\"", "timeout"),
        ("m.toml", "time = \"sometimes\"", "write `live`, `virtual` or `banned`"),
    ] {
        place.write(name, text);
        let ran = place.isolith(&["manifest", "check", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains("hint: "), "{text}: {}", ran.stderr);
    }
}
