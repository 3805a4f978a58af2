//! What the supervisor tells a worker, read: a program with all that belongs to it, and the replies of a turn.

use crate::sys::{self, Exceeded, Scope};
use isolith_jail::frame::Reader;
use isolith_jail::worker;
use std::collections::BTreeMap;

/// Memory that a process needs beside what its program may use: stacks, code, tables of V8, and what it gets to unwind a program. It
/// is not more because V8 sees one object that is larger than its heap may be only when it collects: this is what ends such a program.
const OVERHEAD_BYTES: u64 = 64 << 20;

/// The most memory that a process lets itself have for a program that may use so much.
pub(crate) fn data_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_add(OVERHEAD_BYTES)
}

/// What the program may use, as far as the worker keeps it. What is sent and how long is computed the supervisor holds against its own
/// limits as well; memory and the depth of calls are kept in here, by V8 and by the kernel, and memory is looked at from there.
pub(crate) struct Kept {
    memory_bytes: u64,
    stack_bytes: usize,
    cpu_seconds: u64,
    pub(crate) payload_bytes: usize,
    pub(crate) value_bytes: usize,
    pub(crate) output_bytes: usize,
}

impl Kept {
    /// Sets the limits of this process; `fatal` is called when V8 runs out of memory.
    pub(crate) fn keep(&self, fatal: fn(Exceeded)) {
        sys::bound_stack(self.stack_bytes);
        sys::limit_memory(self.memory_bytes as usize, fatal);
        worker::limit_data(data_bytes(self.memory_bytes));
        worker::limit_cpu(self.cpu_seconds);
    }
}

/// A program, as it came.
pub(crate) struct Program {
    pub(crate) now_us: f64,
    pub(crate) seed: [u8; 32],
    pub(crate) form: u8,
    pub(crate) limits: Kept,
    pub(crate) name: String,
    pub(crate) code: String,
    /// JSON: what the guest half makes names of.
    pub(crate) granted: String,
    /// JSON: what the prelude's `configure` takes.
    pub(crate) config: Option<String>,
    pub(crate) modules: BTreeMap<String, String>,
}

impl Program {
    pub(crate) fn read(content: &[u8]) -> Option<Program> {
        let mut reader = Reader(content);
        let now_us = reader.f64()?;
        let seed = reader.take(32)?.try_into().ok()?;
        let form = reader.u8()?;
        let limits = Kept {
            memory_bytes: reader.u64()?,
            stack_bytes: reader.u64()? as usize,
            cpu_seconds: reader.u64()?,
            payload_bytes: reader.u64()? as usize,
            value_bytes: reader.u64()? as usize,
            output_bytes: reader.u64()? as usize,
        };
        let (name, code, granted) = (reader.text()?.into(), reader.text()?.into(), reader.text()?.into());
        let config = reader.optional()?.map(str::to_owned);
        let mut modules = BTreeMap::new();
        for _ in 0..reader.u32()? {
            modules.insert(reader.text()?.to_owned(), reader.text()?.to_owned());
        }
        Some(Program { now_us, seed, form, limits, name, code, granted, config, modules })
    }
}

/// The replies of a turn that are not delivered yet.
#[derive(Default)]
pub(crate) struct Replies {
    content: Vec<u8>,
    at: usize,
    left: u32,
}

/// One reply.
pub(crate) struct Reply<'a> {
    id: u32,
    kind: u8,
    content: Reader<'a>,
}

/// The kinds, as the guest half has them.
pub(crate) const REPLY_VALUE: u8 = 0;
pub(crate) const REPLY_UNDEFINED: u8 = 1;
pub(crate) const REPLY_BYTES: u8 = 2;
pub(crate) const REPLY_BODY: u8 = 3;
pub(crate) const REPLY_FAILED: u8 = 4;
pub(crate) const REPLY_RESPONSE: u8 = 5;

impl Replies {
    /// The time of a turn, and its replies.
    pub(crate) fn read(content: Vec<u8>) -> Option<(f64, Replies)> {
        let mut reader = Reader(&content);
        let (now_us, left) = (reader.f64()?, reader.u32()?);
        Some((now_us, Replies { at: content.len() - reader.0.len(), left, content }))
    }

    pub(crate) fn next(&mut self) -> Option<Reply<'_>> {
        self.left = self.left.checked_sub(1)?;
        let mut reader = Reader(self.content.get(self.at..)?);
        let (id, kind, content) = (reader.u32()?, reader.u8()?, reader.bytes()?);
        let rest = reader.0.len();
        self.at = self.content.len() - rest;
        Some(Reply { id, kind, content: Reader(content) })
    }
}

impl Reply<'_> {
    /// Leaves it in the cell: id, kind, and up to three values.
    pub(crate) fn put(mut self, scope: &Scope) {
        scope.put_number(0, f64::from(self.id));
        scope.put_number(1, f64::from(self.kind));
        let text = |slot, text: Option<&str>| match text {
            Some(text) => scope.put_text(slot, text),
            None => scope.put_nothing(slot),
        };
        match self.kind {
            REPLY_VALUE => scope.put_text(2, std::str::from_utf8(self.content.0).unwrap_or("null")),
            REPLY_BYTES => scope.put_bytes(2, self.content.0),
            REPLY_BODY => {
                scope.put_number(2, f64::from(self.content.u32().unwrap_or(0)));
                scope.put_number(3, self.content.f64().unwrap_or(-1.0));
            }
            REPLY_FAILED => {
                for slot in 2..5 {
                    text(slot, self.content.optional().flatten());
                }
            }
            REPLY_RESPONSE => {
                let status = self.content.u32().unwrap_or(0);
                text(2, self.content.text());
                scope.put_bytes(3, self.content.0);
                scope.put_number(4, f64::from(status));
            }
            _ => {}
        }
    }
}
