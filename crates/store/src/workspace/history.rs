//! What was: before each change, what was in the places that it concerned.

use super::draft::Drafting;
use super::rows::{self, COLUMNS, Found, Rows, key, shown};
use super::{content, trouble};
use isolith_core::files::{Change, NodeKind};
use isolith_core::{FilesError, FilesReason, GuestPath};
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::collections::BTreeMap;

/// How many changes can be looked at and taken back.
const CHANGES_KEPT: i64 = 1_000;
/// How many bytes of contents are kept for that.
const BEFORE_BYTES_MAX: i64 = 256 << 20;

/// The changes of a place and of all below it, the newest first.
pub(super) fn list(db: &Connection, path: &GuestPath, most: usize) -> Result<Vec<Change>, FilesError> {
    let key = key(path);
    let (first, last) = rows::below(&key);
    let sql = "SELECT b.path, b.version, c.at_us, c.what FROM before b JOIN changes c ON c.version = b.version
        WHERE b.path = ?1 OR (b.path > ?2 AND b.path < ?3) ORDER BY b.version DESC, b.path LIMIT ?4";
    let mut statement = db.prepare_cached(sql).map_err(trouble)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| {
        let (key, version): (String, i64) = (row.get(0)?, row.get(1)?);
        let after = after(db, &key, version)?;
        Ok(Change {
            version: version.cast_unsigned(),
            at: rows::moment(row.get(2)?),
            what: row.get(3)?,
            path: shown(&key),
            kind: after.as_ref().map(|after| after.kind),
            size: after.map_or(0, |after| after.size),
        })
    };
    let found = statement.query_map((&key, first, last, most), read);
    found.and_then(Iterator::collect).map_err(trouble)
}

/// What was in a place after a change: what was there before the next one, or is there.
fn after(db: &Connection, key: &str, version: i64) -> rusqlite::Result<Option<Found>> {
    let sql = format!("SELECT {COLUMNS} FROM before WHERE path = ?1 AND version > ?2 ORDER BY version LIMIT 1");
    if let Some(next) = db.prepare_cached(&sql)?.query_row((key, version), |row| read(row, 0)).optional()? {
        return Ok(next);
    }
    let sql = format!("SELECT {COLUMNS} FROM nodes WHERE path = ?1");
    db.prepare_cached(&sql)?.query_row([key], |row| rows::read(row, 0)).optional()
}

/// Something that was in a place, or nothing.
fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Option<Found>> {
    match row.get::<_, Option<i64>>(from)? {
        Some(_) => rows::read(row, from).map(Some),
        None => Ok(None),
    }
}

/// The first change that can still be taken back, and the last one.
fn span(db: &Connection) -> Result<(i64, i64), FilesError> {
    let sql = "SELECT coalesce(min(version), 1), coalesce(max(version), 0) FROM changes";
    let mut statement = db.prepare_cached(sql).map_err(trouble)?;
    statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(trouble)
}

pub(super) fn earlier(rows: &Rows<'_>, path: &GuestPath, version: u64) -> Result<Option<Vec<u8>>, FilesError> {
    let version = i64::try_from(version).unwrap_or(i64::MAX);
    let (first, last) = span(rows.db)?;
    if version > last || version + 1 < first {
        return Err(unknown(version, first, last));
    }
    match after(rows.db, &key(path), version).map_err(trouble)? {
        Some(Found { kind: NodeKind::File, content: Some(id), .. }) => {
            rows.content(id)?.bytes(rows.chunks, 0, u64::MAX).map(Some)
        }
        Some(_) => Err(FilesReason::NotAFile("no file in that version").into()),
        None => Ok(None),
    }
}

/// Takes back the last change, or all from one on.
pub(super) fn undo(draft: &mut Drafting<'_>, version: Option<u64>) -> Result<(u64, Vec<String>), FilesError> {
    let (first, last) = span(draft.rows.db)?;
    let from = version.map_or(last, |version| i64::try_from(version).unwrap_or(i64::MAX));
    if from < first || from > last {
        return Err(unknown(from, first, last));
    }
    let sql = format!("SELECT path, {COLUMNS} FROM before WHERE version >= ?1 ORDER BY version");
    let mut were: BTreeMap<String, Option<Found>> = BTreeMap::new();
    {
        let mut statement = draft.rows.db.prepare_cached(&sql).map_err(trouble)?;
        let mut found = statement.query([from]).map_err(trouble)?;
        while let Some(row) = found.next().map_err(trouble)? {
            let was = read(row, 1).map_err(trouble)?;
            // The first is how it was before all of them.
            were.entry(row.get(0).map_err(trouble)?).or_insert(was);
        }
    }
    for (key, was) in &were {
        draft.replace(key, was.as_ref())?;
    }
    Ok((from.cast_unsigned(), were.keys().map(|key| shown(key)).collect()))
}

fn unknown(version: i64, first: i64, last: i64) -> FilesError {
    let why = match last {
        0 => "nothing was changed yet".into(),
        _ => format!("there is no change {version} to go back to: {first} to {last} are kept"),
    };
    FilesReason::Invalid(why).into()
}

/// Forgets the oldest changes while there are too many, and says how many bytes the others keep.
pub(super) fn prune(db: &Connection, latest: i64, mut bytes: i64) -> Result<i64, FilesError> {
    let (mut first, _) = span(db)?;
    // The latest stays, whatever its size: it is what one wants to take back.
    while first < latest && (latest - first >= CHANGES_KEPT || bytes > BEFORE_BYTES_MAX) {
        let sql = "SELECT content, size FROM before WHERE version = ?1 AND content IS NOT NULL";
        let mut statement = db.prepare_cached(sql).map_err(trouble)?;
        let held = statement.query_map([first], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        let held: Vec<(i64, i64)> = held.and_then(Iterator::collect).map_err(trouble)?;
        for (id, size) in held {
            content::unused(db, id)?;
            bytes -= size;
        }
        for sql in ["DELETE FROM before WHERE version = ?1", "DELETE FROM changes WHERE version = ?1"] {
            db.prepare_cached(sql).and_then(|mut statement| statement.execute([first])).map_err(trouble)?;
        }
        first += 1;
    }
    Ok(bytes)
}
