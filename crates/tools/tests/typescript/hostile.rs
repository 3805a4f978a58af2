//! Schemas that are meant to do harm.

use serde_json::{Map, Value, json};

/// Each with a name for it.
pub(crate) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("depth", depth()),
        ("a million properties", json!({ "properties": numbered(1_000_000, || json!({ "type": "string" })) })),
        ("many required", json!({ "required": (0..100_000).map(|n| format!("p{n}")).collect::<Vec<_>>() })),
        ("many values", json!({ "enum": (0..100_000).map(|n| format!("v{n}")).collect::<Vec<_>>() })),
        ("many of any", json!({ "anyOf": (0..100_000).map(|n| json!({ "const": n })).collect::<Vec<_>>() })),
        ("many of all", json!({ "allOf": vec![json!({ "required": ["a"] }); 100_000] })),
        ("many types", json!({ "type": vec!["object"; 100_000] })),
        ("doubling properties", doubling(|next| json!({ "properties": { "a": next, "b": next } }))),
        ("doubling any", doubling(|next| json!({ "anyOf": [next, next, { "properties": { "a": next } }] }))),
        (
            "doubling all",
            doubling(|next| json!({ "allOf": [next, { "properties": { "a": next } }, { "items": next }] })),
        ),
        ("doubling lists", doubling(|next| json!({ "prefixItems": [next, next] }))),
        ("doubling nothing", doubling(|next| json!({ "prefixItems": [next, next], "items": false, "minItems": 2 }))),
        ("a web", web(false)),
        ("a web with no way out", web(true)),
        ("a chain", chain()),
        ("depth in depth", depth_in_depth()),
        ("wide times wide", wide()),
        (
            "words",
            json!({ "properties": { "a": { "description": "word ".repeat(1_000_000), "pattern": "x".repeat(1 << 20) },
            "spaces": { "description": format!("{}x", " ".repeat(1 << 20)) }, "long": { "const": "y".repeat(1 << 20) } } }),
        ),
        (
            "names",
            json!({ "properties": { "x".repeat(1 << 20): {}, "*/ }; declare const evil: 1; /*": {}, "`${1}`": {},
            "a\nb": {}, "\"": {}, "\\": {}, "\u{2028}": {}, "constructor": {}, "new": {}, "readonly": {}, "get": {} } }),
        ),
        (
            "comments",
            json!({ "properties": { "a": { "description": "*/ }; evil(); /* **/ *\u{200b}/ //\r\n// @ts-ignore",
            "default": "*/", "format": "*/", "enum": ["*/", "`", "${a}", "\u{0}\u{7f}\u{2029}"] } } }),
        ),
        (
            "names of types",
            json!({ "properties": { "a": { "$ref": "#/$defs/*~1 }; evil" }, "b": { "$ref": "#/$defs/*~1 }; evil" },
            "c": { "$ref": "#/$defs/1" }, "d": { "$ref": "#/$defs/1" }, "e": { "$ref": "#/$defs/" }, "f": { "$ref": "#/$defs/" } },
            "$defs": { "*/ }; evil": { "required": ["x"], "description": "*/ evil" }, "1": { "required": ["y"] },
                "": { "required": ["z"] } } }),
        ),
        (
            "circles",
            json!({ "anyOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }, { "$ref": "#/$defs/V" }], "$defs": {
            "A": { "anyOf": [{ "$ref": "#/$defs/B" }, { "properties": { "a": { "$ref": "#/$defs/A" } } }] },
            "B": { "allOf": [{ "$ref": "#/$defs/C" }, { "required": ["b"] }] },
            "C": { "oneOf": [{ "$ref": "#/$defs/A" }, { "type": "array", "items": { "$ref": "#/$defs/C" } }] },
            "U": { "anyOf": [{ "$ref": "#/$defs/T" }, { "type": "number" }] },
            "V": { "anyOf": [{ "$ref": "#/$defs/U" }, { "type": "string" }] },
            "T": { "anyOf": [{ "properties": { "u": { "$ref": "#/$defs/U" } } }, { "$ref": "#/$defs/V" }] } } }),
        ),
        (
            "lists of themselves",
            json!({ "properties": { "a": { "$ref": "#/$defs/L" }, "b": { "$ref": "#/$defs/P" },
            "c": { "$ref": "#/$defs/M" }, "d": { "$ref": "#/$defs/R" } }, "$defs": {
            "L": { "items": { "$ref": "#/$defs/L" } }, "M": { "additionalProperties": { "$ref": "#/$defs/M" } },
            "R": { "prefixItems": [{ "type": "string" }], "items": { "$ref": "#/$defs/R" } },
            "P": { "prefixItems": [{ "$ref": "#/$defs/P" }, { "type": "null" }], "minItems": 1, "items": false } } }),
        ),
        (
            "references to their own inside",
            json!({ "properties": { "a": { "properties": { "a": { "$ref": "#/properties/a" },
            "b": { "$ref": "#/properties/a/properties/b" } } }, "c": { "$ref": "#/properties/c" } } }),
        ),
        (
            "loops of references",
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        ),
    ]
}

fn numbered(count: usize, mut value: impl FnMut() -> Value) -> Map<String, Value> {
    (0..count).map(|n| (format!("p{n}"), value())).collect()
}

fn depth() -> Value {
    // As deep as a parser lets through, and some more.
    (0..200).fold(json!({ "type": "string" }), |inner, n| match n % 3 {
        0 => json!({ "properties": { "a": inner } }),
        1 => json!({ "items": inner }),
        _ => json!({ "anyOf": [inner, { "type": "null" }] }),
    })
}

/// Each definition refers to the next more than once: written out, there would be 2^100 of the last.
fn doubling(make: impl Fn(&Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for n in 0..100 {
        definitions.insert(format!("d{n}"), make(&json!({ "$ref": format!("#/$defs/d{}", n + 1) })));
    }
    definitions.insert("d100".into(), json!({ "required": ["end"] }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

/// Everything refers to everything.
fn web(bare: bool) -> Value {
    let count = 250;
    let all: Vec<Value> = (0..count).map(|n| json!({ "$ref": format!("#/$defs/d{n}") })).collect();
    let one = || {
        if bare { json!({ "anyOf": all }) } else { json!({ "prefixItems": all.iter().take(200).collect::<Vec<_>>() }) }
    };
    let definitions: Map<String, Value> = (0..count).map(|n| (format!("d{n}"), one())).collect();
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

/// Each refers to the next, once.
fn chain() -> Value {
    let link = |n: usize| json!({ "properties": { "next": { "$ref": format!("#/$defs/d{}", n + 1) } } });
    let definitions: Map<String, Value> = (0..10_000).map(|n| (format!("d{n}"), link(n))).collect();
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

/// As deep as is read, and at the bottom of each another.
fn depth_in_depth() -> Value {
    let deep = |n: usize| {
        let end = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        (0..30).fold(end, |inner, level| match level % 2 {
            0 => json!({ "properties": { "a": inner } }),
            _ => json!({ "items": inner }),
        })
    };
    let definitions: Map<String, Value> = (0..20).map(|n| (format!("d{n}"), deep(n))).collect();
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

/// Multiplied out, these are 60^3 types each, some of them through names. Short ones, so that all of them are written.
fn wide() -> Value {
    let any = |prefix: &str| {
        let one = |n: usize| json!({ "properties": { format!("{prefix}{n}"): { "const": n } }, "required": [format!("{prefix}{n}")] });
        json!({ "anyOf": (0..60).map(one).collect::<Vec<_>>() })
    };
    json!({
        "properties": { "x": { "allOf": [{ "$ref": "#/$defs/A" }, any("b"), any("c")] }, "y": { "$ref": "#/$defs/A" },
            "z": { "allOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/D" }, any("e")] }, "w": { "$ref": "#/$defs/D" } },
        "$defs": { "A": any("a"), "D": any("d") }
    })
}
