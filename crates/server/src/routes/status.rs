//! Whether the server is well, and what it offers.

use super::runs::json;
use crate::app::{App, Authed};
use crate::error::Refusal;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use isolith_core::Scope;
use std::sync::Arc;

/// `GET /healthz`
pub(crate) async fn health(State(app): State<Arc<App>>) -> Response {
    match app.runs.leave.is_cancelled() {
        true => json(StatusCode::SERVICE_UNAVAILABLE, "{\"status\":\"stopping\"}".into()),
        false => json(StatusCode::OK, "{\"status\":\"ok\"}".into()),
    }
}

/// `GET /metrics`
pub(crate) async fn metrics(State(app): State<Arc<App>>, Authed(caller): Authed) -> Result<Response, Refusal> {
    caller.may(Scope::Metrics)?;
    let (live, waiting) = app.runs.queue.load();
    let text = app.runs.metrics.render(live, waiting, app.runs.awake());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// `GET /openapi.json`
pub(crate) async fn openapi() -> Response {
    json(StatusCode::OK, crate::openapi::document().to_owned())
}
