//! What one instance carries on the host's side, and the three functions it may call.

use crate::meter::Meter;
use crate::process::Relay;
use crate::protocol;
use isolith_core::{CallId, ErrorKind, Failure, HostCall, Limits, OutputSink, PendingCall, Stream, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use wasmtime::{Caller, Linker, Memory, ResourceLimiter, Result, format_err};

// THREAT[T-LIMIT-002]: arguments of calls that nobody answers would pile up in the host; they count as the guest's memory.
/// What an unanswered call costs the host besides its arguments.
const CALL_BYTES: u64 = 256;
/// What a piece of output costs the host besides its text: a million empty lines are not free.
const PIECE_BYTES: u64 = 32;

/// The stream of what the engine says of its own accord. It goes to stderr if there is room.
const NOTE: u32 = 2;

pub(crate) struct Guest {
    pub(crate) limits: Limits,
    pub(crate) meter: Arc<Meter>,
    pub(crate) sink: Arc<dyn OutputSink>,
    /// In a worker: what is said goes on to a supervisor, which reads and counts it.
    pub(crate) relay: Option<Relay>,
    pub(crate) now: Timestamp,
    pub(crate) memory: Option<Memory>,
    /// Where in the guest's memory to write when it is to stop.
    pub(crate) interrupt_at: usize,
    /// Whether the guest runs on a stack that can be left and come back to.
    pub(crate) may_yield: bool,
    /// Calls made in this step.
    pub(crate) calls: Vec<PendingCall>,
    /// What the host holds for unanswered calls, on the guest's account.
    pub(crate) held: Held,
    pub(crate) used: Used,
    pub(crate) end: Option<(u32, Vec<u8>)>,
    /// Set when a limit ends the run from outside; then the trap that follows is only how.
    pub(crate) stop: Option<Failure>,
}

/// The bytes of unanswered calls.
#[derive(Default)]
pub(crate) struct Held {
    calls: BTreeMap<CallId, u64>,
    bytes: u64,
}

impl Held {
    fn add(&mut self, id: CallId, args_bytes: usize) {
        let bytes = args_bytes as u64 + CALL_BYTES;
        self.calls.insert(id, bytes);
        self.bytes += bytes;
    }

    pub(crate) fn answered(&mut self, id: CallId) {
        self.bytes -= self.calls.remove(&id).unwrap_or(0);
    }
}

/// Counters that outlive a suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) calls: u32,
    pub(crate) output_bytes: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

impl Guest {
    fn stop(&mut self, kind: ErrorKind, name: &str, message: String) -> wasmtime::Error {
        self.stop = Some(Failure::of(kind, name, message));
        format_err!("stopped by a limit")
    }

    fn call(&mut self, id: CallId, call: HostCall, bytes: usize) -> Result<()> {
        if call.label().is_some() {
            self.used.calls += 1;
            let most = self.limits.calls;
            if self.used.calls > most {
                return Err(self.stop(
                    ErrorKind::CallLimit,
                    "CallLimit",
                    format!("the program made more than {most} calls"),
                ));
            }
        }
        self.used.bytes_out += bytes as u64;
        self.held.add(id, bytes);
        self.calls.push(PendingCall { id, call });
        Ok(())
    }

    fn output(&mut self, stream: u32, text: &[u8]) -> Result<()> {
        let left = self.limits.output_bytes.saturating_sub(self.used.output_bytes);
        if stream == NOTE && text.len() as u64 > left {
            return Ok(()); // said for the author's sake: it must not end the run
        }
        // What fits is kept, also of the piece that does not fit whole.
        let fits = text.get(..left as usize).unwrap_or(text);
        self.used.output_bytes += text.len() as u64 + PIECE_BYTES;
        let stream = if stream == 0 { Stream::Stdout } else { Stream::Stderr };
        if left > 0 {
            self.used.bytes_out += fits.len() as u64;
            let mut kept = String::from_utf8_lossy(fits).into_owned();
            if fits.len() < text.len() && kept.ends_with('\u{fffd}') {
                kept.pop(); // the cut went through a character
            }
            self.sink.write(stream, kept, self.now);
        }
        if fits.len() < text.len() || left == 0 {
            let most = self.limits.output_bytes;
            return Err(self.stop(
                ErrorKind::OutputLimit,
                "OutputLimit",
                format!("the program wrote more than {most} bytes"),
            ));
        }
        Ok(())
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let most = self.limits.memory_bytes;
        if desired as u64 + self.held.bytes > most {
            // THREAT[T-LIMIT-001]: an error, not `false`, so that the guest cannot catch this and go on.
            return Err(self.stop(
                ErrorKind::MemoryLimit,
                "MemoryLimit",
                format!("the program needs more than its {} MiB of memory", most >> 20),
            ));
        }
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, _desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // Asked once when the table is made, and never again: the guest's functions are all known.
        Ok(current == 0)
    }
}

pub(crate) fn link(linker: &mut Linker<Guest>) -> Result<()> {
    linker.func_wrap(
        "isolith",
        "call",
        |mut caller: Caller<'_, Guest>, id: u32, kind: u32, name: u32, name_len: u32, data: u32, len: u32| {
            let (memory, guest) = parts(&mut caller)?;
            let name = slice(memory, name, name_len)?;
            let data = if protocol::is_nothing(len) { None } else { Some(slice(memory, data, len)?) };
            let bytes = data.map_or(0, <[u8]>::len);
            if bytes as u64 > guest.limits.payload_bytes {
                return Err(format_err!("the guest does not keep to the payload limit"));
            }
            let malformed = || format_err!("malformed call");
            let size = memory.len() as u64;
            if let Some(relay) = &mut guest.relay {
                relay.call(id, kind, name, data).ok_or_else(malformed)??;
                guest.held.add(CallId(id), bytes);
            } else {
                let call = protocol::read_call(kind, name, data).ok_or_else(malformed)?;
                guest.call(CallId(id), call, bytes)?;
            }
            if size + guest.held.bytes > guest.limits.memory_bytes {
                guest.memory_growing(0, size as usize, None)?;
            }
            Ok(())
        },
    )?;
    linker.func_wrap("isolith", "output", |mut caller: Caller<'_, Guest>, stream: u32, text: u32, len: u32| {
        let (memory, guest) = parts(&mut caller)?;
        let text = slice(memory, text, len)?;
        match &mut guest.relay {
            Some(relay) => Ok(relay.output(stream, text)?),
            None => guest.output(stream, text),
        }
    })?;
    linker.func_wrap("isolith", "end", |mut caller: Caller<'_, Guest>, kind: u32, data: u32, len: u32| {
        let (memory, guest) = parts(&mut caller)?;
        let data = slice(memory, data, len)?;
        guest.used.bytes_out += u64::from(len);
        guest.end = Some((kind, data.to_vec()));
        Result::<()>::Ok(())
    })?;
    Ok(())
}

fn parts<'a>(caller: &'a mut Caller<'_, Guest>) -> Result<(&'a [u8], &'a mut Guest)> {
    let memory = caller.data().memory.ok_or_else(|| format_err!("no memory yet"))?;
    let (memory, guest) = memory.data_and_store_mut(caller);
    Ok((memory, guest))
}

fn slice(memory: &[u8], at: u32, len: u32) -> Result<&[u8]> {
    let end = (at as usize).checked_add(len as usize);
    end.and_then(|end| memory.get(at as usize..end)).ok_or_else(|| format_err!("guest pointer out of range"))
}
