//! `/mcp`: Streamable HTTP, one request at a time and no session, for clients of any age.

use super::Mcp;
use crate::app::{App, Authed};
use crate::body::whole;
use crate::caller::Caller;
use crate::error::Refusal;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http_body_util::{BodyExt as _, Full};
use isolith_core::Scope;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What stands behind the route.
pub(super) type Door = StreamableHttpService<Mcp, NeverSessionManager>;

pub(crate) fn door(app: &Arc<App>) -> Door {
    // Hosts, origins and sizes are looked at before, the same for every route.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(app.runs.settings.body_bytes)
        .disable_allowed_hosts();
    let handler = Mcp { app: Arc::clone(app), caller: None };
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

pub(crate) async fn serve(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    axum::Extension(door): axum::Extension<Door>,
    request: Request,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let (mut parts, body) = request.into_parts();
    let bytes = whole(Request::from_parts(parts.clone(), body), &app).await?;
    let gone = CancellationToken::new();
    parts.extensions.insert(Visit { caller, gone: gone.clone() });
    let left = gone.drop_guard();
    let response = door.handle(axum::http::Request::from_parts(parts, Full::new(bytes))).await;
    // Whoever hangs up drops this, or the body: either way nobody waits for the run any more.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &left;
            frame
        }))
    }))
}

/// What a request brings along to the tool it calls.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) caller: Arc<Caller>,
    /// Cancelled when the client is gone.
    pub(super) gone: CancellationToken,
}
