//! The WebSocket.

use crate::app::{App, Authed};
use crate::caller::Caller;
use crate::connection::Connection;
use crate::error::Refusal;
use crate::outbox::outbox;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use isolith_core::Scope;
use std::sync::Arc;
use std::time::Duration;

/// How long one message may take to be written before the client is given up.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// A ping this often tells whether a quiet client is still there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Pings that nobody answers before the client is given up.
const PINGS_MAX: u32 = 3;
/// Messages that are written before the client is shown any of them.
const BATCH: usize = 64;

pub(crate) async fn open(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Runs)?;
    let upgrade =
        upgrade.map_err(|_| Refusal::new(StatusCode::UPGRADE_REQUIRED, "socket.upgrade", "this is for WebSockets"))?;
    let most = app.runs.settings.body_bytes;
    let upgrade =
        upgrade.max_message_size(most).max_frame_size(most).max_write_buffer_size(app.runs.settings.outbox_bytes);
    Ok(upgrade.on_upgrade(move |socket| serve(socket, app, caller)))
}

async fn serve(socket: WebSocket, app: Arc<App>, caller: Arc<Caller>) {
    let (mut writer, mut reader) = socket.split();
    let (sender, mut outgoing) = outbox(app.runs.settings.outbox_bytes);
    let overflow = sender.overflow.clone();
    let stopping = app.runs.leave.clone();
    let connection = Connection::new(app, caller, sender);
    let mut ping = tokio::time::interval(PING_EVERY);
    ping.tick().await;
    let mut unanswered = 0;
    let mut leaving = false;
    loop {
        tokio::select! {
            () = overflow.cancelled() => break,
            () = stopping.cancelled(), if !leaving => {
                // Runs say what became of them before this ends; nothing new is taken.
                leaving = true;
            }
            message = reader.next() => match message {
                Some(Ok(Message::Text(text))) => { unanswered = 0; connection.take(text.as_bytes()); }
                Some(Ok(Message::Binary(_))) => { let _ = close(&mut writer, 1003, "text only").await; break }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => unanswered = 0,
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            },
            message = outgoing.next() => {
                let Some(message) = message else { break };
                let write = async {
                    writer.feed(text(message)).await?;
                    for _ in 1..BATCH {
                        match outgoing.more() {
                            Some(message) => writer.feed(text(message)).await?,
                            None => break,
                        }
                    }
                    writer.flush().await
                };
                if !matches!(tokio::time::timeout(WRITE_TIME, write).await, Ok(Ok(()))) {
                    break;
                }
            }
            _ = ping.tick() => {
                unanswered += 1;
                if unanswered > PINGS_MAX { break }
                let ping = writer.send(Message::Ping(Default::default()));
                if !matches!(tokio::time::timeout(WRITE_TIME, ping).await, Ok(Ok(()))) {
                    break;
                }
            }
        }
    }
}

fn text(message: bytes::Bytes) -> Message {
    Message::Text(Utf8Bytes::try_from(message).unwrap_or_default())
}

async fn close(
    writer: &mut (impl futures_util::Sink<Message> + Unpin),
    code: u16,
    reason: &'static str,
) -> Result<(), ()> {
    let frame = CloseFrame { code, reason: reason.into() };
    tokio::time::timeout(WRITE_TIME, writer.send(Message::Close(Some(frame)))).await.map_err(|_| ())?.map_err(|_| ())
}
