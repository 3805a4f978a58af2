//! The isolates of one connection as this side knows them: who waits for what, and whether the other side keeps to what was agreed.

use isolith_core::wire::{Event, Malformed};
use isolith_core::{End, EngineError, HostCall, Limits, OutputSink, PendingCall, Step, Usage};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everyone who waits for the other side of a connection.
#[derive(Default)]
pub(crate) struct Peer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Why nothing will come any more.
    lost: Option<String>,
    isolates: HashMap<u64, Entry>,
}

struct Entry {
    tally: Tally,
    sink: Arc<dyn OutputSink>,
    /// Calls of the step under way.
    calls: Vec<PendingCall>,
    expects: Expect,
    waiter: Option<Waiter>,
}

/// What answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Begin,
    Step,
    State,
}

/// The answer to a request.
pub(crate) enum Answer {
    Begun(Usage),
    Step(Step, Usage),
    State(Vec<u8>),
}

/// Takes an answer, on the thread that reads: it must not block.
pub(crate) type Waiter = Box<dyn FnOnce(Result<Answer, EngineError>) + Send>;

/// What a run may use, and what came of it so far. The other side keeps the limits; this is for one that does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    pub(crate) limits: Limits,
    calls: u32,
    output_bytes: u64,
    next_call: u64,
}

/// Characters that a guest cannot mean become longer ones: output is never larger than this many times what was counted.
const OUTPUT_GROWTH: u64 = 4;
/// A little more for the last piece.
const OUTPUT_SLACK: u64 = 1 << 10;

impl Peer {
    /// Waits for a new isolate to be there.
    pub(crate) fn add(
        &self,
        isolate: u64,
        tally: Tally,
        sink: Arc<dyn OutputSink>,
        waiter: Waiter,
    ) -> Result<(), EngineError> {
        let mut state = self.lock();
        if let Some(why) = &state.lost {
            return Err(lost(why));
        }
        let entry = Entry { tally, sink, calls: Vec::new(), expects: Expect::Begin, waiter: Some(waiter) };
        state.isolates.insert(isolate, entry);
        Ok(())
    }

    /// Nobody waits for it any more. Says whether there was one.
    pub(crate) fn remove(&self, isolate: u64) -> bool {
        self.lock().isolates.remove(&isolate).is_some()
    }

    /// What came of a run so far.
    pub(crate) fn tally(&self, isolate: u64) -> Option<Tally> {
        self.lock().isolates.get(&isolate).map(|entry| entry.tally.clone())
    }

    /// Waits for an answer about an isolate.
    pub(crate) fn expect(&self, isolate: u64, expects: Expect, waiter: Waiter) -> Result<(), EngineError> {
        let mut state = self.lock();
        if let Some(why) = &state.lost {
            return Err(lost(why));
        }
        let entry = state.isolates.get_mut(&isolate).ok_or(EngineError::Ended)?;
        (entry.expects, entry.waiter) = (expects, Some(waiter));
        Ok(())
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lock().lost.is_some()
    }

    /// The connection is gone: whoever waits is told so, and whoever comes.
    pub(crate) fn lose(&self, why: &str) {
        let waiting: Vec<Waiter> = {
            let mut state = self.lock();
            state.lost.get_or_insert_with(|| why.to_owned());
            state.isolates.drain().filter_map(|(_, entry)| entry.waiter).collect()
        };
        waiting.into_iter().for_each(|waiter| waiter(Err(lost(why))));
    }

    // THREAT[T-REMOTE-003]: the other side answers what nobody asked, or brings more than the run may have.
    /// Takes what the other side said. What does not fit the conversation ends it.
    pub(crate) fn hear(&self, isolate: u64, event: Event) -> Result<(), Malformed> {
        let mut state = self.lock();
        // It may have been dropped while this was on its way.
        let Some(entry) = state.isolates.get_mut(&isolate) else { return Ok(()) };
        if entry.waiter.is_none() {
            return Err(Malformed);
        }
        let answer = match (event, entry.expects) {
            (Event::Output { stream, text, at }, Expect::Step) => match entry.tally.output(text.len()) {
                Ok(()) => {
                    let sink = Arc::clone(&entry.sink);
                    drop(state);
                    sink.write(stream, text, at);
                    return Ok(());
                }
                Err(broken) => Err(broken.into()),
            },
            (Event::Call(call), Expect::Step) => match entry.tally.call(&call) {
                Ok(()) => {
                    entry.calls.push(call);
                    return Ok(());
                }
                Err(broken) => Err(broken.into()),
            },
            (Event::Waiting { usage }, Expect::Step) => {
                Ok(Answer::Step(Step::Calls(std::mem::take(&mut entry.calls)), usage))
            }
            (Event::Done { end, usage }, Expect::Step) => {
                let calls = std::mem::take(&mut entry.calls);
                entry.tally.end(&end).map(|()| Answer::Step(Step::Done(end, calls), usage)).map_err(EngineError::from)
            }
            (Event::Started { usage }, Expect::Begin) => Ok(Answer::Begun(usage)),
            (Event::Suspended(state), Expect::State) => Ok(Answer::State(state)),
            (Event::Failed(error), _) => Err(error),
            _ => return Err(Malformed),
        };
        let waiter = entry.waiter.take();
        drop(state);
        if let Some(waiter) = waiter {
            waiter(answer);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More than was agreed.
#[derive(Debug)]
struct Broken(&'static str);

impl From<Broken> for EngineError {
    fn from(Broken(what): Broken) -> EngineError {
        let source = format!("the other side does not keep the limit of {what}").into();
        EngineError::Internal { doing: "running on another isolith", source }
    }
}

impl Tally {
    pub(crate) fn new(limits: Limits) -> Tally {
        Tally { limits, calls: 0, output_bytes: 0, next_call: 0 }
    }

    fn output(&mut self, bytes: usize) -> Result<(), Broken> {
        // Pieces count as well: there can be as many as there are bytes.
        self.output_bytes = self.output_bytes.saturating_add(bytes as u64 + 1);
        let most = self.limits.output_bytes.saturating_mul(OUTPUT_GROWTH).saturating_add(OUTPUT_SLACK);
        if self.output_bytes > most { Err(Broken("output")) } else { Ok(()) }
    }

    fn call(&mut self, PendingCall { id, call }: &PendingCall) -> Result<(), Broken> {
        if u64::from(id.0) < self.next_call {
            return Err(Broken("one number for each call"));
        }
        self.next_call = u64::from(id.0) + 1;
        self.calls += u32::from(call.exercises());
        if self.calls > self.limits.calls {
            return Err(Broken("calls"));
        }
        if content(call) as u64 > self.limits.payload_bytes { Err(Broken("payloads")) } else { Ok(()) }
    }

    fn end(&self, end: &End) -> Result<(), Broken> {
        match end {
            End::Value(Some(json)) if json.text().len() as u64 > self.limits.value_bytes => Err(Broken("values")),
            End::Value(_) | End::Failed(_) => Ok(()),
        }
    }
}

/// How much of a call is the program's choice.
fn content(call: &HostCall) -> usize {
    match call {
        HostCall::Tool { args, .. } | HostCall::Invoke { args, .. } => {
            args.as_ref().map_or(0, |args| args.text().len())
        }
        HostCall::Fetch(fetch) => fetch.body.as_ref().map_or(0, Vec::len),
        HostCall::Files { bytes, .. } | HostCall::WriteBody { bytes, .. } => bytes.len(),
        // What a message can hold is a bound for these.
        HostCall::Kv { .. }
        | HostCall::Reveal { .. }
        | HostCall::Drop { .. }
        | HostCall::Sleep { .. }
        | HostCall::ReadBody { .. } => 0,
    }
}

pub(crate) fn lost(why: &str) -> EngineError {
    EngineError::Internal { doing: "running on another isolith", source: why.to_owned().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{CallId, Json, Stream, Timestamp};
    use std::sync::mpsc::{Receiver, sync_channel};

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl OutputSink for Lines {
        fn write(&self, _: Stream, text: String, _: Timestamp) {
            self.0.lock().unwrap().push(text);
        }
    }

    fn peer(limits: Limits, expects: Expect) -> (Peer, Arc<Lines>, Receiver<Result<Answer, EngineError>>) {
        let (peer, lines) = (Peer::default(), Arc::new(Lines::default()));
        peer.add(1, Tally::new(limits), Arc::clone(&lines) as _, Box::new(|_| {})).unwrap();
        let (sender, receiver) = sync_channel(1);
        peer.expect(1, expects, Box::new(move |answer| sender.send(answer).unwrap())).unwrap();
        (peer, lines, receiver)
    }

    fn output(text: &str) -> Event {
        Event::Output { stream: Stream::Stdout, text: text.into(), at: Timestamp::default() }
    }

    fn sleep(id: u32) -> Event {
        Event::Call(PendingCall { id: CallId(id), call: HostCall::Sleep { until: Timestamp::default() } })
    }

    fn waiting() -> Event {
        Event::Waiting { usage: Usage::default() }
    }

    #[test]
    fn what_nobody_asked_ends_the_conversation() {
        for (expects, event) in [
            (Expect::Begin, waiting()),
            (Expect::Begin, output("x")),
            (Expect::Step, Event::Suspended(vec![])),
            (Expect::State, sleep(0)),
        ] {
            assert!(peer(Limits::default(), expects).0.hear(1, event).is_err(), "{expects:?}");
        }
        let (peer, lines, answers) = peer(Limits::default(), Expect::Step);
        assert!(peer.hear(7, output("for somebody else")).is_ok());
        assert!(peer.hear(1, output("a")).is_ok() && peer.hear(1, sleep(4)).is_ok() && peer.hear(1, waiting()).is_ok());
        assert!(matches!(answers.recv().unwrap(), Ok(Answer::Step(Step::Calls(calls), _)) if calls.len() == 1));
        assert!(peer.hear(1, output("late")).is_err(), "the step is over");
        assert_eq!(*lines.0.lock().unwrap(), ["a"]);
    }

    #[test]
    fn more_than_was_agreed_fails_the_run() {
        let limits = Limits { output_bytes: 100, calls: 1, value_bytes: 3, payload_bytes: 4, ..Limits::default() };
        let tool = |id, args: &str| {
            let args = Some(Json::from_text(args.into()).unwrap());
            let name = isolith_core::BindingName::new("x").unwrap();
            Event::Call(PendingCall { id: CallId(id), call: HostCall::Tool { name: name.into(), args } })
        };
        let value = |text: &str| Event::Done {
            end: End::Value(Some(Json::from_text(text.into()).unwrap())),
            usage: Usage::default(),
        };
        let rows: [(Vec<Event>, bool); 7] = [
            (vec![output(&"x".repeat(2_000))], false),
            (vec![output("x"), waiting()], true),
            (vec![tool(0, "1"), tool(1, "1")], false),
            (vec![tool(0, "12345")], false),
            (vec![sleep(1), sleep(1)], false),
            (vec![value("12.5")], false),
            (vec![tool(3, "1234"), sleep(9), value("12")], true),
        ];
        for (row, (events, good)) in rows.into_iter().enumerate() {
            let (peer, _, answers) = peer(limits, Expect::Step);
            events.into_iter().for_each(|event| peer.hear(1, event).unwrap());
            assert_eq!(answers.try_recv().unwrap().is_ok(), good, "row {row}");
        }
    }

    #[test]
    fn whoever_waits_is_told_when_the_connection_is_lost() {
        let (peer, _, answers) = peer(Limits::default(), Expect::Step);
        peer.lose("gone");
        assert!(matches!(answers.recv().unwrap(), Err(EngineError::Internal { .. })));
        let error = peer.expect(1, Expect::Step, Box::new(|_| {})).unwrap_err();
        assert!(matches!(error, EngineError::Internal { .. }) && peer.is_lost());
    }
}
