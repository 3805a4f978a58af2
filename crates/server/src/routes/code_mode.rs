//! The route that TanStack's Cloudflare isolate driver is pointed at.

use super::runs::json;
use crate::app::{App, Authed};
use crate::body::whole;
use crate::caller::Caller;
use crate::code_mode::{Checked, Round, answer, not_run};
use crate::error::Refusal;
use crate::run::{Run, Stage};
use crate::runs::open_calls;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isolith_core::{CallId, Scope};
use std::sync::Arc;
use std::time::Duration;

/// Beyond a program's own time, a round may take this long.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn round(state: State<Arc<App>>, Authed(caller): Authed, request: Request) -> Response {
    let mut response = match *request.method() {
        Method::POST => post(state.0, caller, request).await.unwrap_or_else(IntoResponse::into_response),
        Method::OPTIONS => StatusCode::OK.into_response(),
        _ => json(StatusCode::METHOD_NOT_ALLOWED, "{\"error\":\"Method not allowed\"}".into()),
    };
    // Whoever comes from another origin was refused before; who comes from none may want to see these.
    let headers = response.headers_mut();
    // The Worker repeats the lines of earlier rounds; who can tell us apart by this passes all of ours on.
    headers.insert("isolith-logs", HeaderValue::from_static("new"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, OPTIONS"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Content-Type, Authorization"));
    response
}

async fn post(app: Arc<App>, caller: Arc<Caller>, request: Request) -> Result<Response, Response> {
    let refuse = |refusal: Refusal| refusal.into_response();
    caller.may(Scope::Runs).map_err(refuse)?;
    let body = whole(request, &app).await.map_err(refuse)?;
    let value: Result<serde_json::Value, _> = serde_json::from_slice(&body);
    if matches!(&value, Ok(value) if !value.is_null() && value.get("code").and_then(|code| code.as_str()).is_none_or(str::is_empty))
    {
        return Err(json(StatusCode::BAD_REQUEST, "{\"error\":\"Code is required\"}".into()));
    }
    // Read from the text once more: results are passed on as they came.
    let round: Round = serde_json::from_slice(&body).map_err(|error| {
        let error = serde_json::json!({ "name": "RequestError", "message": error.to_string() });
        json(StatusCode::INTERNAL_SERVER_ERROR, serde_json::json!({ "status": "error", "error": error }).to_string())
    })?;
    let checked = round.check().map_err(|message| json(StatusCode::OK, not_run(&message)))?;
    let text = run(&app, &caller, &checked).await.map_err(refuse)?;
    Ok(json(StatusCode::OK, text))
}

async fn run(app: &Arc<App>, caller: &Arc<Caller>, checked: &Checked) -> Result<String, Refusal> {
    if let Some((run, sent)) = go_on(app, caller, checked).await? {
        let stage = stop(&run, checked).await;
        return answer(checked, &run.id, &stage, sent);
    }
    let asked = checked.asked();
    let prefill = |run: &Arc<Run>| run.prefill(checked.chain(checked.results.len()), checked.results.clone());
    let run = app.runs.start(caller, asked, false, prefill).await?;
    let stage = stop(&run, checked).await;
    answer(checked, &run.id, &stage, run.lines_before_results())
}

/// The run that waits for the last of these results, if there is one, with the number of lines it had written before.
async fn go_on(app: &Arc<App>, caller: &Arc<Caller>, checked: &Checked) -> Result<Option<(Arc<Run>, usize)>, Refusal> {
    for (answered, key) in checked.keys() {
        let failed = |error| Refusal::internal("finding a run", &error);
        let Some(record) = app.runs.store.find(&caller.id, &key).await.map_err(failed)? else { continue };
        // THREAT[T-SERVER-016]: what it waits for is what it waited for when it was found. By now another round may have answered that, and
        // the run may wait for something else.
        let Ok(before) = record.outcome.parse::<isolith_core::Outcome>() else { return Ok(None) };
        let mut open: Vec<CallId> = open_calls(&record.outcome).into_iter().map(|(id, ..)| id).collect();
        open.sort_unstable();
        let run = app.runs.take_up(caller, record).await?;
        let results = &checked.results[answered..];
        if open.len() != results.len() {
            return Ok(None);
        }
        // All at once or not at all: another round with the same results may be here at the same time.
        let replies = open.into_iter().zip(results.iter().cloned()).collect();
        if !app.runs.answer_all(&run, replies, checked.chain(checked.results.len())).await? {
            return Ok(None);
        }
        return Ok(Some((run, before.outputs.len())));
    }
    Ok(None)
}

async fn stop(run: &Run, checked: &Checked) -> Stage {
    let most = Duration::from_millis(u64::try_from(checked.timeout_ms()).unwrap_or(u64::MAX)).saturating_add(GRACE);
    tokio::time::timeout(most, run.stop()).await.unwrap_or(Stage::Running)
}
