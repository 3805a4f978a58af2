//! What a guest may ask of a key space.

use isolith_core::{CallError, Json, KvOp};

const KEY_BYTES_MAX: usize = 512;
const VALUE_BYTES_MAX: usize = 16 << 20;
const METADATA_BYTES_MAX: usize = 4 << 10;
/// The most keys of one `get`.
const KEYS_MAX: usize = 1000;

/// Refuses what cannot be kept or found.
// THREAT[T-KV-002]: sizes and counts are the guest's choice, so each has a bound before the database sees it.
pub(super) fn check(op: &KvOp) -> Result<(), CallError> {
    match op {
        KvOp::Get { keys } if keys.len() > KEYS_MAX => {
            Err(invalid(format!("at most {KEYS_MAX} keys can be read at once, not {}", keys.len())))
        }
        KvOp::Get { keys } => keys.iter().try_for_each(|key| name(key)),
        KvOp::Put { key, value, metadata, .. } => {
            name(key)?;
            within("a value", value, VALUE_BYTES_MAX)?;
            metadata.as_ref().map_or(Ok(()), |metadata| within("metadata", metadata, METADATA_BYTES_MAX))
        }
        KvOp::Delete { key, .. } => name(key),
        KvOp::List { prefix, .. } if prefix.len() > KEY_BYTES_MAX => {
            Err(invalid(format!("a prefix has at most {KEY_BYTES_MAX} bytes, not {}", prefix.len())))
        }
        KvOp::List { .. } => Ok(()),
    }
}

fn name(key: &str) -> Result<(), CallError> {
    match key.len() {
        1..=KEY_BYTES_MAX => Ok(()),
        bytes => Err(invalid(format!("a key has 1 to {KEY_BYTES_MAX} bytes of UTF-8, not {bytes}"))),
    }
}

fn within(what: &str, json: &Json, most: usize) -> Result<(), CallError> {
    match json.text().len() {
        bytes if bytes <= most => Ok(()),
        bytes => Err(invalid(format!("{what} has at most {most} bytes of JSON, not {bytes}"))),
    }
}

pub(super) fn invalid(message: String) -> CallError {
    CallError { name: "TypeError".into(), message, code: Some("kv.invalid".into()) }
}
