//! Workflow files, read without running them: every case of `conformance/workflow`, and what they do not say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Language, ModuleSource, prepare_with};
use isolith_workflow::{AgentSite, Calls, LoadError, Loaded, PRIMITIVES, calls, helper, load, patches};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Names a folder with other cases, in the same form.
const FOLDER_VARIABLE: &str = "ISOLITH_WORKFLOW_CASES";

/// Cases of these groups are scripts that load, or that must not.
fn cases(group: char) -> Vec<(String, Value)> {
    let folder =
        std::env::var_os(FOLDER_VARIABLE).map_or_else(|| "../../conformance/workflow/cases".into(), PathBuf::from);
    let mut found: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(group))
        .map(|path| (path.display().to_string(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 4, "only {} cases of {group}", found.len());
    found
}

/// What it says of a workflow that it refuses.
fn refusal(text: &str) -> String {
    match load(text, "w.ts") {
        Ok(loaded) => panic!("{text}\nwas loaded: {loaded:?}"),
        Err(error) => error.to_string(),
    }
}

/// Loads a workflow, and compiles its module as a run would.
fn loaded(text: &str) -> Loaded {
    let loaded = load(text, "w.ts").unwrap_or_else(|error| panic!("{text}\n{error}"));
    compiles(&loaded.module);
    loaded
}

/// The names of modules that a workflow may import here.
const MODULES: [&str; 3] = ["a.ts", "side.ts", "data.json"];

fn compiles(module: &str) {
    let mut modules = vec![ModuleSource { name: "w.ts".into(), source: module.into() }];
    modules.extend(MODULES.map(|name| {
        let source = if name.ends_with("json") {
            "1"
        } else {
            "export default 1; export const log = 2, b = 3; export type T = 4"
        };
        ModuleSource { name: name.into(), source: source.into() }
    }));
    let driver = "import main from './w.ts'; export default await main({})";
    prepare_with(driver, "driver.js", Language::JavaScript, &modules)
        .unwrap_or_else(|error| panic!("{module}\n{}", error.render()));
}

/// A workflow that does this, in the newer of the two forms.
fn defined(run: &str) -> String {
    format!("export default defineWorkflow({{ name: \"t\", description: \"d\", run() {{ {run} }} }});\n")
}

const META: &str = "export const meta = { name: \"t\", description: \"d\" };\n";

#[test]
fn cases_that_load_do() {
    for group in ['L', 'P', 'S', 'B', 'J'] {
        for (path, case) in cases(group) {
            let source = case["input"]["source"].as_str().unwrap();
            let loaded = loaded(source);
            if let Some(meta) = case["expect"].get("meta") {
                assert_eq!(&serde_json::to_value(&loaded.meta).unwrap(), meta, "{path}");
            }
            assert_eq!(loaded.legacy, source.contains("export const meta"), "{path}");
            lines_stay(source, &loaded.module);
        }
    }
}

/// What is not rewritten stands in the line, and in the column, where it stood.
fn lines_stay(source: &str, module: &str) {
    let (before, after): (Vec<&str>, Vec<&str>) = (source.split('\n').collect(), module.split('\n').collect());
    assert_eq!(before.len() + 1, after.len(), "{module}");
    for (old, new) in before.iter().zip(&after).skip(1) {
        let is_gone = new.chars().all(|c| matches!(c, ' ' | ';'));
        assert!(old == new || is_gone || old.starts_with("export "), "{old}\n{new}");
    }
}

#[test]
fn cases_that_are_refused_say_why() {
    for (path, case) in cases('R') {
        let source = case["input"]["source"].as_str().unwrap();
        let said = refusal(source);
        // The words of another compiler are not ours.
        match case["expect"]["error"].as_str().unwrap() {
            error if error.starts_with("SandboxViolation") => assert_eq!(said, error, "{path}"),
            _ => assert!(said.contains("Error"), "{path}: {said}"),
        }
    }
}

#[test]
fn metadata_is_written_out() {
    for (object, expected) in [
        ("name: f()", "non-literal value in meta.name: CallExpression"),
        ("name: a.b", "non-literal value in meta.name: MemberExpression"),
        ("name: a ? 'x' : 'y'", "non-literal value in meta.name: ConditionalExpression"),
        ("name: 'a' + 'b'", "non-literal value in meta.name: BinaryExpression"),
        ("name: () => 1", "non-literal value in meta.name: ArrowFunctionExpression"),
        ("name: tag`x`", "non-literal value in meta.name: TaggedTemplateExpression"),
        ("name: 1n", "non-literal value in meta.name: BigIntLiteral"),
        ("name: undefined", "non-literal value in meta.name: Identifier"),
        ("name", "non-literal value in meta.name: Identifier"),
        ("[name]: 'x'", "computed keys not allowed in meta"),
        ("['name']: 'x'", "computed keys not allowed in meta"),
        ("set name(x) {}", "methods/accessors not allowed in meta"),
        ("async name() {}", "methods/accessors not allowed in meta"),
        ("phases: [{ f() {} }]", "methods/accessors not allowed in meta.phases[0]"),
        ("phases: [{ [a]: 1 }]", "computed keys not allowed in meta.phases[0]"),
        ("phases: [1, ...a]", "spread not allowed in meta.phases"),
        ("phases: [0, { a: [{ ...b }] }]", "spread not allowed in meta.phases[1].a[0]"),
        ("phases: [[, 1]]", "sparse arrays not allowed in meta.phases[0]"),
        ("prototype: 1", "reserved key name not allowed in meta: prototype"),
        ("'constructor': 1", "reserved key name not allowed in meta: constructor"),
        ("harness: { \"__proto__\": null }", "reserved key name not allowed in meta.harness: __proto__"),
        ("name: ''", "meta.name must be a non-empty string"),
        ("name: ' \\t'", "meta.name must be a non-empty string"),
        ("name: /x/", "meta.name must be a non-empty string"),
        ("name: null", "meta.name must be a non-empty string"),
        ("description: ' '", "meta.description must be a non-empty string"),
        ("whenToUse: null", "meta.whenToUse must be a string"),
        ("phases: 'A'", "meta.phases must be an array"),
        ("phases: { 0: 'A' }", "meta.phases must be an array"),
        ("output: []", "meta.output must be a string"),
    ] {
        let object = format!("{{ name: 'x', description: 'd', {object} }}");
        for text in [format!("export const meta = {object};"), format!("export default defineWorkflow({object});")] {
            assert_eq!(refusal(&text), format!("SandboxViolation: {expected}"), "{text}");
        }
    }
    for operator in ["+", "!", "~", "typeof ", "void ", "- -", "-a+"] {
        let text = format!("export const meta = {{ name: 'x', description: 'd', phases: [{operator}1] }};");
        assert!(refusal(&text).starts_with("SandboxViolation: non-literal value in meta.phases[0]: "), "{text}");
    }
    let deep = format!("export const meta = {{ a: {}{} }}", "[".repeat(100), "]".repeat(100));
    assert_eq!(refusal(&deep), "SandboxViolation: meta nests more than 64 levels deep");
}

#[test]
fn metadata_is_an_object_literal() {
    for (text, expected) in [
        ("export const meta = m;", "meta must be an object literal, not Identifier"),
        ("export const meta = make();", "meta must be an object literal, not CallExpression"),
        ("export const meta = [];", "meta must be an object literal, not ArrayExpression"),
        ("const m = {}; export default defineWorkflow(m);", "meta must be an object literal, not Identifier"),
        ("export default defineWorkflow();", "meta must be an object literal"),
        ("export default defineWorkflow(...m);", "meta must be an object literal"),
    ] {
        assert_eq!(refusal(text), format!("SandboxViolation: {expected}"), "{text}");
    }
}

#[test]
fn literals_are_read_as_javascript_means_them() {
    let meta = |values: &str| {
        loaded(&format!("export const meta = {{ name: 'n', description: 'd', phases: [{values}] }}")).meta
    };
    for (written, expected) in [
        ("1, -1, 0.5, 1e3, 0x10, 1_000, -0", json!([1, -1, 0.5, 1000, 16, 1000, 0])),
        ("'\\u0061\\n', `a\\tb`, \"\"", json!(["a\n", "a\tb", ""])),
        ("true, null, [], {}", json!([true, null, [], {}])),
        ("1e999, 12345678901234567890", json!([null, 12345678901234567890.0])),
        ("/x/g, ('a'), 'a' as const, {} satisfies T", json!([{}, "a", "a", {}])),
        ("{ a: 1, 'b c': 2, 3: 4, a: 5 },", json!([{ "a": 5, "b c": 2, "3": 4 }])),
    ] {
        assert_eq!(Value::Array(meta(written).phases.unwrap()), expected, "{written}");
    }
    let meta =
        loaded("export const meta: Meta = { name: 'n', description: 'd', harness: ['a'] } as const satisfies Meta")
            .meta;
    assert_eq!(serde_json::to_value(meta).unwrap(), json!({ "name": "n", "description": "d", "harness": ["a"] }));
}

#[test]
fn run_is_no_metadata() {
    for run in ["run() {}", "async run() {}", "run: async () => {}", "run: main", "run", "'run': f()", "*run() {}"] {
        let text = format!("export default defineWorkflow({{ name: 'n', description: 'd', {run} }})");
        assert!(!loaded(&text).legacy, "{text}");
    }
    let legacy = refusal("export const meta = { name: 'n', description: 'd', run() {} }");
    assert_eq!(legacy, "SandboxViolation: methods/accessors not allowed in meta");
    for (run, expected) in [("['run']() {}", "computed keys"), ("get run() {}", "methods/accessors")] {
        let said = refusal(&format!("export default defineWorkflow({{ name: 'n', description: 'd', {run} }})"));
        assert_eq!(said, format!("SandboxViolation: {expected} not allowed in meta"));
    }
    let nested = refusal("export default defineWorkflow({ name: 'n', description: 'd', phases: [{ run() {} }] })");
    assert_eq!(nested, "SandboxViolation: methods/accessors not allowed in meta.phases[0]");
}

#[test]
fn a_workflow_may_be_defined_before_it_is_exported() {
    let call = "defineWorkflow({ name: 't', description: 'd', run() {} })";
    for text in [
        format!("const help = 1;\nfunction f() {{}}\nexport default {call}"),
        format!("const w = {call};\nexport default w;"),
        format!("export const w = {call};\nexport default w;"),
        format!("let v = 1, w = {call}, x = w;\nexport {{ x as default, v }};"),
        format!("const w = {call};\nexport {{ w as \"default\" }};"),
        format!("export default ({call} as any)!;"),
        format!("import {{ defineWorkflow as dw }} from 'workflow';\nexport default dw{};", &call[14..]),
        format!("import * as wf from 'defineworkflow';\nexport default wf.{call};"),
        format!("export const meta = {{ name: 'other' }};\nexport default {call}"),
        format!("export {{ w as default }};\nvar w = {call}"),
    ] {
        let loaded = loaded(&text);
        assert_eq!((loaded.meta.name.as_str(), loaded.legacy), ("t", false), "{text}");
    }
}

#[test]
fn what_is_not_exported_is_no_workflow() {
    let expected =
        "SandboxViolation: workflow script must export `const meta` or `export default defineWorkflow({ … })`";
    for text in [
        "",
        "// export default defineWorkflow({})",
        "const s = `export const meta = {}`; '\\nexport default defineWorkflow({})'",
        "defineWorkflow({ name: 't', description: 'd' })",
        "export const w = defineWorkflow({ name: 't', description: 'd' })",
        "const meta = { name: 't', description: 'd' }; return 1",
        "export let meta = { name: 't', description: 'd' }",
        "export default 1",
        "export default other({ name: 't', description: 'd' })",
        "const a = b, b = a; export default a",
        "import w from './w'; export default w",
        "export default function defineWorkflow() {}",
        "import { defineWorkflow } from './mine'; export default defineWorkflow({ name: 't', description: 'd' })",
    ] {
        assert_eq!(refusal(text), expected, "{text}");
    }
}

#[test]
fn legacy_metadata_stands_first() {
    let expected = "SandboxViolation: `export const meta` must be the first statement of the workflow script";
    for before in ["const x = 1;", "f();", "function f() {}", "export const a = 1;", "enum E { A }", "{}", "await 1;"] {
        assert_eq!(refusal(&format!("{before}\n{META}return 1")), expected, "{before}");
    }
    for before in
        ["import { agent } from 'workflow';", "import './side.ts';", "'use strict';", "// x", "type T = 1;", ";"]
    {
        assert!(loaded(&format!("{before}\n{META}return 1")).legacy, "{before}");
    }
}

/// The module without what every module begins with.
fn body(text: &str) -> String {
    let module = loaded(text).module;
    let (head, body) = module.split_once("=> {{ ").unwrap();
    assert!(!head.contains('\n'), "{module}");
    body.to_owned()
}

#[test]
fn a_module_is_a_function_of_the_primitives() {
    let loaded = loaded(
        "import { agent } from 'defineworkflow'\nexport default defineWorkflow({ name: 't', description: 'd', run() {} }) // end",
    );
    assert_eq!(
        loaded.module,
        "export default async ({ agent, parallel, pipeline, phase, log, workflow, askUserQuestion, args, budget, z, profile, defineWorkflow, step, sleep, sleepUntil, waitFor, timeout, retry, now, random, patched, cleanup }) => {{ ;                                     \nconst __isolith_default = defineWorkflow({ name: 't', description: 'd', run() {} }) // end\n;return __isolith_default }}"
    );
}

#[test]
fn legacy_bodies_return() {
    for (rest, expected) in [
        ("return 1", "return 1\n}}"),
        ("export default await f()", "return (       await f())\n}}"),
        ("export default { a: 1 };", "return (       { a: 1 });\n}}"),
        ("export default\n\na", "return (      \n\na)\n}}"),
        ("export /* b\n */ default () => 1;", "return (   \n            () => 1);\n}}"),
        ("export default function f() {}", "               function f() {};return f;\n}}"),
        ("export default function () {}", "return (       function () {})\n}}"),
        ("export default class {}", "return (       class {})\n}}"),
        ("const a = 1\nexport { a as default }", "const a = 1\n;                      \n;return a }}"),
        ("for await (const x of y) if (x) return x", "for await (const x of y) if (x) return x\n}}"),
    ] {
        let expected = format!("       const meta = {{ name: \"t\", description: \"d\" }};\n{expected}");
        assert_eq!(body(&format!("{META}{rest}")), expected, "{rest}");
    }
}

#[test]
fn exports_become_declarations() {
    for (before, expected) in [
        ("export const a = 1", "       const a = 1"),
        ("export async function f() {}", "       async function f() {}"),
        ("export class A {}", "       class A {}"),
        ("export enum E { A }", "       enum E { A }"),
        ("export type T = 1", "       type T = 1"),
        ("export interface I {}", "       interface I {}"),
        ("export abstract class A {}", "       abstract class A {}"),
        ("const a = 1\nexport { a, a as b }\n(a)", "const a = 1\n;                   \n(a)"),
        ("export type { T }", ";                "),
        ("declare const x: 1", ";                 "),
        ("export declare function f(): void", ";                                "),
        ("declare global { interface A {} }", ";                                "),
        ("declare module 'x' { export const a: 1 }", ";                                       "),
        ("#!/usr/bin/env x\nf()", "                \nf()"),
        ("\u{feff}f()", "   f()"),
    ] {
        let text = format!("{before}\n{}", defined(""));
        assert_eq!(
            body(&text).lines().take(before.lines().count()).collect::<Vec<_>>().join("\n"),
            expected,
            "{before}"
        );
    }
}

/// What a module has in front of its function, and the names that the function takes.
fn head(text: &str) -> (String, String) {
    let module = loaded(text).module;
    let (before, rest) = module.split_once("export default async (").unwrap();
    (before.to_owned(), rest.split_once(") => ").unwrap().0.to_owned())
}

#[test]
fn local_imports_stand_in_front() {
    for (import, expected) in [
        ("import x from './a.ts'", "import x from \"./a.ts\";"),
        ("import './side.ts'", "import \"./side.ts\";"),
        ("import {} from './side.ts'", "import \"./side.ts\";"),
        ("import x, {\n  b, // c\n  b as c,\n  type T\n} from './a'", "import x, { b, b as c } from \"./a\";"),
        ("import * as a from './a.ts'", "import * as a from \"./a.ts\";"),
        ("import d from './data.json' with { type: 'json' }", "import d from \"./data.json\" with { type: \"json\" };"),
        ("import { 'b' as c } from './a.ts'", "import { \"b\" as c } from \"./a.ts\";"),
        ("import type { T } from './a.ts'", ""),
        ("import { type T } from './a.ts'", ""),
        ("export { b } from './a.ts'", "import \"./a.ts\";"),
        ("export * from './a.ts'", "import \"./a.ts\";"),
        ("export type { T } from './a.ts'", ""),
        ("export { agent } from 'defineworkflow'", ""),
        ("import x from './a.ts'\nimport './side.ts'", "import x from \"./a.ts\";import \"./side.ts\";"),
    ] {
        let text = format!("{import}\n{}", defined("return 1"));
        assert_eq!(head(&text).0, expected, "{import}");
        lines_stay(&text, &loaded(&text).module);
    }
}

#[test]
fn names_of_primitives_can_be_taken() {
    // A workflow's own names are in braces of their own.
    for own in
        ["const phase = 1;", "function log() {}", "var args = 2;", "class agent {}", "let z, now;", "enum step { A }"]
    {
        loaded(&format!("{own}\n{}", defined("return 1")));
        loaded(&format!("{META}{own}\nreturn 1"));
    }
    let has = |text: &str, name: &str| {
        let (_, names) = head(&format!("{text}\n{}", defined("")));
        names.split(['{', '}', ',']).any(|part| part.trim() == name)
    };
    assert!(PRIMITIVES.iter().all(|name| has("", name)));
    let alias = "import { agent as a, log } from 'defineworkflow'";
    assert!(has(alias, "agent: a") && has(alias, "agent") && has(alias, "log"));
    let swapped = "import { agent as log, log as agent } from 'workflow'";
    assert!(has(swapped, "agent: log") && has(swapped, "log: agent") && !has(swapped, "log") && !has(swapped, "agent"));
    assert!(!has("import { log } from './a.ts'", "log"));
    assert!(has("import type { log } from './a.ts'", "log"));
    // An unknown name is that of a type.
    assert!(!has("import { AgentOptions } from 'defineworkflow'", "AgentOptions"));
    let all = "import * as workflow from 'workflow'";
    assert!(has(all, "workflow = __isolith_primitives") && !has(all, "workflow"));
}

#[test]
fn other_imports_are_refused() {
    for import in [
        "import 'lodash'",
        "import * as m from 'lodash'",
        "import m from\n  'lodash'",
        "import type { T } from 'lodash'",
        "export * from 'lodash'",
        "export { a } from 'lodash'",
    ] {
        let said = refusal(&format!("{import}\n{}", defined("")));
        assert!(
            said.starts_with("SandboxViolation: cannot import from \"lodash\" inside a workflow: the workflow sandbox"),
            "{said}"
        );
    }
    for specifier in
        ["node:fs", "/etc/passwd", "https://x.example/a.ts", "#a", ".a", "", "defineworkflow/x", "workflow.ts"]
    {
        let said = refusal(&format!("import '{specifier}'\n{}", defined("")));
        assert!(said.contains(&format!("cannot import from \"{specifier}\"")), "{said}");
    }
    let said = refusal(&format!("import '\\u001b[31m\\u202e'\n{}", defined("")));
    assert!(said.contains("\"\u{fffd}[31m\u{fffd}\""), "{said:?}");
    assert!(refusal(&format!("import a = require('a');\n{}", defined(""))).contains("`import … =`"));
    assert!(refusal(&format!("import dw from 'workflow';\n{}", defined(""))).contains("has no default export"));
    assert!(refusal(&format!("{META}export = 1")).contains("`export =`"));
    assert!(refusal(&format!("{META}namespace N {{ export const a = 1 }}")).contains("`namespace`"));
    assert!(refusal(&format!("{META}export namespace N {{}}")).contains("`namespace`"));
}

#[test]
fn a_text_that_is_no_program_is_a_syntax_error() {
    for (text, line, column) in [
        (format!("{META}const = ;"), 2, 7),
        (format!("{META}}}}} f(); {{{{"), 2, 1),
        (format!("{META}return `"), 2, 8),
        (format!("{META}/* "), 2, 1),
        ("\n\nexport default defineWorkflow({".to_owned(), 3, 32),
    ] {
        let Err(LoadError::Syntax(fault)) = load(&text, "w.ts") else { panic!("{text}") };
        assert_eq!((fault.line, fault.column, fault.file.as_str()), (line, column, "w.ts"), "{text}: {fault}");
        assert!(
            fault.to_string().starts_with("SyntaxError: ")
                && fault.to_string().ends_with(&format!("(w.ts:{line}:{column})"))
        );
    }
}

#[test]
fn a_text_cannot_leave_its_function() {
    // The parser takes any token for the arrow of a function type, a brace too.
    for text in ["let x: () } T; f();", "let x: () } T; let y: () } T; f(); let z: () { T; let a: () { T"] {
        if let Ok(loaded) = load(&format!("{META}{text}"), "w.ts") {
            let module = ModuleSource { name: "w.ts".into(), source: loaded.module };
            assert!(prepare_with("import './w.ts'", "d.js", Language::JavaScript, &[module]).is_err(), "{text}");
        }
    }
}

#[test]
fn hostile_texts_are_refused_before_they_are_parsed() {
    for repeated in ["[", "(", "{", "!", "a=>", "a?b:", "-"] {
        for name in ["w.ts", "w.js"] {
            let text = format!("{META}x = {}", repeated.repeat(100_000));
            let Err(LoadError::Syntax(fault)) = load(&text, name) else { panic!("{repeated}") };
            assert!(matches!(fault.code, "syntax.nesting" | "syntax"), "{repeated}: {fault:?}");
        }
    }
    // A fence makes other programs start later; here it must not hide anything.
    let fenced = format!("/*\n```js\n1\n```\n*/ x = {}", "(".repeat(100_000));
    let Err(LoadError::Syntax(fault)) = load(&fenced, "w.ts") else { panic!() };
    assert_eq!(fault.code, "syntax.nesting");
    let costly = format!("{META}x = {}1{}", "(a<b<".repeat(400), ")".repeat(400));
    assert!(load(&costly, "w.ts").is_err());
    let long = format!("{META}{}", "workflow('a'); f(1);\n".repeat(20_000));
    assert_eq!(load(&long, "w.ts").unwrap().children, ["a"]);
    let keys = format!(
        "export const meta = {{ name: 'n', description: 'd', {}: [{}] }}",
        "k".repeat(100_000),
        "0,".repeat(100_000)
    );
    assert_eq!(load(&keys, "w.ts").unwrap().meta.name, "n");
}

#[test]
fn javascript_may_be_what_typescript_is_not() {
    let text = format!("{META}const a = 1, b = 2, c = 3;\nreturn a < b > (c);\n");
    assert!(load(&text, "w.js").is_ok());
    assert!(load(&format!("{META}return 1 as number"), "w.js").is_ok());
}

#[test]
fn children_are_called_by_name() {
    let found = |body: &str| {
        let calls = loaded(&format!("{META}{body}"));
        (calls.children, calls.children_unknown)
    };
    let known = |names: &[&str]| (names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), false);
    assert_eq!(found("await workflow('a'); ctx.workflow(`b`, 1); await workflow('a')"), known(&["a", "b"]));
    assert_eq!(
        found("ctx?.workflow('a'); ctx['workflow']('b'); (workflow)('c'); workflow<T>('d')"),
        known(&["a", "b", "c", "d"])
    );
    assert_eq!(found("'workflow(1)'; // workflow(x)\nx.workflows(1)"), known(&[]));
    for unknown in [
        "workflow(name)",
        "workflow(`a${b}`)",
        "workflow()",
        "workflow(...a)",
        "ctx.workflow('a' + b)",
        "names.map(workflow)",
        "const w = workflow",
        "help({ workflow })",
    ] {
        assert!(found(unknown).1, "{unknown}");
    }
    let text = format!("import {{ workflow as w }} from 'workflow'\n{}", defined("w('a'); return ({ workflow }) => 1"));
    assert_eq!(loaded(&text).children, ["a"]);
    let own = format!("import {{ b as workflow }} from './a.ts'\n{}", defined("workflow(1)"));
    assert!(!loaded(&own).children_unknown);
}

#[test]
fn patches_are_found_in_helpers_too() {
    let body = "if (await patched('b')) f(); ctx.patched(`a`); patched('b'); patched(x)";
    assert_eq!(loaded(&format!("{META}{body}")).patches, ["b", "a"]);
    let text =
        format!("import {{ patched as p }} from 'defineworkflow'\nexport const x = async () => {{ {body}; p('c') }}");
    assert_eq!(patches(&text, "h.ts"), ["b", "a", "c"]);
    assert_eq!(calls("export const f = (x) => workflow(x)", "h.js").map(|calls| calls.children_unknown), Ok(true));
}

#[test]
fn agents_are_shown_with_what_they_are_asked() {
    let site = |line, label: Option<&str>, prompt: Option<&str>| AgentSite {
        line,
        label: label.map(Into::into),
        prompt: prompt.map(Into::into),
    };
    let body = "agent('say hi', { label: 'hi' })\nagent(`\n  about ${x} and`)\nagent(prof, 'a' + b,\n { label: `l` })\nctx.agent(p)\nagent(prof)";
    let agents = loaded(&format!("{META}{body}")).agents;
    assert_eq!(
        agents,
        [
            site(2, Some("hi"), Some("say hi")),
            site(3, None, Some("about …")),
            site(5, Some("l"), Some("a…")),
            site(7, None, None),
            site(8, None, None)
        ]
    );
    let long = loaded(&format!("{META}agent('{}')", "é".repeat(500)));
    assert_eq!(long.agents[0].prompt, Some(format!("{}…", "é".repeat(80))));
}

#[test]
fn helpers_import_the_library() {
    let made = |text: &str| helper(text, "lib/h.ts", "../@isolith/workflow.js");
    for (text, expected) in [
        (
            "import { agent } from 'defineworkflow';\nagent()",
            "import { agent } from \"../@isolith/workflow.js\";\nagent()",
        ),
        (
            "import {\n  agent as a,\n  type T\n} from \"workflow\"",
            "import {\n  agent as a,\n  type T\n} from \"../@isolith/workflow.js\"",
        ),
        (
            "import { agent, Options } from 'workflow'",
            "import { agent, type Options } from \"../@isolith/workflow.js\"",
        ),
        ("import type { Options } from 'workflow'", "import type { Options } from \"../@isolith/workflow.js\""),
        ("import * as w from 'workflow'", "import * as w from \"../@isolith/workflow.js\""),
        (
            "export { agent } from 'workflow'; export * from 'defineworkflow'",
            "export { agent } from \"../@isolith/workflow.js\"; export * from \"../@isolith/workflow.js\"",
        ),
        ("import a from './a.ts'; export * from '../b'", "import a from './a.ts'; export * from '../b'"),
        ("export const s = \"from 'workflow'\"", "export const s = \"from 'workflow'\""),
        ("#!/x\nexport default 1", "    \nexport default 1"),
    ] {
        assert_eq!(made(text).unwrap(), expected);
    }
    for specifier in ["zod", "lodash", "node:fs", "/a.ts"] {
        for text in [format!("import {{ z }} from '{specifier}'"), format!("export * from '{specifier}'")] {
            let said = made(&text).unwrap_err().to_string();
            let expected = format!(
                "SandboxViolation: a workflow may only import local files or \"defineworkflow\"; \"{specifier}\" is not allowed"
            );
            assert_eq!(said, expected);
        }
    }
    assert_eq!(helper("{ \"a\": 1 }", "lib/a.json", "x"), Ok("{ \"a\": 1 }".to_owned()));
    assert_eq!((calls("{ \"a\": 1 }", "a.json"), patches("(", "a.ts")), (Ok(Calls::default()), Vec::new()));
    assert!(matches!(made("export const = 1"), Err(LoadError::Syntax(_))));
    assert!(made("import w from 'workflow'").is_err());
}
