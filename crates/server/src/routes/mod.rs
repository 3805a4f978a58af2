//! The routes. What each takes and gives is in `openapi.rs`, for machines.

pub(crate) mod approvals;
mod audit;
mod code_mode;
mod events;
pub(crate) mod files;
mod isolates;
pub(crate) mod query;
mod runs;
mod secrets;
mod sessions;
mod socket;
mod status;
mod webhooks;
mod workspaces;

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
        .route("/v1/sessions", post(sessions::create).get(sessions::list))
        .route("/v1/sessions/{session}", get(sessions::get).put(sessions::set).delete(sessions::remove))
        .route("/v1/sessions/{session}/fork", post(sessions::fork))
        .route("/v1/sessions/{session}/snapshots", post(sessions::snapshot).get(sessions::snapshots))
        .route("/v1/sessions/{session}/snapshots/{snapshot}", axum::routing::delete(sessions::remove_snapshot))
        .route("/v1/sessions/{session}/files", post(files::perform))
        .route("/v1/sessions/{session}/files/{*path}", get(files::read).put(files::write).delete(files::remove))
        .route("/v1/sessions/{session}/archive", get(files::export).put(files::import))
        .route("/v1/workspaces", post(workspaces::open))
        .route("/v1/workspaces/call", post(workspaces::call))
        .route("/v1/agents", get(sessions::agents))
        .route("/v1/agents/{agent}", put(sessions::put_agent).delete(sessions::remove_agent))
        .route("/v1/webhooks", get(webhooks::list))
        .route("/v1/webhooks/{webhook}", put(webhooks::put).delete(webhooks::remove))
        .route("/v1/webhooks/{webhook}/events", get(webhooks::events))
        .route("/v1/webhooks/{webhook}/events/{event}/replay", post(webhooks::replay))
        .route("/webhooks/{caller}/{webhook}", post(webhooks::receive))
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
