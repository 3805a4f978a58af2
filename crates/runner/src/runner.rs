use crate::capture::Capture;
use crate::clock::Clock;
use crate::drive::{Begin, Drive, Stop};
use crate::plan::{Patience, Plan, PlanError};
use crate::report::{Receipt, scrubbed};
use crate::resume::{Saved, SuspendedRun, SuspendedRunError};
use isolith_core::{Bindings, Engine, EngineError, Grant, Host, Outcome, OutputSink, RunId, Seed, Start, Usage};
use isolith_program::{Language, Prepared, prepare};
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
        plan.check()?;
        let clock = Clock::start(plan.time);
        let prepared = match prepare(&plan.source, &plan.name, plan.language) {
            Ok(prepared) => prepared,
            Err(error) => {
                let usage = Usage { wall_us: clock.elapsed().as_micros() as u64, ..Usage::default() };
                let receipt = Receipt { id: plan.id, outputs: Vec::new(), usage, calls: Vec::new() };
                return Ok(Ended { outcome: receipt.not_a_program(&error), suspended: None });
            }
        };
        let seed = match plan.seed {
            Some(number) => Seed::from_number(number),
            None => entropy()?,
        };
        let capture = Capture::new(clock.started(), Vec::new(), attend.sink, Arc::clone(&attend.host));
        let capture = Arc::new(capture);
        let start = Start {
            limits: plan.limits,
            bindings: Bindings::of(&plan.grants),
            ambient: plan.ambient,
            input: plan.input,
            args: plan.args,
            seed,
            sink: Arc::clone(&capture) as Arc<dyn OutputSink>,
        };
        let isolate = self.engine.start(prepared.program(), start).await?;
        let drive = Drive::new(isolate, attend.host, attend.cancel, clock, plan.limits, plan.patience, attend.leave);
        let span =
            tracing::info_span!("run", otel.name = "isolith.run", isolith.program = %prepared.program().digest());
        let finish = self.finish(drive, Begin::Fresh, &prepared, &capture, plan.id, plan.grants, plan.language);
        let mut ended = finish.instrument(span).await?;
        ended.outcome.narrowed = plan.narrowed;
        Ok(ended)
    }

    /// Goes on with a run that was suspended, here or elsewhere.
    pub async fn resume(&self, run: SuspendedRun, attend: Attend, again: Again) -> Result<Ended, RunError> {
        let saved = run.saved;
        if saved.engine != self.engine.name() {
            return Err(SuspendedRunError::Engine { found: saved.engine, own: self.engine.name() }.into());
        }
        let language = saved.language();
        let prepared = prepare(&saved.source, &saved.name, language).map_err(|_| SuspendedRunError::Damaged)?;
        let clock = Clock::resume(saved.time, saved.started, saved.wall_used());
        let capture = Capture::new(saved.started, saved.outputs, attend.sink, Arc::clone(&attend.host));
        let capture = Arc::new(capture);
        let sink = Arc::clone(&capture) as Arc<dyn OutputSink>;
        let isolate = self.engine.resume(&run.state, sink).await?;
        let mut drive =
            Drive::new(isolate, attend.host, attend.cancel, clock, saved.limits, again.patience, attend.leave);
        drive.records = saved.calls;
        drive.sleep = saved.sleep;
        drive.queue = saved.queue.into();
        self.finish(drive, Begin::Waiting, &prepared, &capture, saved.id, saved.grants.into(), language).await
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one run, gathered here and nowhere else")]
    async fn finish(
        &self,
        mut drive: Drive,
        begin: Begin,
        prepared: &Prepared,
        capture: &Capture,
        id: Option<RunId>,
        grants: Arc<[Grant]>,
        language: Language,
    ) -> Result<Ended, RunError> {
        let stop = drive.run(begin).await?;
        let usage = Usage { wall_us: drive.clock.elapsed().as_micros() as u64, ..drive.isolate.usage() };
        let outputs = capture.take();
        match stop {
            Stop::Ended(end) => {
                let receipt = Receipt { id, outputs, usage, calls: std::mem::take(&mut drive.records) };
                let outcome = scrubbed(receipt.ended(end, prepared, &grants, language), &*drive.host);
                Ok(Ended { outcome: with_grants(outcome, &grants), suspended: None })
            }
            Stop::Suspend => {
                let state = drive.isolate.suspend()?;
                let saved =
                    Saved::new(self.engine.name(), prepared, language, &drive, id.clone(), grants.to_vec(), &outputs);
                let receipt = Receipt { id, outputs, usage, calls: std::mem::take(&mut drive.records) };
                let outcome = with_grants(receipt.suspended(saved.waiting_for(), drive.host.asks()), &saved.grants);
                Ok(Ended { outcome, suspended: Some(SuspendedRun { saved, state }) })
            }
        }
    }
}

/// How a resumed run is to be attended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Again {
    /// As in a plan.
    pub patience: Option<Patience>,
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
