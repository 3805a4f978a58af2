//! One request to a Worker.

use crate::Address;
use crate::dial::dial;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

/// The largest answer: a value and all output, as JSON writes them.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// An isolith in a Worker's place says by this header that a round's lines are new, and not all lines from the start.
const NEW_LINES: (&str, &str) = ("isolith-logs", "new");

/// An answer.
pub(super) struct Posted {
    pub(super) status: u16,
    /// Its lines are those that no earlier round had.
    pub(super) new_lines: bool,
    pub(super) body: Bytes,
}

// THREAT[T-REMOTE-006]: a Worker, or whoever answers for it, sends without end or leads elsewhere. Answers are bounded, redirects
// are not followed, and the caller bounds the time.
pub(super) async fn post(address: &Address, body: Vec<u8>) -> Result<Posted, String> {
    let stream = dial(address).await.map_err(|error| format!("cannot connect: {error}"))?;
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // The connection ends with this request, also when nobody waits for it any more.
    let mut carrying = JoinSet::new();
    carrying.spawn(connection);
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(address.path())
        .header(HOST, address.authority())
        .header(CONTENT_TYPE, "application/json");
    if let Some(text) = address.authorization() {
        let mut value = HeaderValue::from_str(text).map_err(|_| "the authorization is not plain text")?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status().as_u16();
    let new_lines = response.headers().get(NEW_LINES.0).is_some_and(|value| value == NEW_LINES.1);
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => format!("it has more than {ANSWER_BYTES_MAX} bytes"),
        false => error.to_string(),
    })?;
    Ok(Posted { status, new_lines, body: body.to_bytes() })
}
