//! What an operator allows at most.

use crate::{refused, scene};
use serde_json::{Value, json};

#[test]
fn a_policy_narrows_and_says_so() {
    let scene = scene();
    scene.place.write("policy.toml", &format!("grants = [\"egress:GET {}/public\", \"kv:read cache\"]\n", scene.base));
    let flags = ["--allow-net", "BASE", "--allow-kv", "cache", "--allow-read", "files", "--policy", "policy.toml"];
    let outcome = scene.run("return (await fetch('BASE/public/x')).text()", &flags);
    assert_eq!(outcome.value(), &json!("GET /public/x"));
    let base = &scene.base;
    let narrowed = json!([
        { "requested": format!("egress:{base}"), "effective": [format!("egress:GET {base}/public")] },
        { "requested": "kv:cache", "effective": ["kv:read cache"] },
        { "requested": "files:read files", "effective": [] },
    ]);
    assert_eq!(sorted(&outcome.json["narrowed"]), sorted(&narrowed));
    for line in [
        format!("policy: `egress:{base}` is narrowed to `egress:GET {base}/public`"),
        "policy: `kv:cache` is narrowed to `kv:read cache`".to_owned(),
        "policy: `files:read files` is narrowed to `nothing`".to_owned(),
    ] {
        assert!(outcome.stderr.contains(&line), "{line} is not in {}", outcome.stderr);
    }
    for (program, code) in [
        ("return (await fetch('BASE/private')).text()", "egress.denied"),
        ("return (await fetch('BASE/public', { method: 'POST' })).text()", "egress.denied"),
        ("await kv.cache.put('a', 1)", "kv.denied"),
    ] {
        refused(&scene.run(program, &flags), code, "not granted");
    }
    let outcome = scene.run("return files.readText('files/other.txt')", &flags);
    assert_eq!((outcome.code, outcome.message()), (1, "files is not defined"));
}

fn sorted(list: &Value) -> Vec<String> {
    let mut rows: Vec<String> = list.as_array().unwrap().iter().map(Value::to_string).collect();
    rows.sort();
    rows
}

#[test]
fn a_policy_grants_nothing_by_itself() {
    let scene = scene();
    scene.place.write("policy.toml", &format!("grants = [\"egress:{}\"]\n", scene.base));
    let outcome = scene.run("return (await fetch('BASE/x')).status", &["--policy", "policy.toml"]);
    assert_eq!((outcome.code, outcome.message()), (1, "fetch is not defined"));
}

#[test]
fn a_policy_bans_bounds_and_limits() {
    let scene = scene();
    let policy = format!(
        "grants = [{{ kind = \"egress\", url = \"{0}\", calls = 2 }}, \"deny egress:{0}/private\"]\n[limits]\ntimeout = \"300ms\"\n",
        scene.base
    );
    scene.place.write("policy.toml", &policy);
    let flags = ["--allow-net", "BASE", "--policy", "policy.toml"];
    refused(&scene.run("await fetch('BASE/private')", &flags), "egress.denied", "forbidden by");
    let three = "for (let i = 0; i < 3; i++) await fetch('BASE/' + i).then((r) => r.text())";
    refused(&scene.run(three, &flags), "egress.denied", "2 times");
    let outcome =
        scene.run("await new Promise((r) => setTimeout(r, 60_000))", &[&flags[..], &["--timeout", "1h"]].concat());
    assert_eq!(outcome.code, 124, "{:#}", outcome.json);
}

#[test]
fn the_environment_can_name_the_policy() {
    let scene = scene();
    scene.place.write("policy.toml", "grants = []\n");
    scene.place.write("p.ts", &format!("return (await fetch('{}/x')).status", scene.base));
    let args = ["run", "p.ts", "--json", "--allow-net", &scene.base];
    assert_eq!(scene.place.isolith(&args).code, 0);
    let ran = scene.place.command(&args).env("ISOLITH_POLICY", "policy.toml").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let ran = scene.place.command(&args).env("ISOLITH_POLICY", "gone.toml").output().unwrap();
    assert_eq!(ran.status.code(), Some(2), "a policy that cannot be read allows nothing");
    assert_eq!(scene.origin.requests().len(), 1);
}

#[test]
fn allow_all_is_loud_and_knows_its_place() {
    let scene = scene();
    let outcome = scene.run("await files.write('made.txt', 'x'); return files.readText('made.txt')", &["--allow-all"]);
    assert_eq!(outcome.value(), &json!("x"));
    assert!(outcome.stderr.contains("warning: `--allow-all`"), "{}", outcome.stderr);
    // The whole public internet is not this machine.
    let address = "const url = 'BASE/x'.split('').join(''); return (await fetch(url)).status";
    let outcome = scene.run(address, &["--allow-all"]);
    assert!(outcome.code == 126 || outcome.code == 0, "{:#}", outcome.json);
    scene.place.write("policy.toml", "grants = [\"kv:cache\"]\n");
    let ran = scene.place.isolith(&["eval", "1", "--allow-all", "--policy", "policy.toml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("`--allow-all` cannot be used under a policy"), "{}", ran.stderr);
}
