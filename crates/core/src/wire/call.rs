//! Calls and their answers. A call is JSON with its bytes beside it, as it comes from a guest.

use super::Malformed;
use super::bytes::{Reader, Writer};
use crate::{BodyId, CallError, CallId, FetchCall, HostCall, HostReply, PendingCall};

pub(super) fn write_call(to: &mut Writer, PendingCall { id, call }: &PendingCall) {
    to.number(id.0.into());
    let (light, bytes) = taken_apart(call);
    to.data(light.as_ref().unwrap_or(call));
    to.bytes(bytes);
}

pub(super) fn read_call(from: &mut Reader<'_>) -> Result<PendingCall, Malformed> {
    let id = CallId(from.small()?);
    let mut call: HostCall = from.data()?;
    let bytes = from.bytes()?;
    match &mut call {
        HostCall::Files { bytes: own, .. } | HostCall::WriteBody { bytes: own, .. } => *own = bytes.to_vec(),
        HostCall::Fetch(fetch) if fetch.body.is_some() => fetch.body = Some(bytes.to_vec()),
        _ if bytes.is_empty() => {}
        _ => return Err(Malformed),
    }
    Ok(PendingCall { id, call })
}

/// A call without its bytes, where it has any, and those.
fn taken_apart(call: &HostCall) -> (Option<HostCall>, &[u8]) {
    match call {
        HostCall::Files { op, bytes } => (Some(HostCall::Files { op: op.clone(), bytes: Vec::new() }), bytes),
        HostCall::WriteBody { request, bytes, last } => {
            (Some(HostCall::WriteBody { request: *request, bytes: Vec::new(), last: *last }), bytes)
        }
        HostCall::Fetch(fetch) => match &fetch.body {
            Some(body) => {
                let FetchCall { request, url, method, headers, redirect, streamed, body: _ } = &**fetch;
                let light = FetchCall {
                    request: *request,
                    url: url.clone(),
                    method: method.clone(),
                    headers: headers.clone(),
                    redirect: *redirect,
                    streamed: *streamed,
                    body: Some(Vec::new()),
                };
                (Some(HostCall::Fetch(Box::new(light))), body)
            }
            None => (None, &[]),
        },
        HostCall::Tool { .. }
        | HostCall::Kv { .. }
        | HostCall::Invoke { .. }
        | HostCall::Reveal { .. }
        | HostCall::Drop { .. }
        | HostCall::Sleep { .. }
        | HostCall::ReadBody { .. } => (None, &[]),
    }
}

pub(super) fn write_reply(to: &mut Writer, (id, reply): &(CallId, HostReply)) {
    to.number(id.0.into());
    match reply {
        HostReply::Value { json } => {
            to.byte(0);
            to.maybe(json.as_ref(), |to, json| to.text(json.text()));
        }
        HostReply::Body { body, length } => {
            to.byte(1);
            to.number(body.0.into());
            to.maybe(*length, Writer::number);
        }
        HostReply::Bytes { bytes } => {
            to.byte(2);
            to.bytes(bytes);
        }
        HostReply::Failed { error: CallError { name, message, code } } => {
            to.byte(3);
            to.text(name);
            to.text(message);
            to.maybe(code.as_deref(), Writer::text);
        }
        HostReply::Response { head, status, whole } => {
            to.byte(4);
            to.text(head.text());
            to.number((*status).into());
            to.bytes(whole);
        }
    }
}

pub(super) fn read_reply(from: &mut Reader<'_>) -> Result<(CallId, HostReply), Malformed> {
    let id = CallId(from.small()?);
    let reply = match from.byte()? {
        0 => HostReply::Value { json: from.maybe(Reader::json)? },
        1 => HostReply::Body { body: BodyId(from.small()?), length: from.maybe(Reader::number)? },
        2 => HostReply::Bytes { bytes: from.bytes()?.to_vec() },
        3 => {
            let (name, message) = (from.text()?.to_owned(), from.text()?.to_owned());
            let code = from.maybe(Reader::text)?.map(str::to_owned);
            HostReply::Failed { error: CallError { name, message, code } }
        }
        4 => {
            let (head, status) = (from.json()?, from.small()?);
            HostReply::Response { head, status, whole: from.bytes()?.to_vec() }
        }
        _ => return Err(Malformed),
    };
    Ok((id, reply))
}
