//! What a case expects, held against what came back.

use super::support::server::Answer;
use serde_json::Value;

/// What an attacker got to see.
pub(crate) enum Seen {
    Answer(Answer),
    /// The connection was closed without an answer, or there is none to be had.
    Gone,
}

pub(crate) fn judge(expect: &Value, oracle: &Value, seen: &Seen, fill: &dyn Fn(&str) -> String) -> Result<(), String> {
    if let Seen::Answer(answer) = seen
        && answer.status >= 500
        && answer.status != 501
        && answer.status != 503
        && answer.status != 505
    {
        return Err(format!("it is the server's own fault: {answer:?}"));
    }
    met(expect, seen)?;
    let Seen::Answer(answer) = seen else { return Ok(()) };
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    if let Some(absent) = oracle["bodyAbsent"].as_str()
        && body.contains(&fill(absent))
    {
        return Err(format!("`{absent}` is told: {body}"));
    }
    let told = |field: &str| answer.json()["error"]["kind"].as_str().is_some_and(|kind| kind == field);
    if let Some(kinds) = oracle["errorKind"].as_array()
        && !kinds.iter().filter_map(Value::as_str).any(told)
    {
        return Err(format!("none of {kinds:?}: {body}"));
    }
    if let Some(status) = oracle["statusField"].as_str()
        && answer.json()["status"] != status
    {
        return Err(format!("not `{status}`: {body}"));
    }
    Ok(())
}

fn met(expect: &Value, seen: &Seen) -> Result<(), String> {
    match expect["kind"].as_str().unwrap() {
        "no-effect" => Ok(()),
        "any-of" => {
            let all: Vec<String> =
                expect["of"].as_array().unwrap().iter().filter_map(|one| met(one, seen).err()).collect();
            if all.len() < expect["of"].as_array().unwrap().len() { Ok(()) } else { Err(all.join("; ")) }
        }
        kind @ ("value" | "denied") => {
            let Seen::Answer(answer) = seen else { return Err("there was no answer".into()) };
            let codes = match kind {
                "value" => vec![expect["status"].clone()],
                _ => expect["codes"].as_array().cloned().unwrap_or_default(),
            };
            if !codes.is_empty() && !codes.contains(&answer.status.into()) {
                let body: String = String::from_utf8_lossy(&answer.body).chars().take(200).collect();
                return Err(format!("{} is none of {codes:?}: {body}", answer.status));
            }
            let absent = expect["headersAbsent"].as_array().cloned().unwrap_or_default();
            match absent.iter().filter_map(Value::as_str).find(|name| answer.head.contains(&format!("\n{name}:"))) {
                Some(name) => Err(format!("`{name}` is there: {}", answer.head)),
                None => Ok(()),
            }
        }
        other => panic!("nothing is known of `{other}`"),
    }
}
