//! Starting runs, waiting for them, answering their calls, stopping them.

use super::events;
use super::query::Query;
use crate::app::{App, Authed};
use crate::asked::{Asked, Table, about_calls, duration, run_id, session};
use crate::body::Fields;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::replies;
use crate::run::{Run, Stage};
use crate::runs::{now, running};
use crate::trace::Trace;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isolith_core::{CallId, HostReply, Json, RunId, Scope, Timestamp};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
const REPLIES_MAX: usize = 10_000;

/// `POST /v1/runs`
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    headers: HeaderMap,
    Fields(table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let (table, file) = with_file(&app, &caller, table).await?;
    let mut asked = Asked::read(table)?;
    // Where it is in the workspace: its imports are relative to that.
    asked.name = file.unwrap_or(asked.name);
    asked.trace = Trace::in_headers(&headers);
    if events::wanted(&headers) {
        return events::start(&app, &caller, asked, events::Voice::Own).await;
    }
    let wait = asked.wait.unwrap_or(app.runs.settings.wait).min(app.runs.settings.wait);
    let keep = wait.is_zero();
    let run = app.runs.start(&caller, asked, keep, |_| {}).await?;
    answer_after(&app, &run, wait).await
}

/// A program that is a file of its session, in the place of one that comes along.
async fn with_file(app: &App, caller: &Caller, mut table: Table) -> Result<(Table, Option<String>), Refusal> {
    let Some(file) = table.parse::<String>("file", "a file of the session")? else { return Ok((table, None)) };
    let wrong = |message: &str| Refusal::invalid(message).at("file");
    if table.0.iter().any(|(key, _)| key == "program" || key == "code") {
        return Err(wrong("give `program` or `file`"));
    }
    let named = table.0.iter().find(|(key, _)| key == "session").and_then(|(_, name)| name.parse().ok());
    let named = named.ok_or_else(|| wrong("`file` is one of a session: name the `session`"))?;
    let woken = app.runs.session(caller, &session(named)?).await?;
    let program = crate::sessions::program(&woken, &file).await?;
    let text = |text: &str| Json::of(text).map_err(|error| Refusal::internal("reading a program", &error));
    table.0.push(("program".into(), text(&program)?));
    Ok((table, Some(crate::sessions::path_of(&file)?)))
}

/// `GET /v1/runs/{run}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let mut query = Query::read(query.as_deref(), &["wait"])?;
    let run = find(&app, &caller, id).await?;
    if events::wanted(&headers) {
        return Ok(events::follow(&app, &run));
    }
    let wait = query.duration("wait")?.unwrap_or_default().min(app.runs.settings.wait);
    answer_after(&app, &run, wait).await
}

/// `POST /v1/runs/{run}/calls`
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let handle: Option<String> = table.parse("resume", "a handle")?;
    let given = table.take("replies");
    let wait = table.take("wait").map(|json| duration(&json, "wait")).transpose()?;
    table.finish(&["resume", "replies", "wait"])?;
    let handle = handle.ok_or_else(|| Refusal::invalid("`resume` is missing").at("resume"))?;
    let replies = read_replies(given)?;
    let run = find(&app, &caller, id).await?;
    let continuation = app.seal.read(&caller.id, &handle, now())?;
    if continuation.run != run.id {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "continuation.invalid", "this handle is for another run"));
    }
    for (call, _) in &replies {
        if !continuation.calls.contains(call) {
            let message = format!("call {} is not among those of this handle", call.0);
            return Err(Refusal::new(StatusCode::NOT_FOUND, "call.unknown", message));
        }
    }
    let mut kept = Vec::new();
    for (call, reply) in replies {
        let taken = app.runs.answer(&run, call, reply).map_err(|refusal| spent(refusal, &run, &continuation.calls))?;
        kept.extend(taken);
    }
    for task in kept {
        task.await.map_err(|error| Refusal::internal("keeping an answer", &error))??;
    }
    let wait = wait.unwrap_or(app.runs.settings.wait).min(app.runs.settings.wait);
    answer_after(&app, &run, wait).await
}

/// A handle of which every call was answered is spent, and that is the better thing to say.
fn spent(refusal: Refusal, run: &Run, calls: &[CallId]) -> Refusal {
    let open = match run.stage() {
        Stage::Waiting(_, awaited) => awaited.calls.iter().any(|call| calls.contains(call)),
        _ => false,
    };
    if refusal.code == "call.answered" && !open && calls.len() > 1 {
        return Refusal::new(StatusCode::CONFLICT, "continuation.spent", "all calls of this handle were answered");
    }
    refusal
}

fn read_replies(given: Option<Json>) -> Result<Vec<(CallId, HostReply)>, Refusal> {
    let replies = about_calls(given, "replies", "value", REPLIES_MAX)?;
    replies.into_iter().map(|(id, table)| Ok((id, replies::read(table)?))).collect()
}

/// `POST /v1/runs/{run}/cancel`
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let run = find(&app, &caller, id).await?;
    app.runs.cancel(&run).await;
    answer_after(&app, &run, app.runs.settings.wait).await
}

/// `GET /v1/runs`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let mut query = Query::read(query.as_deref(), &["limit", "before", "session"])?;
    let session = query.take("session").map(session).transpose()?;
    let limit = query.number("limit", 1, PAGE_MAX)?.unwrap_or(PAGE);
    let before = query.take("before").map(run_id).transpose()?;
    let failed = |error| Refusal::internal("listing runs", &error);
    let mut memory = app.runs.of(&caller.id);
    memory.retain(|run| session.is_none() || run.session == session);
    // Where the page before ended. Its last run may be in memory only, or in the store only.
    let before = match before {
        None => None,
        Some(id) => {
            let known = memory.iter().find(|run| run.id == id).map(|run| run.created);
            let created = match known {
                Some(created) => created,
                None => {
                    let record = app.runs.store.get(&caller.id, &id).await.map_err(failed)?;
                    record.ok_or_else(|| Refusal::no_run().at("before"))?.created
                }
            };
            Some((created, id))
        }
    };
    let edge = before.as_ref().map(|(created, id)| (*created, id));
    let stored = app.runs.store.list(&caller.id, session.as_ref(), edge, limit).await.map_err(failed)?;
    let mut all: BTreeMap<Reverse<(Timestamp, RunId)>, String> = BTreeMap::new();
    for record in stored {
        all.insert(Reverse((record.created, record.run)), brief(record.outcome.text()));
    }
    for run in memory.iter().filter(|run| edge.is_none_or(|edge| (run.created, &run.id) < edge)) {
        // What memory knows is newer than what the store does.
        all.insert(Reverse((run.created, run.id.clone())), brief(&view(&run.id, &run.stage())));
    }
    let rows: Vec<String> = all.into_values().take(limit as usize).collect();
    Ok(json(StatusCode::OK, format!("{{\"runs\":[{}]}}", rows.join(","))))
}

/// A run in a list: how it stands, without what it wrote and returned.
fn brief(outcome: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Brief {
        run: Option<RunId>,
        status: String,
        error: Option<serde_json::Value>,
        usage: Option<serde_json::Value>,
    }
    match serde_json::from_str::<Brief>(outcome) {
        Ok(Brief { run, status, error, usage }) => {
            let mut row = serde_json::json!({ "run": run, "status": status });
            for (key, value) in [("error", error), ("usage", usage)] {
                if let Some(value) = value {
                    row[key] = value;
                }
            }
            row.to_string()
        }
        Err(_) => "{}".into(),
    }
}

pub(super) async fn find(app: &App, caller: &Arc<Caller>, id: String) -> Result<Arc<Run>, Refusal> {
    let id = run_id(id).map_err(|_| Refusal::no_run())?;
    app.runs.find(caller, &id).await
}

/// Waits for the run to end, or to wait for its client, and shows it.
pub(super) async fn answer_after(app: &App, run: &Run, wait: Duration) -> Result<Response, Refusal> {
    let stage = match run.stage() {
        stage if stage.goes_on() && !wait.is_zero() => {
            let stopped = tokio::time::timeout(wait, run.stop());
            stopped.await.unwrap_or_else(|_| run.stage())
        }
        stage => stage,
    };
    match &stage {
        Stage::Refused(refusal) => Err(refusal.clone()),
        Stage::Running => Ok(json(StatusCode::ACCEPTED, running(&run.id))),
        Stage::Ended(outcome) => Ok(json(StatusCode::OK, outcome.to_string())),
        Stage::Waiting(outcome, awaited) if awaited.nobody() => Ok(json(StatusCode::ACCEPTED, outcome.to_string())),
        // Whoever agrees needs no handle, but a scope.
        Stage::Waiting(outcome, awaited) if awaited.calls.is_empty() => Ok(json(StatusCode::OK, outcome.to_string())),
        Stage::Waiting(outcome, awaited) => {
            let handle = app.seal.make(&run.caller.id, &run.id, &awaited.calls, now(), app.runs.settings.keep);
            let whole = outcome.strip_suffix('}').unwrap_or(outcome);
            Ok(json(StatusCode::OK, format!("{whole},\"resume\":\"{handle}\"}}")))
        }
    }
}

fn view(id: &RunId, stage: &Stage) -> String {
    match stage {
        Stage::Ended(outcome) | Stage::Waiting(outcome, _) => outcome.to_string(),
        Stage::Running | Stage::Refused(_) => running(id),
    }
}

pub(crate) fn json(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}
