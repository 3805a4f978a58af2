//! What a client sends back when it asks again: sealed, for one caller, one request and a time. Good once, because a call has one answer.

use crate::app::App;
use crate::error::Refusal;
use crate::run::Run;
use crate::runs::now;
use axum::http::StatusCode;
use isolith_core::{CallId, CallerId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

const PURPOSE: &[u8] = b"mcp request state";

/// Where a request stands.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    caller: CallerId,
    pub(super) run: RunId,
    /// What was asked.
    pub(super) asks: Vec<CallId>,
    /// The hash of the request's tool and arguments.
    request: String,
    until: Timestamp,
}

/// The hash of a tool and its arguments.
pub(super) fn digest(tool: &str, arguments: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes()).update(&[0]).update(arguments);
    hasher.finalize().to_hex().to_string()
}

pub(super) fn make(app: &App, run: &Run, asks: Vec<CallId>, request: &str) -> String {
    let until = now().after(app.runs.settings.approval);
    let state = State { caller: run.caller.id.clone(), run: run.id.clone(), asks, request: request.to_owned(), until };
    app.seal.seal(&state, PURPOSE)
}

// THREAT[T-MCP-003]: whoever can make one up, keep one, or take another's, would answer what they were not asked.
pub(super) fn read(app: &App, caller: &CallerId, text: &str, request: &str) -> Result<State, Refusal> {
    let refuse = |status, code, message: &str| {
        tracing::warn!(%caller, code, "a request state was refused");
        Err(Refusal::new(status, code, message))
    };
    let Some(state) = app.seal.open::<State>(text, PURPOSE) else {
        return refuse(StatusCode::FORBIDDEN, "state.forged", "this `requestState` was not made here");
    };
    if state.caller != *caller {
        return refuse(StatusCode::FORBIDDEN, "state.foreign", "this `requestState` was made for someone else");
    }
    if state.request != request {
        let message = "this `requestState` belongs to a request with other arguments";
        return refuse(StatusCode::CONFLICT, "state.request", message);
    }
    if state.until < now() {
        return refuse(StatusCode::GONE, "state.expired", "this `requestState` has expired");
    }
    Ok(state)
}

/// A word that came a second time with the same state.
pub(super) fn spent(refusal: Refusal) -> Refusal {
    match refusal.code {
        "approval.answered" | "approval.unknown" => {
            tracing::warn!(code = "state.spent", "a request state was refused");
            Refusal::new(StatusCode::CONFLICT, "state.spent", "this `requestState` was used before")
        }
        _ => refusal,
    }
}
