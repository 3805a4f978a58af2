//! The faster engine, tried beside the one that a run is on.

use crate::history::Recalled;
use crate::shadow::{Mark, Shadow};
use isolith_core::{End, Engine, ErrorKind, Isolate, Program, Start, Step, Turn};
use std::sync::Arc;
use std::time::Duration;

/// The same program in the other engine.
pub(crate) struct Trial {
    pub(crate) isolate: Box<dyn Isolate>,
    shadow: Arc<Shadow>,
}

/// Why the run stays where it is.
pub(crate) type Stays = String;

impl Trial {
    /// Starts it. `written` is what the run has written so far.
    pub(crate) async fn start(
        engine: &dyn Engine,
        program: &Program,
        mut start: Start,
        written: Mark,
    ) -> Result<Trial, Stays> {
        let shadow = Arc::new(Shadow::new(Arc::clone(&start.sink), written));
        start.sink = Arc::clone(&shadow) as _;
        let isolate = engine.start(program, start).await.map_err(|error| error.to_string())?;
        Ok(Trial { isolate, shadow })
    }

    // THREAT[T-ENGINE-006]: a run that changes engines must not do what neither alone would have done.
    /// Tells it what the run was told before, and holds what it does against what the run did.
    pub(crate) async fn catch_up(
        &mut self,
        past: impl Iterator<Item = Recalled<'_>>,
        wall_left: Duration,
        written: Mark,
    ) -> Result<(), Stays> {
        for (n, past) in past.enumerate() {
            let Step::Calls(found) = self.advance(past.turn(wall_left)).await? else {
                return Err(format!("in turn {n} it ends"));
            };
            if let Some(what) = past.differs(&found) {
                return Err(format!("in turn {n} {what}"));
            }
        }
        if self.shadow.mark() != written {
            return Err("it writes something else".into());
        }
        self.shadow.caught_up();
        Ok(())
    }

    /// Has it do what the run is at. What it comes to is the run's, unless nobody may see it.
    pub(crate) async fn go_on(&mut self, turn: Turn) -> Result<Step, Stays> {
        let step = self.advance(turn).await?;
        if !self.shadow.is_through() {
            return Err("it writes something else".into());
        }
        if let Step::Done(End::Failed(failure), _) = &step
            && is_the_engines(failure.kind)
            && !self.shadow.was_seen()
        {
            return Err(failure.message.clone());
        }
        Ok(step)
    }

    /// Whether anybody has seen anything of it: then it is the run.
    pub(crate) fn was_seen(&self) -> bool {
        self.shadow.was_seen()
    }

    async fn advance(&mut self, turn: Turn) -> Result<Step, Stays> {
        tokio::select! {
            biased;
            step = self.isolate.advance(turn) => step.map_err(|error| error.to_string()),
            () = self.shadow.differs() => Err("it writes something else".into()),
        }
    }
}

/// Ends that say more of the engine than of the program: on another one it may fit.
fn is_the_engines(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::MemoryLimit | ErrorKind::StackOverflow | ErrorKind::Internal | ErrorKind::Unsupported)
}
