//! Finding runs and answers.
//!
//! Each function reads at most so many bytes of what can be large, and finds nothing (`None`) where there is more: whoever asked
//! then asks again where taking long holds nobody up.

use super::reply;
use super::rows::{self, COLUMN_COUNT, COLUMNS, SUSPENDED};
use isolith_core::{CallId, CallerId, HostReply, RunId, RunRecord, SessionName, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

/// The most runs of one page of a list.
const LIST_RUNS_MAX: u32 = 200;
/// How many runs a page of what has not ended has.
const UNFINISHED_RUNS: u32 = 200;

/// How many bytes of outcomes, states and replies may be read.
#[derive(Clone, Copy)]
pub(super) struct Most(pub(super) usize);

/// What was found, or nothing when it is more than may be read.
pub(super) type Found<T> = rusqlite::Result<Option<T>>;

pub(super) fn get(db: &Connection, caller: &CallerId, run: &RunId, most: Most) -> Found<Option<RunRecord>> {
    one(db, "caller = ?2 AND run = ?3", &caller.0, &run.0, most)
}

pub(super) fn find(db: &Connection, caller: &CallerId, continuation: &str, most: Most) -> Found<Option<RunRecord>> {
    let newest = format!(
        "caller = ?2 AND continuation = ?3 AND state = '{SUSPENDED}' ORDER BY created_us DESC, id DESC LIMIT 1"
    );
    one(db, &newest, &caller.0, continuation, most)
}

/// One run with its suspended state.
fn one(db: &Connection, which: &str, caller: &str, name: &str, most: Most) -> Found<Option<RunRecord>> {
    let sql = format!(
        "SELECT {COLUMNS}, coalesce(octet_length(suspended), 0) <= ?1,
        CASE WHEN octet_length(suspended) <= ?1 THEN suspended END FROM runs WHERE {which}"
    );
    let read = |row: &Row<'_>| {
        let whole: bool = row.get(COLUMN_COUNT)?;
        let suspended = row.get(COLUMN_COUNT + 1)?;
        Ok(whole.then_some(RunRecord { suspended, ..rows::read(row)? }))
    };
    let most = i64::try_from(most.0).unwrap_or(i64::MAX);
    let found = db.prepare_cached(&sql)?.query_row((most, caller, name), read).optional()?;
    Ok(match found {
        None => Some(None),
        Some(found) => found.map(Some),
    })
}

/// A page of a caller's runs, or of those in a session.
pub(super) fn list(
    db: &Connection,
    caller: &CallerId,
    session: Option<&SessionName>,
    before: Option<(Timestamp, &RunId)>,
    limit: u32,
    most: Most,
) -> Found<Vec<RunRecord>> {
    let limit = limit.clamp(1, LIST_RUNS_MAX);
    // No moment is later, and no name is empty.
    let (created, run) = before.map_or((i64::MAX, ""), |(created, run)| (rows::micros(created), &run.0));
    let sql = |which: &str| {
        format!(
            "SELECT {COLUMNS} FROM runs WHERE caller = ?1 {which} AND (created_us, run) < (?2, ?3)
            ORDER BY created_us DESC, run DESC LIMIT ?4"
        )
    };
    match session {
        None => page(db, &sql(""), (&caller.0, created, run, limit), most),
        Some(session) => page(db, &sql("AND session = ?5"), (&caller.0, created, run, limit, session.as_str()), most),
    }
}

pub(super) fn unfinished(db: &Connection, after: Option<&(CallerId, RunId)>, most: Most) -> Found<Vec<RunRecord>> {
    // Nobody has an empty name, so this is before everyone.
    let (caller, run) = after.map_or(("", ""), |(caller, run)| (&caller.0, &run.0));
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE state <> 'ended' AND (caller, run) > (?1, ?2) ORDER BY caller, run LIMIT ?3"
    );
    page(db, &sql, (caller, run, UNFINISHED_RUNS), most)
}

fn page(db: &Connection, sql: &str, values: impl Params, most: Most) -> Found<Vec<RunRecord>> {
    let mut left = most.0;
    gather(db, sql, values, |row| {
        let record = rows::read(row)?;
        Ok(take(&mut left, record.outcome.text().len()).then_some(record))
    })
}

pub(super) fn answers(db: &Connection, caller: &CallerId, run: &RunId, most: Most) -> Found<Vec<(CallId, HostReply)>> {
    let sql = "SELECT call, kind, content FROM answers WHERE caller = ?1 AND run = ?2 ORDER BY call";
    let mut left = most.0;
    gather(db, sql, (&caller.0, &run.0), |row| {
        let answer = (CallId(row.get(0)?), reply::read(row, 1)?);
        Ok(take(&mut left, answer.1.bytes()).then_some(answer))
    })
}

fn gather<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<Option<T>>,
) -> Found<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        match read(row)? {
            Some(one) => found.push(one),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Takes so many of what is left, if there are so many.
fn take(left: &mut usize, bytes: usize) -> bool {
    left.checked_sub(bytes).map(|rest| *left = rest).is_some()
}
