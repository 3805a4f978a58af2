//! The bytes that cross between host and guest. The other side is `guest/guest.c` and `guest/run.c`.

use crate::ask;
use isolith_core::{
    BindingName, Bindings, BodyId, CallError, CallId, End, ErrorKind, Failure, FetchCall, Form, HostCall, HostReply,
    Json, Program, RequestId, Source, Start, Timestamp, ToolName,
};

/// The length that stands for `undefined`.
const NO_DATA: u32 = u32::MAX;

/// What the guest's `start` and `turn` return.
pub(crate) enum Status {
    Pending,
    Ended,
}

impl Status {
    pub(crate) fn from_guest(number: i32) -> Option<Status> {
        match number {
            0 => Some(Status::Pending),
            1 => Some(Status::Ended),
            _ => None,
        }
    }
}

/// The size of the guest's own inbox (`isolith_inbox` in `guest/run.c`): smaller messages are written there.
pub(crate) const INBOX_BYTES: usize = 16 << 10;

/// Where in the flags of a start message the bindings begin (`guest/grants.c`).
const GRANTS_SHIFT: u32 = 8;

/// What `start` reads.
pub(crate) fn start_message(program: &Program, start: &Start, now: Timestamp, test262: bool) -> Vec<u8> {
    let (config, names) = (config(start), names(start));
    let (open, close) = match program.form {
        // The code was checked to be a whole function body; it starts on a line of its own so that lines count right.
        Form::Body => ("(async function(){\n", "\n})"),
        Form::Script | Form::Module => ("", ""),
    };
    let code_len = open.len() + program.code.len() + close.len();
    let mut out = Vec::with_capacity(112 + code_len + config.len() + names.len() + program.name.len());
    out.extend((now.as_micros() as f64).to_le_bytes());
    out.extend(start.seed.0);
    let form = match program.form {
        Form::Body => 0u32,
        Form::Script => 1,
        Form::Module => 2,
    };
    let numbers = [
        form,
        start.limits.stack_bytes as u32,
        start.limits.payload_bytes as u32,
        start.limits.value_bytes as u32,
        u32::from(test262),
        program.name.len() as u32,
        code_len as u32,
        config.len() as u32,
        program.modules.len() as u32,
        flags(start),
        names.len() as u32,
        start.bindings.tools.len() as u32,
        start.bindings.kv.len() as u32,
        (start.bindings.namespaces.len() + start.bindings.functions.len()) as u32,
    ];
    numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
    out.extend(program.name.as_bytes());
    out.push(0);
    [open, &program.code, close].iter().for_each(|part| out.extend(part.as_bytes()));
    out.push(0);
    out.extend(config.as_bytes());
    out.push(0);
    out.extend(names.as_bytes());
    for module in program.modules.iter() {
        out.extend((module.name.len() as u32).to_le_bytes());
        out.extend((module.code.len() as u32).to_le_bytes());
        out.extend(module.name.as_bytes());
        out.push(0);
        out.extend(module.code.as_bytes());
        out.push(0);
    }
    if !program.modules.is_empty() {
        // Modules are compiled when they are imported, so the guest keeps the message they came in: it must not be the
        // inbox that the next message will overwrite.
        out.resize(out.len().max(INBOX_BYTES), 0);
    }
    out
}

/// What the prelude's `configure` is called with; empty when there is nothing to say.
fn config(start: &Start) -> String {
    let mut out = String::new();
    if let Some(input) = &start.input {
        out.push_str("{\"input\":");
        out.push_str(input.text());
    }
    if !start.args.is_empty() {
        out.push_str(if out.is_empty() { "{\"args\":" } else { ",\"args\":" });
        for (i, (name, value)) in start.args.iter().enumerate() {
            // Binding names are identifiers: nothing in them needs an escape.
            out.push_str(if i == 0 { "{\"" } else { ",\"" });
            out.push_str(name.as_str());
            out.push_str("\":");
            out.push_str(value.text());
        }
        out.push('}');
    }
    if !out.is_empty() {
        out.push('}');
    }
    out
}

/// The names of tools, of key spaces, of namespaces and of their functions, each with a 0 behind.
fn names(start: &Start) -> String {
    let mut out = String::new();
    let Bindings { tools, kv, namespaces, functions, .. } = &start.bindings;
    let names = tools.iter().chain(kv).chain(namespaces).map(BindingName::as_str);
    for name in names.chain(functions.iter().map(ToolName::as_str)) {
        out.push_str(name);
        out.push('\0');
    }
    out
}

/// What the run may not look at (`BANNED_TIME` and `BANNED_RANDOM` in `guest/patch.h`) and which bindings it has that need no
/// names (`guest/grants.c`), as bits. A virtual source is the runner's affair: it brings other times and another seed. Which
/// programs and secrets there are the host says when it is asked for one.
fn flags(start: &Start) -> u32 {
    let (bindings, ambient) = (&start.bindings, start.ambient);
    let banned = [ambient.time == Source::Banned, ambient.random == Source::Banned];
    let granted = [bindings.fetch, bindings.files, !bindings.invoke.is_empty(), !bindings.secrets.is_empty()];
    let bits = |set: &[bool]| set.iter().enumerate().fold(0, |bits, (i, on)| bits | u32::from(*on) << i);
    bits(&banned) | bits(&granted) << GRANTS_SHIFT
}

/// What `turn` reads.
pub(crate) fn turn_message(now: Timestamp, replies: &[(CallId, HostReply)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + replies.len() * 32);
    out.extend((now.as_micros() as f64).to_le_bytes());
    out.extend((replies.len() as u32).to_le_bytes());
    out.extend([0; 4]);
    for (id, reply) in replies {
        out.extend(id.0.to_le_bytes());
        let mut body = Vec::new();
        let (kind, data): (u32, &[u8]) = match reply {
            HostReply::Value { json: Some(json) } => (0, json.text().as_bytes()),
            HostReply::Value { json: None } => (1, &[]),
            HostReply::Bytes { bytes } => (2, bytes),
            HostReply::Body { body: BodyId(id), length } => {
                body.extend(id.to_le_bytes());
                body.extend([0; 4]);
                body.extend(length.map_or(-1.0, |n| n as f64).to_le_bytes());
                (3, &body)
            }
            HostReply::Response { head, status, whole } => {
                let head = head.text().as_bytes();
                body.reserve(8 + head.len() + whole.len());
                body.extend((head.len() as u32).to_le_bytes());
                body.extend(u32::from(*status).to_le_bytes());
                body.extend(head);
                body.extend(whole);
                (5, &body)
            }
            HostReply::Failed { error: CallError { name, message, code } } => {
                for text in [Some(name), Some(message), code.as_ref()] {
                    body.extend(text.map_or(NO_DATA, |t| t.len() as u32).to_le_bytes());
                    body.extend(text.map_or(&[][..], |t| t.as_bytes()));
                }
                (4, &body)
            }
        };
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(data);
        // A final 0, and the next reply on a multiple of eight.
        out.resize(out.len() + 8 - data.len() % 8, 0);
    }
    out
}

// THREAT[T-ENGINE-001]: an interpreter with a memory bug may be made to send anything; whatever it sends is checked here.
/// Reads one call the guest made. The guest is not trusted to be well-behaved: nothing means that it is not.
pub(crate) fn read_call(kind: u32, name: &[u8], data: Option<&[u8]>) -> Option<HostCall> {
    match kind {
        0 => Some(HostCall::Tool {
            name: ToolName::new(std::str::from_utf8(name).ok()?).ok()?,
            args: match data {
                None => None,
                Some(bytes) => Some(Json::from_text(String::from_utf8(bytes.to_vec()).ok()?).ok()?),
            },
        }),
        1 => {
            let micros = f64::from_le_bytes(data?.try_into().ok()?);
            (micros.is_finite() && micros >= 0.0)
                .then(|| HostCall::Sleep { until: Timestamp::from_micros(micros as u64) })
        }
        2 => {
            let data = data?;
            let number = |at| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
            let most_bytes = number(4)?.min(isolith_core::MAX_READ_BYTES);
            Some(HostCall::ReadBody { body: BodyId(number(0)?), most_bytes })
        }
        3 => ask::read(data?),
        4 => {
            let (request, url) = data?.split_first_chunk()?;
            let url = std::str::from_utf8(url).ok()?;
            Some(HostCall::Fetch(Box::new(FetchCall::get(RequestId(u32::from_le_bytes(*request)), url))))
        }
        _ => None,
    }
}

/// Whether a length from the guest means that there is nothing.
pub(crate) fn is_nothing(len: u32) -> bool {
    len == NO_DATA
}

/// Reads how the guest says it ended. `why` is the limit we asked it to stop for, if we did.
pub(crate) fn read_end(kind: u32, data: &[u8], why: Option<ErrorKind>) -> Option<End> {
    let failed = |kind| Some(End::Failed(read_failure(kind, data)?));
    match kind {
        0 => Some(End::Value(Some(Json::from_text(String::from_utf8(data.to_vec()).ok()?).ok()?))),
        1 => Some(End::Value(None)),
        2 => failed(ErrorKind::Thrown),
        3 => failed(ErrorKind::Syntax),
        // A job that was told to stop leaves behind a promise that nothing settles.
        4 if why.is_some() => Some(End::Failed(Failure::stopped(why?))),
        4 => Some(End::Failed(Failure::of(
            ErrorKind::Stalled,
            "Stalled",
            "the program waits for a promise that nothing can settle",
        ))),
        5 => Some(End::Failed(Failure::of(
            ErrorKind::OutputLimit,
            "OutputLimit",
            "the value of the program is larger than its limit",
        ))),
        6 => failed(ErrorKind::StackOverflow),
        7 => {
            let kind = why?;
            let stack = read_failure(kind, data).and_then(|f| f.stack);
            Some(End::Failed(Failure { stack, ..Failure::stopped(kind) }))
        }
        _ => None,
    }
}

/// Four texts, each after its length: name, message, stack, code.
fn read_failure(kind: ErrorKind, mut data: &[u8]) -> Option<Failure> {
    let mut text = || {
        let (len, rest) = data.split_at_checked(4)?;
        data = rest;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        if is_nothing(len) {
            return Some(None);
        }
        let (text, rest) = data.split_at_checked(len as usize)?;
        data = rest;
        Some(Some(String::from_utf8_lossy(text).into_owned()))
    };
    let (name, message, stack, code) = (text()?, text()?, text()?, text()?);
    Some(Failure {
        kind,
        name: name.filter(|n| !n.is_empty()).unwrap_or_else(|| "Thrown".into()),
        message: message.unwrap_or_default(),
        stack: stack.filter(|s| !s.is_empty()),
        code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_lies_about_its_calls_is_not_believed() {
        type Row<'a> = (u32, &'a [u8], Option<&'a [u8]>);
        let rows: &[Row<'_>] = &[
            (0, b"echo", Some(b"{")),
            (0, b"echo", Some(b"\xff")),
            (0, b"no name", Some(b"1")),
            (0, b"", None),
            (1, b"", Some(b"short")),
            (1, b"", Some(&f64::NAN.to_le_bytes())),
            (1, b"", Some(&(-1f64).to_le_bytes())),
            (1, b"", None),
            (2, b"", Some(b"1234567")),
            (3, b"", Some(b"1")),
            (3, b"", None),
            (4, b"", Some(b"123")),
            (4, b"", Some(b"1234\xff")),
            (4, b"", None),
            (5, b"", Some(b"1")),
        ];
        for (kind, name, data) in rows {
            assert_eq!(read_call(*kind, name, *data), None, "{kind} {name:?} {data:?}");
        }
    }

    #[test]
    fn a_guest_that_lies_about_its_end_is_not_believed() {
        let rows: &[(u32, &[u8])] = &[(0, b""), (0, b"\xff"), (2, b""), (2, &[9, 0, 0, 0, 1]), (7, b""), (99, b"")];
        for (kind, data) in rows {
            assert_eq!(read_end(*kind, data, None), None, "{kind} {data:?}");
        }
    }

    #[test]
    fn replies_stand_on_multiples_of_eight_with_a_zero_behind() {
        for len in 0..20 {
            let json = Json::from_text("1".repeat(len + 1)).ok();
            let message = turn_message(Timestamp::default(), &[(CallId(1), HostReply::Value { json })]);
            assert_eq!(message.len() % 8, 0);
            assert_eq!(message[16 + 16 + len + 1], 0);
        }
    }
}
