//! Schemas and the types they are.

use serde_json::{Value, json};

/// A schema and its type, as it is written where nothing has a name.
pub(crate) fn rows() -> Vec<(Value, &'static str)> {
    [words(), values(), objects(), lists(), mixed(), references(), comments(), odd()].concat()
}

fn words() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "type": "string" }), "string"),
        (json!({ "type": "number" }), "number"),
        (json!({ "type": "integer" }), "number"),
        (json!({ "type": "boolean" }), "boolean"),
        (json!({ "type": "null" }), "null"),
        (json!({ "type": "file" }), "unknown"),
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "type": ["null", "string"] }), "string | null"),
        (json!({ "type": ["integer", "number"] }), "number"),
        (json!({ "type": ["string", "string", 7] }), "string"),
        (json!({ "type": [] }), "never"),
        (json!({ "type": "string", "nullable": true }), "string | null"),
        (json!({ "type": "string", "nullable": false }), "string"),
        (json!({ "type": "string", "format": "date-time" }), "string"),
        (json!({ "pattern": "^a" }), "string"),
        (json!({ "maxLength": 5 }), "string"),
        (json!({ "minimum": 5 }), "number"),
        (json!({}), "unknown"),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({ "not": { "type": "string" } }), "unknown"),
        (json!({ "type": "number", "not": { "const": 1 } }), "number"),
        (json!({ "description": "Anything.", "default": 1 }), "unknown"),
    ]
}

fn values() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "enum": ["a", "b", "a"] }), r#""a" | "b""#),
        (json!({ "enum": ["b", null, "a"] }), r#""b" | "a" | null"#),
        (json!({ "type": "string", "enum": ["a"], "nullable": true }), r#""a" | null"#),
        (json!({ "enum": [1, -2.5, 1e30, "x\"y\n\u{202e}"] }), r#"1 | -2.5 | number | "x\"y\n\u202e""#),
        (json!({ "enum": [true, false] }), "boolean"),
        (json!({ "enum": [true, "x", false, null] }), r#"boolean | "x" | null"#),
        (json!({ "enum": [true] }), "true"),
        (json!({ "enum": [] }), "unknown"),
        (json!({ "type": "string", "enum": [] }), "string"),
        (json!({ "enum": "a" }), "unknown"),
        (json!({ "const": "a" }), r#""a""#),
        (json!({ "const": null }), "null"),
        (json!({ "const": { "b": [1, "x"], "a-b": {} } }), r#"{ "a-b": Record<string, never>; b: [1, "x"] }"#),
        (json!({ "const": 9_007_199_254_740_993_u64 }), "number"),
        (json!({ "const": "x".repeat(201) }), "string"),
        (json!({ "enum": (0..300).collect::<Vec<_>>() }), "number"),
        (json!({ "enum": (0..300).map(|n| format!("v{n}")).chain(["".into()]).collect::<Vec<_>>() }), "string"),
    ]
}

fn objects() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "type": "object" }), "Record<string, unknown>"),
        (json!({ "type": "object", "properties": {} }), "Record<string, unknown>"),
        (json!({ "type": "object", "additionalProperties": true }), "Record<string, unknown>"),
        (json!({ "type": "object", "additionalProperties": false }), "Record<string, never>"),
        (json!({ "additionalProperties": { "type": "number" } }), "{ [key: string]: number }"),
        (json!({ "patternProperties": { "^x-": { "type": "string" } } }), "{ [key: string]: string }"),
        (
            json!({ "patternProperties": { "^x-": { "type": "string" }, "^y": { "type": "number" } },
                "additionalProperties": false }),
            "{ [key: string]: string | number }",
        ),
        (
            json!({ "properties": { "b": { "type": "string" }, "a": { "type": "number" }, "c": true },
                "required": ["c", "b"] }),
            "{ b: string; c: unknown; a?: number }",
        ),
        (json!({ "required": ["a"] }), "{ a: unknown }"),
        (json!({ "properties": { "a": {} }, "required": ["z"] }), "{ z: unknown; a?: unknown }"),
        (json!({ "properties": { "a": {} }, "required": "a" }), "{ a?: unknown }"),
        (
            json!({ "properties": { "a": { "type": "string" } }, "additionalProperties": true }),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({ "properties": { "a": { "type": "string" } }, "additionalProperties": { "type": "number" } }),
            "{\n  a?: string;\n  /** Others: number */\n  [key: string]: unknown;\n}",
        ),
        (
            json!({ "properties": { "a": { "type": "number" } }, "required": ["a"],
                "additionalProperties": { "type": "number" } }),
            "{ a: number; [key: string]: number }",
        ),
        (
            json!({ "properties": { "a-b": {}, "1": {}, "": {}, "new": {}, "ä": {}, "__proto__": {}, "a\n*/`": {} } }),
            "{\n  \"\"?: unknown;\n  \"1\"?: unknown;\n  __proto__?: unknown;\n  \"a\\n*/`\"?: unknown;\n  \"a-b\"?: unknown;\n  \
             new?: unknown;\n  \"ä\"?: unknown;\n}",
        ),
        (
            json!({ "properties": { "a": { "properties": { "b": { "properties": { "c": { "type": "null" } } } } } } }),
            "{ a?: { b?: { c?: null } } }",
        ),
        (json!({ "properties": [] , "type": "object" }), "Record<string, unknown>"),
        (json!({ "properties": { "a": false } }), "{ a?: never }"),
    ]
}

fn lists() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "type": "array" }), "unknown[]"),
        (json!({ "items": { "type": "string" } }), "string[]"),
        (json!({ "items": { "type": ["string", "null"] } }), "(string | null)[]"),
        (json!({ "items": { "items": { "enum": [1, 2] } } }), "(1 | 2)[][]"),
        (json!({ "items": { "properties": { "a": {} } } }), "{ a?: unknown }[]"),
        (json!({ "type": "array", "items": false }), "[]"),
        (json!({ "type": "array", "maxItems": 0 }), "[]"),
        (json!({ "prefixItems": [{ "type": "string" }, { "type": "number" }], "items": false }), "[string, number]"),
        (json!({ "prefixItems": [{ "type": "string" }], "minItems": 1, "maxItems": 1 }), "[string]"),
        (json!({ "prefixItems": [{ "type": "string" }] }), "[string, ...unknown[]]"),
        (
            json!({ "prefixItems": [{ "type": "string" }, { "type": ["number", "null"] }], "minItems": 1,
                "items": { "type": ["boolean", "null"] } }),
            "[string, (number | null)?, ...(boolean | null)[]]",
        ),
        (json!({ "items": [{ "type": "string" }, {}], "additionalItems": false }), "[string, unknown]"),
        (json!({ "items": [{ "type": "string" }], "additionalItems": { "type": "number" } }), "[string, ...number[]]"),
        (json!({ "type": "array", "items": [] }), "unknown[]"),
    ]
}

fn mixed() -> Vec<(Value, &'static str)> {
    let (a, b) = (json!({ "properties": { "a": {} } }), json!({ "properties": { "b": {} }, "required": ["b"] }));
    vec![
        (json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] }), "string | number"),
        (json!({ "anyOf": [{ "type": "null" }, { "type": "string" }, { "type": "string" }] }), "string | null"),
        (json!({ "anyOf": [{ "type": "string" }, {}] }), "unknown"),
        (json!({ "anyOf": [{ "type": "string" }, false] }), "string"),
        (json!({ "anyOf": [{ "enum": ["a"] }, { "type": "string" }] }), r#""a" | string"#),
        (json!({ "anyOf": [{ "anyOf": [{ "const": 1 }, { "const": 2 }] }, { "const": 1 }] }), "1 | 2"),
        (json!({ "anyOf": [] }), "unknown"),
        (json!({ "anyOf": 7, "oneOf": "x", "allOf": {} }), "unknown"),
        (json!({ "type": "string", "anyOf": [{ "format": "uri" }, { "pattern": "^a" }] }), "string"),
        (json!({ "allOf": [a, b] }), "{ b: unknown; a?: unknown }"),
        (json!({ "type": "object", "oneOf": [a, b] }), "{ a?: unknown } | { b: unknown }"),
        (
            json!({ "allOf": [a, { "oneOf": [b, { "required": ["c"] }] }] }),
            "{ a?: unknown } & ({ b: unknown } | { c: unknown })",
        ),
        (
            json!({ "properties": { "x": { "type": "string" }, "y": {} },
                "anyOf": [{ "required": ["x"] }, { "required": ["y"] }] }),
            "{ x?: string; y?: unknown } & ({ x: unknown } | { y: unknown })",
        ),
        (json!({ "allOf": [{ "properties": { "x": { "type": "string" } } }, { "required": ["x"] }] }), "{ x: string }"),
        (
            json!({ "allOf": [{ "properties": { "x": { "enum": ["a", "b"] } } }, { "properties": { "x": { "enum": ["a"] } } }] }),
            r#"{ x?: ("a" | "b") & "a" }"#,
        ),
        (json!({ "allOf": [{ "type": "string" }, { "type": "string" }] }), "string"),
        (json!({ "allOf": [{ "type": "string" }, false] }), "never"),
        (json!({ "allOf": [{ "type": "string" }], "nullable": true }), "string | null"),
        (
            json!({ "items": { "allOf": [a, { "additionalProperties": { "type": "number" } }] } }),
            "({ a?: unknown } & { [key: string]: number })[]",
        ),
    ]
}

fn references() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "string" } } }), "string"),
        (json!({ "$ref": "#/definitions/A", "definitions": { "A": { "type": "string" } } }), "string"),
        (json!({ "$ref": "#/x/0/y~1z~0/%20%25", "x": [{ "y/z~": { " %": { "type": "number" } } }] }), "number"),
        (json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "const": 1 } } }), "1"),
        (json!({ "$ref": "#/$defs/A", "nullable": true, "$defs": { "A": { "type": "string" } } }), "string | null"),
        (
            json!({ "$ref": "#/$defs/A", "properties": { "b": {} }, "$defs": { "A": { "required": ["a"] } } }),
            "{ a: unknown; b?: unknown }",
        ),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/A" }, { "required": ["x"] }], "properties": { "a": { "$ref": "#/$defs/A" } },
                "$defs": { "A": { "properties": { "x": { "type": "string" } } } } }),
            "{ x: string; a?: { x?: string } }",
        ),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }, { "const": 2 }],
                "$defs": { "A": { "type": ["string", "null"] } } }),
            "string | 2 | null",
        ),
        (json!({ "$ref": "#/$defs/nothing" }), "unknown"),
        (json!({ "$ref": "https://example.com/a.json" }), "unknown"),
        (json!({ "$ref": "#A", "$defs": { "A": { "$anchor": "A" } } }), "unknown"),
        (json!({ "$ref": 7 }), "unknown"),
        // Inside itself, there is no name to say it by.
        (json!({ "properties": { "next": { "$ref": "#" } } }), "{ next?: unknown }"),
        (json!({ "$ref": "#" }), "unknown"),
        (
            json!({ "$ref": "#/$defs/A", "$defs": { "A": { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "string" }] } } }),
            "unknown",
        ),
        (
            json!({ "$ref": "#/$defs/Tree", "$defs": { "Tree": { "properties": {
                "children": { "items": { "$ref": "#/$defs/Tree" } } } } } }),
            "{ children?: unknown[] }",
        ),
    ]
}

fn comments() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({ "properties": { "a": { "type": "string", "description": "The  name.\nIt is */ long." } } }),
            "{\n  /** The name. It is *\\/ long. */\n  a?: string;\n}",
        ),
        (
            json!({ "properties": {
                "page": { "type": "integer", "minimum": 1, "maximum": 100, "default": 1, "description": "Which page" },
                "when": { "type": "string", "format": "date-time" },
                "code": { "type": "string", "pattern": "^[a-z]*/$", "deprecated": true } } }),
            "{\n  /** pattern ^[a-z]*\\/$, deprecated */\n  code?: string;\n  /** Which page (integer, 1 to 100, default 1) */\n  \
             page?: number;\n  /** date-time */\n  when?: string;\n}",
        ),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/A" } },
                "$defs": { "A": { "type": "string", "description": "An A." } } }),
            "{\n  /** An A. */\n  a?: string;\n}",
        ),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/A", "description": "Mine." } },
                "$defs": { "A": { "type": "string", "description": "An A." } } }),
            "{\n  /** Mine. */\n  a?: string;\n}",
        ),
        (
            json!({ "properties": { "a": { "properties": { "b": { "description": "Deep." } } } } }),
            "{\n  a?: {\n    /** Deep. */\n    b?: unknown;\n  };\n}",
        ),
        (
            json!({ "properties": { "a": { "description": "a\u{202e}b\u{0}c\u{e0041}" } } }),
            "{\n  /** abc */\n  a?: unknown;\n}",
        ),
    ]
}

/// What is no schema at all.
fn odd() -> Vec<(Value, &'static str)> {
    vec![
        (json!(null), "unknown"),
        (json!(7), "unknown"),
        (json!("string"), "unknown"),
        (json!([{ "type": "string" }]), "unknown"),
        (json!({ "type": { "type": "string" } }), "unknown"),
        (json!({ "type": null, "properties": null, "items": null }), "Record<string, unknown>"),
    ]
}
