//! The WebSocket on which another isolith has its isolates.

use crate::app::{App, Authed};
use crate::caller::Caller;
use crate::error::Refusal;
use crate::isolates::{Isolates, Line};
use crate::outbox::{Outgoing, outbox};
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use isolith_core::Scope;
use isolith_core::wire::MESSAGE_BYTES_MAX;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a message may take to be written, and how many bytes a second it takes at least.
const WRITE_TIME: Duration = Duration::from_secs(10);
const WRITE_BYTES_A_SECOND: usize = 256 << 10;
/// A ping this often tells whether a quiet client is still there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Pings that nobody answers before the client is given up.
const PINGS_MAX: u32 = 3;
/// Messages that are written before the client is shown any of them.
const BATCH: usize = 64;
/// How often it is looked whether a connection has nothing left to do, when the server is to stop.
const LEAVE_PAUSE: Duration = Duration::from_millis(100);
/// As WebSockets say that something was not understood.
const PROTOCOL_ERROR: u16 = 1002;

/// `GET /v1/isolates`
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Isolates)?;
    let upgrade =
        upgrade.map_err(|_| Refusal::new(StatusCode::UPGRADE_REQUIRED, "socket.upgrade", "this is for WebSockets"))?;
    let outbox_bytes = app.runs.settings.outbox_bytes.max(2 * MESSAGE_BYTES_MAX);
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    let upgrade = upgrade.max_write_buffer_size(outbox_bytes);
    Ok(upgrade.on_upgrade(move |socket| serve(socket, app, caller, outbox_bytes)))
}

async fn serve(socket: WebSocket, app: Arc<App>, caller: Arc<Caller>, outbox_bytes: usize) {
    let (mut writer, mut reader) = socket.split();
    let (sender, outgoing) = outbox(outbox_bytes);
    let (overflow, leave) = (sender.overflow.clone(), app.runs.leave.clone());
    let line = Line::new(sender, outbox_bytes);
    let mut isolates = Isolates::new(app, caller, line.clone());
    let unanswered = AtomicU32::new(0);
    // Side by side: neither side ever waits for the other to read before it reads itself.
    let understood = tokio::select! {
        understood = read(&mut reader, &mut isolates, &unanswered, &leave) => understood,
        () = write(&mut writer, outgoing, &line, &unanswered) => true,
        () = overflow.cancelled() => true,
    };
    drop(isolates);
    if !understood {
        let frame = CloseFrame { code: PROTOCOL_ERROR, reason: "malformed".into() };
        let _ = tokio::time::timeout(WRITE_TIME, writer.send(Message::Close(Some(frame)))).await;
    }
}

/// Reads until the client is gone, or says something that is not understood.
async fn read(
    reader: &mut SplitStream<WebSocket>,
    isolates: &mut Isolates,
    unanswered: &AtomicU32,
    leave: &CancellationToken,
) -> bool {
    loop {
        let message = tokio::select! {
            message = reader.next() => message,
            () = left(isolates, leave) => return true,
        };
        unanswered.store(0, Relaxed);
        match message {
            Some(Ok(Message::Binary(bytes))) => {
                if isolates.take(&bytes).is_err() {
                    return false;
                }
            }
            Some(Ok(Message::Text(_))) => return false,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_)) | Err(_)) | None => return true,
        }
    }
}

/// Returns when the server is to stop and nothing of this client is under way.
async fn left(isolates: &Isolates, leave: &CancellationToken) {
    leave.cancelled().await;
    while !isolates.is_empty() {
        tokio::time::sleep(LEAVE_PAUSE).await;
    }
}

/// Writes until the client does not read any more, or answers no pings.
async fn write(
    writer: &mut SplitSink<WebSocket, Message>,
    mut outgoing: Outgoing,
    line: &Line,
    unanswered: &AtomicU32,
) {
    let mut ping = tokio::time::interval(PING_EVERY);
    ping.tick().await;
    loop {
        let first = tokio::select! {
            message = outgoing.next() => match message {
                Some(message) => message,
                None => return,
            },
            _ = ping.tick() => {
                if unanswered.fetch_add(1, Relaxed) >= PINGS_MAX {
                    return;
                }
                let ping = writer.send(Message::Ping(Default::default()));
                if !matches!(tokio::time::timeout(WRITE_TIME, ping).await, Ok(Ok(()))) {
                    return;
                }
                continue;
            }
        };
        let (mut next, mut batch) = (Some(first), 0);
        while let Some(message) = next {
            let bytes = message.len();
            let time = WRITE_TIME + Duration::from_secs((bytes / WRITE_BYTES_A_SECOND) as u64);
            let written = tokio::time::timeout(time, writer.feed(Message::Binary(message))).await;
            line.wrote(bytes);
            if !matches!(written, Ok(Ok(()))) {
                return;
            }
            batch += 1;
            next = if batch < BATCH { outgoing.more() } else { None };
        }
        if !matches!(tokio::time::timeout(WRITE_TIME, writer.flush()).await, Ok(Ok(()))) {
            return;
        }
    }
}
