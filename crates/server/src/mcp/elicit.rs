//! Asking the person behind an MCP client, by a form that the client shows.

use crate::error::Refusal;
use isolith_core::{Ask, CallId, Consent, Decision, Json, Verdict};
use rmcp::model::ElicitRequestParams;
use serde_json::{Value, json};

/// What is shown of arguments, and of a program.
const ARGS_CHARS_MAX: usize = 2_000;
const LINES_AROUND: usize = 3;
/// Arguments longer than this cannot be changed in a form.
const FORM_BYTES_MAX: usize = 64 << 10;
const LISTED_MAX: usize = 10;

/// The key of a question among others.
pub(super) fn key(call: CallId) -> String {
    format!("call-{}", call.0)
}

/// Whether a form says how far the run is. One that may be shown twice under one key has to be the same both times.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Standing {
    Told,
    Elsewhere,
}

/// The form for one call. `review` is what `GET /v1/runs/{run}/approvals` says.
pub(super) fn form(ask: &Ask, review: &Value, told: Standing) -> Result<ElicitRequestParams, Refusal> {
    let mut properties = json!({
        "decision": {
            "type": "string",
            "title": "May it?",
            "enum": ["once", "run", "always", "deny"],
            "enumNames": ["Yes, this once", "Yes, for this run", "Yes, always for exactly this program", "No"],
        },
        "reason": { "type": "string", "title": "If not: why", "description": "The program sees it", "maxLength": Verdict::REASON_CHARS_MAX },
    });
    if let Some(args) = ask.args.as_ref().filter(|args| args.text().len() <= FORM_BYTES_MAX) {
        let description = "Other arguments to call it with, as JSON. Leave it as it is to agree to what is asked.";
        properties["args"] =
            json!({ "type": "string", "title": "Arguments", "description": description, "default": args.text() });
    }
    let params = json!({
        "mode": "form",
        "message": message(ask, review, told),
        "requestedSchema": { "type": "object", "properties": properties, "required": ["decision"] },
    });
    serde_json::from_value(params).map_err(|error| Refusal::internal("making a form", &error))
}

/// How far a run is, for someone who is to agree to its next step.
pub(super) fn standing(review: &Value) -> String {
    let list = |of: &Value, one: fn(&Value) -> &Value| -> String {
        let all: Vec<&str> = of.as_array().into_iter().flatten().filter_map(|entry| one(entry).as_str()).collect();
        let more = if all.len() > LISTED_MAX { format!(" and {} more", all.len() - LISTED_MAX) } else { String::new() };
        let shown: Vec<&str> = all.into_iter().take(LISTED_MAX).collect();
        if shown.is_empty() { "nothing".into() } else { format!("{}{more}", shown.join(", ")) }
    };
    let (done, ahead) =
        (list(&review["done"], |entry| &entry["what"]), list(&review["ahead"], |entry| &entry["grant"]));
    format!("Done so far: {done}.\nMay still come: {ahead}.")
}

fn message(ask: &Ask, review: &Value, told: Standing) -> String {
    let own = review["asks"].as_array().into_iter().flatten().find(|one| one["id"] == ask.id.0);
    let lines: Vec<usize> = own
        .and_then(|own| own["lines"].as_array())
        .map(|lines| lines.iter().filter_map(|line| line.as_u64().map(|line| line as usize)).collect())
        .unwrap_or_default();
    let place = match lines.as_slice() {
        [line] => format!(" in line {line}"),
        _ => String::new(),
    };
    let name = review["name"].as_str().unwrap_or("A program");
    let mut text = format!("{name} wants to do this{place}: {}", ask.what);
    if let Some(args) = &ask.args {
        text.push_str(&format!("\nwith {}", cut(args.text(), ARGS_CHARS_MAX)));
    }
    text.push_str(&format!("\nIt is asked because of `{}`.", ask.grant));
    if told == Standing::Told {
        text.push_str(&format!("\n{}", standing(review)));
    }
    if let (Some(source), Some(line)) = (review["source"].as_str(), lines.first()) {
        text.push('\n');
        for (n, code) in (1..).zip(source.lines()) {
            if n + LINES_AROUND >= *line && n <= *line + LINES_AROUND {
                let mark = if lines.contains(&n) { '>' } else { ' ' };
                text.push_str(&format!("\n{mark}{n:4} | {}", cut(code, 160)));
            }
        }
    }
    text
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What someone said. Nothing when they closed the form without a word.
pub(super) fn verdict(ask: &Ask, answer: &Value) -> Result<Option<Verdict>, Refusal> {
    let wrong = |message: &str| Refusal::invalid(message).at(key(ask.id));
    match answer["action"].as_str() {
        Some("cancel") => return Ok(None),
        Some("decline") => return Ok(Some(Verdict::deny(None))),
        Some("accept") => {}
        _ => return Err(wrong("`action` is `accept`, `decline` or `cancel`")),
    }
    let content = &answer["content"];
    let consent = match content["decision"].as_str() {
        Some("deny") => {
            let reason = content["reason"].as_str().filter(|reason| !reason.trim().is_empty());
            return Ok(Some(Verdict::deny(reason.map(str::to_owned))));
        }
        Some("once") => Consent::Once,
        Some("run") => Consent::Run,
        Some("always") => Consent::Always,
        _ => return Err(wrong("`decision` is `once`, `run`, `always` or `deny`")),
    };
    let mut verdict = Verdict { decision: Decision::Approve, consent, args: None, reason: None };
    if let (Some(own), Some(given)) = (&ask.args, content["args"].as_str().filter(|given| !given.trim().is_empty())) {
        let given = Json::from_text(given.to_owned()).map_err(|_| wrong("`args` is not JSON"))?;
        let same = given.parse::<Value>().ok() == own.parse::<Value>().ok();
        verdict.args = (!same).then_some(given);
    }
    Ok(Some(verdict))
}
