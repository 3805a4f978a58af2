//! What a caller is told when a request is refused. What went wrong inside stays inside.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::time::Duration;

/// Why a request is not done.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refusal {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    /// Stable, for programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The place in the request's body: `limits.memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { status, code, message: message.into(), hint: None, field: None, retry_after_ms: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, "request.invalid", message)
    }

    /// There is no such run, or it is another caller's: nobody can tell which.
    pub(crate) fn no_run() -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "run.unknown", "there is no such run")
    }

    /// Our fault, or the machine's. The log knows more.
    pub(crate) fn internal(doing: &str, error: &dyn std::fmt::Display) -> Refusal {
        tracing::error!(%error, "{doing}");
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong here; the server's log says what",
        )
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Refusal {
        Refusal { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn at(self, field: impl Into<String>) -> Refusal {
        Refusal { field: Some(field.into()), ..self }
    }

    pub(crate) fn retry(self, after: Duration) -> Refusal {
        Refusal { retry_after_ms: Some(after.as_millis() as u64), ..self }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = format!("{{\"error\":{}}}", self.to_json());
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(ms) = self.retry_after_ms {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000).max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
