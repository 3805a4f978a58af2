//! Kinds of sessions.

use super::Failed;
use super::rows::{micros, moment, name_of, settings_of, settings_text};
use crate::database::now;
use isolith_core::{AgentRecord, SessionError, SessionName, SessionSettings};
use rusqlite::{Connection, Row};

/// The most agents of one caller.
const AGENTS_MAX: i64 = 1_000;
const DESCRIPTION_BYTES_MAX: usize = 4 << 10;

pub(super) fn put(
    db: &Connection,
    agent: &SessionName,
    description: &str,
    settings: SessionSettings,
) -> Result<AgentRecord, Failed> {
    if description.len() > DESCRIPTION_BYTES_MAX {
        let message = format!("a description has at most {DESCRIPTION_BYTES_MAX} bytes");
        return Err(SessionError::Invalid(message).into());
    }
    if settings.agent.is_some() {
        return Err(SessionError::Invalid("an agent's settings name no agent".into()).into());
    }
    let at = now();
    let sql = "INSERT INTO agents (agent, description, settings, created_us, changed_us) VALUES (?1, ?2, ?3, ?4, ?4)
        ON CONFLICT (agent) DO UPDATE SET description = ?2, settings = ?3, changed_us = ?4
        RETURNING created_us";
    let columns = (agent.as_str(), description, settings_text(&settings)?, micros(at));
    let created = db.prepare_cached(sql)?.query_row(columns, |row| row.get(0))?;
    let many: i64 = db.query_row("SELECT count(*) FROM agents", [], |row| row.get(0))?;
    if many > AGENTS_MAX {
        return Err(SessionError::Invalid(format!("there are at most {AGENTS_MAX} agents: remove one first")).into());
    }
    let (agent, description) = (agent.clone(), description.to_owned());
    Ok(AgentRecord { agent, description, settings, created: moment(created), changed: at })
}

pub(super) fn list(db: &Connection) -> rusqlite::Result<Vec<AgentRecord>> {
    let sql = "SELECT agent, description, settings, created_us, changed_us FROM agents ORDER BY agent";
    let read = |row: &Row<'_>| {
        Ok(AgentRecord {
            agent: name_of(row.get_ref(0)?.as_str()?)?,
            description: row.get(1)?,
            settings: settings_of(row.get_ref(2)?.as_str()?)?,
            created: moment(row.get(3)?),
            changed: moment(row.get(4)?),
        })
    };
    db.prepare_cached(sql)?.query_map([], read)?.collect()
}

pub(super) fn remove(db: &Connection, agent: &SessionName) -> Result<bool, Failed> {
    let sql = "SELECT count(*) FROM sessions WHERE agent = ?1";
    let sessions: i64 = db.prepare_cached(sql)?.query_row([agent.as_str()], |row| row.get(0))?;
    if sessions > 0 {
        let message = format!("the agent `{agent}` has {sessions} sessions: remove them first");
        return Err(SessionError::Invalid(message).into());
    }
    Ok(db.prepare_cached("DELETE FROM agents WHERE agent = ?1")?.execute([agent.as_str()])? > 0)
}
