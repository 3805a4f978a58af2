//! Programs and what becomes of them: the files in `cases/`.
//!
//! A case is a source behind `===` (with `js` or `ts` where the language is not to be found out) and behind `---` the
//! code that is printed, or the error as a person sees it. `ISOLITH_UPDATE_CASES=1` writes what comes out; read it.

#![allow(clippy::expect_used, clippy::panic, reason = "this is how a test fails")]

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
    text.split("\n===")
        .map(|case| {
            let (head, case) = case.split_once('\n').expect("a source");
            let (source, expected) = case.split_once("\n---\n").unwrap_or((case, ""));
            Case { head: head.trim(), source, expected: expected.trim_end_matches('\n') }
        })
        .collect()
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
    let path = Path::new("tests/cases").join(file);
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
        assert_eq!(
            parse_check(&around, Goal::Script).map_err(|error| error.render()),
            Ok(()),
            "{file}: {}",
            case.source
        );
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

#[test]
fn odd_characters_are_what_ecmascript_says() {
    for (source, expected) in [
        ("\u{feff}return 1", Ok("return 1;")),
        ("1 +\u{feff}\u{a0}\u{3000}1", Ok("return 1 + 1;")),
        ("a\rb", Ok("a;\nreturn b;")),
        ("a\u{2028}b\u{2029}c", Ok("a;\nb;\nreturn c;")),
        ("a // x\rb // y\u{2028}c", Ok("a;\nb;\nreturn c;")),
        ("'a\u{2028}b'", Ok("return \"a\\u2028b\";")),
        ("'\0'", Ok("return \"\\0\";")),
        ("`\r\n\r`", Ok("return `\n\n`;")),
        ("`\0`", Ok("return `\0`;")),
        ("'\\\r\n'", Ok("return \"\";")),
        ("return\r1", Ok("return;\n1;")),
        ("a\0b", Err((1, 2))),
        ("\0", Err((1, 1))),
        ("a\r\0", Err((2, 1))),
        ("'a\rb'", Err((1, 1))),
        ("\u{fffd}", Err((1, 1))),
        ("a\u{200b}b", Err((1, 2))),
        ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x", Err((1, 1))),
    ] {
        let outcome = prepare(source, "main.js", Language::Auto);
        let outcome = outcome.map(|p| p.program().code.to_string()).map_err(|error| (error.line, error.column));
        assert_eq!(outcome.as_deref(), expected.as_ref().copied(), "{source:?}");
    }
}

#[test]
fn the_language_decides_where_it_is_given() {
    let accepts = |source, language| prepare(source, "main", language).is_ok();
    for (source, auto, javascript, typescript) in [
        ("with (a) {}", true, true, false),
        ("let x: number", true, false, true),
        ("a<b>(c)", true, true, true),
        ("class A { private x }", true, false, true),
        ("(a): b => c", true, false, true),
        ("let x: number; with (a) {}", false, false, false),
        ("let x = 1", true, true, true),
    ] {
        let found =
            [Language::Auto, Language::JavaScript, Language::TypeScript].map(|language| accepts(source, language));
        assert_eq!(found, [auto, javascript, typescript], "{source}");
    }
}

#[test]
fn the_program_carries_its_name_and_nothing_of_the_source() {
    let prepared = prepare("// secret\nreturn 1", "main.ts", Language::Auto).expect("a program");
    assert_eq!(&*prepared.program().name, "main.ts");
    assert_eq!(&*prepared.program().code, "return 1;");
    assert_eq!(prepared.program().form, isolith_core::Form::Body);
    assert_eq!(prepared.source(), "// secret\nreturn 1");
}
