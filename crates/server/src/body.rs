//! Bodies of requests: JSON, within bounds of size and time.

use crate::app::App;
use crate::asked::Table;
use crate::error::Refusal;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::sync::Arc;

/// The fields of a body, as an argument of a route.
pub(crate) struct Fields(pub(crate) Table);

impl FromRequest<Arc<App>> for Fields {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Fields, Refusal> {
        // THREAT[T-SERVER-007]: a form that a browser can send without asking first is never taken for a request.
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let typed = essence.eq_ignore_ascii_case("application/json");
        // Read before it is refused for its type: a body that is broken is told as that, and the connection is good for more otherwise.
        let bytes = whole(request, app).await?;
        if !typed {
            let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "request.type", "the body has to be JSON");
            return Err(refusal.hint("send `Content-Type: application/json`"));
        }
        Table::read(&bytes).map(Fields)
    }
}

// THREAT[T-SERVER-008]: bodies that are large, compressed or slow cost their sender, not us.
/// A body, if it is not too large and does not take too long.
pub(crate) async fn whole(request: Request, app: &App) -> Result<Bytes, Refusal> {
    let settings = &app.runs.settings;
    let most = settings.body_bytes;
    let large =
        || Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "request.large", format!("a body has at most {most} bytes"));
    if request.headers().contains_key(header::CONTENT_ENCODING) {
        let message = "a body is not to be compressed";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "request.encoding", message));
    }
    let length =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > most as u64) {
        return Err(large());
    }
    let collected = Limited::new(request.into_body(), most).collect();
    match tokio::time::timeout(settings.body_time, collected).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(large()),
        Ok(Err(_)) => Err(Refusal::invalid("the body ended before it was whole")),
        Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "request.slow", "the body took too long")),
    }
}
