//! What the documents promise and the code cites must exist.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new("../..").canonicalize().unwrap()
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", ".git"].contains(&name.as_str()) {
            sources(&path, all);
        } else if ["rs", "c", "h", "js", "mjs", "sh"].iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            all.push(path);
        }
    }
}

fn all_sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    ["crates", "engines", "benches"].iter().for_each(|f| sources(&root().join(f), &mut paths));
    paths.into_iter().map(|p| (p.clone(), std::fs::read_to_string(&p).unwrap())).collect()
}

/// The ids such as `T-OUTPUT-001` in a text.
fn threat_ids(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let is_id = |w: &&str| w.starts_with("T-") && w.len() > 6 && w[w.len() - 3..].bytes().all(|b| b.is_ascii_digit());
    text.split(|c| !word(c)).filter(is_id).map(str::to_owned).collect()
}

#[test]
fn every_cited_threat_is_in_the_threat_model_and_every_threat_is_met_somewhere() {
    let model = threat_ids(&std::fs::read_to_string(root().join("SECURITY.md")).unwrap());
    let cited: BTreeSet<String> = all_sources()
        .iter()
        .filter(|(p, _)| !p.ends_with("tests/documents.rs"))
        .flat_map(|(_, t)| threat_ids(t))
        .collect();
    assert_eq!(cited, model, "left: cited in code; right: in SECURITY.md");
}

#[test]
fn every_promise_names_a_test_or_benchmark_that_exists() {
    let promises = std::fs::read_to_string(root().join("SPECIFICATION.md")).unwrap();
    let mut kept = 0;
    for line in promises.lines().filter(|l| l.starts_with("| P")) {
        let by = line.trim_end_matches('|').rsplit('|').next().unwrap();
        let names: Vec<&str> = by.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "nothing keeps: {line}");
        for name in names {
            let path = name.split("::").next().unwrap().split(' ').next().unwrap();
            assert!(root().join(path).exists() || path == "isolith", "no such thing as `{name}`: {line}");
            if let Some((_, test)) = name.split_once("::") {
                let text = std::fs::read_to_string(root().join(path)).unwrap();
                assert!(text.contains(&format!("fn {test}")), "`{path}` has no `{test}`");
            }
        }
        kept += 1;
    }
    assert!(kept >= 20, "only {kept} promises were found");
}

#[test]
fn files_are_of_a_size_one_can_read() {
    let long: Vec<String> = all_sources()
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 700)
        .map(|(path, lines)| format!("{}: {lines} lines", path.strip_prefix(root()).unwrap().display()))
        .collect();
    assert!(long.is_empty(), "look for the second noun in {long:?}");
}

#[test]
fn every_error_code_is_explained() {
    let page = std::fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let kinds = ["body", "egress", "files", "import", "invoke", "kv", "random", "replay", "secret", "time", "tool"];
    let is_code = |text: &str| {
        let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        text.split_once('.').is_some_and(|(kind, rest)| kinds.contains(&kind) && rest.split('.').all(word))
    };
    // Files have dots in their names too.
    let is_file = |text: &str| [".sqlite", ".c", ".rs", ".ts"].iter().any(|end| text.ends_with(end));
    // What a coding agent calls an event of its own.
    let is_others = |text: &str| text == "tool.execution_start";
    let mut codes = BTreeSet::new();
    let aside = |part: std::path::Component<'_>| ["tests", "examples"].iter().any(|folder| part.as_os_str() == *folder);
    let outside_tests = |path: &Path| !path.components().any(aside);
    for (_, text) in all_sources().iter().filter(|(path, _)| outside_tests(path)) {
        let quoted = text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| line.split('"'));
        codes.extend(quoted.filter(|word| is_code(word) && !is_file(word) && !is_others(word)).map(str::to_owned));
    }
    assert!(codes.len() >= 30, "only {codes:?} were found");
    let missing: Vec<&String> = codes.iter().filter(|code| !page.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "docs/errors.md does not explain {missing:?}");
}
