//! What becomes of imports, in the program and in its modules, and the way back to what was written.

#![allow(clippy::expect_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Goal, Language, Prepared, find_modules, parse_check, prepare_with};

fn prepared(main: &str, name: &str, files: &[(&str, &str)]) -> Prepared {
    let mut load = |path: &str| Ok(files.iter().find(|file| file.0 == path).map(|file| file.1.to_owned()));
    let modules = find_modules(main, name, Language::Auto, 1 << 20, &mut load);
    let modules = modules.unwrap_or_else(|error| panic!("{}", error.render()));
    prepare_with(main, name, Language::Auto, &modules).unwrap_or_else(|error| panic!("{}", error.render()))
}

#[track_caller]
fn prints(main: &str, files: &[(&str, &str)], expected: &str) {
    let prepared = prepared(main, "main.ts", files);
    let code = &prepared.program().code;
    assert_eq!(&**code, expected, "{main}");
    let around = format!("(async function(){{\n{code}\n}})");
    assert_eq!(parse_check(&around, Goal::Script).map_err(|error| error.render()), Ok(()), "{main}");
}

#[track_caller]
fn prints_module(source: &str, files: &[(&str, &str)], expected: &str) {
    let files = [&[("lib/m.ts", source)], files].concat();
    let prepared = prepared("import './lib/m.ts'", "main.ts", &files);
    let modules = &prepared.program().modules;
    let code = modules.iter().find(|module| &*module.name == "lib/m.ts").map(|module| module.code.to_string());
    assert_eq!(code.as_deref(), Some(expected), "{source}");
    assert_eq!(parse_check(expected, Goal::Module).map_err(|error| error.render()), Ok(()), "{source}");
}

#[test]
fn imports_of_the_program_wait_for_their_modules() {
    let files =
        &[("a.ts", "export const x = 1, y = 2; export default 3; export { x as 'a b' }; export interface T {}")];
    for (main, expected) in [
        ("import a from './a'; a", "const { default: a } = await import(\"a.ts\");\nreturn a;"),
        ("import { x, y as z } from './a'; x + z", "const { x, y: z } = await import(\"a.ts\");\nreturn x + z;"),
        ("import * as a from './a'; a.x", "const a = await import(\"a.ts\");\nreturn a.x;"),
        ("import d, * as a from './a'; a", "const a = await import(\"a.ts\"), { default: d } = a;\nreturn a;"),
        ("import { 'a b' as c } from './a'; c", "const { \"a b\": c } = await import(\"a.ts\");\nreturn c;"),
        ("import './a'; 1", "await import(\"a.ts\");\nreturn 1;"),
        ("export * from './a'; export default 1", "await import(\"a.ts\");\nreturn 1;"),
        ("export { default } from './a'", "const { default: _default } = await import(\"a.ts\");\nreturn _default;"),
        ("export { x as default } from './a'", "const { x: _default } = await import(\"a.ts\");\nreturn _default;"),
        ("import a from './a'; export default a", "const { default: a } = await import(\"a.ts\");\nreturn a;"),
        ("import a from './a.ts' with { type: 'x' }; a", "const { default: a } = await import(\"a.ts\");\nreturn a;"),
        ("f(); import { x } from './a'; g(x)", "const { x } = await import(\"a.ts\");\nf();\nreturn g(x);"),
        (
            "import { x } from './a'; function run(input) { return input + x }",
            "const { x } = await import(\"a.ts\");\nfunction run(input) {\nreturn input + x;\n}\nreturn run(input);",
        ),
        (
            "import input from './a'; export default (x) => x",
            "const { default: input } = await import(\"a.ts\");\nreturn ((x) => x)(globalThis.input);",
        ),
        ("import { T } from './a'; const t: T = {}; t", "const t = {};\nreturn t;"),
        (
            "import { T, x } from './a'; const t: T = x; t",
            "const { x } = await import(\"a.ts\");\nconst t = x;\nreturn t;",
        ),
        (
            "import { x, type Y } from './a'; const y: Y = x; y",
            "const { x } = await import(\"a.ts\");\nconst y = x;\nreturn y;",
        ),
    ] {
        prints(main, files, &format!("\"use strict\";\n{expected}"));
    }
}

#[test]
fn what_is_imported_while_running_names_its_module() {
    let files = &[("lib/a.ts", "export const x = 1"), ("data.json", "1")];
    prints("(await import('./lib/a')).x", files, "return (await import(\"lib/a.ts\")).x;");
    prints(
        "f(() => import('./data.json', { with: { type: 'json' } }))",
        files,
        "return f(() => import(\"data.json\"));",
    );
    prints(
        "import './lib/a'; import('./b')",
        files,
        "\"use strict\";\nawait import(\"lib/a.ts\");\nreturn import(\"./b\");",
    );
}

#[test]
fn variables_that_their_module_changes_are_read_anew() {
    let files = &[(
        "c.ts",
        "export let n = 0; export const step = 1; export const up = () => { n += step }; export let f = up; f = up",
    )];
    for (main, expected) in [
        ("import { step } from './c'; step", "const { step } = await import(\"c.ts\");\nreturn step;"),
        (
            "import { n, up } from './c'; up(); n",
            "const _module0 = await import(\"c.ts\"), { n, up } = _module0;\nup();\nreturn _module0.n;",
        ),
        (
            "import { n as m } from './c'; const o = { m, n: m, [m]: `${m}` }; { let m = 1; f(m) } (m) => m",
            "const _module0 = await import(\"c.ts\"), { n: m } = _module0;\nconst o = {\nm: _module0.n,\nn: _module0.n,\n[_module0.n]: `${_module0.n}`\n};\n{\nlet m = 1;\nf(m);\n}\nreturn ((m) => m)(input);",
        ),
        (
            "import { f } from './c'; f(f); f`x`; f.call(1)",
            "const _module0 = await import(\"c.ts\"), { f } = _module0;\n(0, _module0.f)(_module0.f);\n(0, _module0.f)`x`;\nreturn _module0.f.call(1);",
        ),
        (
            "import * as c from './c'; import { n } from './c'; [c, n]",
            "const c = await import(\"c.ts\");\nconst _module1 = await import(\"c.ts\"), { n } = _module1;\nreturn [c, _module1.n];",
        ),
    ] {
        prints(main, files, &format!("\"use strict\";\n{expected}"));
    }
    let passed_on = [("d.ts", "export * from './c'"), files[0]];
    let expected = "\"use strict\";\nconst _module0 = await import(\"d.ts\"), { n } = _module0;\nreturn _module0.n;";
    prints("import { n } from './d'; n", &passed_on, expected);
}

#[test]
fn modules_stay_modules_without_their_types() {
    let files = &[
        ("lib/x.ts", "export const x = 1; export default 2; export interface T {}"),
        ("top.ts", "export const top = 1; export type { T } from './lib/x'"),
        (".hidden.ts", "export const hidden = 1"),
    ];
    for (source, expected) in [
        (
            "import d, { x } from './x'; export const y: number = d + x",
            "import d, { x } from \"lib/x.ts\";\nexport const y = d + x;",
        ),
        (
            "export * from './x'; export * as all from '../top'",
            "export * from \"lib/x.ts\";\nexport * as all from \"top.ts\";",
        ),
        ("import { hidden } from '../.hidden'; f(hidden)", "import { hidden } from \"/.hidden.ts\";\nf(hidden);"),
        ("export const later = () => import('../top')", "export const later = () => import(\"top.ts\");"),
        // One file alone does not tell that these are types.
        ("export { x, T } from './x'", "export { x } from \"lib/x.ts\";"),
        ("import { T } from './x'; export { T }; export const a: T = {}", "export const a = {};"),
        ("export { T } from './x'; f()", "f();\nexport {};"),
        ("export { T } from '../top'; f()", "f();\nexport {};"),
        ("import type { Nowhere } from './nowhere'; f()", "f();\nexport {};"),
        (
            "export enum E { A } export default class<T> { private a?: T }",
            "export let E = function(E) {\nE[E[\"A\"] = 0] = \"A\";\nreturn E;\n}({});\nexport default class {\na;\n}",
        ),
        ("await f(); export {}", "await f();\nexport {};"),
    ] {
        prints_module(source, files, expected);
    }
}

#[test]
fn data_is_parsed_and_not_run() {
    let prepared = prepared(
        "import data from './a.json'; data",
        "main.ts",
        &[("a.json", "\n{ \"__proto__\": \"</script>\u{2028}\" }\n")],
    );
    let code = prepared.program().modules.first().map(|module| module.code.to_string());
    assert_eq!(
        code.as_deref(),
        Some("export default JSON.parse(\"{ \\\"__proto__\\\": \\\"</script>\u{2028}\\\" }\");")
    );
}

#[test]
fn modules_have_no_address_and_no_accessors() {
    for (source, message) in [
        ("export const u = import.meta.url", "`import.meta` is not available"),
        ("export class A { accessor x = 1 }", "`accessor` fields are not supported"),
        ("import x = require('./main2'); f(x)", "`./main2` is not granted as a module"),
        ("import defer * as a from './m.ts'; f(a)", "`import defer` and `import source` are not supported"),
    ] {
        let modules = [isolith_program::ModuleSource { name: "m.ts".into(), source: source.into() }];
        let error = prepare_with("import './m.ts'", "main.ts", Language::Auto, &modules).expect_err(source);
        assert_eq!((error.file(), error.message.as_str()), ("m.ts", message));
    }
}

#[test]
fn what_modules_need_is_needed_where_they_are_imported() {
    let main = "const before = tools.search({});\nimport { load } from './lib/net';\nreturn load(before)";
    let module = "export const load = (x) => [tools.search(x), fetch('https://h.test/a'), kv[x].get('a'), Date.now()]";
    let needs = prepared(main, "main.ts", &[("lib/net.ts", module)]).needs().expect("its needs");
    let told = |need: &isolith_program::Need| {
        let places: Vec<String> = need.places.iter().map(|place| format!("{}:{}", place.line, place.column)).collect();
        format!("{} @ {}", need.power, places.join(" "))
    };
    let all: Vec<String> = needs.needs.iter().map(told).collect();
    assert_eq!(all, ["tool:search @ 1:16 2:22", "egress:GET https://h.test/a @ 2:22"]);
    assert!(needs.unknown.iter().all(|unknown| unknown.why.starts_with("in lib/net.ts:1: ")), "{:?}", needs.unknown);
    assert_eq!((needs.unknown.len(), needs.clock.len()), (1, 1));
}

#[test]
fn places_in_modules_are_those_of_their_authors() {
    let module =
        "interface Unused {\n  a: string\n}\n\nexport function f(x: number): never {\n  throw new Error('x')\n}\n";
    let main = "import { f } from '../lib/y.ts'\n\n  f(1)";
    let prepared = prepared(main, "tasks/main.ts", &[("lib/y.ts", module), ("data.json", "1")]);
    let stack = "    at f (lib/y.ts:2:7)\n    at <anonymous> (tasks/main.ts:3:8)\n    at apply (native)\n";
    let mapped = prepared.map_stack(stack);
    assert_eq!(mapped.text, "    at f (lib/y.ts:6:9)\n    at <anonymous> (tasks/main.ts:3:3)\n    at apply (native)");
    assert_eq!((mapped.line, mapped.column), (Some(3), Some(3)), "of the program itself");
    assert_eq!(prepared.locate_in("lib/y.ts", 2, 7), Some((6, 9)));
    assert_eq!(prepared.locate_in("lib/z.ts", 2, 7), None);
    assert_eq!(prepared.modules().len(), 1);
}
