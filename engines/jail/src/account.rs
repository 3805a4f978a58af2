use crate::dialect::Counted;
use crate::protocol;
use isolith_core::{CallId, ErrorKind, Failure, HostReply, Limits, OutputSink, PendingCall, Stream, Timestamp, Usage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an unanswered call costs the host besides its arguments.
const CALL_BYTES: u64 = 256;
/// What a piece of output costs the host besides its text.
const PIECE_BYTES: u64 = 32;
/// The stream of what the engine says of its own accord. It goes to stderr if there is room.
const NOTE: u8 = 2;
/// Notes that there was no room for. A program computes for long until it has so many; a worker that was taken over does not.
const NOTES_DROPPED_MAX: u32 = 1 << 20;

/// What a run has done, counted on the side that does not believe its worker, and held against its limits.
pub(crate) struct Account {
    pub(crate) limits: Limits,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
    /// Calls made in this step.
    pub(crate) calls: Vec<PendingCall>,
    sink: Arc<dyn OutputSink>,
    output_bytes: u64,
    notes_dropped: u32,
    held: BTreeMap<CallId, u64>,
    held_bytes: u64,
    memory_step_bytes: u64,
}

impl Account {
    pub(crate) fn new(limits: Limits, sink: Arc<dyn OutputSink>, memory_step_bytes: u64) -> Account {
        Account {
            limits,
            usage: Usage::default(),
            now: Timestamp::default(),
            calls: Vec::new(),
            sink,
            output_bytes: 0,
            notes_dropped: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            memory_step_bytes,
        }
    }

    /// The account of a run that was out of memory.
    pub(crate) fn again(counted: &Counted, sink: Arc<dyn OutputSink>, memory_step_bytes: u64) -> Account {
        let fresh = Account::new(counted.limits, sink, memory_step_bytes);
        Account { usage: counted.usage, output_bytes: counted.output_bytes, ..fresh }
    }

    pub(crate) fn counted(&self) -> Counted {
        let cpu_used = std::time::Duration::from_micros(self.usage.cpu_us);
        Counted { limits: self.limits, usage: self.usage, cpu_used, output_bytes: self.output_bytes }
    }

    /// Takes what is answered off the account. A reply that is larger than a call may bring is a failure instead.
    pub(crate) fn answered<'a>(&mut self, replies: &'a [(CallId, HostReply)]) -> Cow<'a, [(CallId, HostReply)]> {
        for (id, _) in replies {
            self.held_bytes -= self.held.remove(id).unwrap_or(0);
        }
        let most = self.limits.payload_bytes as usize;
        if replies.iter().all(|(_, reply)| reply.bytes() <= most) {
            return Cow::Borrowed(replies);
        }
        let bounded = replies.iter().map(|(id, reply)| match reply.bytes() {
            bytes if bytes > most => {
                let message = format!("the reply is {bytes} bytes, but one call may bring {most}");
                (*id, HostReply::failed("RangeError", message))
            }
            _ => (*id, reply.clone()),
        });
        Cow::Owned(bounded.collect())
    }

    pub(crate) fn note_memory(&mut self, bytes: u64) {
        let told = bytes.min(self.limits.memory_bytes).next_multiple_of(self.memory_step_bytes);
        self.usage.memory_peak_bytes = self.usage.memory_peak_bytes.max(told);
    }

    pub(crate) fn call(&mut self, pending: PendingCall, bytes: u64) -> Result<(), Failure> {
        if pending.call.label().is_some() {
            self.usage.calls += 1;
            let most = self.limits.calls;
            if self.usage.calls > most {
                let message = format!("the program made more than {most} calls");
                return Err(Failure::of(ErrorKind::CallLimit, "CallLimit", message));
            }
        }
        self.usage.bytes_out += bytes;
        // THREAT[T-LIMIT-002]: arguments of calls that nobody answers would pile up in the host; they count as the guest's memory.
        self.held_bytes += bytes + CALL_BYTES;
        if self.held.insert(pending.id, bytes + CALL_BYTES).is_some() {
            return Err(Failure::of(ErrorKind::Internal, "EngineFailure", "the worker uses a number twice"));
        }
        if self.held_bytes > self.limits.memory_bytes {
            return Err(protocol::out_of_memory(self.limits.memory_bytes));
        }
        self.calls.push(pending);
        Ok(())
    }

    pub(crate) fn output(&mut self, stream: u8, text: &[u8]) -> Result<(), Failure> {
        let left = self.limits.output_bytes.saturating_sub(self.output_bytes);
        if stream == NOTE && text.len() as u64 > left {
            // Said for the author's sake: it must not end the run. But nothing that a worker can say is free.
            self.notes_dropped = self.notes_dropped.saturating_add(1);
            return if self.notes_dropped <= NOTES_DROPPED_MAX { Ok(()) } else { Err(self.too_much_output()) };
        }
        // What fits is kept, also of the piece that does not fit whole.
        let fits = text.get(..left as usize).unwrap_or(text);
        self.output_bytes += text.len() as u64 + PIECE_BYTES;
        if left > 0 {
            self.usage.bytes_out += fits.len() as u64;
            let mut kept = String::from_utf8_lossy(fits).into_owned();
            if fits.len() < text.len() && kept.ends_with('\u{fffd}') {
                kept.pop(); // the cut went through a character
            }
            self.sink.write(if stream == 0 { Stream::Stdout } else { Stream::Stderr }, kept, self.now);
        }
        if fits.len() < text.len() || left == 0 { Err(self.too_much_output()) } else { Ok(()) }
    }

    fn too_much_output(&self) -> Failure {
        let message = format!("the program wrote more than {} bytes", self.limits.output_bytes);
        Failure::of(ErrorKind::OutputLimit, "OutputLimit", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nowhere;

    impl OutputSink for Nowhere {
        fn write(&self, _: Stream, _: String, _: Timestamp) {}
    }

    #[test]
    fn notes_for_which_there_is_no_room_do_not_end_a_run_until_they_are_a_flood() {
        let mut account = Account::new(Limits { output_bytes: 1, ..Limits::default() }, Arc::new(Nowhere), 1);
        for _ in 0..NOTES_DROPPED_MAX {
            assert_eq!(account.output(NOTE, b"long"), Ok(()));
        }
        assert_eq!(account.output(NOTE, b"long"), Err(account.too_much_output()));
    }
}
