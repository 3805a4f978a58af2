use super::look::{PROBE_CALL, Probe, Seen};
use super::{Divergence, look};
use crate::capture::Capture;
use crate::clock::Time;
use crate::journal::{Asked, Delivered, Made, Outputs, Recorded, RecordedTurn};
use crate::plan::PlanError;
use crate::runner::RunError;
use crate::tools::NoTools;
use isolith_core::{
    Bindings, CallId, Engine, EngineError, HostCall, HostReply, Isolate, Limits, Output, OutputSink, PendingCall,
    Program, Seed, Start, Step, Stream, Timestamp, Turn,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A replay may compute for so many times as long as the run was allowed to: the machine may be slower, or busy.
const CPU_FACTOR: u32 = 10;
/// The longest that any run may compute.
const CPU_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long one turn may take by the wall clock.
const TURN_WALL: Duration = Duration::from_secs(3600);

// THREAT[T-REPLAY-002]: a replay does what was done once more. There is no host here that could: calls are compared, and dropped.
/// An isolate that is given what was recorded.
pub(crate) struct Stage {
    isolate: Box<dyn Isolate>,
    capture: Arc<Capture>,
    asked: Asked,
    outputs: Outputs,
    made: Vec<Made>,
    delivered: BTreeSet<CallId>,
    now: Timestamp,
    /// How many calls of ours stand before those of the program.
    shift: u32,
    /// What of a call counts, where not all of it does. Then it does not count either what the program writes.
    alike: Option<Alike>,
}

/// What of a call counts when it is held against a recorded one.
pub type Alike = fn(HostCall) -> HostCall;

impl Stage {
    pub(super) async fn start(
        engine: &dyn Engine,
        recorded: &Recorded,
        program: &Program,
        probe: Option<&Probe>,
    ) -> Result<Stage, RunError> {
        let header = &recorded.header;
        header.limits.check().map_err(PlanError::Limit)?;
        let started = match header.time {
            Time::Live => header.started,
            Time::Virtual(at) => at,
        };
        let capture = Arc::new(Capture::new(started, Vec::new(), Arc::new(Unheard), Arc::new(NoTools)));
        let mut bindings = Bindings::of(&header.grants);
        let mut limits = Limits { cpu: header.limits.cpu.saturating_mul(CPU_FACTOR).min(CPU_MAX), ..header.limits };
        if let Some(probe) = probe {
            bindings.tools.push(probe.tool().clone());
            limits =
                Limits { calls: limits.calls + 1, output_bytes: limits.output_bytes + look::SEEN_BYTES_MAX, ..limits };
        }
        let start = Start {
            limits,
            bindings,
            ambient: header.ambient,
            input: header.input.clone(),
            args: header.args.clone(),
            seed: header.seed().unwrap_or(Seed([0; 32])),
            sink: Arc::clone(&capture) as Arc<dyn OutputSink>,
            must_suspend: false,
        };
        let isolate = engine.start(probe.map_or(program, Probe::program), start).await?;
        Ok(Stage { shift: u32::from(probe.is_some()), ..Stage::with(isolate, capture, started) })
    }

    /// An isolate that was begun by someone else, and wrote what its capture holds.
    pub(crate) fn with(isolate: Box<dyn Isolate>, capture: Arc<Capture>, now: Timestamp) -> Stage {
        let (asked, outputs) = (Asked::default(), Outputs::of(capture.outputs_from(0).iter()));
        let (made, delivered) = (Vec::new(), BTreeSet::new());
        Stage { isolate, capture, asked, outputs, made, delivered, now, shift: 0, alike: None }
    }

    /// The same, with less of it held against the record.
    pub(super) fn only(self, alike: Option<Alike>) -> Stage {
        Stage { alike, ..self }
    }

    /// The isolate, to go on with.
    pub(crate) fn into_isolate(self) -> Box<dyn Isolate> {
        self.isolate
    }

    /// Plays one turn, and holds what the program does then against the record.
    pub(crate) async fn turn(
        &mut self,
        number: u32,
        turn: &RecordedTurn,
    ) -> Result<Result<Step, Divergence>, RunError> {
        let step = match self.deliver(turn, &turn.replies).await? {
            Ok(step) => step,
            Err(divergence) => return Ok(Err(divergence)),
        };
        Ok(self.hold(number, turn, &step).map(|()| step))
    }

    /// Plays a turn up to one of its replies.
    pub(super) async fn part_of(
        &mut self,
        turn: &RecordedTurn,
        replies: usize,
    ) -> Result<Result<(), Divergence>, RunError> {
        Ok(match self.deliver(turn, &turn.replies[..replies]).await? {
            Ok(Step::Calls(calls) | Step::Done(_, calls)) => {
                calls.iter().for_each(|call| self.take(call));
                Ok(())
            }
            Err(divergence) => Err(divergence),
        })
    }

    /// Plays a turn of which the record does not say what came of it.
    pub(crate) async fn deliver(
        &mut self,
        turn: &RecordedTurn,
        replies: &[Delivered],
    ) -> Result<Result<Step, Divergence>, RunError> {
        let mut brought = Vec::new();
        for delivered in replies {
            let Some(reply) = delivered.reply() else {
                let (expected, found) = ("bytes that make no sense".into(), "needs a reply".into());
                return Ok(Err(Divergence { at: call_name(delivered.id), expected, found }));
            };
            if !delivered.acts.is_empty() {
                self.asked.decided(delivered.id, delivered.acts.clone());
            }
            self.delivered.insert(delivered.id);
            brought.push((CallId(delivered.id.0 + self.shift), reply));
        }
        self.now = turn.now;
        self.advance(brought).await.map(Ok)
    }

    async fn advance(&mut self, replies: Vec<(CallId, HostReply)>) -> Result<Step, RunError> {
        let turn = Turn { now: self.now, wall_left: TURN_WALL, replies };
        let step = self.isolate.advance(turn).await?;
        // Our own call comes before all others, and the program knows nothing of it.
        let own = |calls: Vec<PendingCall>| calls.into_iter().filter(|call| self.shift == 0 || call.id != PROBE_CALL);
        let renamed = |call: PendingCall| PendingCall { id: CallId(call.id.0.saturating_sub(self.shift)), ..call };
        Ok(match step {
            Step::Calls(calls) => Step::Calls(own(calls).map(renamed).collect()),
            Step::Done(end, calls) => Step::Done(end, own(calls).map(renamed).collect()),
        })
    }

    fn hold(&mut self, number: u32, turn: &RecordedTurn, step: &Step) -> Result<(), Divergence> {
        let Some((expected, ended, outputs)) = &turn.step else { return Ok(()) };
        let (calls, has_ended) = match step {
            Step::Calls(calls) => (calls, false),
            Step::Done(_, calls) => (calls, true),
        };
        for (at, call) in calls.iter().enumerate() {
            let found = Made { id: call.id, ..Made::new(&call.call) };
            let expected = expected.get(at);
            if expected.is_none_or(|made| made.id != found.id || !self.is_as(made, &found, &call.call)) {
                let expected = expected.map_or_else(|| "no call".into(), shown);
                return Err(Divergence {
                    at: call_name(call.id),
                    expected,
                    found: format!("asks for {}", shown(&found)),
                });
            }
            self.take(call);
        }
        if let Some(missing) = expected.get(calls.len()) {
            let found = if has_ended { "ends" } else { "asks for nothing" };
            return Err(Divergence { at: call_name(missing.id), expected: shown(missing), found: found.into() });
        }
        let words = |ended: bool| if ended { "an end" } else { "a program that goes on" }.to_owned();
        if *ended != has_ended {
            let found = if has_ended { "ends".into() } else { "goes on".into() };
            return Err(Divergence { at: format!("turn {number}"), expected: words(*ended), found });
        }
        for output in &self.capture.outputs_from(self.outputs.count()) {
            self.outputs.add(output);
        }
        let written = self.outputs.to_string();
        if self.alike.is_none() && written != *outputs {
            let (expected, found) = (format!("the outputs {outputs}"), format!("has written {written}"));
            return Err(Divergence { at: format!("turn {number}"), expected, found });
        }
        Ok(())
    }

    fn is_as(&self, expected: &Made, found: &Made, call: &HostCall) -> bool {
        let recorded = || Some(self.alike?(expected.call()?));
        expected.digest == found.digest || recorded().is_some_and(|recorded| recorded == call_of(self.alike, call))
    }

    fn take(&mut self, call: &PendingCall) {
        self.asked.made(call.id, &call.call);
        self.made.push(Made { id: call.id, ..Made::new(&call.call) });
    }

    /// What was done for calls that nobody waited for.
    pub(super) fn take_late(&mut self, recorded: &Recorded) {
        for late in recorded.end.iter().flat_map(|end| &end.undelivered) {
            self.asked.decided(late.id, late.acts.clone());
        }
    }

    pub(super) fn finish(self) -> (Vec<Output>, Asked) {
        (self.capture.take(), self.asked)
    }

    /// What was written, answered and asked until now.
    pub(super) fn so_far(&self) -> (Vec<Output>, Vec<Made>, Vec<Made>) {
        let (answered, pending) = self.made.iter().cloned().partition(|made| self.delivered.contains(&made.id));
        (self.capture.outputs_from(0), answered, pending)
    }

    /// Wakes the probe. What it writes is what it sees; nothing when it did not come to its end.
    pub(super) async fn look(&mut self) -> Result<Option<Vec<Seen>>, RunError> {
        let before = self.capture.outputs_from(0).len();
        match self.advance(vec![(PROBE_CALL, HostReply::done())]).await {
            Ok(_) => Ok(look::read(&self.capture.outputs_from(before))),
            Err(RunError::Engine(EngineError::Ended)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn call_of(alike: Option<Alike>, call: &HostCall) -> HostCall {
    alike.map_or_else(|| call.clone(), |alike| alike(call.clone()))
}

fn call_name(id: CallId) -> String {
    format!("call {}", id.0)
}

fn shown(made: &Made) -> String {
    format!("`{}` ({:.16})", made.label(), made.digest)
}

struct Unheard;

impl OutputSink for Unheard {
    fn write(&self, _: Stream, _: String, _: Timestamp) {}
}
