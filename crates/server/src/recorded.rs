//! The journals of runs, where the operator wants them kept.

use crate::error::Refusal;
use crate::run::Run;
use crate::runs::Runs;
use axum::http::StatusCode;
use isolith_core::{Grant, OpenJournal, Recorder};
use isolith_runner::{Durable, Recorded, Recording, SuspendedRun};

impl Runs {
    /// The journal of a new run.
    pub(crate) fn recording(&self, run: &Run, requested: Vec<Grant>) -> Result<Option<Recording>, Refusal> {
        if !self.settings.record {
            return Ok(None);
        }
        let journals = self.household.journals(&run.caller.id);
        let created = journals.and_then(|journals| journals.create(&run.id));
        match created.map_err(|error| Refusal::internal("beginning a journal", &error))? {
            Some(to) => Ok(Some(Recording { to, requested, durable: Durable::AtItsEnd, checkpoints: None })),
            None => {
                let message = format!("a run called `{}` is on record", run.id);
                let refusal = Refusal::new(StatusCode::CONFLICT, "run.recorded", message);
                Err(refusal.hint("every run has a name of its own: leave `run` away, and it is given one"))
            }
        }
    }

    /// Forgets a journal that nothing came of.
    pub(crate) fn unrecorded(&self, run: &Run, recording: Option<Recording>) {
        if recording.is_some()
            && let Err(error) = self.household.journals(&run.caller.id).and_then(|journals| journals.forget(&run.id))
        {
            tracing::warn!(%error, "forgetting a journal");
        }
    }

    /// The journal that a suspended run goes on with. One that is gone, or knows more than the run, is left alone.
    pub(crate) fn going_on(&self, run: &Run, suspended: &SuspendedRun) -> Option<(Box<dyn Recorder>, Recorded)> {
        let turns = suspended.recorded()?;
        let found = self.household.journals(&run.caller.id).and_then(|journals| journals.go_on(&run.id));
        let found = match found {
            Ok(Some(OpenJournal { to, records })) => Recorded::read(&records).map(|recorded| (to, recorded)).ok(),
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(%error, "opening a journal");
                None
            }
        };
        let fits = found.filter(|(_, recorded)| recorded.suspended == Some(turns));
        if fits.is_none() {
            tracing::warn!(run = %run.id, "what a run does from here on is not recorded");
        }
        fits
    }
}
