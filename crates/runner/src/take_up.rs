//! A recorded run that its process did not bring to an end, taken up by another one: what it was told is told again, and from there it goes on.

use crate::capture::Capture;
use crate::clock::Clock;
use crate::drive::{Begin, Drive};
use crate::journal::{Checkpoints, Durable, Journal, Recorded, ResumedJournal};
use crate::lineage::Lineage;
use crate::plan::{Patience, PlanError};
use crate::replay::{Divergence, Stage};
use crate::resume::{SuspendedRun, language_named};
use crate::runner::{Attend, Ended, RunError, Runner, Whose, span};
use isolith_core::{
    Bindings, CallId, EngineError, HostCall, OutputSink, PendingCall, Recorder, Seed, Start, Step, Stream, Timestamp,
};
use isolith_program::{Prepared, prepare_with, source_digest};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::Instrument as _;

/// A run to be taken up by its journal.
pub struct TakeUp<'a> {
    /// What its journal tells.
    pub recorded: &'a Recorded,
    /// A state of it that was kept on the way, so that not everything has to be told again. One that does not fit is not used.
    pub checkpoint: Option<SuspendedRun>,
    /// Takes the further records.
    pub to: Box<dyn Recorder>,
    /// When they are on disk.
    pub durable: Durable,
    /// Where its state is kept from here on.
    pub checkpoints: Option<Checkpoints>,
    /// As in a plan.
    pub patience: Option<Patience>,
}

/// Why a run cannot be taken up. Nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum TakeUpError {
    /// It has come to its end.
    #[error("the run has ended")]
    Ended,
    /// It was told a secret, which the journal does not hold.
    #[error("the run was told a secret, which its journal does not hold [replay.redacted]")]
    Redacted,
    /// Told the same, it asks for something else.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// As for any run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<EngineError> for TakeUpError {
    fn from(error: EngineError) -> TakeUpError {
        TakeUpError::Run(error.into())
    }
}

/// Where the record leaves a run.
struct Place {
    stage: Stage,
    /// Asked, and not answered.
    open: Vec<PendingCall>,
    /// What the guest did last, if it ended with that.
    last: Option<Step>,
}

impl Runner {
    /// Goes on with a recorded run where its journal ends.
    ///
    /// Nothing is done again that was answered on record. What was asked and has no answer there is asked again: whoever performs it has
    /// to bear that, or to know.
    pub async fn take_up(&self, take_up: TakeUp<'_>, attend: Attend) -> Result<Ended, TakeUpError> {
        let TakeUp { recorded, checkpoint, to, durable, checkpoints, patience } = take_up;
        let header = &recorded.header;
        if recorded.end.is_some() {
            return Err(TakeUpError::Ended);
        }
        if recorded.redacted {
            return Err(TakeUpError::Redacted);
        }
        header.limits.check().map_err(|error| RunError::Plan(PlanError::Limit(error)))?;
        if source_digest(&header.source, &header.modules).to_string() != header.program {
            let (expected, found) = (format!("digest {}", header.program), "has another text".into());
            return Err(Divergence { at: "the program".into(), expected, found }.into());
        }
        let language = language_named(&header.language);
        let prepared = prepare_with(&header.source, &header.name, language, &header.modules);
        let prepared = prepared.map_err(|_| not_a_program())?;
        let quiet = Arc::new(Quiet { next: attend.sink, heard: AtomicBool::new(false) });
        let checkpoint = checkpoint.filter(|run| self.fits(recorded, run));
        if checkpoint.is_none() && recorded.before.turns > 0 {
            let doing = "taking up a run from a state that is not its own";
            return Err(
                EngineError::Internal { doing, source: "the journal was not read from its beginning".into() }.into()
            );
        }
        let earlier = checkpoint.as_ref().map_or_else(Vec::new, |run| run.saved.outputs.clone());
        let capture = Capture::new(header.started, earlier, Arc::clone(&quiet) as _, Arc::clone(&attend.host));
        let capture = Arc::new(capture);
        let mut place = match checkpoint {
            Some(run) => self.at_checkpoint(recorded, run, &capture).await?,
            None => self.at_the_beginning(recorded, &prepared, &capture).await?,
        };
        let resumed = ResumedJournal { to, durable, earlier: recorded };
        let mut journal = Journal::resume(resumed, Arc::clone(&attend.host), Arc::clone(&capture));
        quiet.heard.store(true, Ordering::Release);
        // It was told something, and did not come to say what it makes of it.
        if let Some(turn) = recorded.turns.last().filter(|turn| turn.step.is_none()) {
            let step = place.stage.deliver(turn, &turn.replies).await??;
            journal.step(&step)?;
            turn.replies.iter().for_each(|delivered| place.answered(delivered.id));
            if matches!(step, Step::Done(..)) {
                place.open.clear();
            }
            place.last = Some(step);
        }
        let Place { stage, open, last } = place;
        let clock = Clock::resume(header.time, header.started, Duration::ZERO);
        let isolate = stage.into_isolate();
        let mut drive = Drive::new(isolate, attend.host, attend.cancel, clock, header.limits, patience, attend.leave);
        drive.journal = Some(Box::new(journal));
        drive.records = recorded.calls();
        for pending in open {
            match pending.call {
                HostCall::Sleep { until } => drive.sleep = Some((pending.id, until)),
                _ => drive.queue.push_back(pending),
            }
        }
        let begin =
            last.map_or_else(|| if recorded.turns_in_all() == 0 { Begin::Fresh } else { Begin::Waiting }, Begin::After);
        let whose = Whose { id: Some(header.run.clone()), grants: header.grants.clone().into(), language, checkpoints };
        let span = Lineage::adopt(None, span(&prepared));
        let mut ended = self.finish(drive, begin, &prepared, &capture, whose).instrument(span).await?;
        ended.outcome.narrowed.clone_from(&header.narrowed);
        Ok(ended)
    }

    /// Whether a state that was kept is one of this run, on this engine.
    pub fn fits(&self, recorded: &Recorded, run: &SuspendedRun) -> bool {
        let read = run.recorded().and_then(|turns| turns.checked_sub(recorded.before.turns));
        let whole = read.is_some_and(|read| match (read as usize).checked_sub(1) {
            Some(last) => recorded.turns.get(last).is_some_and(|turn| turn.step.is_some()),
            // Everything before what was read is in it.
            None => recorded.before.turns > 0,
        });
        whole && run.digest().to_string() == recorded.header.program && self.can_resume(run)
    }

    /// Whether a state is one of this engine, as it was built.
    pub fn can_resume(&self, run: &SuspendedRun) -> bool {
        let image = |own: &String| *own == self.engine().image().to_string();
        self.engine().resumes(&run.saved.engine) && run.saved.image.as_ref().is_some_and(image)
    }

    /// An isolate that has been told everything on record.
    async fn at_the_beginning(
        &self,
        recorded: &Recorded,
        prepared: &Prepared,
        capture: &Arc<Capture>,
    ) -> Result<Place, TakeUpError> {
        let header = &recorded.header;
        let start = Start {
            limits: header.limits,
            bindings: Bindings::of(&header.grants),
            ambient: header.ambient,
            input: header.input.clone(),
            args: header.args.clone(),
            seed: header.seed().unwrap_or(Seed([0; 32])),
            sink: Arc::clone(capture) as Arc<dyn OutputSink>,
            must_suspend: false,
        };
        let isolate = self.engine().start(prepared.program(), start).await?;
        let stage = Stage::with(isolate, Arc::clone(capture), header.started);
        Place { stage, open: Vec::new(), last: None }.catch_up(recorded, 0).await
    }

    /// The same, of which a part was kept.
    async fn at_checkpoint(
        &self,
        recorded: &Recorded,
        run: SuspendedRun,
        capture: &Arc<Capture>,
    ) -> Result<Place, TakeUpError> {
        let sink = Arc::clone(capture) as Arc<dyn OutputSink>;
        let isolate = self.engine().resume(&run.state, sink).await?;
        let stage = Stage::with(isolate, Arc::clone(capture), recorded.header.started);
        let (open, turns) = (run.saved.waiting_for(), run.recorded().unwrap_or_default());
        Place { stage, open, last: None }.catch_up(recorded, turns as usize).await
    }
}

impl Place {
    /// Tells what was told after so many turns.
    async fn catch_up(mut self, recorded: &Recorded, from: usize) -> Result<Place, TakeUpError> {
        let first = recorded.before.turns;
        for (number, turn) in (first as u32 + 1..).zip(&recorded.turns).skip(from.saturating_sub(first as usize)) {
            if turn.step.is_none() {
                break;
            }
            let step = self.stage.turn(number, turn).await??;
            turn.replies.iter().for_each(|delivered| self.answered(delivered.id));
            match step {
                Step::Calls(calls) => self.open.extend(calls),
                // Whatever it did not wait for was under way when its end was written down, and is over with it.
                Step::Done(end, _) => {
                    self.open.clear();
                    self.last = Some(Step::Done(end, Vec::new()));
                }
            }
        }
        Ok(self)
    }

    fn answered(&mut self, id: CallId) {
        self.open.retain(|pending| pending.id != id);
    }
}

fn not_a_program() -> TakeUpError {
    let (expected, found) = ("a program".into(), "finds none".into());
    Divergence { at: "the program".into(), expected, found }.into()
}

/// Passes nothing on that was written before.
struct Quiet {
    next: Arc<dyn OutputSink>,
    heard: AtomicBool,
}

impl OutputSink for Quiet {
    fn write(&self, stream: Stream, text: String, at: Timestamp) {
        if self.heard.load(Ordering::Acquire) {
            self.next.write(stream, text, at);
        }
    }
}
