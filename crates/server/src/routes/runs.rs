//! Starting runs, waiting for them, answering their calls, stopping them.

use super::events;
use crate::app::{App, Authed};
use crate::asked::{Asked, Table, duration, run_id};
use crate::body::Fields;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::replies;
use crate::run::{Run, Stage};
use crate::runs::{How, now, running};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isolith_core::{CallId, HostReply, Json, RunId, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 500;
const REPLIES_MAX: usize = 10_000;

/// `POST /v1/runs`
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    headers: HeaderMap,
    Fields(table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let asked = Asked::read(table)?;
    if events::wanted(&headers) {
        return events::start(&app, &caller, asked).await;
    }
    let wait = asked.wait.unwrap_or(app.runs.settings.wait).min(app.runs.settings.wait);
    let at_once = asked.wait.is_some_and(|wait| wait.is_zero());
    let how = How { at_once };
    let run = app.runs.start(&caller, asked, how, |_| {}).await?;
    answer_after(&app, &run, wait).await
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
        Stage::Waiting(_, open) => open.iter().any(|call| calls.contains(call)),
        _ => false,
    };
    if refusal.code == "call.answered" && !open && calls.len() > 1 {
        return Refusal::new(StatusCode::CONFLICT, "continuation.spent", "all calls of this handle were answered");
    }
    refusal
}

fn read_replies(given: Option<Json>) -> Result<Vec<(CallId, HostReply)>, Refusal> {
    let wrong = |message: &str| Refusal::invalid(message).at("replies");
    let given = given.ok_or_else(|| wrong("`replies` is missing"))?;
    let all: Vec<Table> =
        given.parse().map_err(|_| wrong("`replies` is a list of `{\"id\", \"value\"}` or `{\"id\", \"error\"}`"))?;
    if all.is_empty() || all.len() > REPLIES_MAX {
        return Err(wrong("`replies` has at least one answer"));
    }
    let mut replies: Vec<(CallId, HostReply)> = Vec::with_capacity(all.len());
    for (n, mut table) in all.into_iter().enumerate() {
        let at = format!("replies[{n}]");
        let id = table.parse::<u32>("id", "a call's number")?;
        let id = CallId(id.ok_or_else(|| Refusal::invalid("`id` is missing").at(&at))?);
        if replies.iter().any(|(known, _)| *known == id) {
            return Err(Refusal::invalid(format!("call {} is answered twice", id.0)).at(at));
        }
        replies.push((id, replies::read(table)?));
    }
    Ok(replies)
}

/// `POST /v1/runs/{run}/cancel`
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let run = find(&app, &caller, id).await?;
    app.runs.cancel(&run).await?;
    answer_after(&app, &run, app.runs.settings.wait).await
}

/// `GET /v1/runs`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let mut query = Query::read(query.as_deref(), &["limit", "before"])?;
    let limit = query.number("limit", 1, PAGE_MAX)?.unwrap_or(PAGE);
    let before = query.take("before").map(run_id).transpose()?;
    let failed = |error| Refusal::internal("listing runs", &error);
    let stored = app.runs.store.list(&caller.id, before.as_ref(), limit).await.map_err(failed)?;
    let mut all: BTreeMap<(std::cmp::Reverse<isolith_core::Timestamp>, RunId), String> = BTreeMap::new();
    for record in stored {
        all.insert((std::cmp::Reverse(record.created), record.run), brief(record.outcome.text()));
    }
    // What was never in the store is newer than the page before, or is on it.
    let memory = app.runs.of(&caller.id);
    let edge = match &before {
        Some(id) => match memory.iter().find(|run| run.id == *id) {
            Some(run) => Some(run.created),
            None => app.runs.store.get(&caller.id, id).await.map_err(failed)?.map(|record| record.created),
        },
        None => None,
    };
    for run in memory {
        let key = (std::cmp::Reverse(run.created), run.id.clone());
        let on_page = before.is_none()
            || edge.is_some_and(|edge| (run.created, &run.id) < (edge, before.as_ref().unwrap_or(&run.id)));
        if on_page && !all.keys().any(|(_, id)| *id == run.id) {
            all.insert(key, brief(&view(&run.id, &run.stage())));
        }
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

async fn find(app: &App, caller: &Arc<Caller>, id: String) -> Result<Arc<Run>, Refusal> {
    let id = run_id(id).map_err(|_| Refusal::no_run())?;
    app.runs.find(caller, &id).await
}

/// Waits for the run to end, or to wait for its client, and shows it.
async fn answer_after(app: &App, run: &Run, wait: Duration) -> Result<Response, Refusal> {
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
        Stage::Waiting(outcome, open) if open.is_empty() => Ok(json(StatusCode::ACCEPTED, outcome.to_string())),
        Stage::Waiting(outcome, open) => {
            let handle = app.seal.make(&run.caller.id, &run.id, open, now(), app.runs.settings.keep);
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

/// The parameters of a URL, each known.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn read(text: Option<&str>, known: &[&str]) -> Result<Query, Refusal> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (key, value) in form(text.unwrap_or_default())? {
            if !known.contains(&key.as_str()) {
                let refusal = Refusal::invalid(format!("there is no parameter `{key}`")).at(key);
                return Err(refusal.hint(format!("there are `{}`", known.join("`, `"))));
            }
            if all.iter().any(|(other, _)| *other == key) {
                return Err(Refusal::invalid(format!("`{key}` is there twice")).at(key));
            }
            all.push((key, value));
        }
        Ok(Query(all))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.swap_remove(at).1)
    }

    pub(crate) fn number(&mut self, key: &str, least: u32, most: u32) -> Result<Option<u32>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        let wrong = || Refusal::invalid(format!("`{key}` is a number from {least} to {most}")).at(key);
        number.map(Some).ok_or_else(wrong)
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<bool, Refusal> {
        match self.take(key).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Refusal::invalid(format!("`{key}` is `true` or `false`")).at(key)),
        }
    }

    fn duration(&mut self, key: &str) -> Result<Option<Duration>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        isolith_core::quantity::duration(&text).map(Some).map_err(|error| Refusal::invalid(error).at(key))
    }
}

fn form(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs: Result<axum::extract::Query<Vec<(String, String)>>, _> = axum::extract::Query::try_from_uri(
        &format!("/?{text}").parse().map_err(|_| Refusal::invalid("the query cannot be read"))?,
    );
    pairs.map(|query| query.0).map_err(|_| Refusal::invalid("the query cannot be read"))
}
