//! Webhooks and the events that came to them.

use super::Failed;
use super::rows::{micros, moment, name_of};
use crate::database::{corrupt, now};
use isolith_core::{EventEffect, EventRecord, Json, SessionError, SessionName, WebhookRecord, WebhookSettings};
use rusqlite::{Connection, OptionalExtension as _, Row};

/// The most webhooks of one caller.
const WEBHOOKS_MAX: i64 = 1_000;
/// How many events of a webhook are kept.
const EVENTS_KEPT: i64 = 1_000;
/// The most events of one list.
const EVENTS_MAX: usize = 1_000;

pub(super) fn put(db: &Connection, webhook: &SessionName, settings: WebhookSettings) -> Result<WebhookRecord, Failed> {
    let text = serde_json::to_string(&settings).map_err(|error| SessionError::Invalid(error.to_string()))?;
    let sql = "INSERT INTO webhooks (webhook, settings, created_us) VALUES (?1, ?2, ?3)
        ON CONFLICT (webhook) DO UPDATE SET settings = ?2 RETURNING created_us";
    let created = db.prepare_cached(sql)?.query_row((webhook.as_str(), text, micros(now())), |row| row.get(0))?;
    let many: i64 = db.query_row("SELECT count(*) FROM webhooks", [], |row| row.get(0))?;
    if many > WEBHOOKS_MAX {
        let message = format!("there are at most {WEBHOOKS_MAX} webhooks: remove one first");
        return Err(SessionError::Invalid(message).into());
    }
    Ok(WebhookRecord { webhook: webhook.clone(), settings, created: moment(created) })
}

fn read(row: &Row<'_>) -> rusqlite::Result<WebhookRecord> {
    Ok(WebhookRecord {
        webhook: name_of(row.get_ref(0)?.as_str()?)?,
        settings: serde_json::from_str(row.get_ref(1)?.as_str()?).map_err(|_| corrupt())?,
        created: moment(row.get(2)?),
    })
}

pub(super) fn find(db: &Connection, webhook: &SessionName) -> rusqlite::Result<Option<WebhookRecord>> {
    let sql = "SELECT webhook, settings, created_us FROM webhooks WHERE webhook = ?1";
    db.prepare_cached(sql)?.query_row([webhook.as_str()], read).optional()
}

pub(super) fn list(db: &Connection) -> rusqlite::Result<Vec<WebhookRecord>> {
    let sql = "SELECT webhook, settings, created_us FROM webhooks ORDER BY webhook";
    db.prepare_cached(sql)?.query_map([], read)?.collect()
}

pub(super) fn remove(db: &Connection, webhook: &SessionName) -> rusqlite::Result<bool> {
    db.prepare_cached("DELETE FROM events WHERE webhook = ?1")?.execute([webhook.as_str()])?;
    Ok(db.prepare_cached("DELETE FROM webhooks WHERE webhook = ?1")?.execute([webhook.as_str()])? > 0)
}

const EVENT: &str = "SELECT event, at_us, body, effect FROM events WHERE webhook = ?1";

fn read_event(row: &Row<'_>) -> rusqlite::Result<EventRecord> {
    let effect: Option<String> = row.get(3)?;
    Ok(EventRecord {
        id: row.get(0)?,
        at: moment(row.get(1)?),
        body: Json::from_text(row.get(2)?).map_err(|_| corrupt())?,
        effect: effect.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| corrupt())?,
    })
}

pub(super) fn event(db: &Connection, webhook: &SessionName, id: &str) -> rusqlite::Result<Option<EventRecord>> {
    db.prepare_cached(&format!("{EVENT} AND event = ?2"))?.query_row((webhook.as_str(), id), read_event).optional()
}

pub(super) fn events(db: &Connection, webhook: &SessionName, most: usize) -> rusqlite::Result<Vec<EventRecord>> {
    let most = most.min(EVENTS_MAX) as i64;
    let mut statement = db.prepare_cached(&format!("{EVENT} ORDER BY id DESC LIMIT ?2"))?;
    statement.query_map((webhook.as_str(), most), read_event)?.collect()
}

pub(super) fn add_event(
    db: &Connection,
    webhook: &SessionName,
    record: &EventRecord,
) -> Result<Option<EventRecord>, Failed> {
    if find(db, webhook)?.is_none() {
        return Err(SessionError::NotFound { what: "webhook", name: webhook.to_string() }.into());
    }
    if let Some(known) = event(db, webhook, &record.id)? {
        return Ok(Some(known));
    }
    let sql = "INSERT INTO events (webhook, event, at_us, body) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)?.execute((webhook.as_str(), &record.id, micros(record.at), record.body.text()))?;
    let sql = "DELETE FROM events WHERE webhook = ?1 AND id <=
        (SELECT id FROM events WHERE webhook = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
    db.prepare_cached(sql)?.execute((webhook.as_str(), EVENTS_KEPT))?;
    Ok(None)
}

pub(super) fn set_effect(
    db: &Connection,
    webhook: &SessionName,
    id: &str,
    effect: &EventEffect,
) -> rusqlite::Result<()> {
    let text = serde_json::to_string(effect).map_err(|_| corrupt())?;
    let sql = "UPDATE events SET effect = ?3 WHERE webhook = ?1 AND event = ?2";
    db.prepare_cached(sql)?.execute((webhook.as_str(), id, text)).map(|_| ())
}
