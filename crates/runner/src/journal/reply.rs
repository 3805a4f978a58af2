//! A reply as a journal holds it: JSON of the program's as its very text, bytes as text where they are text.

use isolith_core::{BodyId, CallError, HostReply, Json};
use serde::{Deserialize, Serialize};

/// Serde names a variant from outside, because what is named from inside it gathers first, and [`Json`] cannot be read from that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Undefined,
    Value(Json),
    Body { body: BodyId, length: Option<u64> },
    Bytes(Content),
    Response { status: u16, head: Json, whole: Content },
    Failed(CallError),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    Text(String),
    Hex(String),
}

impl From<&HostReply> for Reply {
    fn from(reply: &HostReply) -> Reply {
        match reply {
            HostReply::Value { json: None } => Reply::Undefined,
            HostReply::Value { json: Some(json) } => Reply::Value(json.clone()),
            HostReply::Body { body, length } => Reply::Body { body: *body, length: *length },
            HostReply::Bytes { bytes } => Reply::Bytes(bytes.as_slice().into()),
            HostReply::Response { head, status, whole } => {
                Reply::Response { status: *status, head: head.clone(), whole: whole.as_slice().into() }
            }
            HostReply::Failed { error } => Reply::Failed(error.clone()),
        }
    }
}

impl Reply {
    /// As the guest sees it; nothing when the bytes make no sense.
    pub(crate) fn to_host(&self) -> Option<HostReply> {
        Some(match self {
            Reply::Undefined => HostReply::Value { json: None },
            Reply::Value(json) => HostReply::Value { json: Some(json.clone()) },
            Reply::Body { body, length } => HostReply::Body { body: *body, length: *length },
            Reply::Bytes(content) => HostReply::Bytes { bytes: content.bytes()? },
            Reply::Response { status, head, whole } => {
                HostReply::Response { head: head.clone(), status: *status, whole: whole.bytes()? }
            }
            Reply::Failed(error) => HostReply::Failed { error: error.clone() },
        })
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Content {
        match std::str::from_utf8(bytes) {
            Ok(text) => Content::Text(text.to_owned()),
            Err(_) => Content::Hex(hex(bytes)),
        }
    }
}

impl Content {
    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Content::Text(text) => Some(text.clone().into_bytes()),
            Content::Hex(digits) => unhex(digits),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_as_it_was() {
        let json = |text: &str| Json::from_text(text.into()).unwrap();
        let error = CallError { name: "Error".into(), message: "no".into(), code: Some("tool.failed".into()) };
        let replies = [
            HostReply::Value { json: None },
            HostReply::Value { json: Some(Json::null()) },
            HostReply::Value { json: Some(json(r#"{"a":["\ud800",1e400,0.10]}"#)) },
            HostReply::Body { body: BodyId(3), length: None },
            HostReply::Body { body: BodyId(3), length: Some(5) },
            HostReply::Bytes { bytes: Vec::new() },
            HostReply::Bytes { bytes: "tëxt\0".into() },
            HostReply::Bytes { bytes: (0..=255).collect() },
            HostReply::Response { head: json(r#"{"url":"u"}"#), status: 200, whole: vec![0xff, 0] },
            HostReply::Failed { error: CallError { code: None, ..error.clone() } },
            HostReply::Failed { error },
        ];
        for reply in replies {
            let text = serde_json::to_string(&Reply::from(&reply)).unwrap();
            assert_eq!(serde_json::from_str::<Reply>(&text).unwrap().to_host(), Some(reply), "{text}");
        }
        assert_eq!((unhex("0"), unhex("0g")), (None, None));
    }
}
