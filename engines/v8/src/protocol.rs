//! The bytes of a program, of replies, of calls and of ends. The other side is the worker, and what it says is not believed.

use crate::ask;
use crate::end::EndKind;
use crate::frame::{self, Reader, Told};
use crate::worker::told::{REPLY_BODY, REPLY_BYTES, REPLY_FAILED, REPLY_RESPONSE, REPLY_UNDEFINED, REPLY_VALUE};
use isolith_core::{
    BodyId, CallError, CallId, End, ErrorKind, Failure, FetchCall, Form, HostCall, HostReply, Json, Program, RequestId,
    Source, Start, Timestamp, ToolName,
};
use serde::Serialize;

/// What the guest half makes names of.
#[derive(Serialize)]
struct Granted<'a> {
    banned: u32,
    payload_max: u64,
    globals: Vec<&'static str>,
    tools: Vec<&'a str>,
    namespaces: Vec<&'a str>,
    functions: Vec<&'a str>,
    kv: Vec<&'a str>,
}

const BANNED_TIME: u32 = 1;
const BANNED_RANDOM: u32 = 2;

fn granted(start: &Start) -> Granted<'_> {
    let (bindings, ambient) = (&start.bindings, start.ambient);
    let ban = |source: Source, bit: u32| if source == Source::Banned { bit } else { 0 };
    let globals = [
        (bindings.fetch, "fetch"),
        (bindings.files, "files"),
        (!bindings.invoke.is_empty(), "invoke"),
        (!bindings.secrets.is_empty(), "secrets"),
    ];
    Granted {
        banned: ban(ambient.time, BANNED_TIME) | ban(ambient.random, BANNED_RANDOM),
        payload_max: start.limits.payload_bytes,
        globals: globals.iter().filter(|(granted, _)| *granted).map(|(_, name)| *name).collect(),
        tools: bindings.tools.iter().map(|name| name.as_str()).collect(),
        namespaces: bindings.namespaces.iter().map(|name| name.as_str()).collect(),
        functions: bindings.functions.iter().map(|name| name.as_str()).collect(),
        kv: bindings.kv.iter().map(|name| name.as_str()).collect(),
    }
}

/// What the prelude's `configure` is called with; nothing when there is nothing to say.
fn config(start: &Start) -> Option<String> {
    let mut fields = Vec::new();
    if let Some(input) = &start.input {
        fields.push(format!("\"input\":{}", input.text()));
    }
    if !start.args.is_empty() {
        // Binding names are identifiers: nothing in them needs an escape.
        let args: Vec<String> =
            start.args.iter().map(|(name, value)| format!("\"{}\":{}", name.as_str(), value.text())).collect();
        fields.push(format!("\"args\":{{{}}}", args.join(",")));
    }
    (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
}

/// The frame that begins a run.
pub(crate) fn start_frame(program: &Program, start: &Start, now: Timestamp) -> Result<Vec<u8>, serde_json::Error> {
    let granted = serde_json::to_string(&granted(start))?;
    let limits = &start.limits;
    let mut out = Vec::with_capacity(256 + program.code.len() + granted.len());
    let at = frame::open(&mut out, Told::Start as u8);
    frame::put_f64(&mut out, now.as_micros() as f64);
    out.extend(start.seed.0);
    out.push(match program.form {
        Form::Body => 0,
        Form::Script => 1,
        Form::Module => 2,
    });
    // Whole seconds, and the supervisor is to be first.
    let cpu_seconds = limits.cpu.as_secs() + 2;
    let numbers = [
        limits.memory_bytes,
        limits.stack_bytes,
        cpu_seconds,
        limits.payload_bytes,
        limits.value_bytes,
        limits.output_bytes,
    ];
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    for text in [&*program.name, &*program.code, &granted] {
        frame::put_bytes(&mut out, text.as_bytes());
    }
    frame::put_optional(&mut out, config(start).as_deref());
    frame::put_u32(&mut out, program.modules.len() as u32);
    for module in program.modules.iter() {
        frame::put_bytes(&mut out, module.name.as_bytes());
        frame::put_bytes(&mut out, module.code.as_bytes());
    }
    frame::close(&mut out, at);
    Ok(out)
}

/// The frame of a turn. A reply that is larger than one call may bring is a failure instead.
pub(crate) fn turn_frame(now: Timestamp, replies: &[(CallId, HostReply)], most: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + replies.len() * 64);
    let at = frame::open(&mut out, Told::Turn as u8);
    frame::put_f64(&mut out, now.as_micros() as f64);
    frame::put_u32(&mut out, replies.len() as u32);
    for (id, reply) in replies {
        frame::put_u32(&mut out, id.0);
        match reply.bytes() as u64 {
            bytes if bytes > most => {
                let message = format!("the reply is {bytes} bytes, but one call may bring {most}");
                put_reply(&mut out, &HostReply::failed("RangeError", message));
            }
            _ => put_reply(&mut out, reply),
        }
    }
    frame::close(&mut out, at);
    out
}

fn put_reply(out: &mut Vec<u8>, reply: &HostReply) {
    let mut body = Vec::new();
    let (kind, content): (u8, &[u8]) = match reply {
        HostReply::Value { json: Some(json) } => (REPLY_VALUE, json.text().as_bytes()),
        HostReply::Value { json: None } => (REPLY_UNDEFINED, &[]),
        HostReply::Bytes { bytes } => (REPLY_BYTES, bytes),
        HostReply::Body { body: BodyId(id), length } => {
            frame::put_u32(&mut body, *id);
            frame::put_f64(&mut body, length.map_or(-1.0, |length| length as f64));
            (REPLY_BODY, &body)
        }
        HostReply::Response { head, status, whole } => {
            frame::put_u32(&mut body, u32::from(*status));
            frame::put_bytes(&mut body, head.text().as_bytes());
            body.extend(whole);
            (REPLY_RESPONSE, &body)
        }
        HostReply::Failed { error: CallError { name, message, code } } => {
            for text in [Some(name.as_str()), Some(message.as_str()), code.as_deref()] {
                frame::put_optional(&mut body, text);
            }
            (REPLY_FAILED, &body)
        }
    };
    out.push(kind);
    frame::put_bytes(out, content);
}

/// Bytes of a call frame besides its arguments.
pub(crate) const CALL_BYTES: usize = 1 << 10;
/// Bytes of an end frame that a failure may have: four texts, cut.
pub(crate) const FAILURE_BYTES: usize = 256 << 10;

// THREAT[T-ENGINE-001]: an engine with a memory bug may be made to send anything; whatever it sends is checked here.
/// Reads one call, with the bytes of its arguments; nothing when it makes no sense.
pub(crate) fn read_call(content: &[u8]) -> Option<(CallId, HostCall, usize)> {
    let mut reader = Reader(content);
    let id = CallId(reader.u32()?);
    let kind = reader.u8()?;
    let (call, bytes) = match kind {
        0 | 3 => {
            let (name, text, bytes) = (reader.text()?, reader.optional()?, reader.bytes()?);
            let size = text.map_or(0, str::len) + bytes.len();
            let call = match kind {
                0 => {
                    let args = text.map(|text| Json::from_text(text.to_owned())).transpose().ok()?;
                    HostCall::Tool { name: ToolName::new(name).ok()?, args }
                }
                _ => ask::read(text?, bytes)?,
            };
            (call, size)
        }
        1 => {
            let micros = reader.f64()?;
            let is_time = micros.is_finite() && micros >= 0.0;
            (is_time.then(|| HostCall::Sleep { until: Timestamp::from_micros(micros as u64) })?, 8)
        }
        2 => {
            let (body, most) = (BodyId(reader.u32()?), reader.u32()?);
            (HostCall::ReadBody { body, most_bytes: most.min(isolith_core::MAX_READ_BYTES) }, 8)
        }
        4 => {
            let (request, url) = (RequestId(reader.u32()?), reader.optional()??);
            (HostCall::Fetch(Box::new(FetchCall::get(request, url))), url.len() + 4)
        }
        _ => return None,
    };
    reader.0.is_empty().then_some((id, call, bytes))
}

/// Reads how a run ended, and the memory it says it had. `why` is the limit that we asked it to stop for, if we did.
pub(crate) fn read_end(content: &[u8], why: Option<ErrorKind>, memory_bytes: u64) -> Option<(End, u64)> {
    let mut reader = Reader(content);
    let (kind, memory) = (EndKind::from_number(reader.u8()?)?, reader.u64()?);
    let failed = |kind, reader: Reader<'_>| Some(End::Failed(read_failure(kind, reader)?));
    let end = match kind {
        EndKind::Value => {
            let text = String::from_utf8(reader.0.to_vec()).ok()?;
            Some(End::Value(Some(Json::from_text(text).ok()?)))
        }
        EndKind::Undefined => Some(End::Value(None)),
        // A job that was told to stop leaves behind a promise that nothing settles.
        EndKind::Stalled if why.is_some() => Some(End::Failed(stopped(why?))),
        EndKind::Stalled => Some(End::Failed(Failure::of(
            ErrorKind::Stalled,
            "Stalled",
            "the program waits for a promise that nothing can settle",
        ))),
        EndKind::ValueTooLarge => Some(End::Failed(Failure::of(
            ErrorKind::OutputLimit,
            "OutputLimit",
            "the value of the program is larger than its limit",
        ))),
        EndKind::Thrown => failed(ErrorKind::Thrown, reader),
        EndKind::Syntax => failed(ErrorKind::Syntax, reader),
        EndKind::Stack => failed(ErrorKind::StackOverflow, reader),
        EndKind::Interrupted => {
            let kind = why?;
            let stack = read_failure(kind, reader).and_then(|failure| failure.stack);
            Some(End::Failed(Failure { stack, ..stopped(kind) }))
        }
        EndKind::Memory => Some(End::Failed(out_of_memory(memory_bytes))),
        EndKind::Failed => Some(End::Failed(Failure::of(ErrorKind::Internal, "EngineFailure", "V8 gave up"))),
    }?;
    Some((end, memory))
}

/// What a run fails with when it wanted too much memory.
pub(crate) fn out_of_memory(memory_bytes: u64) -> Failure {
    let message = format!("the program needs more than its {} MiB of memory", memory_bytes >> 20);
    Failure::of(ErrorKind::MemoryLimit, "MemoryLimit", message)
}

/// What a run fails with when it was stopped for a limit on time.
pub(crate) fn stopped(kind: ErrorKind) -> Failure {
    match kind {
        ErrorKind::CpuLimit => Failure::of(kind, "CpuLimit", "the program computed for longer than its CPU limit"),
        _ => Failure::of(kind, "Timeout", "the program took longer than its time limit"),
    }
}

/// Four texts: name, message, stack, code.
fn read_failure(kind: ErrorKind, mut reader: Reader<'_>) -> Option<Failure> {
    let mut text = || Some(reader.optional()?.map(str::to_owned));
    let (name, message, stack, code) = (text()?, text()?, text()?, text()?);
    Some(Failure {
        kind,
        name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "Thrown".into()),
        message: message.unwrap_or_default(),
        stack: stack.filter(|stack| !stack.is_empty()),
        code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
        let mut out = vec![7, 0, 0, 0, kind];
        parts.iter().for_each(|part| out.extend(*part));
        out
    }

    #[test]
    fn a_worker_that_lies_about_its_calls_is_not_believed() {
        let (echo, nothing) = ([4, 0, 0, 0, b'e', b'c', b'h', b'o'], [255; 4]);
        let empty = [0; 4];
        let tool = call(0, &[&echo, &nothing, &empty]);
        assert!(matches!(read_call(&tool), Some((CallId(7), HostCall::Tool { args: None, .. }, 0))));
        let rows = [
            call(0, &[&echo, &[1, 0, 0, 0, b'{'], &empty]),
            call(0, &[&echo, &[1, 0, 0, 0, 0xff], &empty]),
            call(0, &[&[1, 0, 0, 0, b' '], &nothing, &empty]),
            call(0, &[&empty, &nothing, &empty]),
            call(1, &[b"short"]),
            call(1, &[&f64::NAN.to_le_bytes()]),
            call(1, &[&(-1f64).to_le_bytes()]),
            call(2, &[b"1234567"]),
            call(3, &[&empty, &nothing, &empty]),
            call(4, &[&empty, &nothing]),
            call(4, &[&empty, &[1, 0, 0, 0, 0xff]]),
            call(5, &[]),
            [&tool[..], &[0]].concat(),
        ];
        for row in rows {
            assert_eq!(read_call(&row), None, "{row:?}");
        }
        for cut in 0..tool.len() {
            assert_eq!(read_call(&tool[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn a_worker_that_lies_about_its_end_is_not_believed() {
        let end = |kind: u8, rest: &[u8]| [&[kind][..], &[0; 8], rest].concat();
        let rows = [
            end(0, b""),
            end(0, b"{"),
            end(0, b"\xff"),
            end(2, b""),
            end(2, &[9, 0, 0, 0, 1]),
            end(7, b""),
            end(99, b""),
        ];
        for row in rows {
            assert_eq!(read_end(&row, None, 1 << 20), None, "{row:?}");
        }
        assert_eq!(read_end(&[0, 1, 2], None, 1 << 20), None);
        assert!(read_end(&end(1, b""), None, 1 << 20).is_some());
    }
}
