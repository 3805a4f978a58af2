//! A reply, between its type and two columns: what it is, and its content as it came.
//!
//! JSON of a program is kept as its very text, and not within other JSON: it may hold escapes that no parser of ours takes.

use crate::database::corrupt;
use isolith_core::{BodyId, HostReply, Json};
use rusqlite::Row;
use std::borrow::Cow;

const VALUE: &str = "value";
const BODY: &str = "body";
const BYTES: &str = "bytes";
const FAILED: &str = "failed";

/// The kind, and the content where there is any: `undefined` has none.
pub(super) fn columns(reply: &HostReply) -> (&'static str, Option<Cow<'_, [u8]>>) {
    // Plain data of ours always has a JSON form.
    match reply {
        HostReply::Value { json } => (VALUE, json.as_ref().map(|json| json.text().as_bytes().into())),
        HostReply::Body { body, length } => (BODY, serde_json::to_vec(&(body, length)).ok().map(Cow::from)),
        HostReply::Bytes { bytes } => (BYTES, Some(bytes.into())),
        // No client answers a call with a response: those are the gate's own.
        HostReply::Response { .. } => (BYTES, None),
        HostReply::Failed { error } => (FAILED, serde_json::to_vec(error).ok().map(Cow::from)),
    }
}

/// What the two columns from `at` on say.
pub(super) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<HostReply> {
    let kind = row.get_ref(at)?.as_str()?;
    let content = row.get_ref(at + 1)?.as_blob_or_null()?;
    reply(kind, content).ok_or_else(corrupt)
}

fn reply(kind: &str, content: Option<&[u8]>) -> Option<HostReply> {
    Some(match (kind, content) {
        (VALUE, None) => HostReply::Value { json: None },
        (VALUE, Some(text)) => {
            let text = String::from_utf8(text.to_vec()).ok()?;
            HostReply::Value { json: Some(Json::from_text(text).ok()?) }
        }
        (BODY, Some(text)) => {
            let (body, length): (BodyId, Option<u64>) = serde_json::from_slice(text).ok()?;
            HostReply::Body { body, length }
        }
        (BYTES, Some(bytes)) => HostReply::Bytes { bytes: bytes.to_vec() },
        (FAILED, Some(text)) => HostReply::Failed { error: serde_json::from_slice(text).ok()? },
        _ => return None,
    })
}
