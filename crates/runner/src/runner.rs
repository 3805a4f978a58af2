use crate::capture::Capture;
use crate::clock::Clock;
use crate::drive::{Begin, Drive, Stop};
use crate::journal::{Checkpoints, Header, Journal, Origin, Recording, ResumedJournal};
use crate::lineage::Lineage;
use crate::plan::{Patience, Plan, PlanError};
use crate::report::{Receipt, scrubbed};
use crate::resume::{Saved, SuspendedRun, SuspendedRunError, language_name};
use isolith_core::{
    Bindings, Engine, EngineError, Grant, Host, Outcome, Output, OutputSink, RunId, Seed, Start, Unsupported, Usage,
};
use isolith_program::{Language, Prepared, SourceError, prepare_with};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Runs programs on one engine.
#[derive(Clone)]
pub struct Runner {
    engine: Arc<dyn Engine>,
}

/// What stands around a run while it goes on.
pub struct Attend {
    /// Performs what the program asks for.
    pub host: Arc<dyn Host>,
    /// Gets its output as it is written.
    pub sink: Arc<dyn OutputSink>,
    /// Stops it.
    pub cancel: CancellationToken,
    /// Asks it to leave memory as soon as it only waits, where its plan lets it be suspended at all.
    pub leave: CancellationToken,
}

impl Attend {
    /// With nobody to stop it.
    pub fn new(host: Arc<dyn Host>, sink: Arc<dyn OutputSink>) -> Attend {
        Attend { host, sink, cancel: CancellationToken::new(), leave: CancellationToken::new() }
    }
}

/// What is left of a run.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// Its state, when it was suspended.
    pub suspended: Option<SuspendedRun>,
}

impl Ended {
    /// What is left of a run that did not begin, because its text or its imports make no program.
    pub fn not_a_program(plan: &Plan, error: &SourceError) -> Ended {
        let receipt = Receipt { id: plan.id.clone(), ..Receipt::default() };
        let outcome = Outcome { narrowed: plan.narrowed.clone(), ..receipt.not_a_program(error, &plan.name) };
        Ended { outcome, suspended: None }
    }
}

/// Why there is no outcome. A program's failure is an outcome and not one of these.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The engine could not do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was to be resumed cannot be.
    #[error(transparent)]
    Suspended(#[from] SuspendedRunError),
    /// The system gives no randomness.
    #[error("cannot get randomness from the system")]
    Entropy(#[source] std::io::Error),
}

impl Runner {
    /// A runner on this engine.
    pub fn new(engine: Arc<dyn Engine>) -> Runner {
        Runner { engine }
    }

    /// The engine.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Runs a program to its end, or until it is suspended.
    pub async fn run(&self, plan: Plan, attend: Attend) -> Result<Ended, RunError> {
        self.run_with(plan, attend, None).await
    }

    /// Runs a program like [`run`](Runner::run), and keeps a journal of it. What is told of the run is on disk by then.
    ///
    /// The plan should name the run.
    pub async fn record(&self, plan: Plan, attend: Attend, recording: Recording) -> Result<Ended, RunError> {
        self.run_with(plan, attend, Some(recording)).await
    }

    async fn run_with(&self, plan: Plan, attend: Attend, recording: Option<Recording>) -> Result<Ended, RunError> {
        plan.check()?;
        let clock = Clock::start(plan.time);
        let prepared = prepare_with(&plan.source, &plan.name, plan.language, &plan.modules);
        let seed = match plan.seed {
            Some(number) => Seed::from_number(number),
            None if prepared.is_err() => Seed([0; 32]),
            None => entropy()?,
        };
        let capture = Capture::new(clock.started(), Vec::new(), attend.sink, Arc::clone(&attend.host));
        let capture = Arc::new(capture);
        let checkpoints = recording.as_ref().and_then(|recording| recording.checkpoints.clone());
        let journal = recording.map(|recording| self.journal(recording, &plan, seed, &clock, &attend.host, &capture));
        let mut journal = journal.transpose()?;
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let usage = Usage { wall_us: clock.elapsed().as_micros() as u64, ..Usage::default() };
                let receipt = Receipt { id: plan.id, usage, ..Receipt::default() };
                let outcome = receipt.not_a_program(&error, &plan.name);
                journal.as_mut().map_or(Ok(()), |journal| journal.end(&outcome, false))?;
                return Ok(Ended { outcome, suspended: None });
            }
        };
        let start = Start {
            limits: plan.limits,
            bindings: Bindings::of(&plan.grants),
            ambient: plan.ambient,
            input: plan.input,
            args: plan.args,
            seed,
            sink: Arc::clone(&capture) as Arc<dyn OutputSink>,
            must_suspend: plan.must_suspend,
        };
        let isolate = self.engine.start(prepared.program(), start).await?;
        if plan.must_suspend && !isolate.can_suspend() {
            let what = "waiting outside memory, for an answer or for someone's word".into();
            return Err(EngineError::from(Unsupported { engine: self.engine.name(), what }).into());
        }
        let mut drive =
            Drive::new(isolate, attend.host, attend.cancel, clock, plan.limits, plan.patience, attend.leave);
        drive.journal = journal;
        let span = Lineage::adopt(plan.lineage.as_ref(), span(&prepared));
        let whose = Whose { id: plan.id, grants: plan.grants, language: plan.language, checkpoints };
        let finish = self.finish(drive, Begin::Fresh, &prepared, &capture, whose);
        let mut ended = finish.instrument(span).await?;
        ended.outcome.narrowed = plan.narrowed;
        Ok(ended)
    }

    /// Goes on with a run that was suspended, here or elsewhere.
    pub async fn resume(&self, run: SuspendedRun, attend: Attend, again: Again) -> Result<Ended, RunError> {
        self.resume_with(run, attend, again, None).await
    }

    /// Goes on with a run and with its journal.
    pub async fn resume_recording(
        &self,
        run: SuspendedRun,
        attend: Attend,
        again: Again,
        journal: ResumedJournal<'_>,
    ) -> Result<Ended, RunError> {
        self.resume_with(run, attend, again, Some(journal)).await
    }

    async fn resume_with(
        &self,
        run: SuspendedRun,
        attend: Attend,
        again: Again,
        journal: Option<ResumedJournal<'_>>,
    ) -> Result<Ended, RunError> {
        let saved = run.saved;
        if !self.engine.resumes(&saved.engine) {
            return Err(SuspendedRunError::Engine { found: saved.engine, own: self.engine.name() }.into());
        }
        let language = saved.language();
        let prepared = prepare_with(&saved.source, &saved.name, language, &saved.modules);
        let prepared = prepared.map_err(|_| SuspendedRunError::Damaged)?;
        let clock = Clock::resume(saved.time, saved.started, saved.wall_used());
        let capture = Capture::new(saved.started, saved.outputs, attend.sink, Arc::clone(&attend.host));
        let capture = Arc::new(capture);
        let sink = Arc::clone(&capture) as Arc<dyn OutputSink>;
        let journal = journal
            .map(|journal| Journal::resume(journal, Arc::clone(&attend.host), Arc::clone(&capture)))
            .map(Box::new);
        let isolate = self.engine.resume(&run.state, sink).await?;
        let mut drive =
            Drive::new(isolate, attend.host, attend.cancel, clock, saved.limits, again.patience, attend.leave);
        drive.journal = journal;
        drive.records = saved.calls;
        drive.sleep = saved.sleep;
        drive.queue = saved.queue.into();
        let span = Lineage::adopt(again.lineage.as_ref(), span(&prepared));
        let whose = Whose { id: saved.id, grants: saved.grants.into(), language, checkpoints: None };
        let finish = self.finish(drive, Begin::Waiting, &prepared, &capture, whose);
        finish.instrument(span).await
    }

    fn journal(
        &self,
        Recording { to, requested, durable, .. }: Recording,
        plan: &Plan,
        seed: Seed,
        clock: &Clock,
        host: &Arc<dyn Host>,
        capture: &Arc<Capture>,
    ) -> Result<Box<Journal>, EngineError> {
        let language = language_name(plan.language);
        let origin = Origin { engine: self.engine(), requested, started: clock.started(), seed, language };
        let run = plan.id.clone().unwrap_or_else(|| RunId("unnamed".into()));
        let header = Header::new(plan, run, origin);
        Journal::begin((to, durable), Arc::clone(host), Arc::clone(capture), header).map(Box::new)
    }

    pub(crate) async fn finish(
        &self,
        mut drive: Drive,
        mut begin: Begin,
        prepared: &Prepared,
        capture: &Capture,
        Whose { id, grants, language, checkpoints }: Whose,
    ) -> Result<Ended, RunError> {
        drive.checkpoint_every = checkpoints.as_ref().map(|checkpoints| checkpoints.every);
        let saved = |drive: &Drive, outputs: &[Output]| {
            Saved::new(&*self.engine, prepared, language, drive, id.clone(), grants.to_vec(), outputs)
        };
        let stop = loop {
            match (drive.run(begin).await?, &checkpoints) {
                (Stop::Checkpoint, Some(checkpoints)) => {
                    // A state too large to keep is none: the journal has everything.
                    // Nor is one that knows more than the journal, should the machine stop now.
                    if let Some(journal) = &mut drive.journal {
                        journal.sync()?;
                    }
                    if let Ok(state) = drive.isolate.suspend().await {
                        let saved = saved(&drive, &capture.outputs_from(0));
                        (checkpoints.to)(&SuspendedRun { saved, state });
                    }
                    begin = Begin::Waiting;
                }
                (stop, _) => break stop,
            }
        };
        let usage = Usage { wall_us: drive.clock.elapsed().as_micros() as u64, ..drive.isolate.usage() };
        let ran_on = Some(drive.isolate.ran_on());
        let outputs = capture.take();
        match stop {
            Stop::Ended(end) => {
                let receipt = Receipt { id, outputs, ran_on, usage, calls: std::mem::take(&mut drive.records) };
                let (outcome, changed) = scrubbed(receipt.ended(end, prepared, &grants), &*drive.host);
                if let Some(journal) = &mut drive.journal {
                    journal.end(&outcome, changed)?;
                }
                Ok(Ended { outcome: with_grants(outcome, &grants), suspended: None })
            }
            Stop::Suspend | Stop::Checkpoint => {
                let state = drive.isolate.suspend().await?;
                if let Some(journal) = &mut drive.journal {
                    journal.suspended()?;
                }
                let saved = saved(&drive, &outputs);
                let receipt = Receipt { id, outputs, ran_on, usage, calls: std::mem::take(&mut drive.records) };
                let outcome = with_grants(receipt.suspended(saved.waiting_for(), drive.host.asks()), &saved.grants);
                Ok(Ended { outcome, suspended: Some(SuspendedRun { saved, state }) })
            }
        }
    }
}

/// Whose run it is, and what may be done with it.
pub(crate) struct Whose {
    pub(crate) id: Option<RunId>,
    pub(crate) grants: Arc<[Grant]>,
    pub(crate) language: Language,
    pub(crate) checkpoints: Option<Checkpoints>,
}

/// How a resumed run is to be attended.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// As in a plan.
    pub patience: Option<Patience>,
    /// As in a plan.
    pub lineage: Option<Lineage>,
}

/// A run, or what there is of it until it is suspended.
pub(crate) fn span(prepared: &Prepared) -> tracing::Span {
    tracing::info_span!("run", otel.name = "isolith.run", isolith.program = %prepared.program().digest())
}

fn with_grants(outcome: Outcome, grants: &[Grant]) -> Outcome {
    Outcome { grants: grants.iter().map(ToString::to_string).collect(), ..outcome }
}

fn entropy() -> Result<Seed, RunError> {
    let mut bytes = [0; 32];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|errno| RunError::Entropy(errno.into()))?;
    Ok(Seed(bytes))
}
