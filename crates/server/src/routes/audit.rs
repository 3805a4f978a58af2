//! What a caller's runs did.

use super::query::Query;
use super::runs::json;
use crate::app::{App, Authed};
use crate::caller::Wanted;
use crate::error::Refusal;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use isolith_core::Scope;
use std::sync::Arc;

const PAGE: u32 = 100;
const PAGE_MAX: u32 = 1_000;

/// `GET /v1/audit`
pub(crate) async fn rows(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    caller.may(Scope::Audit)?;
    let mut query = Query::read(query.as_deref(), &["run", "host", "denied", "limit"])?;
    let limit = query.number("limit", 1, PAGE_MAX)?.unwrap_or(PAGE);
    let wanted = Wanted { run: query.take("run"), host: query.take("host"), denied: query.flag("denied")?, limit };
    let rows = app.runs.household.audit(&caller.id, wanted).await;
    let rows = rows.map_err(|error| Refusal::internal("reading the audit", &error))?;
    Ok(json(StatusCode::OK, serde_json::json!({ "rows": rows }).to_string()))
}
