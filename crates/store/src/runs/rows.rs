//! One run, between its type and the table.

use crate::database::corrupt;
use isolith_core::{CallerId, Json, Keeper, RunId, RunRecord, RunState, SessionName, Timestamp};
use rusqlite::{Connection, Row};

/// What is read of a run; its suspended state comes behind these, if it is wanted.
pub(super) const COLUMNS: &str =
    "caller, run, created_us, expires_us, state, wakes_us, continuation, keeper, session, outcome";
/// How many these are.
pub(super) const COLUMN_COUNT: usize = 10;

const INSERT: &str =
    "INSERT INTO runs (caller, run, created_us, expires_us, state, wakes_us, continuation, keeper, session, outcome, suspended)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// What to do where the caller has a run of that name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Keep,
    Replace,
}

/// Writes a run and says whether anything was written.
pub(super) fn write(db: &Connection, record: &RunRecord, existing: Existing) -> rusqlite::Result<bool> {
    let conflict = match existing {
        Existing::Keep => "ON CONFLICT (caller, run) DO NOTHING",
        Existing::Replace => {
            "ON CONFLICT (caller, run) DO UPDATE SET created_us = excluded.created_us, expires_us = excluded.expires_us,
            state = excluded.state, wakes_us = excluded.wakes_us, continuation = excluded.continuation,
            keeper = excluded.keeper, session = excluded.session, outcome = excluded.outcome, suspended = excluded.suspended"
        }
    };
    let written = db.prepare_cached(&format!("{INSERT} {conflict}"))?.execute((
        &record.caller.0,
        &record.run.0,
        micros(record.created),
        micros(record.expires),
        name(record.state),
        record.wakes.map(micros),
        &record.continuation,
        keeper_name(record.keeper),
        record.session.as_ref().map(SessionName::as_str),
        record.outcome.text(),
        &record.suspended,
    ))?;
    Ok(written > 0)
}

/// A run without its suspended state.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let moment = |micros: i64| Timestamp::from_micros(micros.max(0).cast_unsigned());
    Ok(RunRecord {
        caller: CallerId(row.get(0)?),
        run: RunId(row.get(1)?),
        created: moment(row.get(2)?),
        expires: moment(row.get(3)?),
        state: state_of(row.get_ref(4)?.as_str()?).ok_or_else(corrupt)?,
        wakes: row.get::<_, Option<i64>>(5)?.map(moment),
        continuation: row.get(6)?,
        keeper: keeper_of(row.get_ref(7)?.as_str()?).ok_or_else(corrupt)?,
        session: row.get::<_, Option<String>>(8)?.map(SessionName::try_from).transpose().map_err(|_| corrupt())?,
        outcome: Json::from_text(row.get(9)?).map_err(|_| corrupt())?,
        suspended: None,
        asks: Vec::new(),
    })
}

pub(super) const SUSPENDED: &str = "suspended";

fn name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Suspended => SUSPENDED,
        RunState::Ended => "ended",
    }
}

fn state_of(text: &str) -> Option<RunState> {
    [RunState::Running, RunState::Suspended, RunState::Ended].into_iter().find(|state| name(*state) == text)
}

pub(super) fn keeper_name(keeper: Keeper) -> &'static str {
    match keeper {
        Keeper::Server => "server",
        Keeper::Client => "client",
        Keeper::Terminal => "terminal",
    }
}

fn keeper_of(text: &str) -> Option<Keeper> {
    [Keeper::Server, Keeper::Client, Keeper::Terminal].into_iter().find(|keeper| keeper_name(*keeper) == text)
}

/// SQLite's integers have a sign. No moment is that late.
pub(super) fn micros(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}
