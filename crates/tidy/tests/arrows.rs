//! Dependencies between our crates run down only. ARCHITECTURE.md draws them; this keeps them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Each crate and those of ours it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("isolith-agents", &["isolith-core", "isolith-gate"]),
    ("isolith-core", &[]),
    ("isolith-jail", &["isolith-core"]),
    ("isolith-prelude", &[]),
    ("isolith-fuzz", &["isolith-core"]),
    ("isolith-gate", &["isolith-core", "isolith-workspace"]),
    ("isolith-program", &["isolith-core"]),
    ("isolith-quickjs", &["isolith-core", "isolith-jail", "isolith-prelude"]),
    ("isolith-remote", &["isolith-core"]),
    ("isolith-runner", &["isolith-core", "isolith-gate", "isolith-program"]),
    ("isolith-server", &["isolith-core", "isolith-gate", "isolith-runner", "isolith-workspace"]),
    ("isolith-store", &["isolith-core"]),
    ("isolith-testing", &["isolith-core", "isolith-program", "isolith-quickjs", "isolith-runner"]),
    ("isolith-tidy", &[]),
    ("isolith-tools", &["isolith-core"]),
    ("isolith-auto", &["isolith-core"]),
    ("isolith-v8", &["isolith-core", "isolith-jail", "isolith-prelude"]),
    ("isolith-upstream", &["isolith-core", "isolith-gate", "isolith-tools"]),
    ("isolith-workflow", &["isolith-agents", "isolith-core", "isolith-program", "isolith-runner"]),
    ("isolith-workspace", &["isolith-core"]),
    (
        "isolith-bench",
        &[
            "isolith-auto",
            "isolith-core",
            "isolith-gate",
            "isolith-jail",
            "isolith-program",
            "isolith-quickjs",
            "isolith-runner",
            "isolith-store",
            "isolith-v8",
            "isolith-workspace",
        ],
    ),
    (
        "isolith",
        &[
            "isolith-agents",
            "isolith-auto",
            "isolith-bench",
            "isolith-core",
            "isolith-gate",
            "isolith-jail",
            "isolith-program",
            "isolith-quickjs",
            "isolith-remote",
            "isolith-runner",
            "isolith-server",
            "isolith-store",
            "isolith-tools",
            "isolith-upstream",
            "isolith-v8",
            "isolith-workflow",
            "isolith-workspace",
        ],
    ),
];

/// What the core may use of others: data, hashes and addresses, nothing that acts.
const CORE_DEPENDENCIES: &[&str] = &["blake3", "ipnet", "serde", "serde_json", "thiserror", "url"];

fn root() -> PathBuf {
    PathBuf::from("../..")
}

fn manifests() -> Vec<(String, toml::Table)> {
    let folders = ["crates", "engines"].into_iter().flat_map(|f| std::fs::read_dir(root().join(f)).unwrap());
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path().join("Cargo.toml")).collect();
    paths.extend(["benches", "fuzz"].map(|folder| root().join(folder).join("Cargo.toml")));
    let read = |path: PathBuf| {
        let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        (table["package"]["name"].as_str().unwrap().to_owned(), table)
    };
    paths.into_iter().filter(|p| p.exists()).map(read).collect()
}

fn dependencies(manifest: &toml::Table, tables: &[&str]) -> BTreeSet<String> {
    let table = |name: &&str| {
        manifest.get(*name).and_then(toml::Value::as_table).map(|t| t.keys().cloned().collect::<Vec<_>>())
    };
    tables.iter().filter_map(table).flatten().collect()
}

#[test]
fn arrows_run_down_only() {
    let manifests = manifests();
    let found: BTreeSet<&str> = manifests.iter().map(|(name, _)| name.as_str()).collect();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, known, "a crate came or went: draw its arrows here and in ARCHITECTURE.md");
    for (name, manifest) in &manifests {
        let allowed = ARROWS.iter().find(|(n, _)| n == name).map_or(&[][..], |(_, allowed)| allowed);
        let ours = dependencies(manifest, &["dependencies", "build-dependencies"]);
        for dependency in ours.iter().filter(|d| d.starts_with("isolith")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn the_core_depends_on_nothing_that_acts() {
    let (_, core) = manifests().into_iter().find(|(name, _)| name == "isolith-core").unwrap();
    let found: Vec<String> = dependencies(&core, &["dependencies"]).into_iter().collect();
    assert_eq!(found, CORE_DEPENDENCIES);
}

#[test]
fn what_is_heavy_has_its_owners() {
    // Requests that go out, requests that come in, and the wire to another isolith; certificates are the command's to read.
    let network: &[&str] = &["isolith-gate", "isolith-server", "isolith-remote", "isolith"];
    for (heavy, owners) in [
        ("wasmtime", &["isolith-quickjs"][..]),
        ("zstd", &["isolith-quickjs"]),
        ("seccompiler", &["isolith-jail"]),
        // Programs, and the workflow files that become programs.
        ("oxc", &["isolith-program", "isolith-workflow"]),
        ("axum", &["isolith-server"]),
        ("rmcp", &["isolith-server", "isolith-upstream"]),
        ("hyper", network),
        ("tokio-rustls", network),
        ("rusqlite", &["isolith-store"]),
    ] {
        for (name, manifest) in manifests() {
            let has = dependencies(&manifest, &["dependencies", "build-dependencies"]).contains(heavy);
            assert!(!has || owners.contains(&name.as_str()), "{name} depends on {heavy}, which belongs to {owners:?}");
        }
    }
}
