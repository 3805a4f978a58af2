//! `docs/http.md` does what it says: every request in it is sent, and answered as the block after it shows.

use super::{folder, serve};
use serde_json::Value;

/// What may be anything in an answer. In a request, it is what came last under that name.
const ANYTHING: &str = "…";

/// A block of a document and the language it is in.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split("```").skip(1).step_by(2);
    parts.filter_map(|block| block.split_once('\n')).collect()
}

/// Whether an answer has everything that was shown, as it was shown.
fn shows(shown: &Value, answer: &Value) -> bool {
    match (shown, answer) {
        (Value::String(text), _) if text == ANYTHING => !answer.is_null(),
        (Value::Object(shown), Value::Object(answer)) => {
            shown.iter().all(|(key, value)| answer.get(key).is_some_and(|found| shows(value, found)))
        }
        (Value::Array(shown), Value::Array(answer)) => {
            shown.len() == answer.len() && shown.iter().zip(answer).all(|(shown, answer)| shows(shown, answer))
        }
        _ => shown == answer,
    }
}

#[test]
fn the_document_about_http_is_right() {
    let path = "../../docs/http.md";
    let text = std::fs::read_to_string(path).unwrap();
    let place = folder();
    let server = serve(&place, &[]);
    let (mut answer, mut sent) = (Value::Null, 0);
    for (language, block) in blocks(&text) {
        match language {
            "http" => {
                let (line, body) = block.split_once('\n').unwrap();
                let (method, target) = line.split_once(' ').unwrap();
                let body = match answer["resume"].as_str() {
                    Some(handle) => body.replace(ANYTHING, handle),
                    None => body.to_owned(),
                };
                let kind: &[(&str, &str)] =
                    if body.trim().is_empty() { &[] } else { &[("content-type", "application/json")] };
                answer = server.send(method, target, "", kind, body.trim().as_bytes()).json();
                sent += 1;
            }
            "json" => {
                let shown: Value = serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"));
                assert!(shows(&shown, &answer), "{answer:#}\nis not\n{shown:#}");
            }
            _ => {}
        }
    }
    let settings = blocks(&text).into_iter().find(|(language, _)| *language == "toml").unwrap().1;
    let (cert, key) = super::support::certificate::pem(vec!["localhost".into()]);
    let other = folder();
    for (name, text) in [("cert.pem", &*cert), ("key.pem", &key), ("policy.toml", ""), ("server.toml", settings)] {
        other.write(name, text);
    }
    serve(&other, &["--config", "server.toml"]);
    assert!(sent >= 6, "only {sent} requests were found");
}
