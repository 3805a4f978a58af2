//! One row, between its type and the table.

use isolith_core::{AuditRow, CallOutcome, RunId, Timestamp};
use rusqlite::{Connection, Row};

/// The most of one text in a row.
const TEXT_BYTES_MAX: usize = 4 << 10;

pub(super) const COLUMNS: &str =
    "at_us, run, program, grant_text, what, host, outcome, error, duration_us, bytes_out, bytes_in";
const INSERT: &str =
    "INSERT INTO rows (at_us, run, program, grant_text, what, host, outcome, error, duration_us, bytes_out, bytes_in)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// The row with nothing in it longer than it should be.
// THREAT[T-AUDIT-001]: a guest chooses its URLs and keys. Long ones would push everything else out of the log.
pub(super) fn bounded(mut row: AuditRow) -> AuditRow {
    for text in [&mut row.run.0, &mut row.program, &mut row.grant, &mut row.what] {
        shorten(text);
    }
    for text in [&mut row.host, &mut row.error].into_iter().flatten() {
        shorten(text);
    }
    row
}

fn shorten(text: &mut String) {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
}

pub(super) fn insert(db: &Connection, rows: &[AuditRow]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(INSERT)?;
    for row in rows {
        insert.execute((
            signed(row.at.as_micros()),
            &row.run.0,
            &row.program,
            &row.grant,
            &row.what,
            &row.host,
            name(row.outcome),
            &row.error,
            signed(row.duration_us),
            signed(row.bytes_out),
            signed(row.bytes_in),
        ))?;
    }
    Ok(())
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    let number = |column| row.get::<_, i64>(column).map(|number| number.max(0).cast_unsigned());
    let outcome: String = row.get(6)?;
    let outcome = outcome_of(&outcome).ok_or(rusqlite::Error::InvalidColumnType(
        6,
        "outcome".into(),
        rusqlite::types::Type::Text,
    ))?;
    Ok(AuditRow {
        at: Timestamp::from_micros(number(0)?),
        run: RunId(row.get(1)?),
        program: row.get(2)?,
        grant: row.get(3)?,
        what: row.get(4)?,
        host: row.get(5)?,
        outcome,
        error: row.get(7)?,
        duration_us: number(8)?,
        bytes_out: number(9)?,
        bytes_in: number(10)?,
    })
}

pub(super) const DENIED: &str = "denied";

fn name(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Ok => "ok",
        CallOutcome::Failed => "failed",
        CallOutcome::Denied => DENIED,
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Waiting => "waiting",
    }
}

fn outcome_of(text: &str) -> Option<CallOutcome> {
    use CallOutcome::{Cancelled, Denied, Failed, Ok, Waiting};
    [Ok, Failed, Denied, Cancelled, Waiting].into_iter().find(|outcome| name(*outcome) == text)
}

/// SQLite's integers have a sign.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
