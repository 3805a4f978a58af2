//! `/mcp`: Streamable HTTP, one request at a time and no session, for clients of any age.

use super::Mcp;
use crate::app::{App, Authed};
use crate::asked::session;
use crate::body::whole;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::routes::query::Query;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Full};
use isolith_core::{Scope, SessionName};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
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
    // Mistakes are told as the protocol tells them, so that any client of it understands.
    if parts.method != Method::POST {
        let message = "there is no stream and no session here: send requests by POST";
        return Ok(wrong(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::INVALID_REQUEST, message));
    }
    if let Err(error) = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes) {
        let (code, message) = match error.is_data() {
            true => (ErrorCode::INVALID_REQUEST, "this is no message of the protocol"),
            false => (ErrorCode::PARSE_ERROR, "this is not JSON"),
        };
        return Ok(wrong(StatusCode::BAD_REQUEST, code, message));
    }
    let session = Query::read(parts.uri.query(), &["session"])?.take("session").map(session).transpose()?;
    let gone = CancellationToken::new();
    parts.extensions.insert(Visit { caller, session, gone: gone.clone() });
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

fn wrong(status: StatusCode, code: ErrorCode, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code.0, "message": message } });
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

/// What a request brings along to the tool it calls.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) caller: Arc<Caller>,
    /// The session that the client was given: `/mcp?session=NAME`.
    pub(super) session: Option<SessionName>,
    /// Cancelled when the client is gone.
    pub(super) gone: CancellationToken,
}
