use crate::kept::{KeptCall, KeptReply};
use isolith_core::{CallId, HostReply, PendingCall, Step, Timestamp, Turn, Usage};
use std::ops::Range;
use std::time::Duration;

/// The most that is remembered of a run to be told again. One that was told more stays where it is.
const BYTES_MAX: u64 = 32 << 20;
/// What a turn costs besides its contents.
const TURN_BYTES: u64 = 256;

/// Everything that a run was told and asked for, turn by turn.
///
/// It is written in every turn of every run, and read of few of them: so all turns share a few lists, which grow seldom.
#[derive(Default)]
pub(crate) struct History {
    turns: Vec<Ended>,
    replies: Vec<(CallId, KeptReply)>,
    calls: Vec<(CallId, KeptCall)>,
    /// The text of all of them.
    text: String,
    /// When the turn is that the run is in.
    now: Timestamp,
}

/// Where in the lists a turn is.
struct Ended {
    now: Timestamp,
    replies: Range<usize>,
    calls: Range<usize>,
}

impl History {
    /// Remembers what a run is told in the turn that begins.
    pub(crate) fn begin(&mut self, turn: &Turn) {
        self.now = turn.now;
        let kept = turn.replies.iter().map(|(id, reply)| (*id, KeptReply::of(reply, &mut self.text)));
        self.replies.extend(kept);
    }

    /// Remembers what came of it, for a run that has used so much. False when that is more than can be remembered.
    pub(crate) fn end(&mut self, step: &Step, used: Usage) -> bool {
        let Step::Calls(calls) = step else { return true };
        let (replies, first) = (self.current_replies(), self.calls.len());
        let kept = calls.iter().map(|pending| (pending.id, KeptCall::of(&pending.call, &mut self.text)));
        self.calls.extend(kept);
        self.turns.push(Ended { now: self.now, replies, calls: first..self.calls.len() });
        used.bytes_in + used.bytes_out + self.turns.len() as u64 * TURN_BYTES <= BYTES_MAX
    }

    /// The turns that are over, each of which ended with the run waiting.
    pub(crate) fn past(&self) -> impl Iterator<Item = Past<'_>> {
        self.turns.iter().map(|turn| Past { history: self, turn })
    }

    /// What the run was told in the turn that it is in.
    pub(crate) fn current(&self, wall_left: Duration) -> Turn {
        Turn { now: self.now, wall_left, replies: self.told(self.current_replies()) }
    }

    fn current_replies(&self) -> Range<usize> {
        self.turns.last().map_or(0, |turn| turn.replies.end)..self.replies.len()
    }

    fn told(&self, which: Range<usize>) -> Vec<(CallId, HostReply)> {
        self.replies[which].iter().map(|(id, reply)| (*id, reply.reply(&self.text))).collect()
    }
}

/// One turn that is over.
pub(crate) struct Past<'a> {
    history: &'a History,
    turn: &'a Ended,
}

impl Past<'_> {
    /// What the run was told in it.
    pub(crate) fn turn(&self, wall_left: Duration) -> Turn {
        Turn { now: self.turn.now, wall_left, replies: self.history.told(self.turn.replies.clone()) }
    }

    /// Holds calls against those that the run made in it: what differs, if anything does.
    pub(crate) fn differs(&self, found: &[PendingCall]) -> Option<String> {
        let calls = &self.history.calls[self.turn.calls.clone()];
        let is_same = |(found, (id, call)): &(&PendingCall, &(CallId, KeptCall))| {
            found.id == *id && call.is(&found.call, &self.history.text)
        };
        match found.iter().zip(calls).find(|pair| !is_same(pair)) {
            Some((_, (id, _))) => Some(format!("it asks for something else, call {}", id.0)),
            None if found.len() != calls.len() => {
                Some(format!("it makes {} calls, and not {}", found.len(), calls.len()))
            }
            None => None,
        }
    }
}
