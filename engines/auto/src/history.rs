use crate::kept::{KeptCall, KeptReply};
use isolith_core::{CallId, PendingCall, Step, Timestamp, Turn, Usage};
use std::time::Duration;

/// The most that is remembered of a run to be told again. One that was told more stays where it is.
const BYTES_MAX: u64 = 32 << 20;
/// What a turn costs besides its contents.
const TURN_BYTES: u64 = 256;

/// Everything that a run was told and asked for, turn by turn.
///
/// It is written in every turn of every run, and read of few of them: so it is one list that grows seldom, and one text.
#[derive(Default)]
pub(crate) struct History {
    events: Vec<Event>,
    /// Where the turn begins that the run is in.
    current: usize,
    turns: u64,
    /// The text of all events.
    text: String,
}

enum Event {
    Turn(Timestamp),
    Told(CallId, KeptReply),
    Asked(CallId, KeptCall),
}

impl History {
    /// Forgets everything, and keeps the room that it took.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.text.clear();
        (self.current, self.turns) = (0, 0);
    }

    /// The memory that it takes for itself.
    pub(crate) fn room_bytes(&self) -> usize {
        self.events.capacity() * size_of::<Event>() + self.text.capacity()
    }

    /// Remembers what a run is told in the turn that begins. False when it has used more than can be remembered.
    pub(crate) fn begin(&mut self, turn: &Turn, used: Usage) -> bool {
        (self.current, self.turns) = (self.events.len(), self.turns + 1);
        self.events.push(Event::Turn(turn.now));
        let told = turn.replies.iter().map(|(id, reply)| Event::Told(*id, KeptReply::of(reply, &mut self.text)));
        self.events.extend(told);
        used.bytes_in + used.bytes_out + self.turns * TURN_BYTES <= BYTES_MAX
    }

    /// Remembers what came of it.
    pub(crate) fn end(&mut self, step: &Step) {
        let Step::Calls(calls) = step else { return };
        let asked = calls.iter().map(|made| Event::Asked(made.id, KeptCall::of(&made.call, &mut self.text)));
        self.events.extend(asked);
    }

    /// The turns that are over, each of which ended with the run waiting.
    pub(crate) fn past(&self) -> impl Iterator<Item = Recalled<'_>> {
        let turns = self.events[..self.current].chunk_by(|_, next| !matches!(next, Event::Turn(_)));
        turns.map(|events| Recalled { events, text: &self.text })
    }

    /// The turn that the run is in.
    pub(crate) fn current(&self) -> Recalled<'_> {
        Recalled { events: &self.events[self.current..], text: &self.text }
    }
}

/// One turn, as it is remembered.
pub(crate) struct Recalled<'a> {
    events: &'a [Event],
    text: &'a str,
}

impl Recalled<'_> {
    /// What the run was told in it.
    pub(crate) fn turn(&self, wall_left: Duration) -> Turn {
        let mut turn = Turn { now: Timestamp::default(), wall_left, replies: Vec::new() };
        for event in self.events {
            match event {
                Event::Turn(now) => turn.now = *now,
                Event::Told(id, reply) => turn.replies.push((*id, reply.reply(self.text))),
                Event::Asked(..) => {}
            }
        }
        turn
    }

    /// Holds calls against those that the run made in it: what differs, if anything does.
    pub(crate) fn differs(&self, found: &[PendingCall]) -> Option<String> {
        let asked = self.events.iter().filter_map(|event| match event {
            Event::Asked(id, call) => Some((*id, call)),
            _ => None,
        });
        let known = asked.clone().count();
        let is_same = |found: &PendingCall, id, call: &KeptCall| found.id == id && call.is(&found.call, self.text);
        match found.iter().zip(asked).find(|(found, (id, call))| !is_same(found, *id, call)) {
            Some((_, (id, _))) => Some(format!("it asks for something else, call {}", id.0)),
            None if found.len() != known => Some(format!("it makes {} calls, and not {known}", found.len())),
            None => None,
        }
    }
}
