//! The bytes of calls and of ends. The other side is the worker, and what it says is not believed.

use crate::end::EndKind;
use crate::frame::Reader;
use isolith_core::{
    BodyId, CallId, End, ErrorKind, Failure, FetchCall, HostCall, Json, Limits, RequestId, Timestamp, ToolName,
};

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
                _ => HostCall::from_guest(text?, bytes)?,
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
pub(crate) fn read_end(content: &[u8], why: Option<ErrorKind>, limits: &Limits) -> Option<(End, u64)> {
    let mut reader = Reader(content);
    let (kind, memory) = (EndKind::from_number(reader.u8()?)?, reader.u64()?);
    let failed = |kind, reader: Reader<'_>| Some(End::Failed(read_failure(kind, reader)?));
    let end = match kind {
        // A worker keeps to this by itself, unless it was taken over.
        EndKind::Value if reader.0.len() as u64 > limits.value_bytes => Some(End::Failed(value_too_large())),
        EndKind::Value => {
            let text = String::from_utf8(reader.0.to_vec()).ok()?;
            Some(End::Value(Some(Json::from_text(text).ok()?)))
        }
        EndKind::Undefined => Some(End::Value(None)),
        // A job that was told to stop leaves behind a promise that nothing settles.
        EndKind::Stalled if why.is_some() => Some(End::Failed(Failure::stopped(why?))),
        EndKind::Stalled => Some(End::Failed(Failure::of(
            ErrorKind::Stalled,
            "Stalled",
            "the program waits for a promise that nothing can settle",
        ))),
        EndKind::ValueTooLarge => Some(End::Failed(value_too_large())),
        EndKind::Thrown => failed(ErrorKind::Thrown, reader),
        EndKind::Syntax => failed(ErrorKind::Syntax, reader),
        EndKind::Stack => failed(ErrorKind::StackOverflow, reader),
        EndKind::Interrupted => {
            let kind = why?;
            let stack = read_failure(kind, reader).and_then(|failure| failure.stack);
            Some(End::Failed(Failure { stack, ..Failure::stopped(kind) }))
        }
        EndKind::Memory => Some(End::Failed(out_of_memory(limits.memory_bytes))),
        EndKind::Failed => Some(End::Failed(Failure::of(ErrorKind::Internal, "EngineFailure", "the engine gave up"))),
    }?;
    Some((end, memory))
}

fn value_too_large() -> Failure {
    Failure::of(ErrorKind::OutputLimit, "OutputLimit", "the value of the program is larger than its limit")
}

/// What a run fails with when it wanted too much memory.
pub(crate) fn out_of_memory(memory_bytes: u64) -> Failure {
    let message = format!("the program needs more than its {} MiB of memory", memory_bytes >> 20);
    Failure::of(ErrorKind::MemoryLimit, "MemoryLimit", message)
}

/// Four texts: name, message, stack, code.
fn read_failure(kind: ErrorKind, mut reader: Reader<'_>) -> Option<Failure> {
    let mut text = || reader.optional_lossy();
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

    fn end(kind: u8, rest: &[u8]) -> Vec<u8> {
        [&[kind][..], &[0; 8], rest].concat()
    }

    #[test]
    fn a_value_larger_than_its_limit_is_none_whatever_the_worker_says() {
        let limits = Limits { value_bytes: 4, ..Limits::default() };
        let read = |json: &str| read_end(&end(0, json.as_bytes()), None, &limits).map(|(end, _)| end);
        assert_eq!(read("1234"), Json::from_text("1234".into()).ok().map(|json| End::Value(Some(json))));
        assert_eq!(read("12345"), Some(End::Failed(value_too_large())));
    }

    #[test]
    fn a_worker_that_lies_about_its_end_is_not_believed() {
        let limits = Limits::default();
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
            assert_eq!(read_end(&row, None, &limits), None, "{row:?}");
        }
        assert_eq!(read_end(&[0, 1, 2], None, &limits), None);
        assert!(read_end(&end(1, b""), None, &limits).is_some());
    }
}
