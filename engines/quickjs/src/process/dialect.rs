//! What a worker is told. A program and its replies are the very messages that the guest reads.
//!
//! ```text
//! start  = kept · message of `start`
//! turn   = count u32 · ids u32… · message of `turn`
//! resume = kept · bytes of memory u64 · changed pages
//! kept   = memory, payload, output, suspended bytes, seconds of CPU, each u64
//! state  = 1 · bytes of memory u64 · changed pages, or 0 · the bytes that were too many u64
//! ```

use crate::guest::Used;
use crate::protocol;
use crate::suspend::State;
use isolith_core::{CallId, HostReply, Limits, Program, Start, Suspended, SuspendedError, Timestamp, Usage};
use isolith_jail::frame::{self, Reader};
use isolith_jail::{Counted, Dialect, Suspending};
use std::error::Error;

/// First byte of a state: whether it is one.
pub(crate) const STATE_WHOLE: u8 = 1;
pub(crate) const STATE_TOO_LARGE: u8 = 0;

/// The program's thread, and one that waits for the word to stop.
const THREADS: u32 = 2;

/// Memory that a process needs beside what its program may use: stacks, tables, messages on their way.
pub(crate) const OVERHEAD_BYTES: u64 = 64 << 20;

/// The most memory that a process lets itself have for a program with these limits.
pub(crate) fn data_bytes(limits: &Limits) -> u64 {
    // A message and the state of a run are there as well as in its memory, each while it grows.
    let beside = limits.memory_bytes.saturating_mul(2).saturating_add(limits.suspended_bytes.saturating_mul(4));
    limits.memory_bytes.saturating_add(beside).saturating_add(OVERHEAD_BYTES)
}

pub(crate) struct QuickJsDialect;

/// What a worker keeps to by itself. The supervisor holds everything against its own limits as well, memory only now and then.
pub(crate) struct Kept {
    pub(crate) limits: Limits,
    pub(crate) cpu_seconds: u64,
}

impl Kept {
    fn write(limits: &Limits, out: &mut Vec<u8>) {
        // Whole seconds, and the supervisor is to be first.
        let cpu_seconds = limits.cpu.as_secs() + 2;
        let numbers =
            [limits.memory_bytes, limits.payload_bytes, limits.output_bytes, limits.suspended_bytes, cpu_seconds];
        numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Kept> {
        let limits = Limits {
            memory_bytes: reader.u64()?,
            payload_bytes: reader.u64()?,
            output_bytes: reader.u64()?,
            suspended_bytes: reader.u64()?,
            ..Limits::default()
        };
        Some(Kept { limits, cpu_seconds: reader.u64()? })
    }
}

impl Dialect for QuickJsDialect {
    fn start(
        &self,
        program: &Program,
        start: &Start,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Kept::write(&start.limits, out);
        out.extend(protocol::start_message(program, start, now, false));
        Ok(())
    }

    fn turn(&self, now: Timestamp, replies: &[(CallId, HostReply)], out: &mut Vec<u8>) {
        frame::put_u32(out, replies.len() as u32);
        replies.iter().for_each(|(id, _)| frame::put_u32(out, id.0));
        out.extend(protocol::turn_message(now, replies));
    }

    fn threads(&self) -> u32 {
        THREADS
    }

    fn memory_bytes(&self, limits: &Limits) -> u64 {
        data_bytes(limits)
    }

    fn suspending(&self) -> Option<&dyn Suspending> {
        Some(self)
    }
}

impl Suspending for QuickJsDialect {
    fn suspended(&self, said: &[u8], counted: &Counted) -> Result<Suspended, SuspendedError> {
        let damaged = || SuspendedError::Damaged("what the worker says of it makes no sense");
        let mut reader = Reader(said);
        let (kind, bytes) = (reader.u8().ok_or_else(damaged)?, reader.u64().ok_or_else(damaged)?);
        let limit = counted.limits.suspended_bytes;
        match kind {
            STATE_TOO_LARGE => return Err(SuspendedError::TooLarge { bytes: bytes.max(limit), limit }),
            STATE_WHOLE => {}
            _ => return Err(damaged()),
        }
        let used = Used {
            calls: counted.usage.calls,
            output_bytes: counted.output_bytes,
            bytes_in: counted.usage.bytes_in,
            bytes_out: counted.usage.bytes_out,
        };
        let state = State::of_memory(counted.limits, counted.cpu_used, used, bytes, reader.0.to_vec());
        Ok(state.ok_or_else(damaged)?.write())
    }

    fn resumed(&self, suspended: &Suspended, out: &mut Vec<u8>) -> Result<Counted, SuspendedError> {
        let state = State::read(suspended)?;
        Kept::write(&state.limits, out);
        state.put_memory(out);
        let used = state.used();
        let usage = Usage {
            wall_us: 0,
            cpu_us: state.cpu_used.as_micros() as u64,
            memory_peak_bytes: state.memory_bytes() as u64,
            calls: used.calls,
            bytes_in: used.bytes_in,
            bytes_out: used.bytes_out,
        };
        Ok(Counted { limits: state.limits, usage, cpu_used: state.cpu_used, output_bytes: used.output_bytes })
    }
}
