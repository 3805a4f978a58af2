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
    let carries_value = json.contains("\"kind\":\"invoke\"") || json.contains("\"op\":\"put\"");
    let call = if carries_value { read_with_value(json) } else { None };
    call.or_else(|| HostCall::from_guest(json, bytes.to_vec()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{BodyId, RequestId};

    fn data(json: &str, bytes: &[u8]) -> Vec<u8> {
        let mut data = (json.len() as u32).to_le_bytes().to_vec();
        data.extend(json.as_bytes());
        data.extend(bytes);
        data
    }

    #[test]
    fn a_call_comes_with_its_bytes() {
        let json = r#"{"kind":"write_body","request":3,"last":true}"#;
        let call = HostCall::WriteBody { request: RequestId(3), bytes: b"xy".to_vec(), last: true };
        assert_eq!(read(&data(json, b"xy")), Some(call));
        let call = HostCall::Drop { request: None, body: Some(BodyId(2)) };
        assert_eq!(read(&data(r#"{"kind":"drop","body":2}"#, b"")), Some(call));
    }

    #[test]
    fn a_value_that_looks_like_another_call_is_only_a_value() {
        let json = r#"{"kind":"kv","space":"s","op":"put","key":"k","value":{"kind":"invoke","op":"put"},"expect":0}"#;
        let value = Json::from_text(r#"{"kind":"invoke","op":"put"}"#.into()).unwrap_or_else(|_| Json::null());
        let op = KvOp::Put { key: "k".into(), value, ttl_ms: None, metadata: None, expect: Some(0) };
        let read = read(&data(json, b""));
        assert!(matches!(&read, Some(HostCall::Kv { op: found, .. }) if *found == op), "{read:?}");
    }

    #[test]
    fn a_guest_that_lies_is_not_believed() {
        let malformed = [
            "",
            "{",
            "null",
            r#"{"kind":"nope"}"#,
            // These have a way of their own.
            r#"{"kind":"tool","name":"echo"}"#,
            r#"{"kind":"sleep","until":1}"#,
            r#"{"kind":"read_body","body":1,"most_bytes":1}"#,
            r#"{"kind":"invoke","name":"not a name"}"#,
            r#"{"kind":"invoke"}"#,
            r#"{"kind":"reveal","name":"a b"}"#,
            r#"{"kind":"kv","space":"s","op":"put","value":1}"#,
            r#"{"kind":"kv","space":"s","op":"put","key":"k","value":1,"expect":-1}"#,
            r#"{"kind":"kv","space":"1","op":"put","key":"k","value":1}"#,
            r#"{"kind":"kv","space":"s","op":"put","key":"k","value":1,"ttl_ms":1.5}"#,
            r#"{"kind":"files","op":"read","path":"\ud800"}"#,
            r#"{"kind":"drop","body":1} {}"#,
        ];
        for json in malformed {
            assert_eq!(read(&data(json, b"")), None, "{json}");
        }
        let whole = data(r#"{"kind":"drop","body":1}"#, b"");
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), None, "cut at {cut}");
        }
        let mut beyond = whole.clone();
        beyond[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&beyond), None);
        let mut binary = whole;
        binary[10] = 0xff;
        assert_eq!(read(&binary), None);
    }
}
