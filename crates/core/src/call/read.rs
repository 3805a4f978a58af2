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
        value: fields.remove("value").unwrap_or_else(Json::null),
        ttl_ms: number(fields.remove("ttl_ms"))?,
        metadata: fields.remove("metadata"),
        expect: number(fields.remove("expect"))?,
    };
    Some(HostCall::Kv { space: fields.remove("space")?.parse().ok()?, op })
}

#[cfg(test)]
mod tests {
    use crate::{BindingName, CallId, HostCall, Json, KvOp, PendingCall, Timestamp, ToolName};

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
}
