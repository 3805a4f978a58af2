//! A run as a stream of events.

use crate::app::App;
use crate::asked::Asked;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::outbox::{Outbox, Outgoing, outbox};
use crate::run::{Event, Listener, Run};
use crate::runs::now;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use isolith_core::{Outcome, RunId, Stream};
use isolith_workspace::contract::RunCodeResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A comment this often tells both sides that the other is there.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

pub(crate) fn wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/event-stream")
}

/// In whose words a run is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Our own.
    Own,
    /// Those of a workspace's script: `workspace_code_output`, and its result.
    Script,
}

pub(crate) async fn start(
    app: &Arc<App>,
    caller: &Arc<Caller>,
    asked: Asked,
    voice: Voice,
) -> Result<Response, Refusal> {
    let (sender, outgoing) = outbox(app.runs.settings.outbox_bytes);
    let listener = Arc::new(Watcher {
        app: Arc::clone(app),
        caller: Arc::clone(caller),
        outbox: sender,
        over: AtomicBool::new(false),
        voice,
    });
    let mut number = 0;
    let hear = |run: &Arc<Run>| number = run.listen(Arc::clone(&listener) as Arc<dyn Listener>);
    let run = app.runs.start(caller, asked, false, hear).await?;
    Ok(stream(run, number, listener, outgoing))
}

pub(crate) fn follow(app: &Arc<App>, run: &Arc<Run>) -> Response {
    let (sender, outgoing) = outbox(app.runs.settings.outbox_bytes);
    let caller = Arc::clone(&run.caller);
    let listener = Arc::new(Watcher {
        app: Arc::clone(app),
        caller,
        outbox: sender,
        over: AtomicBool::new(false),
        voice: Voice::Own,
    });
    let number = run.listen(Arc::clone(&listener) as Arc<dyn Listener>);
    stream(Arc::clone(run), number, listener, outgoing)
}

fn stream(run: Arc<Run>, number: u64, listener: Arc<Watcher>, outgoing: Outgoing) -> Response {
    let watch = Watch { run, number, listener, outgoing };
    let body = Body::from_stream(futures_util::stream::unfold(watch, |mut watch| async move {
        let overflow = watch.listener.outbox.overflow.clone();
        let next = tokio::select! {
            biased;
            () = overflow.cancelled() => return None,
            next = tokio::time::timeout(ALIVE_EVERY, watch.next()) => next,
        };
        let bytes = match next {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return None,
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((Ok::<Bytes, std::convert::Infallible>(bytes), watch))
    }));
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")], body).into_response()
}

/// Someone who watches a run for as long as they read.
struct Watch {
    run: Arc<Run>,
    number: u64,
    listener: Arc<Watcher>,
    outgoing: Outgoing,
}

impl Watch {
    /// Nothing comes after the end.
    async fn next(&mut self) -> Option<Bytes> {
        match self.outgoing.more() {
            Some(bytes) => Some(bytes),
            None if self.listener.over.load(Ordering::Acquire) => self.outgoing.more(),
            None => self.outgoing.next().await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.run.unlisten(self.number);
    }
}

struct Watcher {
    app: Arc<App>,
    caller: Arc<Caller>,
    outbox: Outbox,
    over: AtomicBool,
    voice: Voice,
}

impl Listener for Watcher {
    fn hear(&self, run: &RunId, event: &Event<'_>) {
        // JSON text has no line break of its own, so one `data` line holds any of it.
        match event {
            Event::Output { stream, text, .. } if self.voice == Voice::Script => {
                let stream = if *stream == Stream::Stdout { "stdout" } else { "stderr" };
                let data = serde_json::to_string(&format!("{text}\n")).unwrap_or_default();
                self.outbox
                    .push(format!("event: workspace_code_output\ndata: {{\"type\":\"{stream}\",\"data\":{data}}}\n\n"));
            }
            Event::Ended(outcome) if self.voice == Voice::Script => {
                let outcome: Option<Outcome> = serde_json::from_str(outcome).ok();
                let result = outcome.map(|outcome| RunCodeResult::from(&outcome));
                let result = serde_json::to_string(&result).unwrap_or_default();
                self.outbox.push(format!("event: result\ndata: {}\n\n", one_line(&result)));
                self.over.store(true, Ordering::Release);
            }
            Event::Progress(_) if self.voice == Voice::Script => {}
            Event::Output { stream, text, at_ms } => {
                let stream = if *stream == Stream::Stdout { "stdout" } else { "stderr" };
                let text = serde_json::to_string(text).unwrap_or_default();
                self.outbox.push(format!(
                    "event: output\ndata: {{\"stream\":\"{stream}\",\"text\":{text},\"at_ms\":{at_ms}}}\n\n"
                ));
            }
            Event::Call { id, name, args } => {
                let handle = self.app.seal.make(&self.caller.id, run, &[*id], now(), self.app.runs.settings.keep);
                let args = args.map(|args| format!(",\"args\":{}", one_line(args.text()))).unwrap_or_default();
                let id = id.0;
                self.outbox.push(format!("event: call\ndata: {{\"run\":\"{run}\",\"id\":{id},\"name\":\"{name}\"{args},\"resume\":\"{handle}\"}}\n\n"));
            }
            Event::Ask(ask) => {
                let ask = serde_json::to_string(ask).unwrap_or_default();
                let ask = one_line(&ask);
                self.outbox.push(format!("event: approval\ndata: {{\"run\":\"{run}\",\"approval\":{ask}}}\n\n"));
            }
            Event::Progress(status) => {
                self.outbox.push(format!("event: progress\ndata: {{\"run\":\"{run}\",\"status\":\"{status}\"}}\n\n"));
            }
            Event::Ended(outcome) => {
                self.outbox.push(format!("event: outcome\ndata: {}\n\n", one_line(outcome)));
                self.over.store(true, Ordering::Release);
            }
            Event::Refused(refusal) => {
                self.outbox.push(format!("event: error\ndata: {{\"error\":{}}}\n\n", refusal.to_json()));
                self.over.store(true, Ordering::Release);
            }
        }
    }
}

// THREAT[T-SERVER-010]: a line break in what a program made would begin an event of its own making.
/// JSON on one line: a break can only stand between its parts, where a space does as well.
fn one_line(json: &str) -> std::borrow::Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}
