//! A recorded run done once more, with nothing done: the engine gets the recorded turns, and what it does is held against the record.

mod look;
mod stage;

pub use look::Seen;

use crate::journal::{Made, Recorded, outcome_hash};
use crate::report::Receipt;
use crate::resume::language_named;
use crate::runner::{RunError, Runner};
use isolith_core::{CallId, End, EngineChoice, ErrorKind, Outcome, Output, Step};
use isolith_program::{ModuleSource, Prepared, prepare_with, source_digest};
use look::Probe;
pub use stage::Alike;
pub(crate) use stage::Stage;

/// What a replay came to.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Whether it was the same.
    pub verdict: Verdict,
    /// How the replay ended, if it did.
    pub outcome: Option<Outcome>,
    /// Whether this engine is built from something else than the one that was recorded.
    pub other_build: bool,
}

/// Whether a run and its replay are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are, to the outcome's hash.
    Same {
        /// The hash.
        hash: String,
    },
    /// Everything was the same up to an end that no replay can repeat.
    SameSoFar {
        /// What ended it from outside; nothing when its journal has no end.
        ended: Option<ErrorKind>,
    },
    /// They are not.
    Different(Divergence),
    /// The run was told a secret. The journal does not hold it, so what the program did with it cannot be repeated.
    Redacted,
}

/// Where a replay leaves the record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at} the record has {expected}, but the replay {found} [replay.divergence]")]
pub struct Divergence {
    /// `call 3`, `the outcome`, …
    pub at: String,
    /// What is recorded.
    pub expected: String,
    /// What came instead.
    pub found: String,
}

/// Where to stop, and what to look at there.
#[derive(Clone, Debug)]
pub struct Look {
    /// Before the reply to this call is delivered.
    pub until: CallId,
    /// Expressions to evaluate there, in the scope of the program.
    pub expressions: Vec<String>,
}

/// A program in the middle of its run.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// What it wrote until then.
    pub outputs: Vec<Output>,
    /// The calls that were answered.
    pub answered: Vec<Made>,
    /// The calls that it waits for.
    pub pending: Vec<Made>,
    /// Its variables and what was asked about, each as the console would show it; nothing when the program does not bear to be looked at.
    pub seen: Option<Vec<Seen>>,
}

impl Runner {
    /// Does a recorded run once more and says whether it was the same. Nothing is performed.
    pub async fn replay(&self, recorded: &Recorded) -> Result<Replayed, RunError> {
        let header = &recorded.header;
        // A run that was on two engines is known by the image of the first.
        let of_the_other =
            header.engine == EngineChoice::Auto.name() && self.engine().name() == EngineChoice::V8.name();
        let other_build = !of_the_other && header.image != self.engine().image().to_string();
        let done = |verdict, outcome| Ok(Replayed { verdict, outcome, other_build });
        if recorded.redacted {
            return done(Verdict::Redacted, None);
        }
        if source_digest(&header.source, &header.modules).to_string() != header.program {
            let (expected, found) = (format!("digest {}", header.program), "has another text".into());
            return done(Verdict::Different(Divergence { at: "the program".into(), expected, found }), None);
        }
        let ended = recorded.end.as_ref();
        let language = language_named(&header.language);
        let receipt = |outputs| Receipt { id: Some(header.run.clone()), outputs, ..Receipt::default() };
        let (outcome, asked) = match prepare_with(&header.source, &header.name, language, &header.modules) {
            Err(error) => (receipt(Vec::new()).not_a_program(&error, &header.name), recorded.asked()),
            Ok(prepared) => match self.perform(recorded, &prepared, None).await? {
                Err(divergence) => return done(Verdict::Different(divergence), None),
                Ok((_, None)) => {
                    return done(Verdict::SameSoFar { ended: ended.and_then(|ending| ending.error) }, None);
                }
                Ok((stage, Some(end))) => {
                    let (outputs, asked) = stage.finish();
                    (receipt(outputs).ended(end, &prepared, &header.grants), asked)
                }
            },
        };
        let Some(ending) = ended else { return done(Verdict::SameSoFar { ended: None }, Some(outcome)) };
        let hash = outcome_hash(&outcome, &asked).to_string();
        if hash == ending.hash {
            return done(Verdict::Same { hash }, Some(outcome));
        }
        let (expected, found) = (format!("hash {}", ending.hash), format!("has hash {hash}"));
        done(Verdict::Different(Divergence { at: "the outcome".into(), expected, found }), Some(outcome))
    }

    /// Holds another text against a recorded run: told the same, does it ask for the same? What it makes of that in the end, and what
    /// it writes, may be different.
    pub async fn compatible(
        &self,
        recorded: &Recorded,
        source: &str,
        modules: &[ModuleSource],
        alike: Alike,
    ) -> Result<Result<(), Divergence>, RunError> {
        let language = language_named(&recorded.header.language);
        let prepared = match prepare_with(source, &recorded.header.name, language, modules) {
            Ok(prepared) => prepared,
            Err(error) => {
                let (expected, found) = ("a program".into(), format!("is none: {}", error.message));
                return Ok(Err(Divergence { at: "the program".into(), expected, found }));
            }
        };
        Ok(self.perform(recorded, &prepared, Some(alike)).await?.map(|_| ()))
    }

    /// Goes through all turns that can be repeated.
    async fn perform(
        &self,
        recorded: &Recorded,
        prepared: &Prepared,
        alike: Option<Alike>,
    ) -> Result<Result<(Stage, Option<End>), Divergence>, RunError> {
        // What a clock or someone outside ended does not end by itself: the turn in which that happened is left out.
        let outside = recorded.end.as_ref().is_none_or(crate::journal::Ending::came_from_outside);
        let mut stage = Stage::start(self.engine(), recorded, prepared.program(), None).await?.only(alike);
        for (number, turn) in (1..).zip(&recorded.turns) {
            match &turn.step {
                None => break,
                Some((_, true, _)) if outside => break,
                Some(_) => {}
            }
            let step = match stage.turn(number, turn).await? {
                Ok(step) => step,
                Err(divergence) => return Ok(Err(divergence)),
            };
            if let Step::Done(end, _) = step {
                stage.take_late(recorded);
                return Ok(Ok((stage, Some(end))));
            }
        }
        if outside {
            return Ok(Ok((stage, None)));
        }
        let (expected, found) = ("an end".into(), "still waits".into());
        Ok(Err(Divergence { at: "the last turn".into(), expected, found }))
    }

    /// Does a recorded run once more, up to the reply to one call, and looks around there. Nothing when there is no such call.
    pub async fn replay_until(
        &self,
        recorded: &Recorded,
        look: &Look,
    ) -> Result<Option<Result<Stopped, Divergence>>, RunError> {
        let header = &recorded.header;
        let language = language_named(&header.language);
        let Ok(prepared) = prepare_with(&header.source, &header.name, language, &header.modules) else {
            return Ok(None);
        };
        if !recorded.made().any(|made| made.id == look.until) {
            return Ok(None);
        }
        let probe = Probe::new(prepared.program(), &header.grants, &look.expressions);
        if let Some(probe) = probe {
            let looked = self.stop(recorded, &prepared, Some(&probe), look.until).await?;
            if matches!(looked, Ok(Stopped { seen: Some(_), .. })) {
                return Ok(Some(looked));
            }
        }
        // A program that looks at its own text or stack does something else when it is looked at. Then it is not.
        Ok(Some(self.stop(recorded, &prepared, None, look.until).await?))
    }

    async fn stop(
        &self,
        recorded: &Recorded,
        prepared: &Prepared,
        probe: Option<&Probe>,
        until: CallId,
    ) -> Result<Result<Stopped, Divergence>, RunError> {
        let mut stage = Stage::start(self.engine(), recorded, prepared.program(), probe).await?;
        for (number, turn) in (1..).zip(&recorded.turns) {
            if let Some(before) = turn.replies.iter().position(|delivered| delivered.id == until) {
                if before > 0
                    && let Err(divergence) = stage.part_of(turn, before).await?
                {
                    return Ok(Err(divergence));
                }
                break;
            }
            if turn.step.as_ref().is_none_or(|(_, ended, _)| *ended) {
                break;
            }
            if let Err(divergence) = stage.turn(number, turn).await? {
                return Ok(Err(divergence));
            }
        }
        let (outputs, answered, pending) = stage.so_far();
        let seen = if probe.is_some() { stage.look().await? } else { None };
        Ok(Ok(Stopped { outputs, answered, pending, seen }))
    }
}
