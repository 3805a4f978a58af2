//! Sessions and snapshots, between their types and the tables.

use super::{Failed, Sessions};
use crate::database::corrupt;
use isolith_core::{
    SessionError, SessionName, SessionRecord, SessionSettings, SnapshotRecord, SnapshotsKept, Timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::time::Duration;

const COLUMNS: &str = "session, settings, created_us, used_us, origin";

pub(super) fn micros(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn moment(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros.max(0).cast_unsigned())
}

pub(super) fn settings_of(text: &str) -> rusqlite::Result<SessionSettings> {
    serde_json::from_str(text).map_err(|_| corrupt())
}

pub(super) fn settings_text(settings: &SessionSettings) -> Result<String, SessionError> {
    serde_json::to_string(settings).map_err(|error| SessionError::Invalid(error.to_string()))
}

pub(super) fn name_of(text: &str) -> rusqlite::Result<SessionName> {
    SessionName::new(text).map_err(|_| corrupt())
}

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        session: name_of(row.get_ref(0)?.as_str()?)?,
        settings: settings_of(row.get_ref(1)?.as_str()?)?,
        created: moment(row.get(2)?),
        used: moment(row.get(3)?),
        origin: row.get(4)?,
    })
}

/// Adds a session that is not there, of an agent that is.
pub(super) fn add(db: &Connection, record: &SessionRecord) -> Result<(), Failed> {
    if Sessions::exists(db, &record.session)? {
        return Err(SessionError::Exists { what: "session", name: record.session.to_string() }.into());
    }
    let agent = agent_of(db, &record.settings)?;
    let sql = "INSERT INTO sessions (session, agent, settings, created_us, used_us, origin)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.prepare_cached(sql)?.execute((
        record.session.as_str(),
        agent,
        settings_text(&record.settings)?,
        micros(record.created),
        micros(record.used),
        &record.origin,
    ))?;
    Ok(())
}

pub(super) fn change(db: &Connection, record: &SessionRecord) -> Result<(), Failed> {
    let agent = agent_of(db, &record.settings)?;
    let sql = "UPDATE sessions SET agent = ?2, settings = ?3 WHERE session = ?1";
    db.prepare_cached(sql)?.execute((record.session.as_str(), agent, settings_text(&record.settings)?))?;
    Ok(())
}

fn agent_of<'a>(db: &Connection, settings: &'a SessionSettings) -> Result<Option<&'a str>, Failed> {
    let Some(agent) = settings.agent.as_ref() else { return Ok(None) };
    let mut statement = db.prepare_cached("SELECT 1 FROM agents WHERE agent = ?1")?;
    match statement.query_row([agent.as_str()], |_| Ok(())).optional()? {
        Some(()) => Ok(Some(agent.as_str())),
        None => Err(SessionError::NotFound { what: "agent", name: agent.to_string() }.into()),
    }
}

pub(super) fn find(db: &Connection, session: &SessionName) -> rusqlite::Result<Option<SessionRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE session = ?1");
    db.prepare_cached(&sql)?.query_row([session.as_str()], read).optional()
}

pub(super) fn list(
    db: &Connection,
    agent: Option<&SessionName>,
    after: Option<&SessionName>,
    most: usize,
) -> rusqlite::Result<Vec<SessionRecord>> {
    let after = after.map_or("", SessionName::as_str);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = |condition: &str| {
        format!("SELECT {COLUMNS} FROM sessions WHERE session > ?1 {condition} ORDER BY session LIMIT ?2")
    };
    match agent {
        Some(agent) => {
            let mut statement = db.prepare_cached(&sql("AND agent = ?3"))?;
            statement.query_map((after, most, agent.as_str()), read)?.collect()
        }
        None => db.prepare_cached(&sql(""))?.query_map((after, most), read)?.collect(),
    }
}

/// Removes a session, and says which snapshots it had; nothing when there was none.
pub(super) fn remove(db: &Connection, session: &SessionName) -> Result<Option<Vec<SessionName>>, Failed> {
    if !Sessions::exists(db, session)? {
        return Ok(None);
    }
    let snapshots = snapshots(db, session)?.into_iter().map(|record| record.snapshot).collect();
    db.prepare_cached("DELETE FROM snapshots WHERE session = ?1")?.execute([session.as_str()])?;
    db.prepare_cached("DELETE FROM sessions WHERE session = ?1")?.execute([session.as_str()])?;
    Ok(Some(snapshots))
}

pub(super) fn snapshots(db: &Connection, session: &SessionName) -> rusqlite::Result<Vec<SnapshotRecord>> {
    let sql = "SELECT snapshot, created_us FROM snapshots WHERE session = ?1 ORDER BY id";
    let read = |row: &Row<'_>| {
        let snapshot = name_of(row.get_ref(0)?.as_str()?)?;
        Ok(SnapshotRecord { snapshot, session: session.clone(), created: moment(row.get(1)?) })
    };
    db.prepare_cached(sql)?.query_map([session.as_str()], read)?.collect()
}

pub(super) fn add_snapshot(db: &Connection, record: &SnapshotRecord) -> Result<(), Failed> {
    let sql = "INSERT INTO snapshots (session, snapshot, created_us) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let columns = (record.session.as_str(), record.snapshot.as_str(), micros(record.created));
    match db.prepare_cached(sql)?.execute(columns)? {
        0 => Err(SessionError::Exists { what: "snapshot", name: record.snapshot.to_string() }.into()),
        _ => Ok(()),
    }
}

/// Forgets the snapshots of a session that are not kept any more, and says which.
pub(super) fn forget_snapshots(
    db: &Connection,
    session: &SessionName,
    kept: SnapshotsKept,
    at: Timestamp,
) -> rusqlite::Result<Vec<SessionName>> {
    let mut all = snapshots(db, session)?;
    all.pop();
    let many = all.len().saturating_sub(kept.most.max(1) as usize - 1);
    let over = |record: &SnapshotRecord| is_over(record, kept.age, at);
    let gone = all.into_iter().enumerate().filter(|(place, record)| *place < many || over(record));
    let gone: Vec<SessionName> = gone.map(|(_, record)| record.snapshot).collect();
    for snapshot in &gone {
        remove_snapshot(db, session, snapshot)?;
    }
    Ok(gone)
}

/// Forgets all snapshots that are older than what holds for their sessions.
pub(super) fn forget_old_snapshots(db: &Connection, at: Timestamp) -> rusqlite::Result<()> {
    let with = "SELECT DISTINCT session FROM snapshots";
    let with: Vec<String> = db.prepare_cached(with)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for session in with {
        let session = name_of(&session)?;
        let Some(SessionRecord { settings, .. }) = find(db, &session)? else { continue };
        let sql = "SELECT settings FROM agents WHERE agent = ?1";
        let agent = settings.agent.as_ref().map(SessionName::as_str);
        let agent = db.prepare_cached(sql)?.query_row([agent], |row| settings_of(row.get_ref(0)?.as_str()?));
        let age = settings.over(agent.optional()?.unwrap_or_default()).snapshots().age;
        for record in snapshots(db, &session)?.iter().filter(|record| is_over(record, age, at)) {
            remove_snapshot(db, &session, &record.snapshot)?;
        }
    }
    Ok(())
}

fn is_over(record: &SnapshotRecord, age: Option<Duration>, at: Timestamp) -> bool {
    age.is_some_and(|age| record.created.after(age) < at)
}

pub(super) fn remove_snapshot(
    db: &Connection,
    session: &SessionName,
    snapshot: &SessionName,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM snapshots WHERE session = ?1 AND snapshot = ?2";
    Ok(db.prepare_cached(sql)?.execute((session.as_str(), snapshot.as_str()))? > 0)
}
