use crate::Shared;
use crate::computing::Computing;
use crate::history::History;
use crate::shadow::Tee;
use crate::trial::{Stays, Trial};
use isolith_core::{
    BoxFuture, Engine, EngineError, Isolate, Limits, Program, RanOn, Start, Step, Suspended, Switch, Turn, Usage,
};
use std::sync::Arc;
use std::time::Duration;

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
    /// What both engines computed that is not in the usage of the one that the run is on.
    spent_elsewhere: Duration,
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

/// What became of a long turn.
struct Turned {
    step: Step,
    /// The one that took over.
    trial: Option<Trial>,
    switch: Option<Switch>,
    /// What was computed for nothing.
    lost: Duration,
}

impl Turned {
    fn stayed(step: Step) -> Turned {
        Turned { step, trial: None, switch: None, lost: Duration::ZERO }
    }
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
        let (program, history) = (program.clone(), History::default());
        let chance = Chance { shared, program, start, tee, history, spent: Duration::ZERO, next };
        Ok(AutoIsolate { isolate, chance: Some(Box::new(chance)), spent_elsewhere: Duration::ZERO, switch: None })
    }

    /// Takes note of what became of a long turn.
    fn turned(&mut self, Turned { step, trial, switch, lost }: Turned, mut chance: Box<Chance>) -> Step {
        self.spent_elsewhere += lost;
        self.switch = switch.or(self.switch.take());
        if let Some(trial) = trial {
            self.spent_elsewhere += chance.spent;
            self.isolate = trial.into_isolate();
        } else if chance.next < Duration::MAX {
            chance.history.end(&step);
            self.chance = Some(chance);
        }
        step
    }
}

impl Chance {
    /// Goes on with a turn that has computed for long, on the engine that the run is on or on the other.
    async fn change_over(&mut self, computing: &mut Computing<'_>, wall_left: Duration) -> Result<Turned, EngineError> {
        // It goes on while the other engine is got ready, and stands still while that is tried.
        let after_cpu = self.spent + computing.spent;
        (self.next, computing.most) = (2 * after_cpu, Duration::MAX);
        let starting = self.shared.faster.clone().engine();
        let engine = tokio::select! {
            biased;
            engine = starting => engine,
            ended = &mut *computing => return ended.unwrap_or(Err(EngineError::Ended)).map(Turned::stayed),
        };
        let spent = self.spent + computing.spent;
        let gone = computing.since.map_or(Duration::ZERO, |since| since.elapsed());
        let turn = self.history.current().turn(wall_left.saturating_sub(gone));
        let switch = |why: Option<Stays>| {
            Some(Switch { after_cpu_us: after_cpu.as_micros() as u64, taken_over: why.is_none(), why })
        };
        match self.tried(engine, spent, turn).await {
            Ok((step, trial)) => {
                self.spent = spent;
                Ok(Turned { trial: Some(trial), switch: switch(None), ..Turned::stayed(step) })
            }
            Err((why, lost)) => {
                // It has been found out that they differ, and they will.
                self.next = Duration::MAX;
                let step = computing.await.unwrap_or(Err(EngineError::Ended))?;
                Ok(Turned { switch: switch(Some(why)), lost, ..Turned::stayed(step) })
            }
        }
    }

    /// Tries the other engine: what it did in this turn, or why the run stays, and what finding that out has cost.
    async fn tried(
        &self,
        engine: Result<Arc<dyn Engine>, String>,
        spent: Duration,
        turn: Turn,
    ) -> Result<(Step, Trial), (Stays, Duration)> {
        let engine = engine.map_err(|why| (why, Duration::ZERO))?;
        // Both together compute no longer than one may.
        let cpu = self.start.limits.cpu.saturating_sub(spent).max(CPU_MIN);
        let start = Start { limits: Limits { cpu, ..self.start.limits }, ..self.start.again() };
        let trial = Trial::start(&*engine, &self.program, start, self.tee.mark()).await;
        let mut trial = trial.map_err(|why| (why, Duration::ZERO))?;
        let time = spent * CATCH_UP_FACTOR + CATCH_UP_EXTRA;
        let caught_up = trial.catch_up(self.history.past(), turn.wall_left, self.tee.mark_before());
        let caught_up = match tokio::time::timeout(time, caught_up).await {
            Ok(caught_up) => caught_up,
            Err(_) => Err("it takes longer".into()),
        };
        let gone_on = match caught_up {
            Ok(()) => trial.go_on(turn).await,
            Err(why) => Err(why),
        };
        match gone_on {
            Ok(step) => Ok((step, trial)),
            Err(why) => Err((why, trial.cpu())),
        }
    }
}

impl Isolate for AutoIsolate {
    fn advance(&mut self, turn: Turn) -> BoxFuture<'_, Result<Step, EngineError>> {
        // Taken out first: whoever drops the future half-way leaves nothing to change over from.
        let Some(mut chance) = self.chance.take() else { return self.isolate.advance(turn) };
        let used = self.isolate.usage();
        if !chance.history.begin(&turn, used) {
            return self.isolate.advance(turn);
        }
        chance.spent = Duration::from_micros(used.cpu_us);
        chance.tee.begin_turn();
        Box::pin(async move {
            let wall_left = turn.wall_left;
            let mut computing = Computing::new(self.isolate.advance(turn), chance.next.saturating_sub(chance.spent));
            if let Some(step) = (&mut computing).await {
                let step = step?;
                chance.history.end(&step);
                self.chance = Some(chance);
                return Ok(step);
            }
            // On its own: most turns are over before, and would make room for all that this takes.
            let turned = Box::pin(chance.change_over(&mut computing, wall_left)).await?;
            drop(computing);
            Ok(self.turned(turned, chance))
        })
    }

    fn suspend(&mut self) -> Result<Suspended, EngineError> {
        self.isolate.suspend()
    }

    fn can_suspend(&self) -> bool {
        self.isolate.can_suspend()
    }

    fn usage(&self) -> Usage {
        let usage = self.isolate.usage();
        Usage { cpu_us: usage.cpu_us + self.spent_elsewhere.as_micros() as u64, ..usage }
    }

    fn ran_on(&self) -> RanOn {
        RanOn { switch: self.switch.clone(), ..self.isolate.ran_on() }
    }
}
