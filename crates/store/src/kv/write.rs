//! Changing keys, each time in one transaction.

use super::Answer;
use super::read::micros;
use isolith_core::{BindingName, CallError, Json, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

/// How many expired entries a write takes away besides.
const SWEEP_ENTRIES: u32 = 64;
/// How many at a time when there is no room otherwise.
const SWEEP_ENTRIES_MAX: u32 = 1000;

const SPACE: &str = "INSERT INTO spaces (name) VALUES (?1) ON CONFLICT (name) DO NOTHING";
const STATE: &str = "SELECT id, used_bytes, version FROM spaces WHERE name = ?1";
const FIND: &str = "SELECT id, version, bytes, expires_us FROM entries WHERE space = ?1 AND key = ?2";
const REMOVE: &str = "DELETE FROM entries WHERE id = ?1";
const INSERT: &str = "INSERT INTO entries (space, key, version, expires_us, bytes, metadata, value)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const UPDATE: &str =
    "UPDATE entries SET version = ?2, expires_us = ?3, bytes = ?4, metadata = ?5, value = ?6 WHERE id = ?1";
const SETTLE: &str = "UPDATE spaces SET used_bytes = ?2, version = ?3 WHERE id = ?1";
const EXPIRED: &str = "SELECT id, bytes FROM entries WHERE space = ?1 AND expires_us <= ?2 LIMIT ?3";

/// What is to be kept.
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) metadata: Option<&'a str>,
    pub(super) expires: Option<Timestamp>,
}

impl Entry<'_> {
    fn bytes(&self) -> u64 {
        (self.key.len() + self.value.len() + self.metadata.map_or(0, str::len)) as u64
    }
}

/// A space within a transaction. What changed about it is written at the end.
struct Space<'a> {
    change: Transaction<'a>,
    id: i64,
    used: u64,
    version: u64,
}

/// An entry that is there. One that expired is about to be gone.
struct Found {
    id: i64,
    version: u64,
    bytes: u64,
    expired: bool,
}

pub(super) fn put(
    db: &mut Connection,
    space: &BindingName,
    quota_bytes: u64,
    entry: &Entry<'_>,
    expect: Option<u64>,
    now: Timestamp,
) -> Answer {
    // Immediate: whoever reads in order to write has to be alone from the start, or two would find the same version.
    let mut space = Space::open(db, space)?;
    let found = space.find(entry.key, now)?;
    if !as_expected(found.as_ref(), expect) {
        return Ok(Json::null());
    }
    let mut before = found;
    // THREAT[T-KV-004]: the room is measured and taken in one transaction, so that no two writes take the same room.
    while space.after(before.as_ref(), entry) > quota_bytes {
        // What expired takes room until it is swept; nobody should be refused because of that.
        if space.sweep(SWEEP_ENTRIES_MAX, now)? == 0 {
            let used = space.used;
            let rest = format!("{used} of {quota_bytes} bytes are used, and this entry has {}", entry.bytes());
            let message = format!("the key space is full: {rest}");
            return Err(CallError { name: "RangeError".into(), message, code: Some("kv.quota".into()) }.into());
        }
        before = space.find(entry.key, now)?;
    }
    space.version += 1;
    space.used = space.after(before.as_ref(), entry);
    let (version, bytes) = (space.version as i64, entry.bytes() as i64);
    let expires = entry.expires.map(micros);
    match before {
        Some(found) => space.change.prepare_cached(UPDATE)?.execute((
            found.id,
            version,
            expires,
            bytes,
            entry.metadata,
            entry.value,
        ))?,
        None => space.change.prepare_cached(INSERT)?.execute((
            space.id,
            entry.key,
            version,
            expires,
            bytes,
            entry.metadata,
            entry.value,
        ))?,
    };
    space.sweep(SWEEP_ENTRIES, now)?;
    space.commit()?;
    number(version)
}

pub(super) fn delete(
    db: &mut Connection,
    space: &BindingName,
    key: &str,
    expect: Option<u64>,
    now: Timestamp,
) -> Answer {
    let mut space = Space::open(db, space)?;
    let found = space.find(key, now)?;
    if !as_expected(found.as_ref(), expect) {
        return Ok(Json::null());
    }
    let there = found.as_ref().is_some_and(|found| !found.expired);
    if let Some(found) = found {
        space.change.prepare_cached(REMOVE)?.execute([found.id])?;
        space.used = space.used.saturating_sub(found.bytes);
    }
    space.sweep(SWEEP_ENTRIES, now)?;
    space.commit()?;
    text(if there { "true" } else { "false" })
}

fn as_expected(found: Option<&Found>, expect: Option<u64>) -> bool {
    let version = found.filter(|found| !found.expired).map_or(0, |found| found.version);
    expect.is_none_or(|expect| expect == version)
}

impl<'a> Space<'a> {
    fn open(db: &'a mut Connection, name: &BindingName) -> rusqlite::Result<Self> {
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let state = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let found = change.prepare_cached(STATE)?.query_row([name.as_str()], state).optional()?;
        let (id, used, version) = match found {
            Some(found) => found,
            None => {
                change.prepare_cached(SPACE)?.execute([name.as_str()])?;
                (change.last_insert_rowid(), 0, 0)
            }
        };
        Ok(Space { change, id, used: used.max(0).cast_unsigned(), version: version.max(0).cast_unsigned() })
    }

    fn find(&self, key: &str, now: Timestamp) -> rusqlite::Result<Option<Found>> {
        let found = |row: &rusqlite::Row<'_>| {
            Ok(Found {
                id: row.get(0)?,
                version: row.get::<_, i64>(1)?.cast_unsigned(),
                bytes: row.get::<_, i64>(2)?.cast_unsigned(),
                expired: row.get::<_, Option<i64>>(3)?.is_some_and(|expires| expires <= micros(now)),
            })
        };
        self.change.prepare_cached(FIND)?.query_row((self.id, key), found).optional()
    }

    /// What the space would hold with this entry in place of the one that is there.
    fn after(&self, before: Option<&Found>, entry: &Entry<'_>) -> u64 {
        let rest = self.used.saturating_sub(before.map_or(0, |found| found.bytes));
        rest.saturating_add(entry.bytes())
    }

    // THREAT[T-KV-005]: only this space. `now` is what one run takes for the time, and no run may make entries of others expire.
    fn sweep(&mut self, most: u32, now: Timestamp) -> rusqlite::Result<usize> {
        let mut find = self.change.prepare_cached(EXPIRED)?;
        let expired =
            find.query_map((self.id, micros(now), most), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        let expired: Vec<(i64, i64)> = expired.collect::<rusqlite::Result<_>>()?;
        for (id, bytes) in &expired {
            self.change.prepare_cached(REMOVE)?.execute([id])?;
            self.used = self.used.saturating_sub(bytes.cast_unsigned());
        }
        Ok(expired.len())
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.change.prepare_cached(SETTLE)?.execute((self.id, self.used.cast_signed(), self.version.cast_signed()))?;
        self.change.commit()
    }
}

fn number(number: i64) -> Answer {
    text(&number.to_string())
}

fn text(json: &str) -> Answer {
    Ok(Json::from_text(json.to_owned()).unwrap_or_else(|_| Json::null()))
}
