//! JSON in what someone wrote.

use isolith_core::Json;

/// What a search for brackets may cost, in bytes looked at.
const SEARCH_BYTES_MAX: usize = 64 << 20;
/// How many fenced blocks are looked at, from the last.
const BLOCKS_MAX: usize = 16;

/// The values that a text may be meant to be, the likeliest first: the whole of it, what stands between fences (the last
/// first), the last object or array with both its ends. Their keys stay in the order in which they were written.
pub(crate) fn candidates(text: &str) -> Vec<Json> {
    if let Some(whole) = read(text) {
        return vec![whole];
    }
    let mut found: Vec<Json> = blocks(text).into_iter().rev().take(BLOCKS_MAX).filter_map(read).collect();
    found.extend(last_balanced(text));
    found
}

fn read(text: &str) -> Option<Json> {
    Json::from_text(text.trim().to_owned()).ok()
}

/// What stands between lines of three backticks.
fn blocks(text: &str) -> Vec<&str> {
    let (mut blocks, mut open, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            open = match open {
                None => Some(next),
                Some(start) => {
                    blocks.push(&text[start..at]);
                    None
                }
            };
        }
        at = next;
    }
    // The end of the text ends a block too.
    blocks.extend(open.map(|start| &text[start..]));
    blocks
}

fn last_balanced(text: &str) -> Option<Json> {
    let bytes = text.as_bytes();
    let (mut last, mut at, mut left) = (None, 0, SEARCH_BYTES_MAX);
    while let Some(start) = bytes[at..].iter().position(|byte| matches!(byte, b'{' | b'[')).map(|found| at + found) {
        // THREAT[T-AGENT-002]: brackets that are never closed would be looked for over and over.
        let (end, cost) = balanced(&bytes[start..]);
        left = match left.checked_sub(cost) {
            Some(left) => left,
            None => break,
        };
        let value = end.and_then(|length| Some((read(&text[start..start + length])?, start + length)));
        at = match value {
            Some((value, end)) => {
                last = Some(value);
                end
            }
            None => start + 1,
        };
    }
    last
}

/// How long the value is that begins here, if its brackets fit; and how far was looked.
fn balanced(bytes: &[u8]) -> (Option<usize>, usize) {
    let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                // There are no line breaks in the strings of JSON: this quote was one of prose.
                b'\n' => return (None, at + 1),
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.pop() != Some(*byte) => return (None, at + 1),
            b'}' | b']' if open.is_empty() => return (Some(at + 1), at + 1),
            _ => {}
        }
    }
    (None, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn json_is_found_where_people_put_it() {
        for (text, expected) in [
            ("7", vec![json!(7)]),
            (" {\"a\":[1]}\n", vec![json!({ "a": [1] })]),
            ("Here:\n```json\n\"x\"\n```\nDone.", vec![json!("x")]),
            ("```\n{\"a\":1}\n```\nor\n```json\n{\"a\":2}\n```", vec![json!({"a":2}), json!({"a":1}), json!({"a":2})]),
            ("```json\n{\"a\":1}", vec![json!({"a":1}), json!({"a":1})]),
            ("first [1] then {\"a\":{\"b\":\"}\"}} end", vec![json!({ "a": { "b": "}" } })]),
            ("a { of prose, and {\"a\":1}", vec![json!({ "a": 1 })]),
            ("the set {x} has [2]", vec![json!([2])]),
            ("she said \"[\" and {\"a\":\"\\\"]\"}", vec![json!({ "a": "\"]" })]),
            ("prose", vec![]),
            ("{\"a\":1", vec![]),
            ("", vec![]),
        ] {
            let found: Vec<Value> = candidates(text).iter().map(|json| json.parse().unwrap()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_search_without_end_ends() {
        let started = std::time::Instant::now();
        for evil in ["[".repeat(4 << 20), "[\"".repeat(2 << 20), "{\"a\":".repeat(1 << 20)] {
            assert_eq!(candidates(&evil), []);
        }
        assert!(started.elapsed().as_secs() < 20);
    }
}
