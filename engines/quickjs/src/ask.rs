//! Calls that come as JSON with bytes beside it: everything but tools, timers and reading bodies.
//!
//! ```text
//! length of the JSON u32 · JSON · bytes
//! ```

use isolith_core::{HostCall, Json, KvOp};
use std::collections::BTreeMap;

// THREAT[T-ENGINE-001]: an interpreter with a memory bug may be made to send anything; whatever it sends is checked here.
/// Reads what `ask` of `guest/calls.c` sent; nothing when it is malformed.
pub(crate) fn read(data: &[u8]) -> Option<HostCall> {
    let (len, rest) = data.split_first_chunk()?;
    let (json, bytes) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let json = std::str::from_utf8(json).ok()?;
    if json.contains("\"kind\":\"invoke\"") || json.contains("\"op\":\"put\"") {
        if let Some(call) = read_with_value(json) {
            return Some(call);
        }
    }
    HostCall::from_guest(json, bytes.to_vec())
}

/// The two calls that carry a value of the program. Serde reads a tagged enum through a buffer, in which a value is no longer
/// the text it came as: depth would be bounded, lone surrogates refused and numbers changed. Here the text is kept.
fn read_with_value(json: &str) -> Option<HostCall> {
    let mut fields: BTreeMap<String, Json> = Json::from_text(json.to_owned()).ok()?.parse().ok()?;
    let is = |key: &str, text: &str| fields.get(key).is_some_and(|json| json.text() == text);
    if is("kind", "\"invoke\"") {
        let args = fields.remove("args");
        return Some(HostCall::Invoke { name: fields.remove("name")?.parse().ok()?, args });
    }
    if !is("kind", "\"kv\"") || !is("op", "\"put\"") {
        return None;
    }
    let optional = |json: Option<Json>| json.map_or(Some(None), |json| json.parse::<Option<u64>>().ok());
    let op = KvOp::Put {
        key: fields.remove("key")?.parse().ok()?,
        // What `toJSON` made nothing of is null, as it is in a list.
        value: fields.remove("value").unwrap_or_else(Json::null),
        ttl_ms: optional(fields.remove("ttl_ms"))?,
        metadata: fields.remove("metadata"),
        expect: optional(fields.remove("expect"))?,
    };
    Some(HostCall::Kv { space: fields.remove("space")?.parse().ok()?, op })
}
