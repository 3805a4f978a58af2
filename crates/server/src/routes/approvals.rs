//! What a caller's runs ask about before they go on, and what is said about it.

use super::runs::{answer_after, find, json};
use crate::app::{App, Authed};
use crate::asked::{Table, about_calls, duration};
use crate::body::Fields;
use crate::error::Refusal;
use crate::run::Run;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use isolith_core::{CallId, Consent, Decision, Json, Scope, Verdict};
use isolith_runner::SuspendedRun;
use serde_json::{Value, json as value};
use std::sync::Arc;

/// The most words in one request.
const WORDS_MAX: usize = 1_000;
const VERDICT_FIELDS: [&str; 4] = ["decision", "consent", "args", "reason"];

/// `GET /v1/approvals`
pub(crate) async fn list(State(app): State<Arc<App>>, Authed(caller): Authed) -> Result<Response, Refusal> {
    caller.may(Scope::Approvals)?;
    let kept = app.runs.store.approvals(Some(&caller.id), None).await;
    let kept = kept.map_err(|error| Refusal::internal("listing approvals", &error))?;
    let now = crate::runs::now();
    let open = kept.into_iter().filter(|one| one.said.is_none() && one.ask.expires_us > now);
    let mut rows: Vec<Value> = open.map(|one| row(&one.run.0, &one.ask)).collect();
    // What is in memory may not be kept yet.
    for run in app.runs.of(&caller.id) {
        let known = |ask: &isolith_core::Ask| rows.iter().any(|row| row["run"] == run.id.0 && row["id"] == ask.id.0);
        let fresh: Vec<Value> =
            run.approvals.open().iter().filter(|ask| !known(ask)).map(|ask| row(&run.id.0, ask)).collect();
        rows.extend(fresh);
    }
    Ok(json(StatusCode::OK, value!({ "approvals": rows }).to_string()))
}

fn row(run: &str, ask: &isolith_core::Ask) -> Value {
    let mut row = value!(ask);
    row["run"] = value!(run);
    row
}

/// `GET /v1/runs/{run}/approvals`
pub(crate) async fn review(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Approvals)?;
    let run = find(&app, &caller, id).await?;
    Ok(json(StatusCode::OK, reviewed(&app, &run).await?.to_string()))
}

/// A run as someone sees it who is to agree. While it is in memory only its questions are known.
pub(crate) async fn reviewed(app: &App, run: &Run) -> Result<Value, Refusal> {
    let asks = run.approvals.open();
    let failed = |error: &dyn std::fmt::Display| Refusal::internal("reading a suspended run", error);
    let record = app.runs.store.get(&run.caller.id, &run.id).await.map_err(|error| failed(&error))?;
    let Some(bytes) = record.and_then(|record| record.suspended) else {
        return Ok(value!({ "run": run.id.0, "asks": asks }));
    };
    let suspended = SuspendedRun::from_bytes(&bytes).map_err(|error| failed(&error))?;
    let mut review = value!(suspended.review(&asks));
    review["run"] = value!(run.id.0);
    Ok(review)
}

/// `POST /v1/runs/{run}/approvals`
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    // THREAT[T-APPROVAL-002]: who may start runs may not for that reason agree to what they ask.
    caller.may(Scope::Approvals)?;
    let given = table.take("approvals");
    let wait = table.take("wait").map(|json| duration(&json, "wait")).transpose()?;
    table.finish(&["approvals", "wait"])?;
    let words = words(given)?;
    let run = find(&app, &caller, id).await?;
    for (call, verdict) in words {
        app.runs.decide(&run, call, verdict, "http").await?;
    }
    let wait = wait.unwrap_or(app.runs.settings.wait).min(app.runs.settings.wait);
    answer_after(&app, &run, wait).await
}

fn words(given: Option<Json>) -> Result<Vec<(CallId, Verdict)>, Refusal> {
    let words = about_calls(given, "approvals", "decision", WORDS_MAX)?;
    words.into_iter().map(|(id, table)| Ok((id, verdict(table, &[])?))).collect()
}

/// Reads what someone says, from the fields beside those that are `known` to whoever asks.
pub(crate) fn verdict(mut table: Table, known: &[&str]) -> Result<Verdict, Refusal> {
    let decision = match table.parse::<String>("decision", "a text")?.as_deref() {
        Some("approve") => Decision::Approve,
        Some("deny") => Decision::Deny,
        _ => return Err(Refusal::invalid("`decision` is `approve` or `deny`").at("decision")),
    };
    let consent = match table.parse::<String>("consent", "a text")?.as_deref() {
        None | Some("once") => Consent::Once,
        Some("run") => Consent::Run,
        Some("always") => Consent::Always,
        Some(_) => return Err(Refusal::invalid("`consent` is `once`, `run` or `always`").at("consent")),
    };
    let args = table.take("args");
    let reason = table.parse("reason", "a text")?;
    for key in known {
        table.take(key);
    }
    let fields: Vec<&str> = known.iter().chain(&VERDICT_FIELDS).copied().collect();
    table.finish(&fields)?;
    Ok(Verdict { decision, consent, args, reason })
}
