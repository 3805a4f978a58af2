//! Webhooks: set up by their owner, and reached by whoever can sign.

use super::query::Query;
use super::runs::json;
use super::sessions::named;
use crate::app::{App, Authed};
use crate::asked::Table;
use crate::body::{Fields, whole};
use crate::caller::Caller;
use crate::error::Refusal;
use crate::runs::now;
use crate::signature::{self, Signed};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use isolith_core::{
    CallerId, EventEffect, EventRecord, Json, Scope, SecretName, SessionError, SessionName, SessionSettings,
    WebhookRecord, WebhookSettings,
};
use serde_json::{Value, json as value};
use std::sync::Arc;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
const SETTINGS: [&str; 6] = ["secrets", "agent", "session", "session_field", "program", "file"];
/// The most secrets that one webhook knows at a time.
const SECRETS_MAX: usize = 8;

/// `GET /v1/webhooks`
pub(crate) async fn list(State(app): State<Arc<App>>, Authed(caller): Authed) -> Result<Response, Refusal> {
    let found = app.runs.with_sessions(&caller, |store| store.webhooks()).await?;
    let rows: Vec<Value> = found.iter().map(|webhook| webhook_json(&caller, webhook)).collect();
    Ok(json(StatusCode::OK, value!({ "webhooks": rows }).to_string()))
}

/// `PUT /v1/webhooks/{webhook}`
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(table): Fields,
) -> Result<Response, Refusal> {
    let (name, settings) = (named(name)?, settings(table)?);
    let made = app.runs.with_sessions(&caller, move |store| store.put_webhook(&name, settings)).await?;
    Ok(json(StatusCode::OK, webhook_json(&caller, &made).to_string()))
}

/// `DELETE /v1/webhooks/{webhook}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    match app.runs.with_sessions(&caller, move |store| store.remove_webhook(&name)).await? {
        true => Ok(json(StatusCode::OK, "{}".into())),
        false => Err(unknown()),
    }
}

/// `GET /v1/webhooks/{webhook}/events`
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let limit = Query::read(query.as_deref(), &["limit"])?.number("limit", 1, PAGE_MAX)?.unwrap_or(PAGE);
    let found = app.runs.with_sessions(&caller, move |store| store.events(&name, limit as usize)).await?;
    let rows: Vec<Value> = found.iter().map(event_json).collect();
    Ok(json(StatusCode::OK, value!({ "events": rows }).to_string()))
}

/// `POST /v1/webhooks/{webhook}/events/{event}/replay`
pub(crate) async fn replay(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path((name, id)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let wanted = name.clone();
    let found = app.runs.with_sessions(&caller, move |store| Ok((store.webhook(&wanted)?, store.event(&wanted, &id)?)));
    let (Some(webhook), Some(event)) = found.await? else { return Err(unknown()) };
    let effect = perform(&app, &caller, &webhook, &event).await?;
    Ok(json(StatusCode::OK, value!({ "event": event.id, "effect": effect }).to_string()))
}

/// `POST /webhooks/{caller}/{webhook}`
///
/// THREAT[T-WEBHOOK-001]: anyone can reach this. Whoever cannot sign learns nothing: not whether there is such a webhook, nor whose.
pub(crate) async fn receive(
    State(app): State<Arc<App>>,
    Path((owner, name)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let signed = Signed::of(request.headers());
    let body = whole(request, &app).await?;
    let signed = signed?;
    let (caller, webhook) = known(&app, owner, name).await?.ok_or_else(signature::refused)?;
    let mut fits = false;
    for secret in &webhook.settings.secrets {
        // All are tried, so that how long it takes does not tell which one it was.
        if let Some(secret) = secret_of(&app, &caller, secret)? {
            fits |= signed.fits(&secret, &body);
        }
    }
    if !fits {
        return Err(signature::refused());
    }
    signed.check_time(now())?;
    let text = String::from_utf8(body.into()).map_err(|_| Refusal::invalid("an event is JSON in UTF-8"))?;
    let body = Json::from_text(text).map_err(|error| Refusal::invalid(format!("an event is JSON: {error}")))?;
    let event = EventRecord { id: signed.id, at: now(), body, effect: None };
    let (kept, at) = (event.clone(), webhook.webhook.clone());
    let before = app.runs.with_sessions(&caller, move |store| store.add_event(&at, &kept)).await?;
    // THREAT[T-WEBHOOK-002]: an event that comes again has its answer, and is not performed again.
    let effect = match before {
        Some(EventRecord { effect: Some(effect), .. }) => effect,
        _ => perform(&app, &caller, &webhook, &event).await?,
    };
    Ok(json(StatusCode::OK, value!({ "event": event.id, "effect": effect }).to_string()))
}

async fn known(app: &App, owner: String, name: String) -> Result<Option<(Arc<Caller>, WebhookRecord)>, Refusal> {
    let (Some(caller), Ok(name)) = (app.caller(&CallerId(owner)), SessionName::new(&name)) else { return Ok(None) };
    if caller.may(Scope::Sessions).is_err() {
        return Ok(None);
    }
    let found = app.runs.with_sessions(&caller, move |store| store.webhook(&name)).await?;
    Ok(found.map(|webhook| (caller, webhook)))
}

fn secret_of(app: &App, caller: &Caller, name: &SecretName) -> Result<Option<String>, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::internal("reading a webhook's secret", error);
    let means = app.runs.household.means(&caller.id).map_err(|error| failed(&error))?;
    let Some(secrets) = means.secrets else { return Ok(None) };
    secrets.get(name).map_err(|error| failed(&error))
}

/// Wakes the session of an event, makes it where it is not there, and runs its program.
async fn perform(
    app: &App,
    caller: &Arc<Caller>,
    webhook: &WebhookRecord,
    event: &EventRecord,
) -> Result<EventEffect, Refusal> {
    let effect = match started(app, caller, webhook, event).await {
        Ok(effect) => effect,
        // It is kept, and can be performed again when what is wrong is mended.
        Err(refusal) => EventEffect { session: None, run: None, error: Some(refusal.message) },
    };
    let (at, id, kept) = (webhook.webhook.clone(), event.id.clone(), effect.clone());
    app.runs.with_sessions(caller, move |store| store.set_effect(&at, &id, &kept)).await?;
    Ok(effect)
}

async fn started(
    app: &App,
    caller: &Arc<Caller>,
    webhook: &WebhookRecord,
    event: &EventRecord,
) -> Result<EventEffect, Refusal> {
    let settings = webhook.settings.clone();
    let wanted = settings.session_of(&event.body);
    let new = SessionSettings { agent: settings.agent.clone(), ..SessionSettings::default() };
    let session = app
        .runs
        .with_sessions(caller, move |store| match wanted {
            None => Ok(store.create(None, new)?.session),
            Some(name) => match store.create(Some(name.clone()), new) {
                Ok(_) | Err(SessionError::Exists { .. }) => Ok(name),
                Err(error) => Err(error),
            },
        })
        .await?;
    let woken = app.runs.session(caller, &session).await?;
    let source = match (&settings.program, &settings.file) {
        (Some(program), _) => Some(program.clone()),
        (None, Some(file)) => Some(crate::sessions::program(&woken, file).await?),
        (None, None) => None,
    };
    let mut effect = EventEffect { session: Some(session.clone()), run: None, error: None };
    if let Some(source) = source {
        let mut table = Table(Vec::new());
        let text = |text: &str| Json::of(text).unwrap_or_else(|_| Json::null());
        table.0.push(("program".into(), text(&source)));
        table.0.push(("session".into(), text(session.as_str())));
        table.0.push(("input".into(), event.body.clone()));
        let mut asked = crate::asked::Asked::read(table)?;
        if let Some(file) = &settings.file {
            asked.name = crate::sessions::path_of(file)?;
        }
        let run = app.runs.start(caller, asked, true, |_| {}).await?;
        effect.run = Some(run.id.0.clone());
    }
    Ok(effect)
}

fn settings(mut table: Table) -> Result<WebhookSettings, Refusal> {
    let mut fields = serde_json::Map::new();
    for key in SETTINGS {
        if let Some(json) = table.take(key) {
            fields.insert(key.into(), json.parse().map_err(|error| Refusal::invalid(error.to_string()).at(key))?);
        }
    }
    table.finish(&SETTINGS)?;
    let settings: WebhookSettings =
        serde_json::from_value(fields.into()).map_err(|error| Refusal::invalid(error.to_string()))?;
    if settings.secrets.is_empty() || settings.secrets.len() > SECRETS_MAX {
        let message = format!("`secrets` names 1 to {SECRETS_MAX} secrets of yours that senders sign with");
        return Err(Refusal::invalid(message)
            .at("secrets")
            .hint("`PUT /v1/secrets/NAME` keeps one, such as `whsec_…`"));
    }
    if settings.program.is_some() && settings.file.is_some() {
        return Err(Refusal::invalid("give `program` or `file`").at("file"));
    }
    if settings.session.is_some() && settings.session_field.is_some() {
        return Err(Refusal::invalid("give `session` or `session_field`").at("session_field"));
    }
    Ok(settings)
}

fn unknown() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "webhook.unknown", "there is no such webhook or event")
}

fn webhook_json(caller: &Caller, record: &WebhookRecord) -> Value {
    let url = format!("/webhooks/{}/{}", caller.id, record.webhook);
    value!({ "webhook": record.webhook, "url": url, "settings": record.settings, "created_ms": record.created.as_micros() / 1_000 })
}

fn event_json(record: &EventRecord) -> Value {
    let body: Value = record.body.parse().unwrap_or_default();
    value!({ "event": record.id, "at_ms": record.at.as_micros() / 1_000, "body": body, "effect": record.effect })
}
