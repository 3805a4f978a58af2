//! The parser against `test262-parser-tests`, the parsing tests that ECMAScript engines share.
//!
//! ```sh
//! npm pack test262-parser-tests@0.0.5 && tar xzf test262-parser-tests-0.0.5.tgz
//! ISOLITH_PARSER_TESTS=$PWD/package cargo test --release -p isolith-program --test parser_tests -- --nocapture
//! ```
//!
//! `parser_failures.txt` lists what is known to go wrong. The list may only get shorter: a listed test that passes
//! fails this one until its line is removed.

#![allow(clippy::expect_used, clippy::panic, reason = "this is how a test fails")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the pass rate is the point of this test")]

use isolith_program::{Goal, Language, parse_check, prepare};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names the folder that holds `pass`, `pass-explicit`, `fail` and `early`.
const FOLDER_VARIABLE: &str = "ISOLITH_PARSER_TESTS";

/// The known failures, one `folder/file` on each line.
const KNOWN: &str = include_str!("parser_failures.txt");

/// A folder of tests and whether its programs are to be accepted.
const FOLDERS: [(&str, bool); 4] = [("pass", true), ("pass-explicit", true), ("fail", false), ("early", false)];

#[test]
fn parser_agrees_with_the_shared_tests() {
    let Some(root) = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from) else {
        eprintln!("SKIPPED: {FOLDER_VARIABLE} does not name the unpacked test262-parser-tests");
        return;
    };
    let known: BTreeSet<&str> = KNOWN.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let mut failures = BTreeSet::new();
    let mut total = 0;
    for (folder, accepted) in FOLDERS {
        let names = names_in(&root.join(folder));
        let mut passed = 0;
        for name in &names {
            let source = std::fs::read_to_string(root.join(folder).join(name)).expect("a test is a text");
            let goal = if name.ends_with(".module.js") { Goal::Module } else { Goal::Script };
            if parse_check(&source, goal).is_ok() == accepted {
                passed += 1;
            } else {
                failures.insert(format!("{folder}/{name}"));
            }
        }
        println!("{folder}: {passed} of {} agree", names.len());
        total += names.len();
    }
    println!("all: {} of {total} agree", total - failures.len());
    assert!(total > 5_000, "only {total} tests in {}", root.display());

    let new: Vec<_> = failures.iter().filter(|name| !known.contains(name.as_str())).collect();
    let mended: Vec<_> = known.iter().filter(|name| !failures.contains(**name)).collect();
    assert!(new.is_empty(), "new failures: {new:#?}");
    assert!(mended.is_empty(), "these pass now, remove them from parser_failures.txt: {mended:#?}");
}

#[test]
fn shared_programs_are_printed_as_bodies() {
    let Some(root) = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from) else {
        eprintln!("SKIPPED: {FOLDER_VARIABLE} does not name the unpacked test262-parser-tests");
        return;
    };
    let mut printed = 0;
    for name in names_in(&root.join("pass")) {
        let source = std::fs::read_to_string(root.join("pass").join(&name)).expect("a test is a text");
        for language in [Language::JavaScript, Language::Auto] {
            let Ok(prepared) = prepare(&source, "main.js", language) else { continue };
            let code = &prepared.program().code;
            let around = format!("(async function(){{\n{code}\n}})");
            assert_eq!(parse_check(&around, Goal::Script).map_err(|error| error.render()), Ok(()), "{name}");
            let again = prepare(code, "main.js", Language::JavaScript).map(|again| again.program().code.clone());
            assert_eq!(again.as_ref(), Ok(code), "{name}");
            printed += 1;
        }
    }
    println!("{printed} programs printed and read again");
    assert!(printed > 3_800, "only {printed} programs were printed");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.retain(|name| name.ends_with(".js"));
    names.sort();
    names
}
