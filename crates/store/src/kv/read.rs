//! Reading keys.

use super::check::invalid;
use super::{Answer, Problem};
use isolith_core::{BindingName, CallError, Json, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::fmt::Write as _;

/// The most one reply holds.
const REPLY_BYTES_MAX: usize = 32 << 20;
const PAGE_KEYS: u32 = 100;
const PAGE_KEYS_MAX: u32 = 1000;

// An expired entry is not there, whether or not it was swept away yet.
const GET: &str = "SELECT e.version, e.expires_us, e.metadata, e.value FROM spaces s JOIN entries e ON e.space = s.id
    WHERE s.name = ?1 AND e.key = ?2 AND (e.expires_us IS NULL OR e.expires_us > ?3)";
const LIST: &str = "SELECT e.version, e.expires_us, e.metadata, e.key FROM spaces s JOIN entries e ON e.space = s.id
    WHERE s.name = ?1 AND e.key >= ?2 AND e.key > ?3 AND (e.expires_us IS NULL OR e.expires_us > ?4) ORDER BY e.key LIMIT ?5";

/// One entry for each key, as JSON text put together from what is kept: values are neither parsed nor changed.
pub(super) fn get(db: &Connection, space: &BindingName, keys: &[String], now: Timestamp) -> Answer {
    let mut statement = db.prepare_cached(GET)?;
    let mut json = String::from("[");
    for (position, key) in keys.iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        let found = statement
            .query_row((space.as_str(), key, micros(now)), |row| {
                json.push_str("{\"value\":");
                json.push_str(text(row, 3)?.unwrap_or("null"));
                json.push(',');
                push_rest(&mut json, row)
            })
            .optional()?;
        if found.is_none() {
            json.push_str("null");
        }
        // THREAT[T-KV-003]: many large values under one `get` would be the host's memory.
        if json.len() > REPLY_BYTES_MAX {
            let message =
                format!("the values have more than {} MiB together: read fewer at once", REPLY_BYTES_MAX >> 20);
            return Err(CallError { name: "RangeError".into(), message, code: Some("kv.too_large".into()) }.into());
        }
    }
    json.push(']');
    whole(json)
}

/// The keys that start with `prefix`, in order of their bytes, a page at a time.
pub(super) fn list(
    db: &Connection,
    space: &BindingName,
    prefix: &str,
    cursor: Option<&str>,
    limit: Option<u32>,
    now: Timestamp,
) -> Answer {
    let limit = limit.unwrap_or(PAGE_KEYS).clamp(1, PAGE_KEYS_MAX);
    let after = cursor.map(|cursor| key_of(cursor).ok_or_else(|| invalid("the cursor is not from a list".into())));
    let after = after.transpose()?.unwrap_or_default();
    let mut statement = db.prepare_cached(LIST)?;
    let mut rows = statement.query((space.as_str(), prefix, &after, micros(now), i64::from(limit) + 1))?;
    let mut json = String::from("{\"keys\":[");
    let (mut count, mut last, mut more) = (0, String::new(), false);
    while let Some(row) = rows.next()? {
        let key = text(row, 3)?.unwrap_or_default();
        if !key.starts_with(prefix) {
            break;
        }
        if count == limit {
            more = true;
            break;
        }
        json.push_str(if count == 0 { "{\"key\":" } else { ",{\"key\":" });
        json.push_str(&quoted(key));
        json.push(',');
        push_rest(&mut json, row)?;
        count += 1;
        last.clear();
        last.push_str(key);
    }
    json.push_str("],\"cursor\":");
    json.push_str(&if more { quoted(&cursor_of(&last)) } else { "null".into() });
    json.push('}');
    whole(json)
}

fn push_rest(json: &mut String, row: &Row<'_>) -> rusqlite::Result<()> {
    let (version, expires): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
    json.push_str("\"metadata\":");
    json.push_str(text(row, 2)?.unwrap_or("null"));
    let _ = write!(json, ",\"version\":{version},\"expires\":");
    let _ = match expires {
        Some(micros) => write!(json, "{}}}", micros / 1000),
        None => write!(json, "null}}"),
    };
    Ok(())
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Option<&'a str>> {
    Ok(row.get_ref(column)?.as_str_or_null()?)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

// What is kept was JSON when it was put; if it is not any more, then the file is not what it was.
fn whole(json: String) -> Answer {
    Json::from_text(json).map_err(|_| Problem::Database(crate::database::corrupt()))
}

/// SQLite's integers have a sign. No moment is that late.
pub(super) fn micros(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}

fn cursor_of(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn key_of(cursor: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = cursor.as_bytes().chunks_exact(2);
    if cursor.len() > 1024 || !pairs.remainder().is_empty() {
        return None;
    }
    let bytes: Option<Vec<u8>> = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
    String::from_utf8(bytes?).ok()
}
