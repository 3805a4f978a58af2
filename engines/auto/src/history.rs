use isolith_core::{CallId, HostReply, PendingCall, Step, Timestamp, Turn, Usage};

/// The most that is remembered of a run to be told again. One that was told more stays where it is.
const BYTES_MAX: u64 = 32 << 20;
/// What a turn costs besides its contents.
const TURN_BYTES: u64 = 256;

/// Everything that a run was told and asked for, turn by turn.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) turns: Vec<Past>,
}

/// One turn that is over, after which the run waited.
pub(crate) struct Past {
    pub(crate) now: Timestamp,
    pub(crate) replies: Vec<(CallId, HostReply)>,
    pub(crate) calls: Vec<PendingCall>,
}

impl History {
    /// Remembers a turn of a run that has used so much. False when that is more than can be remembered.
    pub(crate) fn add(&mut self, turn: Turn, step: &Step, used: Usage) -> bool {
        let Step::Calls(calls) = step else { return true };
        self.turns.push(Past { now: turn.now, replies: turn.replies, calls: calls.clone() });
        used.bytes_in + used.bytes_out + self.turns.len() as u64 * TURN_BYTES <= BYTES_MAX
    }
}
