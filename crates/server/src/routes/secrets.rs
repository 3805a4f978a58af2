//! A caller's secrets. Values go in and never come out.

use super::runs::json;
use crate::app::{App, Authed};
use crate::body::Fields;
use crate::error::Refusal;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use isolith_core::{Scope, SecretName};
use std::sync::Arc;

const VALUE_BYTES_MAX: usize = 64 << 10;

/// `GET /v1/secrets`
pub(crate) async fn list(State(app): State<Arc<App>>, Authed(caller): Authed) -> Result<Response, Refusal> {
    caller.may(Scope::Secrets)?;
    let names = app.runs.household.secrets(&caller.id).await;
    let names = names.map_err(|error| Refusal::internal("listing secrets", &error))?;
    Ok(json(StatusCode::OK, serde_json::json!({ "secrets": names }).to_string()))
}

/// `PUT /v1/secrets/{name}`
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Scope::Secrets)?;
    let name = checked(&name)?;
    let value: Option<String> = table.parse("value", "a text")?;
    table.finish(&["value"])?;
    let value = value.ok_or_else(|| Refusal::invalid("`value` is missing").at("value"))?;
    if value.is_empty() || value.len() > VALUE_BYTES_MAX {
        return Err(Refusal::invalid(format!("a secret has 1 to {VALUE_BYTES_MAX} bytes")).at("value"));
    }
    let set = app.runs.household.set_secret(&caller.id, name, value).await;
    set.map_err(|error| Refusal::internal("keeping a secret", &error))?;
    Ok(json(StatusCode::OK, "{}".into()))
}

/// `DELETE /v1/secrets/{name}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    caller.may(Scope::Secrets)?;
    let removed = app.runs.household.remove_secret(&caller.id, checked(&name)?).await;
    match removed.map_err(|error| Refusal::internal("forgetting a secret", &error))? {
        true => Ok(json(StatusCode::OK, "{}".into())),
        false => Err(Refusal::new(StatusCode::NOT_FOUND, "secret.unknown", "there is no such secret")),
    }
}

fn checked(name: &str) -> Result<String, Refusal> {
    let name = SecretName::new(name).map_err(|error| Refusal::invalid(error).at("name"))?;
    Ok(name.as_str().to_owned())
}
