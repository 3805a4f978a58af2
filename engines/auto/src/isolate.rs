use crate::Shared;
use crate::computing::Computing;
use crate::history::History;
use crate::shadow::Tee;
use crate::trial::{Stays, Trial};
use isolith_core::{
    BoxFuture, End, Engine, EngineError, ErrorKind, Failure, Isolate, Limits, Program, RanOn, Start, Step, Suspended,
    Switch, Turn, Usage,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Telling a run again takes less time than the run itself did; an engine that needs this much longer is none to change to.
const CATCH_UP_FACTOR: u32 = 4;
const CATCH_UP_EXTRA: Duration = Duration::from_millis(500);
/// The least that an engine can be allowed to compute.
const CPU_MIN: Duration = Duration::from_millis(1);

/// One run, on the engine where it began or on the one that took over.
pub(crate) struct AutoIsolate {
    isolate: Box<dyn Isolate>,
    /// What it takes to change over, as long as that may still happen.
    chance: Option<Box<Chance>>,
    /// The other engine while it is tried. It is kept here so that what it did is known when the attempt is broken off.
    beside: Option<Beside>,
    /// What both engines computed that is not in the usage of the one that the run is on.
    spent_elsewhere: Duration,
    /// What the run may compute where it is, when some of its limit was spent in vain.
    cpu_most: Option<Duration>,
    switch: Option<Switch>,
}

struct Chance {
    shared: Arc<Shared>,
    program: Program,
    start: Start,
    tee: Arc<Tee>,
    history: History,
    /// What the run has computed, and how much of it makes the next attempt worth while.
    spent: Duration,
    next: Duration,
}

struct Beside {
    trial: Trial,
    /// What the run had computed when it was tried.
    after_cpu: Duration,
}

/// What became of a long turn.
enum Turned {
    /// It was over before anything could be tried.
    Over(Step),
    /// The other engine ended it, and has the run now.
    TakenOver(Step, Duration),
    /// Why it did not, what finding that out has cost, and how the turn ended.
    Stayed { after_cpu: Duration, why: Stays, lost: Duration, step: Step },
}

impl AutoIsolate {
    pub(crate) async fn start(
        shared: Arc<Shared>,
        first: &Arc<dyn Engine>,
        program: &Program,
        start: Start,
    ) -> Result<AutoIsolate, EngineError> {
        let tee = Arc::new(Tee::new(Arc::clone(&start.sink)));
        let theirs = Start { sink: Arc::clone(&tee) as _, ..start.again() };
        let isolate = first.start(program, theirs).await?;
        let next = shared.after;
        let (program, history) = (program.clone(), shared.spare.take());
        let chance = Chance { shared, program, start, tee, history, spent: Duration::ZERO, next };
        let (spent_elsewhere, chance) = (Duration::ZERO, Some(Box::new(chance)));
        Ok(AutoIsolate { isolate, chance, beside: None, spent_elsewhere, cpu_most: None, switch: None })
    }

    /// Takes note of what became of a long turn.
    fn turned(&mut self, turned: Turned, mut chance: Box<Chance>) -> Step {
        match turned {
            Turned::Over(step) => {
                chance.history.end(&step);
                self.chance = Some(chance);
                step
            }
            Turned::TakenOver(step, spent) => {
                if let Some(Beside { trial, after_cpu }) = self.beside.take() {
                    self.switch = Some(switch(after_cpu, None));
                    self.spent_elsewhere += spent.max(cpu(&*self.isolate));
                    self.isolate = trial.isolate;
                }
                step
            }
            Turned::Stayed { after_cpu, why, lost, step } => {
                self.switch = Some(switch(after_cpu, Some(why)));
                self.spent_elsewhere += lost;
                self.cpu_most = (!lost.is_zero()).then(|| chance.start.limits.cpu.saturating_sub(lost));
                step
            }
        }
    }

    /// A turn of a run that stays where it is.
    fn advance_here(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        let Some(most) = self.cpu_most else { return self.isolate.advance(turn) };
        let left = most.saturating_sub(cpu(&*self.isolate));
        Box::pin(async move { Computing::new(&mut *self.isolate, turn, left).await.unwrap_or_else(|| Ok(stopped())) })
    }
}

fn cpu(isolate: &dyn Isolate) -> Duration {
    Duration::from_micros(isolate.usage().cpu_us)
}

fn switch(after_cpu: Duration, why: Option<Stays>) -> Switch {
    Switch { after_cpu_us: after_cpu.as_micros() as u64, taken_over: why.is_none(), why }
}

/// How a run ends that has computed as much as it may, in both engines together.
fn stopped() -> Step {
    Step::Done(End::Failed(Failure::stopped(ErrorKind::CpuLimit)), Vec::new())
}

impl Drop for Chance {
    fn drop(&mut self) {
        self.shared.spare.give_back(std::mem::take(&mut self.history));
    }
}

impl Chance {
    /// Goes on with a turn that has computed for long, on the engine that the run is on or on the other.
    async fn change_over(
        &mut self,
        computing: &mut Computing<'_>,
        wall_left: Duration,
        beside: &mut Option<Beside>,
    ) -> Result<Turned, EngineError> {
        // It goes on while the other engine is got ready, and stands still while that is tried.
        let after_cpu = self.spent + computing.spent;
        self.next = 2 * after_cpu;
        computing.allow(Duration::MAX);
        let starting = self.shared.faster.clone().engine();
        let engine = tokio::select! {
            biased;
            engine = starting => engine,
            ended = &mut *computing => return ended.unwrap_or(Err(EngineError::Ended)).map(Turned::Over),
        };
        let spent = self.spent + computing.spent;
        let (now, wall_left) = (Instant::now(), wall_left.saturating_sub(computing.elapsed()));
        let wall_left = || wall_left.saturating_sub(now.elapsed());
        let why = match self.tried(engine, (after_cpu, spent), wall_left, beside).await {
            Ok(step) => return Ok(Turned::TakenOver(step, spent)),
            Err(why) => why,
        };
        // It has been found out that they differ, and they will.
        let lost = beside.take().map_or(Duration::ZERO, |beside| cpu(&*beside.trial.isolate));
        if !lost.is_zero() {
            computing.allow(self.start.limits.cpu.saturating_sub(spent + lost));
        }
        let step = computing.await.unwrap_or_else(|| Ok(stopped()))?;
        Ok(Turned::Stayed { after_cpu, why, lost, step })
    }

    /// Tries the other engine: what it did in this turn, or why the run stays.
    async fn tried(
        &self,
        engine: Result<Arc<dyn Engine>, Stays>,
        (after_cpu, spent): (Duration, Duration),
        wall_left: impl Fn() -> Duration,
        beside: &mut Option<Beside>,
    ) -> Result<Step, Stays> {
        let engine = engine?;
        // Both together compute no longer than one may.
        let cpu = self.start.limits.cpu.saturating_sub(spent).max(CPU_MIN);
        let start = Start { limits: Limits { cpu, ..self.start.limits }, ..self.start.again() };
        let catching_up = async {
            let trial = Trial::start(&*engine, &self.program, start, self.tee.mark()).await?;
            let trial = &mut beside.insert(Beside { trial, after_cpu }).trial;
            trial.catch_up(self.history.past(), wall_left(), self.tee.mark_before()).await?;
            Ok::<_, Stays>(trial)
        };
        let time = spent * CATCH_UP_FACTOR + CATCH_UP_EXTRA;
        let caught_up = tokio::time::timeout(time, catching_up).await;
        let trial = caught_up.unwrap_or_else(|_| Err("it takes longer".into()))?;
        trial.go_on(self.history.current().turn(wall_left())).await
    }
}

impl Isolate for AutoIsolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        // Taken out first: whoever drops the future half-way leaves nothing to change over from.
        let Some(mut chance) = self.chance.take() else { return self.advance_here(turn) };
        let used = self.isolate.usage();
        if !chance.history.begin(&turn, used) {
            return self.isolate.advance(turn);
        }
        chance.spent = Duration::from_micros(used.cpu_us);
        chance.tee.begin_turn();
        Box::pin(async move {
            let wall_left = turn.wall_left;
            let most = chance.next.saturating_sub(chance.spent);
            let mut computing = Computing::new(&mut *self.isolate, turn, most);
            if let Some(step) = (&mut computing).await {
                let step = step?;
                chance.history.end(&step);
                self.chance = Some(chance);
                return Ok(step);
            }
            // On its own: most turns are over before, and would make room for all that this takes.
            let turned = Box::pin(chance.change_over(&mut computing, wall_left, &mut self.beside)).await?;
            drop(computing);
            Ok(self.turned(turned, chance))
        })
    }

    fn suspend(&mut self) -> BoxFuture<'_, Result<Suspended, EngineError>> {
        self.isolate.suspend()
    }

    fn can_suspend(&self) -> bool {
        self.isolate.can_suspend()
    }

    fn computes_elsewhere(&self) -> bool {
        self.isolate.computes_elsewhere()
    }

    fn usage(&self) -> Usage {
        let here = self.isolate.usage();
        let (usage, other_us) = match &self.beside {
            Some(Beside { trial, .. }) if trial.was_seen() => (trial.isolate.usage(), here.cpu_us),
            Some(Beside { trial, .. }) => (here, trial.isolate.usage().cpu_us),
            None => (here, 0),
        };
        Usage { cpu_us: usage.cpu_us + other_us + self.spent_elsewhere.as_micros() as u64, ..usage }
    }

    fn ran_on(&self) -> RanOn {
        match &self.beside {
            Some(Beside { trial, after_cpu }) if trial.was_seen() => {
                RanOn { switch: Some(switch(*after_cpu, None)), ..trial.isolate.ran_on() }
            }
            _ => RanOn { switch: self.switch.clone(), ..self.isolate.ran_on() },
        }
    }
}
