//! Which files a program imports, and why some imports are refused.

#![allow(clippy::expect_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Language, MODULES_MAX, ModuleSource, SourceError, find_modules, prepare_with, source_digest};
use std::collections::BTreeMap;

const BYTES_MAX: u64 = 1 << 20;

/// What is found from `main` among these files; files whose text is `!` cannot be read.
fn find(main: &str, name: &str, files: &[(&str, &str)]) -> Result<Vec<ModuleSource>, SourceError> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    find_modules(main, name, Language::Auto, BYTES_MAX, &mut |path| match files.get(path) {
        Some(&"!") => Err("it is not text".into()),
        text => Ok(text.map(|text| (*text).to_owned())),
    })
}

#[track_caller]
fn finds(main: &str, files: &[(&str, &str)], expected: &[&str]) {
    let found = find(main, "main.ts", files).unwrap_or_else(|error| panic!("{}", error.render()));
    assert_eq!(found.iter().map(|module| module.name.as_str()).collect::<Vec<_>>(), expected, "{main}");
    prepare_with(main, "main.ts", Language::Auto, &found).unwrap_or_else(|error| panic!("{}", error.render()));
}

#[track_caller]
fn refuses(main: &str, name: &str, files: &[(&str, &str)], expected: &str) {
    let error = find(main, name, files).err().unwrap_or_else(|| panic!("{main} was accepted"));
    let hint = error.hint.clone().unwrap_or_default();
    let told = format!("{}:{}:{} [{}] {} ({hint})", error.file(), error.line, error.column, error.code, error.message);
    assert_eq!(told, expected);
}

#[test]
fn every_form_of_import_is_followed() {
    let files = &[("a.ts", "export const x = 1; export default 2")][..];
    for main in [
        "import a from './a.ts'; return a",
        "import { x } from './a.ts'; return x",
        "import { x as y } from './a.ts'; return y",
        "import * as a from './a.ts'; return a",
        "import a, { x } from './a.ts'; return [a, x]",
        "import './a.ts'",
        "import {} from './a.ts'",
        "export * from './a.ts'",
        "export * as a from './a.ts'",
        "export { x } from './a.ts'",
        "export { default } from './a.ts'",
        "const a = await import('./a.ts'); return a",
        "return async () => (await import(`./a.ts`)).x",
        "\u{feff}import './a.ts'",
        "#!/usr/bin/env isolith\nimport './a.ts'",
        "Here:\n```ts\nimport './a.ts'\n```\n",
    ] {
        finds(main, files, &["a.ts"]);
    }
}

#[test]
fn imports_are_followed_from_file_to_file() {
    let files = &[
        ("lib/dates.ts", "import { pad } from '../util/text'; export const day = (n: number) => pad(n)"),
        ("util/text.ts", "export { pad } from './deep/pad.js'"),
        ("util/deep/pad.ts", "import { width } from '../../config'; export const pad = (n) => `${n}`.padStart(width)"),
        ("config.ts", "export const width = 2"),
        ("unused.ts", "export {}"),
    ];
    let expected = ["lib/dates.ts", "util/text.ts", "util/deep/pad.ts", "config.ts"];
    finds("import { day } from './lib/dates.ts'; return day(1)", files, &expected);
    let error = "import { day } from './lib/dates.ts'; return day(1)";
    let found = find(error, "tasks/main.ts", files).err().map(|error| error.code);
    assert_eq!(found, Some("import.missing"), "imports are relative to the program");
    assert!(find("import { day } from '../lib/dates.ts'; return day(1)", "tasks/main.ts", files).is_ok());
}

#[test]
fn endings_are_guessed() {
    let x = "export const x = 1";
    for (specifier, present, meant) in [
        ("./a.ts", &["a.ts"][..], "a.ts"),
        ("./a", &["a.ts", "a.js", "a.mjs", "a/index.ts"], "a.ts"),
        ("./a", &["a.js", "a.mjs", "a/index.ts"], "a.js"),
        ("./a", &["a.mjs", "a/index.ts"], "a.mjs"),
        ("./a", &["a/index.ts", "a/index.js"], "a/index.ts"),
        ("./a", &["a/index.js"], "a/index.js"),
        ("./a/", &["a/index.js"], "a/index.js"),
        (".", &["index.ts"], "index.ts"),
        ("./a.js", &["a.js", "a.ts"], "a.js"),
        ("./a.js", &["a.ts"], "a.ts"),
        ("./user.model", &["user.model.ts"], "user.model.ts"),
        ("./.hidden/a", &[".hidden/a.ts"], ".hidden/a.ts"),
    ] {
        let files: Vec<(&str, &str)> = present.iter().map(|path| (*path, x)).collect();
        finds(&format!("import {{ x }} from '{specifier}'; return x"), &files, &[meant]);
    }
}

#[test]
fn data_can_be_imported() {
    let files = &[("data.json", "{ \"a\": [1] }"), ("bad.json", "{\n  a: 1 }")];
    finds("import data from './data.json' with { type: 'json' }; return data.a", files, &["data.json"]);
    let main = "import data from './bad.json'; return data";
    let found = find(main, "main.ts", files).expect("the file is there");
    let error = prepare_with(main, "main.ts", Language::Auto, &found).expect_err("it is not JSON");
    assert_eq!((error.file(), error.line, error.column, error.code), ("bad.json", 2, 3, "syntax"));
}

#[test]
fn modules_may_import_each_other() {
    let files = &[
        ("a.ts", "import { b } from './b'; export const a = () => b; export * from './b'"),
        ("b.ts", "import { a } from './a'; export const b = () => a; export * from './a'; import './b'"),
    ];
    finds("import { a, b } from './a'; return [a, b]", files, &["a.ts", "b.ts"]);
}

#[test]
fn types_are_passed_over() {
    for main in [
        "import type { A } from './nowhere'; return 1",
        "import { type A, type B } from './nowhere'; return 1",
        "export type { A } from './nowhere'; export default 1",
        "export type * from 'package'; export default 1",
        "export { type A } from './nowhere'; export default 1",
        "return '// import \"./nowhere\"'",
        "// import './nowhere'\nreturn 1",
    ] {
        finds(main, &[], &[]);
    }
    let files = &[("types.ts", "export interface A { x: number }\nexport type B = A\nexport const c = 1")];
    finds("import { A, c } from './types'; const a: A = { x: c }; return a.x", files, &["types.ts"]);
}

#[test]
fn what_import_names_while_running_is_left_to_the_program() {
    for main in
        ["return import('./nowhere')", "return import('fs')", "return import('../x')", "return import('./' + input)"]
    {
        finds(main, &[], &[]);
    }
}

#[test]
fn what_is_no_file_of_the_workspace_is_refused() {
    let elsewhere =
        "only files of the workspace can be imported, by a path that begins with `./` or `../`; there are no packages";
    for specifier in ["lodash", "node:fs", "@scope/x", "/etc/passwd", "https://x.example/a.js", "#x", "", ".hidden"] {
        let main = format!("import x from '{specifier}'; return x");
        let told = format!("main.ts:1:15 [import.unknown] `{specifier}` is not granted as a module ({elsewhere})");
        refuses(&main, "main.ts", &[], &told);
    }
    let outside = "(count the `../`: only files of the workspace can be imported)";
    for (name, specifier) in [("main.ts", "../a"), ("lib/main.ts", "../../a"), ("lib/main.ts", "./x/../../../lib/a")] {
        let told = format!("{name}:2:8 [import.outside] `{specifier}` leads out of the workspace {outside}");
        refuses(&format!("\nimport '{specifier}'"), name, &[("a.ts", ""), ("lib/a.ts", "")], &told);
    }
}

#[test]
fn errors_name_the_file_with_the_import() {
    let files = &[
        ("lib/a.ts", "// first\nexport * from './b'"),
        ("lib/b.ts", "\n  import { x } from './lib/c.ts'"),
        ("lib/c.ts", ""),
    ];
    refuses(
        "import './lib/a'",
        "main.ts",
        files,
        "lib/b.ts:2:21 [import.missing] there is no file for `./lib/c.ts` in the workspace (did you mean `./c.ts`?)",
    );
}

#[test]
fn a_missing_file_is_answered_with_the_nearest() {
    let files = &[("lib/dates.ts", "export {}"), ("lib/text.ts", "export {}"), ("notes.txt", ""), ("broken.ts", "!")];
    for (main, told) in [
        (
            "import './lib/dates'; import './lib/date'",
            "main.ts:1:30 [import.missing] there is no file for `./lib/date` in the workspace (did you mean `./lib/dates.ts`?)",
        ),
        (
            "import './nothing'",
            "main.ts:1:8 [import.missing] there is no file for `./nothing` in the workspace (paths are relative to the file with the import)",
        ),
        (
            "import './notes.txt'",
            "main.ts:1:8 [import.unknown] `notes.txt` is not a module (modules are files that end in .ts, .js, .mjs or .json; others can be read with `fs`)",
        ),
        ("import './broken'", "main.ts:1:8 [import.unreadable] `broken.ts` cannot be read: it is not text ()"),
    ] {
        refuses(main, "main.ts", files, told);
    }
}

#[test]
fn the_program_itself_cannot_be_imported() {
    let told = "a.ts:1:8 [import.program] `./main` is the program itself (put what both need into a file of its own, and import that)";
    refuses("import './a'", "main.ts", &[("a.ts", "import './main'"), ("main.ts", "")], told);
}

#[test]
fn how_much_is_imported_is_bounded() {
    let names: Vec<String> = (0..=MODULES_MAX).map(|n| format!("m{n}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let main = |count: usize| names[..count].iter().map(|name| format!("import './{name}'\n")).collect::<String>();
    assert_eq!(find(&main(MODULES_MAX), "main.ts", &files).map(|found| found.len()), Ok(MODULES_MAX));
    let told = "main.ts:257:8 [import.limit] the program imports more than 256 modules (put several into one file)";
    refuses(&main(MODULES_MAX + 1), "main.ts", &files, told);

    let main = "import './a'; import './b'";
    let within = |bytes_max: u64| {
        find_modules(main, "main.ts", Language::Auto, bytes_max, &mut |path| {
            Ok(matches!(path, "a.ts" | "b.ts").then(|| " ".repeat(100)))
        })
    };
    let bytes = main.len() as u64 + 200;
    assert_eq!(within(bytes).map(|found| found.len()), Ok(2));
    let error = within(bytes - 1).expect_err("a byte too many");
    assert_eq!((error.code, error.column), ("import.limit", 22));
}

#[test]
fn whoever_keeps_the_files_is_not_asked_without_end() {
    let main: String = (0..100_000).map(|n| format!("import('./a{n}');")).collect();
    let mut asked = 0;
    let found = find_modules(&main, "main.ts", Language::Auto, u64::MAX, &mut |_| {
        asked += 1;
        Ok(None)
    });
    assert_eq!(found.expect_err("too many").code, "import.limit");
    assert!(asked <= 16 * MODULES_MAX, "{asked}");
}

#[test]
fn what_is_likely_meant_is_not_looked_for_in_vain() {
    let names: Vec<String> = (0..MODULES_MAX).map(|n| format!("{}{n}.ts", "long".repeat(15))).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let all: String = names.iter().map(|name| format!("import './{name}'\n")).collect();
    let missing: String = (0..500).map(|n| format!("import('./{}{n}/nowhere');", "long".repeat(15))).collect();
    let found = find(&format!("{all}{missing}"), "main.ts", &files).expect("the files are there");
    // As many as there may be: looking for the nearest of each would take minutes.
    let main = format!("{all}{}", missing.repeat(40));
    assert!(prepare_with(&main, "main.ts", Language::Auto, &found).is_ok());
}

#[test]
fn a_name_that_is_not_exported_is_found_before_anything_runs() {
    let files = &[
        ("a.ts", "export const first = 1; export * from './b'; export default 1"),
        ("b.js", "export function second() {} export default 2; module.exports = 3"),
        ("c.js", "module.exports = { x: 1 }"),
        ("d.json", "{}"),
        ("e.ts", "import { gone } from './a'; export { gone }"),
    ];
    for (main, told) in [
        ("import { fist } from './a'", "main.ts:1:10 `a.ts` has no export `fist` (did you mean `first`?)"),
        (
            "import { first, other } from './a'",
            "main.ts:1:17 `a.ts` has no export `other` (it exports `default`, `first`, `second`)",
        ),
        (
            "import c from './c'",
            "main.ts:1:8 `c.js` has no export `default` (it exports nothing: write `export` before what others may import)",
        ),
        (
            "import { d } from './d.json'",
            "main.ts:1:10 `d.json` has no export `d` (a JSON file has a default export only: `import data from …`)",
        ),
        ("import './e'", "e.ts:1:10 `a.ts` has no export `gone` (it exports `default`, `first`, `second`)"),
        ("export { nope } from './b'", "main.ts:1:10 `b.js` has no export `nope` (it exports `default`, `second`)"),
    ] {
        let found = find(main, "main.ts", files).expect("the files are there");
        let error = prepare_with(main, "main.ts", Language::Auto, &found).expect_err(main);
        let hint = error.hint.clone().unwrap_or_default();
        assert_eq!(error.code, "import.name");
        assert_eq!(format!("{}:{}:{} {} ({hint})", error.file(), error.line, error.column, error.message), told);
    }
}

#[test]
fn long_chains_of_names_end() {
    // Each name is another one of the same module, so that following one takes as many steps as there are.
    let chain: String = (0..5_000).map(|n| format!("export {{ n{} as n{n} }} from './a';", n + 1)).collect();
    let files = &[("a.ts", chain.as_str())];
    let main = "import { n0 } from './a'; return n0";
    let found = find(main, "main.ts", files).expect("the file is there");
    let error = prepare_with(main, "main.ts", Language::Auto, &found).expect_err("nothing is at the end");
    assert_eq!(error.code, "import.name");
    let many: String = (0..20_000).map(|n| format!("x as n{n},")).collect();
    let main = format!("import {{ {many} }} from './b'");
    let found = find(&main, "main.ts", &[("b.ts", "export const x = 1")]).expect("the file is there");
    let error = prepare_with(&main, "main.ts", Language::Auto, &found).expect_err("too many names");
    assert_eq!(error.code, "import.limit");
}

#[test]
fn a_syntax_error_names_its_module() {
    let files = &[("lib/a.ts", "export const x = 1\nexport const = 2"), ("lib/b.ts", "return 1")];
    for (main, told) in [("import './lib/a'", "lib/a.ts:2:14"), ("import './lib/b'", "lib/b.ts:1:1")] {
        let found = find(main, "main.ts", files).expect("the file is there");
        let error = prepare_with(main, "main.ts", Language::Auto, &found).expect_err("it cannot be parsed");
        assert_eq!(format!("{}:{}:{}", error.file(), error.line, error.column), told);
        assert!(error.render().contains(&format!("--> {told}\n")), "{}", error.render());
    }
}

#[test]
fn a_program_is_named_by_all_of_its_files() {
    let module = |name: &str, source: &str| ModuleSource { name: name.into(), source: source.into() };
    let digests = [
        source_digest("a", &[]),
        source_digest("b", &[]),
        source_digest("a", &[module("x.ts", "1")]),
        source_digest("a", &[module("x.ts", "2")]),
        source_digest("a", &[module("y.ts", "1")]),
        source_digest("a", &[module("x.ts", "1"), module("y.ts", "1")]),
    ];
    for (at, digest) in digests.iter().enumerate() {
        assert!(!digests[..at].contains(digest), "{at}");
    }
    assert_eq!(digests[0], isolith_core::Digest::of("a"), "a program alone is named as ever");
}
