//! Calls that come as JSON with bytes beside it: everything but tools, timers and reading bodies.

use isolith_core::{HostCall, Json, KvOp};
use std::collections::BTreeMap;

// THREAT[T-ENGINE-001]: an engine with a memory bug may be made to send anything; whatever it sends is checked here.
/// Reads one; nothing when it makes no sense.
pub(crate) fn read(json: &str, bytes: &[u8]) -> Option<HostCall> {
    let carries_value = json.contains("\"kind\":\"invoke\"") || json.contains("\"op\":\"put\"");
    let call = if carries_value { read_with_value(json) } else { None };
    call.or_else(|| HostCall::from_guest(json, bytes.to_vec()))
}

/// The two calls that carry a value of the program, whose text is kept as it is: serde would change numbers and refuse some texts.
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
    use super::read;

    #[test]
    fn a_guest_that_lies_is_not_believed() {
        let malformed = [
            "",
            "{",
            "null",
            r#"{"kind":"nope"}"#,
            r#"{"kind":"tool","name":"echo"}"#,
            r#"{"kind":"sleep","until":1}"#,
            r#"{"kind":"invoke"}"#,
            r#"{"kind":"kv","space":"s","op":"put","value":1}"#,
            r#"{"kind":"kv","space":"1","op":"put","key":"k","value":1}"#,
            r#"{"kind":"drop","body":1} {}"#,
        ];
        for json in malformed {
            assert_eq!(read(json, b""), None, "{json}");
        }
        assert!(read(r#"{"kind":"drop","body":1}"#, b"").is_some());
        assert!(read(r#"{"kind":"invoke","name":"x","args":{"op":"put"}}"#, b"").is_some());
    }
}
