//! Calls that someone is asked about, and what was said.

use super::read::{Found, Most};
use super::rows::{SUSPENDED, keeper_name, micros};
use crate::database::corrupt;
use isolith_core::{
    Approval, Ask, CallId, CallerId, Consent, Heard, Keeper, RunId, RunRecord, Said, Timestamp, Verdict, Word,
};
use rusqlite::{Connection, OptionalExtension as _, Row};

/// The most approvals of one list.
const LIST_MAX: u32 = 1_000;
/// The most runs that are told at one time to have a word.
const DECIDED_MAX: u32 = 200;

/// Writes what a run asks. What it does not ask any more and nobody answered is forgotten; what was said stays.
pub(super) fn put(db: &Connection, record: &RunRecord) -> rusqlite::Result<()> {
    let open: Vec<String> = record.asks.iter().map(|(ask, _)| ask.id.0.to_string()).collect();
    let gone = "DELETE FROM approvals WHERE caller = ?1 AND run = ?2 AND verdict IS NULL
        AND call NOT IN (SELECT value FROM json_each(?3))";
    db.prepare_cached(gone)?.execute((&record.caller.0, &record.run.0, format!("[{}]", open.join(","))))?;
    record.asks.iter().try_for_each(|(ask, verdict)| {
        insert(db, &record.caller, &record.run, ask)?;
        verdict.as_ref().map_or(Ok(()), |verdict| again(db, record, ask.id, verdict))
    })
}

/// A call that is made again, as it was agreed to.
fn again(db: &Connection, record: &RunRecord, call: CallId, verdict: &Verdict) -> rusqlite::Result<()> {
    let sql = "UPDATE approvals SET verdict = ?4, begun = 0, decided_by = coalesce(decided_by, 'client'),
        decided_us = coalesce(decided_us, asked_us) WHERE caller = ?1 AND run = ?2 AND call = ?3";
    let text = serde_json::to_string(verdict).unwrap_or_default();
    db.prepare_cached(sql)?.execute((&record.caller.0, &record.run.0, call.0, text))?;
    Ok(())
}

fn insert(db: &Connection, caller: &CallerId, run: &RunId, ask: &Ask) -> rusqlite::Result<()> {
    let sql = "INSERT INTO approvals (caller, run, call, asked_us, expires_us, ask) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO NOTHING";
    // Plain data of ours always has a JSON form.
    let text = serde_json::to_string(ask).unwrap_or_default();
    let (asked, expires) = (micros(ask.asked_us), micros(ask.expires_us));
    db.prepare_cached(sql)?.execute((&caller.0, &run.0, ask.id.0, asked, expires, text))?;
    Ok(())
}

/// Keeps the first word about a call.
pub(super) fn decide(db: &Connection, word: &Word) -> rusqlite::Result<u64> {
    let key = (&word.caller.0, &word.run.0, word.call.0);
    if let Some(ask) = &word.ask {
        insert(db, &word.caller, &word.run, ask)?;
    }
    let sql = "SELECT verdict IS NOT NULL, expires_us FROM approvals WHERE caller = ?1 AND run = ?2 AND call = ?3";
    let found = db.prepare_cached(sql)?.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let heard: Heard = match found {
        None => Heard::Unknown,
        Some((true, _)) => Heard::Twice,
        Some((false, expires)) if micros(word.at) >= expires => Heard::Late,
        Some((false, _)) => {
            let verdict = serde_json::to_string(&word.verdict).unwrap_or_default();
            // What is good for the whole run answers all that the same grant asks.
            let sql = "UPDATE approvals SET verdict = ?4, decided_by = ?5, decided_us = ?6
                WHERE caller = ?1 AND run = ?2 AND verdict IS NULL AND (call = ?3 OR ?7 AND ask ->> 'grant' =
                (SELECT ask ->> 'grant' FROM approvals WHERE caller = ?1 AND run = ?2 AND call = ?3))";
            let (caller, run, call) = key;
            let all = word.verdict.consent != Consent::Once;
            db.prepare_cached(sql)?.execute((caller, run, call, verdict, &word.by, micros(word.at), all))?;
            Heard::Yes
        }
    };
    Ok(HEARD.iter().position(|known| *known == heard).unwrap_or_default() as u64)
}

const HEARD: [Heard; 4] = [Heard::Yes, Heard::Twice, Heard::Late, Heard::Unknown];

/// What [`decide`] came to, by its number.
pub(super) fn heard(number: u64) -> Heard {
    usize::try_from(number).ok().and_then(|at| HEARD.get(at).copied()).unwrap_or(Heard::Unknown)
}

/// Takes a word up, once.
pub(super) fn begin(db: &Connection, caller: &CallerId, run: &RunId, call: CallId) -> rusqlite::Result<u64> {
    let key = (&caller.0, &run.0, call.0);
    let sql = "UPDATE approvals SET begun = 1 WHERE caller = ?1 AND run = ?2 AND call = ?3 AND begun = 0";
    if db.prepare_cached(sql)?.execute(key)? > 0 {
        return Ok(1);
    }
    // What was never kept was answered while the run was in memory.
    let sql = "SELECT 1 FROM approvals WHERE caller = ?1 AND run = ?2 AND call = ?3";
    Ok(u64::from(!db.prepare_cached(sql)?.exists(key)?))
}

pub(super) fn list(db: &Connection, caller: Option<&CallerId>, run: Option<&RunId>, _: Most) -> Found<Vec<Approval>> {
    let sql = "SELECT caller, run, ask, verdict, decided_by, decided_us, begun FROM approvals
        WHERE (?1 IS NULL OR caller = ?1) AND (?2 IS NULL OR run = ?2) ORDER BY asked_us, caller, run, call LIMIT ?3";
    let mut statement = db.prepare_cached(sql)?;
    let (caller, run) = (caller.map(|caller| &caller.0), run.map(|run| &run.0));
    statement.query_map((caller, run, LIST_MAX), read)?.collect::<rusqlite::Result<_>>().map(Some)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let ask: Ask = serde_json::from_str(row.get_ref(2)?.as_str()?).map_err(|_| corrupt())?;
    let verdict = match row.get_ref(3)?.as_str_or_null()? {
        None => None,
        Some(text) => Some(serde_json::from_str::<Verdict>(text).map_err(|_| corrupt())?),
    };
    let said = match verdict {
        None => None,
        Some(verdict) => {
            let at = Timestamp::from_micros(row.get::<_, i64>(5)?.max(0).cast_unsigned());
            Some(Said { verdict, by: row.get(4)?, at })
        }
    };
    Ok(Approval { caller: CallerId(row.get(0)?), run: RunId(row.get(1)?), ask, said, begun: row.get(6)? })
}

pub(super) fn decided(db: &Connection, keeper: Keeper) -> Found<Vec<(CallerId, RunId)>> {
    let sql = format!(
        "SELECT DISTINCT approvals.caller, approvals.run FROM approvals
        JOIN runs ON runs.caller = approvals.caller AND runs.run = approvals.run
        WHERE verdict IS NOT NULL AND begun = 0 AND state = '{SUSPENDED}' AND keeper = ?1 LIMIT ?2"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement
        .query_map((keeper_name(keeper), DECIDED_MAX), |row| Ok((CallerId(row.get(0)?), RunId(row.get(1)?))))?;
    found.collect::<rusqlite::Result<_>>().map(Some)
}
