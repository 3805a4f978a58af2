//! A description is the same in JSON and in YAML, and no YAML is more than it says.

use super::{issues, tools};
use isolith_tools::{OpenApi, description};
use serde_json::{Value, json};

/// The same data in YAML, as people write it: blocks, and words without quotes where that can be.
fn yaml(value: &Value, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                let key = if plain { key.clone() } else { json!(key).to_string() };
                out.push_str(&format!("\n{pad}{key}:"));
                yaml(value, indent + 1, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("\n{pad}-"));
                yaml(item, indent + 1, out);
            }
        }
        other => out.push_str(&format!(" {other}")),
    }
}

#[test]
fn both_forms_give_the_same_tools() {
    let text = include_str!("../data/issues-3.0.json");
    let mut blocks = String::new();
    yaml(&serde_json::from_str(text).unwrap(), 0, &mut blocks);
    for form in [text.to_owned(), blocks.clone(), format!("\u{feff}---{blocks}\n")] {
        let read = description(form.as_bytes()).unwrap();
        assert_eq!(read, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(tools(&OpenApi::read(&read).unwrap()), tools(&issues()));
    }
}

#[test]
fn words_stay_words_and_numbers_are_keys() {
    let text = "on: no\nanswers: &a\n  200: { when: 2020-01-01 }\nagain: *a\nmore: { <<: *a, x: 1.5 }\n";
    let answers = json!({ "200": { "when": "2020-01-01" } });
    let more = json!({ "200": { "when": "2020-01-01" }, "x": 1.5 });
    let expected = json!({ "on": "no", "answers": answers, "again": answers, "more": more });
    assert_eq!(description(text.as_bytes()).unwrap(), expected);
}

#[test]
fn what_grows_or_has_no_end_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", ")));
    }
    let long = format!("a: &a {}\nb:\n{}", "x".repeat(1 << 20), "  - *a\n".repeat(5_000));
    let deep: String = (0..400).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    for (text, said) in [
        (bomb.as_str(), "budget breached"),
        (&long, "budget breached"),
        (&deep, "budget breached"),
        (&"[".repeat(100_000), "recursion limit"),
        ("a: &a [*a]\n", "recursive"),
        ("a: 1\na: 2\n", "duplicate mapping key"),
        ("a: 1\n---\nb: 2\n", "budget breached"),
        ("a: [1\n", "is not YAML that is read here"),
        ("just words", "is no object"),
        ("", "is no object"),
        ("{ a: 1 }", "is not JSON"),
    ] {
        let error = description(text.as_bytes()).unwrap_err();
        assert!(error.contains(said), "{}: {error}", &text[..text.len().min(40)]);
    }
    assert!(description(b"a: \xff\n").unwrap_err().contains("not UTF-8"));
}
