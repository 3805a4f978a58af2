//! Programs and what becomes of them: the files in `cases/`.
//!
//! A case is a source behind `===` (with `js` or `ts` where the language is not to be found out) and behind `---` the
//! code that is printed, or the error as a person sees it. `ISOLITH_UPDATE_CASES=1` writes what comes out; read it.

use isolith_program::{Goal, Language, parse_check, prepare};
use std::fmt::Write as _;
use std::path::Path;

struct Case<'t> {
    head: &'t str,
    source: &'t str,
    expected: &'t str,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let (_, text) = text.split_once("\n===").expect("a case");
    text.split("\n===").map(|case| {
        let (head, case) = case.split_once('\n').expect("a source");
        let (source, expected) = case.split_once("\n---\n").unwrap_or((case, ""));
        Case { head: head.trim(), source, expected: expected.trim_end_matches('\n') }
    }).collect()
}

fn language(head: &str) -> Language {
    match head {
        "" => Language::Auto,
        "js" => Language::JavaScript,
        "ts" => Language::TypeScript,
        head => panic!("unknown language {head}"),
    }
}

fn outcome(case: &Case<'_>) -> String {
    match prepare(case.source, "main.ts", language(case.head)) {
        Ok(prepared) => prepared.program().code.to_string(),
        Err(error) => error.render().trim_end().to_owned(),
    }
}

#[track_caller]
fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = std::fs::read_to_string(&path).expect("a file of cases");
    let cases = cases(&text);
    if std::env::var_os("ISOLITH_UPDATE_CASES").is_some() {
        let (intro, _) = text.split_once("\n===").expect("a case");
        let mut updated = intro.to_owned();
        for case in &cases {
            let space = if case.head.is_empty() { "" } else { " " };
            let _ = write!(updated, "\n==={space}{}\n{}\n---\n{}\n", case.head, case.source, outcome(case));
        }
        std::fs::write(&path, updated).expect("the file can be written");
        return;
    }
    for case in &cases {
        assert_eq!(outcome(case), case.expected, "{file}: {}", case.source);
        let Ok(prepared) = prepare(case.source, "main.ts", language(case.head)) else { continue };
        let code = &prepared.program().code;
        // What was printed is a function body for any parser, and preparing it changes nothing more.
        let again = prepare(code, "main.ts", Language::JavaScript).expect("printed code is a program");
        assert_eq!(again.program().code, *code, "{file}: {}", case.source);
        let around = format!("(async function(){{\n{code}\n}})");
        assert_eq!(parse_check(&around, Goal::Script).map_err(|error| error.render()), Ok(()), "{file}: {}", case.source);
    }
}

#[test]
fn every_shape_gives_its_value() {
    check("shapes.txt");
}

#[test]
fn modules_become_bodies() {
    check("modules.txt");
}

#[test]
fn types_are_stripped() {
    check("typescript.txt");
}

#[test]
fn javascript_keeps_its_meaning() {
    check("javascript.txt");
}

#[test]
fn nothing_breaks_out() {
    check("breakouts.txt");
}

#[test]
fn fences_are_taken_off() {
    check("fences.txt");
}

#[test]
fn mistakes_are_explained() {
    check("errors.txt");
}
