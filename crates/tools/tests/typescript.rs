//! What schemas are in TypeScript, row by row; and the real compiler's opinion of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "typescript/hostile.rs"]
mod hostile;
#[path = "typescript/rows.rs"]
mod rows;

use isolith_core::{BindingName, Rule};
use isolith_tools::{Namespace, Tool, typescript};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The most that may be written about one schema: 16 KiB, and what closes it.
const SCHEMA_BYTES_MAX: usize = 24 << 10;

fn tool(name: &str, description: &str, input: Value, output: Option<Value>) -> Tool {
    let (upstream, description) = (name.to_owned(), description.to_owned());
    Tool { name: BindingName::new(name).unwrap(), upstream, description, input, output, rule: Rule::Allow }
}

fn namespace(name: &str, description: &str, tools: Vec<Tool>) -> Namespace {
    Namespace { name: BindingName::new(name).unwrap(), description: description.into(), tools }
}

#[test]
fn each_schema_has_its_type() {
    let rows = rows::rows();
    assert!(rows.len() >= 60);
    for (schema, expected) in rows {
        assert_eq!(
            typescript::type_of(&schema),
            expected,
            "{}",
            schema.to_string().chars().take(300).collect::<String>()
        );
    }
}

#[test]
fn a_tool_is_a_method() {
    let issue = json!({ "type": "object", "required": ["title"], "properties": {
        "title": { "type": "string", "description": "What it is about." }, "labels": { "items": { "type": "string" } } } });
    let tree = json!({ "$ref": "#/$defs/Tree", "$defs": { "Tree": { "description": "A tree.", "required": ["value"],
        "properties": { "value": { "type": "number" }, "children": { "items": { "$ref": "#/$defs/Tree" } } } } } });
    for (tool, expected) in [
        (
            tool(
                "createIssue",
                "Opens an issue.\n\nIt is assigned to nobody.",
                issue,
                Some(json!({ "type": "number" })),
            ),
            "/**\n * Opens an issue.\n *\n * It is assigned to nobody.\n */\ncreateIssue(args: {\n  /** What it is about. */\n  \
             title: string;\n  labels?: string[];\n}): Promise<number>;\n",
        ),
        (tool("a", "", json!({ "type": "object", "properties": {} }), None), "a(): Promise<unknown>;\n"),
        (tool("a", "", json!({ "type": "object", "additionalProperties": false }), None), "a(): Promise<unknown>;\n"),
        (tool("a", "", json!({ "type": "object" }), None), "a(args?: Record<string, unknown>): Promise<unknown>;\n"),
        (tool("a", "", json!({}), None), "a(args?: unknown): Promise<unknown>;\n"),
        (tool("a", "", json!({ "type": "string" }), None), "a(args: string): Promise<unknown>;\n"),
        (
            tool("a", "", json!({ "properties": { "x": { "type": "null" } } }), None),
            "a(args?: { x?: null }): Promise<unknown>;\n",
        ),
        (
            tool("a", "", json!({ "$ref": "#/$defs/A", "$defs": { "A": { "properties": { "x": {} } } } }), None),
            "a(args?: { x?: unknown }): Promise<unknown>;\n",
        ),
        (
            tool("a", "", json!({ "allOf": [{ "required": ["x"] }, { "properties": { "y": {} } }] }), None),
            "a(args: { x: unknown; y?: unknown }): Promise<unknown>;\n",
        ),
        (
            tool("a", "", json!({ "anyOf": [{ "required": ["x"] }, { "properties": { "y": {} } }] }), None),
            "a(args?: { x: unknown } | { y?: unknown }): Promise<unknown>;\n",
        ),
        (
            tool(
                "a",
                "Says.",
                json!({ "properties": {} }),
                Some(json!({ "type": "string", "description": "What\nis said." })),
            ),
            "/**\n * Says.\n * @returns What is said.\n */\na(): Promise<string>;\n",
        ),
        (tool("new", "", json!({ "properties": {} }), None), "\"new\"(): Promise<unknown>;\n"),
        (tool("delete", "", json!({ "properties": {} }), None), "delete(): Promise<unknown>;\n"),
        (
            tool("grow", "", json!({ "properties": { "tree": tree_in("Tree") }, "$defs": tree["$defs"] }), Some(tree)),
            "/** A tree. */\ntype grow_Tree = { value: number; children?: grow_Tree[] };\n\n\
             grow(args?: { tree?: grow_Tree }): Promise<grow_Tree>;\n",
        ),
        (
            tool("again", "", json!({ "properties": { "inner": { "$ref": "#" } } }), None),
            "type again_again_args = { inner?: again_again_args };\n\nagain(args?: again_again_args): Promise<unknown>;\n",
        ),
    ] {
        assert_eq!(typescript::function(&tool), expected);
    }
}

fn tree_in(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

#[test]
fn namespaces_share_types_that_are_the_same() {
    let user = json!({ "type": "object", "required": ["login"], "properties": { "login": { "type": "string" },
        "friends": { "items": { "$ref": "#/$defs/User" } } } });
    let other = json!({ "type": "object", "properties": { "friend": { "$ref": "#/$defs/User" } } });
    let of = |user: &Value| json!({ "$ref": "#/$defs/User", "$defs": { "User": user } });
    let none = json!({ "properties": {} });
    let spaces = [
        namespace(
            "a",
            "People.",
            vec![
                tool("first", "The first.", none.clone(), Some(of(&user))),
                tool("second", "", of(&user), Some(of(&other))),
                tool("third", "", none.clone(), Some(of(&user))),
            ],
        ),
        namespace("b", "", vec![tool("first", "", none, Some(of(&user)))]),
    ];
    let expected = "\
type a_User = { login: string; friends?: a_User[] };
type a_second_User = { friend?: a_second_User };
type b_User = { login: string; friends?: b_User[] };

declare const tools: {
  /** People. */
  a: {
    /** The first. */
    first(): Promise<a_User>;
    second(args: a_User): Promise<a_second_User>;
    third(): Promise<a_User>;
  };
  b: {
    first(): Promise<b_User>;
  };
};
";
    assert_eq!(typescript::catalogue(&spaces), expected);
    assert_eq!(
        typescript::namespace(&spaces[1]),
        "type b_User = { login: string; friends?: b_User[] };\n\n\
        declare const tools: {\n  b: {\n    first(): Promise<b_User>;\n  };\n};\n"
    );
    assert_eq!(typescript::catalogue(&[]), "declare const tools: {\n};\n");
}

#[test]
fn types_that_differ_never_share_a_name() {
    let of = |members: &[&str], names: &[&str]| {
        let one = |name: &str| {
            let to = json!({ "$ref": format!("#/$defs/{name}") });
            let members: Map<String, Value> = members.iter().map(|member| ((*member).to_owned(), to.clone())).collect();
            (name.to_owned(), json!({ "properties": members }))
        };
        let definitions: Map<String, Value> = names.iter().map(|name| one(name)).collect();
        let all: Vec<Value> = names.iter().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
        Some(json!({ "prefixItems": all, "items": false, "$defs": definitions }))
    };
    let none = || json!({ "properties": {} });
    let spaces = [
        namespace(
            "n",
            "",
            vec![
                tool("a", "", none(), of(&["x"], &["User", "t_User"])),
                tool("t", "", none(), of(&["y"], &["User"])),
                tool("u", "", none(), of(&["z"], &["User"])),
                tool("v", "", none(), of(&["x"], &["User", "~1User", "~0User"])),
            ],
        ),
        namespace("n_u", "", vec![tool("w", "", none(), of(&["x"], &["User"]))]),
    ];
    let expected = "\
type n_User = { x?: n_User };
type n_t_User = { x?: n_t_User };
type n_t_2_User = { y?: n_t_2_User };
type n_u_User = { z?: n_u_User };
type n_u_w_User = { x?: n_u_w_User };

declare const tools: {
  n: {
    a(): Promise<[n_User, n_t_User]>;
    t(): Promise<[n_t_2_User]>;
    u(): Promise<[n_u_User]>;
    v(): Promise<[n_User, unknown, unknown]>;
  };
  n_u: {
    w(): Promise<[n_u_w_User]>;
  };
};
";
    assert_eq!(typescript::catalogue(&spaces), expected);
    // Nor do those of one schema, however they are spelled.
    let schema = json!({ "prefixItems": [{ "$ref": "#/$defs/a.b" }, { "$ref": "#/$defs/a-b" }, { "$ref": "#/%24defs/a.b" }],
        "items": false, "$defs": { "a.b": { "properties": { "x": { "$ref": "#/$defs/a.b" } } },
            "a-b": { "properties": { "y": { "$ref": "#/$defs/a-b" } } } } });
    assert_eq!(
        typescript::function(&tool("t", "", none(), Some(schema))),
        "type t_a_b = { x?: t_a_b };\ntype t_a_b_2 = { y?: t_a_b_2 };\n\nt(): Promise<[t_a_b, t_a_b_2, t_a_b]>;\n"
    );
}

#[test]
fn large_types_that_are_used_twice_get_a_name() {
    let user = json!({ "type": "object", "properties": { "login": { "type": "string" } } });
    let state = json!({ "enum": ["open", "closed"] });
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/User" }, "b": { "$ref": "#/$defs/User" },
        "c": { "$ref": "#/$defs/State" }, "d": { "$ref": "#/$defs/State" }, "e": { "$ref": "#/$defs/Once" } },
        "$defs": { "User": user, "State": state, "Once": { "properties": { "f": { "type": "boolean" } } } } });
    assert_eq!(
        typescript::function(&tool("t", "", schema, None)),
        "type t_User = { login?: string };\n\nt(args?: {\n  a?: t_User;\n  b?: t_User;\n  c?: \"open\" | \"closed\";\n  \
         d?: \"open\" | \"closed\";\n  e?: { f?: boolean };\n}): Promise<unknown>;\n"
    );
}

#[test]
fn hostile_schemas_are_bounded() {
    for (what, schema) in hostile::schemas() {
        let mut tool = tool("t", "", schema, None);
        let started = Instant::now();
        let mut texts = vec![typescript::type_of(&tool.input), typescript::function(&tool)];
        tool.output = Some(std::mem::take(&mut tool.input));
        texts.push(typescript::function(&tool));
        // It takes milliseconds; a debug build on a busy machine takes longer.
        assert!(started.elapsed() < Duration::from_secs(5), "{what}: {:?}", started.elapsed());
        for text in texts {
            assert!(text.len() < SCHEMA_BYTES_MAX, "{what}: {}", text.len());
            closed(&text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        }
    }
}

#[test]
fn descriptions_are_cut() {
    let text = typescript::function(&tool("t", &"word ".repeat(1 << 20), json!({ "properties": {} }), None));
    assert!(text.len() < 2_100 && text.contains('…'), "{}", text.len());
    let lines = typescript::function(&tool("t", &"\n\n*/ x\n".repeat(1 << 20), json!({ "properties": {} }), None));
    assert!(lines.len() < 10_000 && !lines.contains("\n\n"), "{}", lines.len());
    closed(&lines).unwrap();
}

#[test]
fn a_large_object_says_how_much_is_left_out() {
    let properties: Map<String, Value> = (0..1000).map(|n| (format!("p{n:04}"), json!({ "type": "string" }))).collect();
    let text = typescript::type_of(&json!({ "properties": properties, "required": ["p0999"] }));
    assert!(text.starts_with("{\n  p0999: string;\n  p0000?: string;\n"), "{text}");
    assert!(text.ends_with("  p0254?: string;\n  [key: string]: unknown;\n  // 744 more\n}"), "{text}");
}

/// Whether brackets, strings and comments are closed, and nothing stands outside that should not.
fn closed(text: &str) -> Result<(), String> {
    let (mut open, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let skip = if rest.starts_with("/*") {
            rest.find("*/").ok_or("a comment is open")? + 2
        } else if rest.starts_with("//") {
            rest.find('\n').ok_or("a comment is open")?
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.ok_or("a string is open")? + 2;
            if rest[..end].contains(|c: char| c.is_control()) {
                return Err("a string has a control character".into());
            }
            end
        } else {
            match c {
                '{' | '[' | '(' | '<' => open.push(c),
                '}' | ']' | ')' | '>' => {
                    let opened = open.pop().ok_or("closed before it was opened")?;
                    if !["{}", "[]", "()", "<>"].contains(&format!("{opened}{c}").as_str()) {
                        return Err(format!("{opened} is closed by {c}"));
                    }
                }
                c if c.is_ascii_alphanumeric() || "_$ \n;:,|&?.-".contains(c) => {}
                '=' if rest.starts_with("= ") => {}
                c => {
                    return Err(format!(
                        "`{c}` stands outside of a string: {}",
                        rest.chars().take(40).collect::<String>()
                    ));
                }
            }
            c.len_utf8()
        };
        rest = &rest[skip..];
    }
    if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof![Just("a".to_owned()), Just("b".to_owned()), any::<String>()];
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!(true)),
        Just(json!(false)),
        prop_oneof![Just("#"), Just("#/$defs/a"), Just("#/$defs/b"), Just("#/properties/a")]
            .prop_map(|to| json!({ "$ref": to })),
        any::<String>().prop_map(|text| json!({ "const": text })),
        any::<String>().prop_map(|text| json!({ "description": text, "type": "array" })),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let table = prop::collection::btree_map(word.clone(), inner.clone(), 0..4);
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (table.clone(), prop::collection::vec(word.clone(), 0..2), prop::option::of(inner.clone())).prop_map(
                |(properties, required, others)| match others {
                    Some(others) =>
                        json!({ "properties": properties, "required": required, "additionalProperties": others }),
                    None => json!({ "properties": properties, "required": required }),
                }
            ),
            list.clone().prop_map(|list| json!({ "anyOf": list })),
            list.clone().prop_map(|list| json!({ "allOf": list })),
            (list, 0..3).prop_map(|(list, least)| json!({ "prefixItems": list, "minItems": least })),
            inner.clone().prop_map(|inner| json!({ "items": inner, "nullable": true })),
            (inner, table).prop_map(|(inner, table)| json!({ "allOf": [inner], "$defs": table })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_is_a_closed_declaration(input in any_schema(), output in any_schema(), said in any::<String>()) {
        let tool = tool("t", &said, input, Some(output));
        let text = typescript::catalogue(&[namespace("n", &said, vec![tool.clone()])]);
        prop_assert_eq!(closed(&text), Ok(()), "{}", text);
        prop_assert_eq!(&text, &typescript::catalogue(&[namespace("n", &said, vec![tool])]));
    }
}

/// All that these tests write, through the real compiler. Set `ISOLITH_TSC` to its path to run it.
#[test]
fn the_compiler_takes_all_of_it() {
    let Some(tsc) = std::env::var_os("ISOLITH_TSC") else { return };
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, files: &[(&str, &str)]| {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        compile(tsc.as_ref(), &folder, files);
    };
    let rows: String = rows::rows()
        .iter()
        .enumerate()
        .map(|(n, (schema, _))| format!("type Row{n} = {};\n", typescript::type_of(schema)))
        .collect();
    check("rows", &[("rows.d.ts", &rows)]);

    let all = rows::rows().into_iter().map(|(schema, _)| schema);
    let all = all.chain(hostile::schemas().into_iter().map(|(_, schema)| schema));
    let tools: Vec<Tool> =
        all.enumerate().map(|(n, schema)| tool(&format!("t{n}"), "*/", schema.clone(), Some(schema))).collect();
    let words = ["new", "get", "delete", "constructor", "async", "function", "readonly"];
    let words = words.map(|name| tool(name, "@ts-nocheck */", json!({}), None));
    let spaces = [namespace("all", "*/ evil", tools), namespace("class", "", words.into())];
    check("catalogue", &[("tools.d.ts", &typescript::catalogue(&spaces))]);

    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut made = || any_schema().new_tree(&mut runner).unwrap().current();
    let tools = (0..500).map(|n| tool(&format!("t{n}"), "", made(), Some(made()))).collect();
    check("made", &[("tools.d.ts", &typescript::namespace(&namespace("made", "", tools)))]);

    check("use", &[("tools.d.ts", &typescript::namespace(&github())), ("use.ts", USE)]);
}

fn github() -> Namespace {
    let create = json!({ "type": "object", "required": ["title"], "additionalProperties": false, "properties": {
        "title": { "type": "string" }, "state": { "enum": ["open", "closed"] }, "labels": { "items": { "type": "string" } },
        "parent": { "$ref": "#/$defs/Node" } },
        "$defs": { "Node": { "required": ["id"], "properties": { "id": { "type": "integer" },
            "children": { "items": { "$ref": "#/$defs/Node" } } } } } });
    let issue = json!({ "allOf": [{ "$ref": "#/$defs/Base" }, { "required": ["url"] }], "$defs": { "Base": {
        "properties": { "url": { "type": "string" }, "closed_at": { "type": ["string", "null"] } } } } });
    let none = json!({ "type": "object", "properties": {} });
    namespace(
        "github",
        "Code.",
        vec![
            tool("createIssue", "Opens an issue.", create, Some(issue)),
            tool("new", "A word of the language.", none.clone(), None),
            tool(
                "version",
                "",
                none,
                Some(json!({ "prefixItems": [{ "type": "integer" }, { "type": "integer" }], "items": false })),
            ),
        ],
    )
}

/// What is right, and what the compiler has to find wrong.
const USE: &str = r#"
async function run() {
  const issue = await tools.github.createIssue({ title: "a", state: "open", parent: { id: 1, children: [{ id: 2 }] } });
  const url: string = issue.url;
  const closed: string | null | undefined = issue.closed_at;
  const [major, minor]: [number, number] = await tools.github.version();
  const anything: unknown = await tools.github.new();
  // @ts-expect-error: the title is required
  await tools.github.createIssue({});
  // @ts-expect-error: and so are arguments at all
  await tools.github.createIssue();
  // @ts-expect-error: there is no such state
  await tools.github.createIssue({ title: "a", state: "shut" });
  // @ts-expect-error: nor such a property
  await tools.github.createIssue({ title: "a", titel: "a" });
  // @ts-expect-error: deep inside as well
  await tools.github.createIssue({ title: "a", parent: { id: 1, children: [{ id: "2" }] } });
  // @ts-expect-error: it takes nothing
  await tools.github.version({ a: 1 });
  // @ts-expect-error: there is no such tool
  await tools.github.deleteIssue({});
  return [url, closed, major, minor, anything];
}
"#;

fn compile(tsc: &Path, folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let names = files.iter().map(|(name, _)| *name);
    let options = ["--noEmit", "--strict", "--target", "esnext", "--lib", "esnext", "--noErrorTruncation"];
    let done = Command::new(tsc).args(options).args(names).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}\n{said}", String::from_utf8_lossy(&done.stderr));
}
