//! What `isolith check` says of each example is what the example turns out to need: not less, and not more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use support::certificate::certificate;
use support::network::{Network, stray_dials};
use support::origin::{Origin, reply};
use support::place::{Place, place};

/// The world that the examples are written for: `examples/grants/fixtures.json`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct World {
    http: Vec<Page>,
    tools: BTreeMap<String, Vec<String>>,
    kv: BTreeMap<String, Map<String, Value>>,
    files: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    programs: BTreeMap<String, String>,
    /// What has to be granted besides, where the text of a program does not tell.
    grants: BTreeMap<String, Vec<String>>,
    values: BTreeMap<String, Value>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// With a port, where it is not 443.
    host: String,
    method: String,
    /// With a query, or for every query.
    path: String,
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

fn examples() -> PathBuf {
    Path::new("../../examples/grants").canonicalize().unwrap()
}

fn world() -> World {
    serde_json::from_str(&std::fs::read_to_string(examples().join("fixtures.json")).unwrap()).unwrap()
}

impl World {
    /// One server for all hosts, at addresses of their own.
    fn network(&self) -> (Origin, Network, String) {
        let hosts: BTreeSet<&str> = self.http.iter().map(|page| page.host.as_str()).collect();
        let name = |host: &str| host.split(':').next().unwrap_or_default().to_owned();
        let (config, authority) = certificate(hosts.iter().map(|host| name(host)).collect());
        let pages = self.http.clone();
        let origin = Origin::tls(config, move |request, wire| {
            let host = request.header("host").unwrap_or_default();
            // A page without a query is there for every query that has no page of its own, further up.
            let at = |path: &str| path == request.target || path == request.path();
            let fits = |page: &&Page| page.host == host && page.method == request.method && at(&page.path);
            let Some(page) = pages.iter().find(fits) else { return reply(wire, "404 Not Found", &[], b"") };
            let headers: Vec<(&str, &str)> = page.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            reply(wire, &format!("{} Said", page.status), &headers, page.body.as_bytes())
        });
        let mut network = Network::default();
        for (number, host) in (1..).zip(&hosts) {
            let port = host.split_once(':').map_or(443, |(_, port)| port.parse().unwrap());
            network = network.host(&name(host), &format!("203.0.113.{number}"), port, origin.address());
        }
        (origin, network, authority)
    }

    /// Puts everything where programs expect it.
    fn settle(&self, place: &Place) {
        for (path, text) in &self.files {
            place.write(path, text);
        }
        for (name, text) in &self.programs {
            place.write(&format!("programs/{name}.ts"), text);
        }
        for (space, entries) in &self.kv {
            let program =
                format!("for (const [key, value] of Object.entries({})) await kv.put(key, value)", json!(entries));
            let ran = place.isolith(&["eval", &program, "--allow-kv", space]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
        }
    }

    /// A grant as `check` gives it, with what it takes to perform it.
    fn equipped(&self, mut grant: Value) -> Value {
        let name = grant["name"].as_str().unwrap_or_default().to_owned();
        match grant["kind"].as_str() {
            Some("tool") => grant["command"] = json!(self.tools[&name]),
            Some("invoke") => grant["program"] = json!(format!("programs/{name}.ts")),
            Some("secret") => grant["from"] = json!(format!("env:{}", variable(&name))),
            _ => {}
        }
        grant
    }
}

fn variable(secret: &str) -> String {
    format!("EXAMPLE_{secret}")
}

#[test]
fn every_example_needs_what_check_says() {
    let world = world();
    let files = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ts")).collect();
    programs.sort();
    let names: Vec<&str> = programs.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert!(names.len() >= 20, "{names:?}");
    assert_eq!(names, world.values.keys().collect::<Vec<_>>(), "each example has a value, and each value an example");
    let wrong: Vec<String> = programs.iter().filter_map(|path| run_as_checked(&world, path).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn run_as_checked(world: &World, path: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (_origin, network, authority) = world.network();
    let secrets = world.secrets.iter();
    let place = secrets.fold(place().on(network), |place, (name, value)| place.with(&variable(name), value));
    place.write("ca.pem", &authority);
    let text = std::fs::read_to_string(path).unwrap();
    place.write(name, &text);
    world.settle(&place);

    let checked = place.isolith(&["check", name, "--json"]);
    let findings: Value = serde_json::from_str(&checked.stdout).map_err(|_| format!("{name}: {}", checked.stderr))?;
    let unknown: BTreeSet<&str> =
        list(&findings["unknown"]).iter().map(|open| open["kind"].as_str().unwrap()).collect();
    let said = text.lines().filter_map(|line| line.strip_prefix("// check: unknown ")).collect::<BTreeSet<_>>();
    if unknown != said {
        return Err(format!("{name}: check does not know {unknown:?}, but should not know {said:?}"));
    }

    let more = world.grants.get(name).cloned().unwrap_or_default();
    let mut manifest = findings["manifest"].clone();
    let grants = list(&manifest["grants"]).iter().cloned().chain(more.iter().map(|grant| as_table(grant)));
    manifest["grants"] = grants.map(|grant| world.equipped(grant)).collect();
    place.write("manifest.json", &manifest.to_string());
    let outcome = place.outcome_of(name, &["--manifest", "manifest.json", "--ca", "ca.pem"]);

    // Everything that was granted was used: the manifest is as small as it can be. And nothing else was tried.
    let texts = |list: &Value| self::list(list).iter().map(text_of).collect::<BTreeSet<String>>();
    let granted = texts(&outcome.json["grants"]);
    let used: BTreeSet<String> = outcome.counts("exercised").into_iter().map(|(grant, _)| grant).collect();
    let denied = outcome.counts("denied");
    if granted != used || !denied.is_empty() || outcome.json["value"] != world.values[name] {
        return Err(format!("{name}: granted {granted:?}\nused {used:?}\ndenied {denied:?}\n{:#}", outcome.json));
    }
    // Needs are said one by one; each is among the grants, or is a part of one of them.
    let again = place.isolith(&["check", name, "--json", "--manifest", "manifest.json"]);
    let findings: Value = serde_json::from_str(&again.stdout).map_err(|_| format!("{name}: {}", again.stderr))?;
    if again.code != 0 || !list(&findings["needs"]).iter().all(|need| need["granted"] == true) {
        return Err(format!("{name}: the manifest does not meet {:#}", findings["needs"]));
    }
    let stray = stray_dials(&place.data);
    if stray.is_empty() { Ok(()) } else { Err(format!("{name}: dialled {stray:?}")) }
}

/// A tool can only be named with its command in a table.
fn as_table(grant: &str) -> Value {
    match grant.split_once(':') {
        Some((kind @ ("tool" | "invoke" | "secret"), name)) => json!({ "kind": kind, "name": name }),
        _ => json!(grant),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn check_tells_what_is_granted_and_what_is_missing() {
    let place = place();
    place.write("two.ts", "await fetch('https://a.example.test/x'); await kv.cache.get('a'); return Date.now();");
    let check = |flags: &[&str]| {
        let ran = place.isolith(&[&["check", "two.ts", "--json"], flags].concat());
        let findings: Value = serde_json::from_str(&ran.stdout).unwrap();
        let one = |need: &Value| (text_of(&need["grant"]), need["granted"].as_bool().unwrap());
        (ran.code, list(&findings["needs"]).iter().map(one).collect::<Vec<_>>(), list(&findings["clock"]).len())
    };
    let rows = |net, kv| vec![("egress:GET https://a.example.test/x".to_owned(), net), ("kv:read cache".into(), kv)];
    // Who only asks what is needed is not told that something is missing.
    assert_eq!(check(&[]), (0, rows(false, false), 1));
    assert_eq!(check(&["--allow-net", "a.example.test"]), (126, rows(true, false), 1));
    assert_eq!(check(&["--allow-net", "*.example.test", "--allow-kv", "cache"]), (0, rows(true, true), 1));
}
