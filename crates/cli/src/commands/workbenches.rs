//! What recorded runs are done again on.

use crate::commands::workbench::Workbench;
use crate::failure::Failure;
use crate::job::On;
use isolith_core::{Bindings, EngineChoice};
use isolith_runner::{Recorded, Replayed, Verdict};
use std::collections::BTreeMap;

/// One workbench for each engine that there are runs of.
#[derive(Default)]
pub(crate) struct Workbenches(BTreeMap<&'static str, Workbench>);

impl Workbenches {
    /// Does a recorded run again, and says on what. Nothing is performed, so that more than one engine can be tried.
    pub(crate) fn replay(&mut self, recorded: &Recorded) -> Result<(&Workbench, Replayed), Failure> {
        let first = match EngineChoice::named(&recorded.header.engine) {
            Some(EngineChoice::V8) => EngineChoice::V8,
            // It was begun where there is what it was granted.
            _ if !Bindings::of(&recorded.header.grants).builtins.is_empty() => EngineChoice::V8,
            _ => EngineChoice::Quickjs,
        };
        let (mut choice, mut replayed) = (first, self.on(first, recorded)?);
        // A run on `auto` was on one of both: on whichever does the same.
        let is_open = recorded.header.engine == EngineChoice::Auto.name() && first == EngineChoice::Quickjs;
        if is_open && matches!(replayed.verdict, Verdict::Different(_)) {
            // Without the other one it is not known whether anything was changed.
            let other = self.on(EngineChoice::V8, recorded)?;
            if !matches!(other.verdict, Verdict::Different(_)) {
                (choice, replayed) = (EngineChoice::V8, other);
            }
        }
        Ok((self.of(choice)?, replayed))
    }

    fn on(&mut self, choice: EngineChoice, recorded: &Recorded) -> Result<Replayed, Failure> {
        let workbench = self.of(choice)?;
        Ok(workbench.runtime.block_on(workbench.runner.replay(recorded))?)
    }

    fn of(&mut self, choice: EngineChoice) -> Result<&Workbench, Failure> {
        use std::collections::btree_map::Entry;
        match self.0.entry(choice.name()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Workbench::small(&On::engine(choice))?)),
        }
    }
}
