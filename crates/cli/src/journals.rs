//! Recorded runs, by the names that people give them.

use crate::commands::workflow;
use crate::failure::Failure;
use crate::job;
use crate::paint::{self, HINT};
use isolith_core::RunId;
use isolith_runner::{JournalError, Recorded, SuspendedRun};
use isolith_store::{JournalFile, Journals, StoreError};

/// What stands for the run that was recorded last.
const LAST: &str = "last";

const HOW: &str = "`isolith run --record FILE` records a run, and `isolith replay` lists the recorded ones";

pub(crate) fn open() -> Result<Journals, Failure> {
    job::data_folder()?.journals().map_err(job::store)
}

/// The runs that these names stand for, or all.
pub(crate) fn named(journals: &Journals, names: &[String]) -> Result<Vec<RunId>, Failure> {
    match names {
        [] => journals.list().map_err(job::store),
        names => names.iter().map(|name| find(journals, name)).collect(),
    }
}

/// The run by a name, by the beginning of one, or the last.
pub(crate) fn find(journals: &Journals, name: &str) -> Result<RunId, Failure> {
    let mut all = journals.list().map_err(job::store)?;
    if name == LAST {
        return all.pop().ok_or_else(|| Failure::usage("no run is recorded [replay.unknown]", HOW));
    }
    let mut fitting = all.into_iter().filter(|run| run.0.starts_with(name));
    match (fitting.next().filter(|_| !name.is_empty()), fitting.next()) {
        (Some(run), None) => Ok(run),
        (Some(run), Some(_)) if run.0 == name => Ok(run),
        (Some(_), Some(_)) => Err(Failure::usage(
            format!("several recorded runs begin with `{name}` [replay.unknown]"),
            "write more of the name; `isolith replay` lists them",
        )),
        (None, _) => Err(Failure::usage(format!("no run `{name}` is recorded [replay.unknown]"), HOW)),
    }
}

/// Why a journal cannot be used.
pub(crate) enum Unreadable {
    /// The record holds nothing but a secret.
    Redacted(String),
    Damaged(String),
}

/// A recorded run.
pub(crate) fn read(journals: &Journals, run: &RunId) -> Result<Result<Recorded, Unreadable>, Failure> {
    let lines = match journals.read(run) {
        Ok(Some(lines)) => lines,
        Ok(None) => return Err(Failure::usage(format!("no run `{run}` is recorded [replay.unknown]"), HOW)),
        Err(error @ StoreError::Journal { .. }) => return Ok(Err(Unreadable::Damaged(error.to_string()))),
        Err(error) => return Err(job::store(error)),
    };
    Ok(Recorded::read(&lines.records).map_err(|error| match error {
        JournalError::Lost(_) => Unreadable::Redacted(error.to_string()),
        JournalError::Damaged(_) | JournalError::Format(_) => Unreadable::Damaged(error.to_string()),
    }))
}

/// A recorded run, or why there is none.
pub(crate) fn recorded(journals: &Journals, run: &RunId) -> Result<Recorded, Failure> {
    read(journals, run)?.map_err(|unreadable| match unreadable {
        Unreadable::Redacted(why) | Unreadable::Damaged(why) => {
            Failure::usage(why, format!("put a copy back, or forget it: `isolith replay {run} --forget`"))
        }
    })
}

/// The journal of a run that is gone on with, read from a state that was kept on where that is one of it.
pub(crate) fn taken_up(run: &RunId, state: Option<&SuspendedRun>) -> Result<Option<(JournalFile, Recorded)>, Failure> {
    let journals = open()?;
    let damaged = |error: JournalError| Failure::usage(error, "put a copy of the journal back");
    if let Some((state, mark)) = state.and_then(|state| Some((state, state.mark()?)))
        && let Some((file, lines)) = journals.append_after(run, mark).map_err(job::store)?
    {
        let recorded = Recorded::read_after(&lines.records, state).map_err(damaged)?;
        if recorded.header.program == state.digest().to_string() {
            return Ok(Some((file, recorded)));
        }
    }
    let Some((file, lines)) = journals.append_to(run).map_err(job::store)? else { return Ok(None) };
    Ok(Some((file, Recorded::read(&lines.records).map_err(damaged)?)))
}

/// Forgets a run, with everything that is kept beside its journal.
pub(crate) fn forget(journals: &Journals, run: &RunId) -> Result<(), Failure> {
    journals.remove(run).map_err(job::store)?;
    workflow::forget(run)
}

/// The journal that a suspended run goes on with.
pub(crate) fn going_on(run: &SuspendedRun) -> Result<Option<(JournalFile, Recorded)>, Failure> {
    let (Some(turns), Some(id)) = (run.recorded(), run.id()) else { return Ok(None) };
    let not_recorded = |why: &str| {
        paint::complain(HINT, "note", &format!("{why}: what the run does from here on is not recorded"));
        Ok(None)
    };
    let Some((file, lines)) = open()?.append_to(id).map_err(job::store)? else {
        return not_recorded("the journal of this run is gone");
    };
    match Recorded::read(&lines.records) {
        Ok(recorded) if recorded.suspended == Some(turns) => Ok(Some((file, recorded))),
        Ok(_) => not_recorded("this run was resumed before"),
        Err(_) => not_recorded("the journal of this run cannot be read"),
    }
}
