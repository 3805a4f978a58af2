//! Reading a call back from JSON.
//!
//! Serde gathers a tagged variant before it reads it, and a [`Json`] cannot be read from what was gathered: it is kept as the text
//! it came as. So the calls that carry a value of the program are read by hand here, and the others by what serde derived.

use super::{HostCall, KvOp};
use crate::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

impl Serialize for HostCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        HostCall::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for HostCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Json::deserialize(deserializer)?;
        match with_value(&whole) {
            Some(call) => Ok(call),
            None => {
                HostCall::deserialize(&mut serde_json::Deserializer::from_str(whole.text())).map_err(D::Error::custom)
            }
        }
    }
}

impl HostCall {
    // THREAT[T-ENGINE-001]: an interpreter with a memory bug may be made to send anything; whatever it sends is checked here.
    /// Reads what a guest sends for any call but a tool's, a timer's and a body's: JSON with a `kind`, and bytes beside it.
    pub fn from_guest(json: &str, bytes: &[u8]) -> Option<HostCall> {
        let call = if may_carry_value(json) { with_value(&Json::from_text(json.to_owned()).ok()?) } else { None };
        let mut call = call.or_else(|| without_value(json))?;
        match &mut call {
            HostCall::Fetch(fetch) if !fetch.streamed => fetch.body = fetch.body.is_some().then(|| bytes.to_vec()),
            HostCall::Files { bytes: own, .. } | HostCall::WriteBody { bytes: own, .. } => *own = bytes.to_vec(),
            HostCall::Fetch(_)
            | HostCall::Kv { .. }
            | HostCall::Invoke { .. }
            | HostCall::Reveal { .. }
            | HostCall::Drop { .. } => {}
            // These have a way of their own.
            HostCall::Tool { .. } | HostCall::Sleep { .. } | HostCall::ReadBody { .. } => return None,
        }
        Some(call)
    }
}

/// Most calls carry none, and need not be taken apart to see that.
fn may_carry_value(json: &str) -> bool {
    json.contains("\"kind\":\"invoke\"") || json.contains("\"op\":\"put\"")
}

fn without_value(json: &str) -> Option<HostCall> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let call = HostCall::deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(call)
}

fn with_value(whole: &Json) -> Option<HostCall> {
    let mut fields: BTreeMap<String, Json> = whole.parse().ok()?;
    let is = |key: &str, text: &str| fields.get(key).is_some_and(|json| json.text() == text);
    if is("kind", "\"tool\"") {
        let args = fields.remove("args");
        return Some(HostCall::Tool { name: fields.remove("name")?.parse().ok()?, args });
    }
    if is("kind", "\"invoke\"") {
        let args = fields.remove("args");
        return Some(HostCall::Invoke { name: fields.remove("name")?.parse().ok()?, args });
    }
    if !is("kind", "\"kv\"") || !is("op", "\"put\"") {
        return None;
    }
    let number = |json: Option<Json>| json.map_or(Some(None), |json| json.parse::<Option<u64>>().ok());
    let op = KvOp::Put {
        key: fields.remove("key")?.parse().ok()?,
        // What `toJSON` made nothing of is null, as it is in a list.
        value: fields.remove("value").unwrap_or_else(Json::null),
        ttl_ms: number(fields.remove("ttl_ms"))?,
        metadata: fields.remove("metadata"),
        expect: number(fields.remove("expect"))?,
    };
    Some(HostCall::Kv { space: fields.remove("space")?.parse().ok()?, op })
}

#[cfg(test)]
mod tests {
    use crate::{BindingName, BodyId, CallId, HostCall, Json, KvOp, PendingCall, RequestId, Timestamp, ToolName};

    #[test]
    fn every_kind_comes_back_as_it_was() {
        let name = || BindingName::new("x").unwrap();
        let json = |text: &str| Json::from_text(text.into()).unwrap();
        let calls = [
            HostCall::Tool { name: name().into(), args: Some(json(r#"{"a":[1,"\ud800",1e400]}"#)) },
            HostCall::Tool { name: ToolName::new("x.y").unwrap(), args: None },
            HostCall::Tool { name: name().into(), args: Some(Json::null()) },
            HostCall::Invoke { name: name(), args: Some(json("0.10")) },
            HostCall::Kv {
                space: name(),
                op: KvOp::Put { key: "k".into(), value: json("[1]"), ttl_ms: Some(3), metadata: None, expect: Some(0) },
            },
            HostCall::Kv { space: name(), op: KvOp::Get { keys: vec!["k".into()] } },
            HostCall::Sleep { until: Timestamp::from_micros(5) },
        ];
        for call in calls {
            let pending = PendingCall { id: CallId(7), call };
            let text = serde_json::to_string(&pending).unwrap();
            assert_eq!(serde_json::from_str::<PendingCall>(&text).unwrap(), pending, "{text}");
        }
    }

    #[test]
    fn a_call_comes_with_its_bytes() {
        let json = r#"{"kind":"write_body","request":3,"last":true}"#;
        let call = HostCall::WriteBody { request: RequestId(3), bytes: b"xy".to_vec(), last: true };
        assert_eq!(HostCall::from_guest(json, b"xy"), Some(call));
        let call = HostCall::Drop { request: None, body: Some(BodyId(2)) };
        assert_eq!(HostCall::from_guest(r#"{"kind":"drop","body":2}"#, b""), Some(call));
    }

    #[test]
    fn a_value_that_looks_like_another_call_is_only_a_value() {
        let json = r#"{"kind":"kv","space":"s","op":"put","key":"k","value":{"kind":"invoke","op":"put"},"expect":0}"#;
        let value = Json::from_text(r#"{"kind":"invoke","op":"put"}"#.into()).unwrap_or_else(|_| Json::null());
        let op = KvOp::Put { key: "k".into(), value, ttl_ms: None, metadata: None, expect: Some(0) };
        let read = HostCall::from_guest(json, b"");
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
            assert_eq!(HostCall::from_guest(json, b""), None, "{json}");
        }
    }
}
