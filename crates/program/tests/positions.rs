//! From the code that ran back to what the author wrote.

#![allow(clippy::expect_used, clippy::panic, reason = "this is how a test fails")]

use isolith_program::{Language, MappedStack, Prepared, prepare};

fn prepared(source: &str) -> Prepared {
    prepare(source, "main.ts", Language::Auto).unwrap_or_else(|error| panic!("{}", error.render()))
}

/// Line and column of an offset in the code, as QuickJS counts: lines end at LF, CR and CR LF, columns are bytes.
fn engine_position(code: &str, offset: usize) -> (u32, u32) {
    let before = code[..offset].replace("\r\n", "\n").replace('\r', "\n");
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line as u32, (before.len() - start) as u32 + 1)
}

/// Line and column of an offset in a source, as its author counts.
fn author_position(source: &str, offset: usize) -> (u32, u32) {
    let before = source[..offset]
        .trim_start_matches('\u{feff}')
        .replace("\r\n", "\n")
        .replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line as u32, column as u32)
}

/// Every name `q0`, `q1`, ... in the source must be found again from its place in the code.
#[track_caller]
fn check(source: &str) {
    let prepared = prepared(source);
    let code = &prepared.program().code;
    let names: Vec<String> = (0..).map(|n| format!("q{n}")).take_while(|name| source.contains(name.as_str())).collect();
    assert!(!names.is_empty(), "{source}");
    for name in names {
        let in_code = code.find(&name).unwrap_or_else(|| panic!("{name} is not in {code}"));
        let (line, column) = engine_position(code, in_code);
        let expected = source.find(&name).map(|at| author_position(source, at));
        assert_eq!(prepared.locate(line, column), expected, "{name} at {line}:{column} of\n{code}");
    }
}

#[test]
fn names_are_found_where_they_were_written() {
    for source in [
        "q0(); q1()",
        "return q0 + q1",
        "\n\n  q0();\n\n\tq1.q2()",
        "const a: Map<string, number> = new q0();\nlet b = q1 as any;\nq2!.q3",
        "enum E { A = q0 }\nnamespace N { export const x = q1 }\nq2(E, N)",
        "class A { constructor(private x: number) { q0(x) } }\nq1(A)",
        "export default async function main(input: any) {\n  return q0(input)\n}",
        "export const a = q0(),\n  b = q1()\nexport default q2 + 1; q3()",
        "async (x: number) => {\n  await q0(x);\n  throw new q1('x')\n}",
        "function (x) {\n  q0(x)\n}",
        "```ts\nq0();\n  q1()\n```",
        "Here:\n\n```ts\nconst a: string = q0();\n```\nThere.",
        "\u{feff}q0(); q1()",
        "#!/usr/bin/env node\nq0()",
        "\u{feff}#!/usr/bin/env node\r\nq0();\r\nq1()",
        "q0();\r\n\r\n  q1();\rq2()",
        "a('é😀', q0); b('日本', q1)",
        "/* é */ q0(); /* 😀 */ q1()",
        "const t = `\n\n${q0}\r\n${q1}`; q2()",
        "const t = `\u{2028}`; q0();\nq1()",
        "var a\u{2028}= q0;\u{2029}q1()",
        "String.raw`</script>${q0}</script>`; q1(); String.raw`\n</a>`; q2()",
        "if (a) { b } else if (q0) { c }\nfor (const x of q1) { q2(x) }",
        "x = {\n  a: q0,\n  b: [q1, 1, 2, q2],\n  c() { return q3 }\n}",
        "type A = string\n\n\ninterface B { x: A }\nq0",
        "// a comment\n/* and\nanother */\nq0(); // x\nq1()",
        "<any>q0; (q1 satisfies T)",
        "label: for (;;) { q0(); break label }",
        "try { q0() } catch (e: any) { q1(e) } finally { q2() }",
    ] {
        check(source);
    }
}

#[test]
fn places_outside_the_code_are_nowhere() {
    let prepared = prepared("a();\nb()");
    assert_eq!(prepared.locate(0, 1), None);
    assert_eq!(prepared.locate(99, 1), None);
    assert_eq!(prepared.locate(u32::MAX, u32::MAX), None);
    assert_eq!(prepared.locate(1, u32::MAX).map(|(line, _)| line), Some(1));
    assert_eq!(self::prepared("").locate(1, 1), None);
    assert_eq!(self::prepared("/* nothing */").locate(1, 1), None);
}

#[test]
fn stacks_are_rewritten() {
    let source =
        "interface Unused {\n  a: string\n}\n\nfunction f(x: number): never {\n  throw new Error('x')\n}\n\nf(1)\n";
    let prepared = prepared(source);
    // `throw new Error` is on line 2 of the code, `return f(1)` on line 4.
    let stack = "    at f (main.ts:2:7)\n    at <anonymous> (main.ts:4:8)\n    at apply (native)\n    at run (isolith:prelude:3:1)\n";
    assert_eq!(
        prepared.map_stack(stack),
        MappedStack {
            text: "    at f (main.ts:6:9)\n    at <anonymous> (main.ts:9:1)\n    at apply (native)".into(),
            line: Some(6),
            column: Some(9),
        }
    );
    assert_eq!(prepared.map_stack(""), MappedStack::default());
    assert_eq!(self::prepared("").map_stack("    at <anonymous> (main.ts:1:1)"), MappedStack::default());
}

#[test]
fn other_files_are_left_alone() {
    let prepared = prepared("a()");
    for stack in ["    at f (other.ts:1:1)", "    at f (xmain.ts:1:1)", "Error: main.ts:1:1", "    at main.ts.js:1:1"] {
        assert_eq!(prepared.map_stack(stack).text, stack);
    }
}
