//! The bytes of a program and of replies, as the guest half takes them.

use crate::worker::told::{self, REPLY_BODY, REPLY_BYTES, REPLY_FAILED, REPLY_RESPONSE, REPLY_UNDEFINED, REPLY_VALUE};
use isolith_core::{BodyId, Builtin, CallError, CallId, Form, HostReply, Limits, Program, Source, Start, Timestamp};
use isolith_jail::{Dialect, frame};
use serde::Serialize;
use std::error::Error;

/// The program's thread, one on which V8 compiles, and one that waits for the word to stop.
const THREADS: u32 = 3;

/// What V8's worker is told.
pub(crate) struct V8Dialect;

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
    builtins: &'a [Builtin],
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
        builtins: &bindings.builtins,
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

impl Dialect for V8Dialect {
    fn start(
        &self,
        program: &Program,
        start: &Start,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let granted = serde_json::to_string(&granted(start))?;
        let limits = &start.limits;
        out.reserve(256 + program.code.len() + granted.len());
        frame::put_f64(out, now.as_micros() as f64);
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
            frame::put_bytes(out, text.as_bytes());
        }
        frame::put_optional(out, config(start).as_deref());
        frame::put_u32(out, program.modules.len() as u32);
        for module in program.modules.iter() {
            frame::put_bytes(out, module.name.as_bytes());
            frame::put_bytes(out, module.code.as_bytes());
        }
        Ok(())
    }

    fn turn(&self, now: Timestamp, replies: &[(CallId, HostReply)], out: &mut Vec<u8>) {
        out.reserve(64 + replies.len() * 64);
        frame::put_f64(out, now.as_micros() as f64);
        frame::put_u32(out, replies.len() as u32);
        for (id, reply) in replies {
            frame::put_u32(out, id.0);
            put_reply(out, reply);
        }
    }

    fn memory_bytes(&self, limits: &Limits) -> u64 {
        told::data_bytes(limits.memory_bytes)
    }

    fn threads(&self) -> u32 {
        THREADS
    }
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
