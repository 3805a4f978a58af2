//! The way to a server over Streamable HTTP, by the gate's own client.

use super::MESSAGE_BYTES_MAX;
use crate::fail;
use crate::route::{Route, header, whole};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use http::{HeaderName, HeaderValue};
use isolith_core::CallError;
use isolith_gate::BodySource;
use isolith_gate::egress::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError as Failed,
    StreamableHttpPostResponse as Posted,
};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::sync::Arc;

/// How much of an answer is looked at that comes with an error.
const COMPLAINT_BYTES_MAX: usize = 64 << 10;
const PIECE_BYTES: usize = 64 << 10;
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Sends a client's messages to one URL.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) route: Arc<Route>,
}

/// A request that did not work.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HttpError(String);

impl From<CallError> for HttpError {
    fn from(error: CallError) -> HttpError {
        HttpError(error.message)
    }
}

type Events = BoxStream<'static, Result<Sse, SseError>>;
type Custom = HashMap<HeaderName, HeaderValue>;

impl Http {
    async fn send(
        &self,
        method: &str,
        uri: &str,
        session: Option<&str>,
        custom: &Custom,
        more: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<Response, Failed<HttpError>> {
        let mut headers: Vec<(String, String)> =
            more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.extend(session.map(|session| ("mcp-session-id".to_owned(), session.to_owned())));
        for (name, value) in custom {
            let value = value.as_bytes().iter().copied().map(char::from).collect();
            headers.push((name.as_str().to_owned(), value));
        }
        let response = self.route.send(method, uri, headers, body).await;
        let response = response.map_err(|error| Failed::Client(error.into()))?;
        if response.head.status == 401 {
            let challenge = header(&response.head.headers, "www-authenticate").unwrap_or_default().to_owned();
            return Err(Failed::AuthRequired(AuthRequiredError::new(challenge)));
        }
        Ok(response)
    }
}

impl StreamableHttpClient for Http {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        custom: Custom,
    ) -> Result<Posted, Failed<HttpError>> {
        let body = serde_json::to_vec(&message)?;
        let accept = format!("{JSON}, {EVENTS}");
        let more = [("content-type", JSON), ("accept", accept.as_str())];
        let response = self.send("POST", &uri, session.as_deref(), &custom, &more, Some(body)).await?;
        let Response { head, body, length } = response;
        let kind = header(&head.headers, "content-type").unwrap_or_default().to_ascii_lowercase();
        let answered = header(&head.headers, "mcp-session-id").map(str::to_owned);
        let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        match head.status {
            202 | 204 => Ok(Posted::Accepted),
            404 if session.is_some() => Err(Failed::SessionExpired),
            200..=299 if !wants_answer && length == Some(0) => Ok(Posted::Accepted),
            200..=299 if kind.starts_with(EVENTS) => Ok(Posted::Sse(events(body), answered)),
            200..=299 if kind.starts_with(JSON) => {
                let text = whole(body, MESSAGE_BYTES_MAX).await.map_err(|error| Failed::Client(error.into()))?;
                match serde_json::from_slice(&text) {
                    Ok(message) => Ok(Posted::Json(message, answered)),
                    Err(_) if !wants_answer => Ok(Posted::Accepted),
                    Err(error) => Err(Failed::UnexpectedServerResponse(format!("no message: {error}").into())),
                }
            }
            200..=299 => Err(Failed::UnexpectedContentType(Some(fail::said(&kind)))),
            status => {
                let text = whole(body, COMPLAINT_BYTES_MAX).await.unwrap_or_default();
                let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&text) {
                    Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
                    _ => None,
                };
                let said = fail::said(&String::from_utf8_lossy(&text));
                // What a server of before today's protocol says to its first message is an answer: it does not know it.
                if session.is_none()
                    && (400..500).contains(&status)
                    && status != 403
                    && status != 429
                    && let Some(id) = discovers(&message)
                {
                    let said = format!("HTTP status {status}: {said}");
                    let error = error.map_or_else(|| ErrorData::invalid_request(said, None), |error| error.error);
                    return Ok(Posted::Json(ServerJsonRpcMessage::error(error, Some(id)), None));
                }
                match error {
                    Some(error) if status != 403 => Ok(Posted::Json(ServerJsonRpcMessage::Error(error), answered)),
                    _ if said.is_empty() => Err(Failed::HttpStatus(HttpStatusError::new(status, None))),
                    _ => Err(Failed::UnexpectedServerResponse(format!("HTTP status {status}: {said}").into())),
                }
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        custom: Custom,
    ) -> Result<(), Failed<HttpError>> {
        // Whether it minds or not, we are gone.
        self.send("DELETE", &uri, Some(&session), &custom, &[], None).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        custom: Custom,
    ) -> Result<Events, Failed<HttpError>> {
        let mut more = vec![("accept", EVENTS)];
        more.extend(last.as_deref().map(|last| ("last-event-id", last)));
        let Response { head, body, .. } = self.send("GET", &uri, session.as_deref(), &custom, &more, None).await?;
        let kind = header(&head.headers, "content-type").unwrap_or_default().to_ascii_lowercase();
        match head.status {
            200..=299 if kind.starts_with(EVENTS) => Ok(events(body)),
            // Many servers have no such stream and say so in one of these ways.
            200..=299 | 400..=499 => Err(Failed::ServerDoesNotSupportSse),
            status => Err(Failed::HttpStatus(HttpStatusError::new(status, None))),
        }
    }
}

fn discovers(message: &ClientJsonRpcMessage) -> Option<rmcp::model::RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}

fn events(body: Option<Box<dyn BodySource>>) -> Events {
    SseStream::from_bytes_stream(pieces(body)).boxed()
}

/// The bytes of events, none of which is too large.
fn pieces(body: Option<Box<dyn BodySource>>) -> impl Stream<Item = Result<Bytes, HttpError>> + Send {
    stream::unfold((body, EventSize::default()), |(body, mut size)| async move {
        let mut body = body?;
        match body.read(PIECE_BYTES).await {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) if size.add(&piece) > MESSAGE_BYTES_MAX => {
                // THREAT[T-UPSTREAM-002]: a server fills the memory of its client.
                let message = format!("it sent a message of more than {} MiB", MESSAGE_BYTES_MAX >> 20);
                Some((Err(HttpError(message)), (None, size)))
            }
            Ok(piece) => Some((Ok(piece.into()), (Some(body), size))),
            Err(error) => Some((Err(error.into()), (None, size))),
        }
    })
}

/// How large the event is that is being read. An empty line ends one.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    largest: usize,
    line_is_empty: bool,
}

impl EventSize {
    /// The largest event so far.
    fn add(&mut self, piece: &[u8]) -> usize {
        for byte in piece {
            self.bytes += 1;
            match byte {
                b'\n' if self.line_is_empty => self.bytes = 0,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
            self.largest = self.largest.max(self.bytes);
        }
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_an_event() {
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data: 1234\n\ndata: 1\r\n\r"), 11);
        assert_eq!(size.add(b"\ndata: 12345678\n\n"), 15);
    }
}
