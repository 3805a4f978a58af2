//! Sessions: made, listed, set, forked, kept as they are, removed. Agents, which say what holds for theirs.

use super::query::Query;
use super::runs::json;
use crate::app::{App, Authed};
use crate::asked::{Table, session};
use crate::body::Fields;
use crate::error::Refusal;
use crate::sessions::check;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use isolith_core::{AgentRecord, SessionName, SessionRecord, SessionSettings, SnapshotRecord};
use serde::Serialize;
use serde_json::{Value, json as value};
use std::sync::Arc;

const PAGE: u32 = 100;
const PAGE_MAX: u32 = 10_000;
const SETTINGS: [&str; 7] =
    ["agent", "tier", "manifest", "room", "sleep_after_s", "snapshots_kept", "snapshots_kept_s"];

/// `POST /v1/sessions`
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    let name = table.parse("session", "a name")?.map(session).transpose()?;
    let settings = settings(table, &["session"])?;
    let made = app.runs.with_sessions(&caller, move |store| store.create(name, settings)).await?;
    Ok(json(StatusCode::CREATED, shown(&made)))
}

/// `GET /v1/sessions`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let mut query = Query::read(query.as_deref(), &["agent", "after", "limit"])?;
    let (agent, after) = (query.take("agent").map(session).transpose()?, query.take("after").map(session).transpose()?);
    let limit = query.number("limit", 1, PAGE_MAX)?.unwrap_or(PAGE) as usize;
    let found = app.runs.with_sessions(&caller, move |store| store.list(agent.as_ref(), after.as_ref(), limit)).await?;
    let more = found.last().filter(|_| found.len() == limit).map(|last| last.session.to_string());
    let rows: Vec<Value> = found.iter().map(session_json).collect();
    Ok(json(StatusCode::OK, value!({ "sessions": rows, "after": more }).to_string()))
}

/// `GET /v1/sessions/{session}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let awake = app.runs.session(&caller, &name).await?;
    let (record, used) =
        app.runs.with_sessions(&caller, move |store| Ok((store.get(&name)?, awake.open.files.used()?))).await?;
    let record = record.ok_or_else(unknown)?;
    let mut row = session_json(&record);
    row["used_bytes"] = used.0.bytes.into();
    row["used_files"] = used.0.files.into();
    row["room"] = value!(used.1);
    Ok(json(StatusCode::OK, row.to_string()))
}

/// `PUT /v1/sessions/{session}`
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(table): Fields,
) -> Result<Response, Refusal> {
    let (name, settings) = (named(name)?, settings(table, &[])?);
    let changed = name.clone();
    let record = app.runs.with_sessions(&caller, move |store| store.set(&changed, settings)).await?;
    app.runs.let_sleep(&caller.id, &name);
    Ok(json(StatusCode::OK, shown(&record)))
}

/// `DELETE /v1/sessions/{session}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let gone = name.clone();
    let removed = app.runs.with_sessions(&caller, move |store| store.remove(&gone)).await?;
    app.runs.let_sleep(&caller.id, &name);
    if removed { Ok(json(StatusCode::OK, "{}".into())) } else { Err(unknown()) }
}

/// `POST /v1/sessions/{session}/fork`
pub(crate) async fn fork(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let new = table.parse("session", "a name")?.map(session).transpose()?;
    let snapshot = table.parse("snapshot", "a snapshot's name")?.map(session).transpose()?;
    table.finish(&["session", "snapshot"])?;
    let made = app.runs.with_sessions(&caller, move |store| store.fork(&name, snapshot.as_ref(), new)).await?;
    Ok(json(StatusCode::CREATED, shown(&made)))
}

/// `POST /v1/sessions/{session}/snapshots`
pub(crate) async fn snapshot(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let wanted = table.parse("snapshot", "a name")?.map(session).transpose()?;
    table.finish(&["snapshot"])?;
    let kept = app.runs.session(&caller, &name).await?.settings.snapshots();
    let made = app.runs.with_sessions(&caller, move |store| store.snapshot(&name, wanted, kept)).await?;
    Ok(json(StatusCode::CREATED, snapshot_json(&made).to_string()))
}

/// `GET /v1/sessions/{session}/snapshots`
pub(crate) async fn snapshots(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let found = app.runs.with_sessions(&caller, move |store| store.snapshots(&name)).await?;
    let rows: Vec<Value> = found.iter().map(snapshot_json).collect();
    Ok(json(StatusCode::OK, value!({ "snapshots": rows }).to_string()))
}

/// `DELETE /v1/sessions/{session}/snapshots/{snapshot}`
pub(crate) async fn remove_snapshot(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path((name, snapshot)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let (name, snapshot) = (named(name)?, named(snapshot)?);
    match app.runs.with_sessions(&caller, move |store| store.remove_snapshot(&name, &snapshot)).await? {
        true => Ok(json(StatusCode::OK, "{}".into())),
        false => Err(Refusal::new(StatusCode::NOT_FOUND, "session.not_found", "there is no such snapshot")),
    }
}

/// `GET /v1/agents`
pub(crate) async fn agents(State(app): State<Arc<App>>, Authed(caller): Authed) -> Result<Response, Refusal> {
    let found = app.runs.with_sessions(&caller, |store| store.agents()).await?;
    let rows: Vec<Value> = found.iter().map(agent_json).collect();
    Ok(json(StatusCode::OK, value!({ "agents": rows }).to_string()))
}

/// `PUT /v1/agents/{agent}`
pub(crate) async fn put_agent(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    let description: String = table.parse("description", "a text")?.unwrap_or_default();
    let settings = settings(table, &["description"])?;
    let made = app.runs.with_sessions(&caller, move |store| store.put_agent(&name, &description, settings)).await?;
    // What its sessions have in memory was made from what it said before.
    app.runs.let_all_sleep(&caller.id);
    Ok(json(StatusCode::OK, agent_json(&made).to_string()))
}

/// `DELETE /v1/agents/{agent}`
pub(crate) async fn remove_agent(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let name = named(name)?;
    match app.runs.with_sessions(&caller, move |store| store.remove_agent(&name)).await? {
        true => Ok(json(StatusCode::OK, "{}".into())),
        false => Err(Refusal::new(StatusCode::NOT_FOUND, "session.not_found", "there is no such agent")),
    }
}

/// The rest of a body, as settings.
fn settings(mut table: Table, others: &[&str]) -> Result<SessionSettings, Refusal> {
    let mut fields = serde_json::Map::new();
    let mut manifest = None;
    for key in SETTINGS {
        match (key, table.take(key)) {
            // Kept as it came: it is read when it is used.
            ("manifest", json) => manifest = json.filter(|json| json.text() != "null"),
            (key, Some(json)) => {
                let value = json.parse().map_err(|error| Refusal::invalid(error.to_string()).at(key))?;
                fields.insert(key.into(), value);
            }
            (_, None) => {}
        }
    }
    table.finish(&[&SETTINGS[..], others].concat())?;
    let mut settings: SessionSettings =
        serde_json::from_value(fields.into()).map_err(|error| Refusal::invalid(error.to_string()))?;
    settings.manifest = manifest;
    check(&settings)?;
    Ok(settings)
}

pub(super) fn named(name: String) -> Result<SessionName, Refusal> {
    SessionName::new(&name).map_err(|_| unknown())
}

fn unknown() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "session.not_found", "there is no such session")
        .hint("`POST /v1/sessions` makes one")
}

fn shown(record: &SessionRecord) -> String {
    session_json(record).to_string()
}

fn session_json(record: &SessionRecord) -> Value {
    let (created, used) = (record.created.as_micros() / 1_000, record.used.as_micros() / 1_000);
    let mut row = value!({ "session": record.session, "created_ms": created, "used_ms": used, "settings": plain(&record.settings) });
    if let Some(origin) = &record.origin {
        row["origin"] = origin.as_str().into();
    }
    row
}

fn snapshot_json(record: &SnapshotRecord) -> Value {
    let created = record.created.as_micros() / 1_000;
    value!({ "session": record.session, "snapshot": record.snapshot, "created_ms": created })
}

fn agent_json(record: &AgentRecord) -> Value {
    let (created, changed) = (record.created.as_micros() / 1_000, record.changed.as_micros() / 1_000);
    value!({ "agent": record.agent, "description": record.description, "settings": plain(&record.settings), "created_ms": created, "changed_ms": changed })
}

/// A value of ours as JSON, with what was kept as text in its place.
fn plain(settings: &impl Serialize) -> Value {
    serde_json::to_string(settings).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
