//! The routes. What each takes and gives is in `openapi.rs`, for machines.

pub(crate) mod approvals;
mod audit;
mod code_mode;
mod events;
mod isolates;
mod query;
mod runs;
mod secrets;
mod socket;
mod status;

use crate::app::{App, guard};
use crate::error::Refusal;
use crate::mcp;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use std::sync::Arc;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/runs", post(runs::start).get(runs::list))
        .route("/v1/runs/{run}", get(runs::get))
        .route("/v1/runs/{run}/calls", post(runs::answer))
        .route("/v1/runs/{run}/approvals", post(approvals::answer).get(approvals::review))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/runs/{run}/cancel", post(runs::cancel))
        .route("/v1/secrets", get(secrets::list))
        .route("/v1/secrets/{name}", put(secrets::set).delete(secrets::remove))
        .route("/v1/audit", get(audit::rows))
        .route("/v1/code-mode", axum::routing::any(code_mode::round))
        .route("/v1/socket", get(socket::open))
        .route("/v1/isolates", get(isolates::open))
        .route("/mcp", axum::routing::any(mcp::route).layer(axum::Extension(mcp::door(&app))))
        .route("/healthz", get(status::health))
        .route("/metrics", get(status::metrics))
        .route("/openapi.json", get(status::openapi))
        .fallback(|| async {
            Refusal::new(StatusCode::NOT_FOUND, "route.unknown", "there is nothing here")
                .hint("`/openapi.json` says what there is")
        })
        .method_not_allowed_fallback(|| async {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "route.method", "this is not done by that method")
                .hint("`/openapi.json` says what there is")
        })
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}
