//! References within a schema: `#/$defs/Pet`.

use serde_json::Value;

/// How many references in a row are followed: one that leads to nothing but another.
const HOPS_MAX: usize = 16;

/// The longest name taken from a reference.
const NAME_CHARS_MAX: usize = 48;

/// What says nothing about the type.
const SILENT: [&str; 8] = ["$ref", "$schema", "$id", "$comment", "$defs", "definitions", "title", "description"];

/// Where a reference leads in the end, and what that is called. Nothing for one that leads elsewhere.
pub(super) fn follow<'a>(root: &'a Value, reference: &str) -> Option<(&'a Value, String)> {
    let (mut target, mut path) = find(root, reference)?;
    for _ in 0..HOPS_MAX {
        match passes_on(target) {
            Some(next) => (target, path) = find(root, next)?,
            None => return Some((target, name_of(&path))),
        }
    }
    None
}

/// The reference in a schema that says nothing else about the type.
fn passes_on(schema: &Value) -> Option<&str> {
    let table = schema.as_object()?;
    let silent = |key: &String| SILENT.contains(&key.as_str());
    // Few words, so that a large schema is not read to the end to find that it says something.
    (table.len() <= SILENT.len() && table.keys().all(silent)).then(|| table.get("$ref").and_then(Value::as_str))?
}

fn find<'a>(root: &'a Value, reference: &str) -> Option<(&'a Value, String)> {
    let path = unescaped(reference.strip_prefix('#')?)?;
    let target = root.pointer(&path)?;
    Some((target, path))
}

/// Undoes `%24`, which a reference may have instead of any character.
fn unescaped(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

/// A name for a type, after the last step of the way to it.
fn name_of(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = last.replace("~1", "/").replace("~0", "~").chars().take(NAME_CHARS_MAX).map(safe).collect();
    let name = name.trim_matches('_');
    match (path.is_empty(), name.is_empty()) {
        (true, _) => "Root".to_owned(),
        (false, true) => "Type".to_owned(),
        (false, false) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_lead_somewhere() {
        let root = json!({
            "$defs": { "A": { "type": "string" }, "a/b": 1, "a~b": 2, "ä b": 3, "%": 4, "B": { "$ref": "#/$defs/A" },
                "loop": { "$ref": "#/$defs/loop" }, "~1": 5, "-": 6, "more": { "$ref": "#/$defs/A", "nullable": true } },
            "allOf": [{ "x": 7 }],
        });
        for (reference, found) in [
            ("#", Some((&root, "Root"))),
            ("#/$defs/A", Some((&root["$defs"]["A"], "A"))),
            ("#/%24defs/A", Some((&root["$defs"]["A"], "A"))),
            ("#/$defs/a~1b", Some((&json!(1), "a_b"))),
            ("#/$defs/a~0b", Some((&json!(2), "a_b"))),
            ("#/$defs/%C3%a4%20b", Some((&json!(3), "b"))),
            ("#/$defs/%25", Some((&json!(4), "Type"))),
            ("#/$defs/~01", Some((&json!(5), "1"))),
            ("#/$defs/-", Some((&json!(6), "Type"))),
            ("#/allOf/0/x", Some((&json!(7), "x"))),
            ("#/$defs/B", Some((&root["$defs"]["A"], "A"))),
            ("#/$defs/more", Some((&root["$defs"]["more"], "more"))),
            ("#/$defs/loop", None),
            ("#/allOf/00", None),
            ("#/allOf/1", None),
            ("#/$defs/%zz", None),
            ("#/$defs/%ff", None),
            ("#/$defs/%", None),
            ("#/$defs/nothing", None),
            ("#A", None),
            ("", None),
            ("other.json#/A", None),
            ("https://example.com/a.json", None),
        ] {
            let named = follow(&root, reference);
            let named = named.as_ref().map(|(target, name)| (*target, name.as_str()));
            assert_eq!(named, found, "{reference}");
        }
    }
}
