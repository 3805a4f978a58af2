//! Runs of the command line that wait for someone's word: kept in the data folder until they are resumed.

use crate::failure::Failure;
use crate::job;
use crate::paint::{self, HINT, QUIET};
use crate::terminal::inert;
use isolith_core::{
    Approval, Ask, BoxFuture, CallId, CallerId, Json, Keeper, Outcome, RunId, RunRecord, RunState, RunStore as _,
    SessionName, StoreProblem, Timestamp,
};
use isolith_gate::Desk;
use isolith_runner::{Ended, SuspendedRun};
use isolith_store::{DataFolder, Runs};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long someone may take to agree, unless flags say otherwise.
pub(crate) const APPROVAL_TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a run is kept after the last question about it has expired, or after its end.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a session remembers a run.
const SESSION_RUN_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// So many questions are told one by one.
const TOLD_MAX: usize = 10;

/// Where questions of one run are kept. Nothing is opened before there is one.
pub(crate) struct Drawer {
    data: DataFolder,
    run: RunId,
    store: OnceLock<Option<Arc<Runs>>>,
}

impl Drawer {
    pub(crate) fn new(data: DataFolder, run: RunId) -> Drawer {
        Drawer { data, run, store: OnceLock::new() }
    }
}

impl Desk for Drawer {
    fn asked(&self, _ask: &Ask) {}

    fn begin(&self, call: CallId) -> BoxFuture<'_, bool> {
        let store = self.store.get_or_init(|| self.data.runs().ok().map(Arc::new)).clone();
        Box::pin(async move {
            let Some(store) = store else { return false };
            store.begin(&CallerId::terminal(), &self.run, call).await.unwrap_or(false)
        })
    }

    fn always(&self, program: &str, grant: &str) -> bool {
        self.data.consent().is_ok_and(|consent| consent.allowed(program, grant) == Some(true))
    }

    fn remember(&self, program: &str, grant: &str) {
        let kept = self.data.consent().and_then(|consent| consent.remember(program, grant, true));
        if let Err(error) = kept {
            paint::complain(HINT, "note", &format!("the answer holds for this run only: {error}"));
        }
    }
}

/// A run from the data folder.
pub(crate) struct Kept {
    pub(crate) run: SuspendedRun,
    pub(crate) approvals: Vec<Approval>,
    /// The session that it runs in.
    pub(crate) session: Option<SessionName>,
    created: Timestamp,
}

/// Finds a suspended run of the command line.
pub(crate) async fn find(data: &DataFolder, id: &str) -> Result<Kept, Failure> {
    let store = data.runs().map_err(job::store)?;
    let (caller, run) = (CallerId::terminal(), RunId(id.to_owned()));
    let hint = "`isolith approvals list` shows the runs that wait, `isolith run --suspend FILE` writes files";
    let record = store.get(&caller, &run).await.map_err(failed)?;
    let record = record.ok_or_else(|| Failure::usage(format!("there is no file and no run `{id}`"), hint))?;
    let Some(bytes) = record.suspended else {
        return Err(Failure::usage(format!("the run `{id}` has ended"), hint));
    };
    let suspended = SuspendedRun::from_bytes(&bytes).map_err(isolith_runner::RunError::Suspended)?;
    let approvals = store.approvals(Some(&caller), Some(&run)).await.map_err(failed)?;
    Ok(Kept { run: suspended, approvals, session: record.session, created: record.created })
}

/// Keeps a run that waits for a word, what became of one that was kept, and every run of a session.
pub(crate) async fn settle(
    ended: &Ended,
    before: Option<&Kept>,
    session: Option<&SessionName>,
    quiet: bool,
) -> Result<(), Failure> {
    let Ended { outcome, suspended } = ended;
    let waits = suspended.as_ref().filter(|_| !outcome.approvals.is_empty());
    let (Some(run), true) = (&outcome.run, waits.is_some() || before.is_some() || session.is_some()) else {
        return Ok(());
    };
    let now = now();
    let last = outcome.approvals.iter().map(|ask| ask.expires_us).max().unwrap_or(now);
    let record = RunRecord {
        caller: CallerId::terminal(),
        run: run.clone(),
        created: before.map_or(now, |before| before.created),
        expires: last.after(if session.is_some() { SESSION_RUN_KEPT } else { KEEP }),
        state: if suspended.is_some() { RunState::Suspended } else { RunState::Ended },
        outcome: Json::of(outcome).unwrap_or_else(|_| Json::null()),
        suspended: suspended.as_ref().map(SuspendedRun::to_bytes),
        wakes: None,
        continuation: None,
        keeper: Keeper::Terminal,
        session: session.cloned(),
        asks: outcome.approvals.iter().map(|ask| (ask.clone(), None)).collect(),
    };
    let store = job::data_folder()?.runs().map_err(job::store)?;
    store.put(record, Vec::new()).await.map_err(failed)?;
    let _ = store.expire(now).await;
    if waits.is_some() && !quiet {
        tell(outcome, run);
    }
    Ok(())
}

fn tell(outcome: &Outcome, run: &RunId) {
    for ask in outcome.approvals.iter().take(TOLD_MAX) {
        paint::complain(HINT, "asks", &inert(&format!("{} (`{}`)", ask.what, ask.grant), true));
    }
    if let Some(more) = outcome.approvals.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        paint::complain(HINT, "asks", &format!("{more} more"));
    }
    paint::note(QUIET, &format!("suspended until someone agrees: `isolith approvals show {run}`"));
}

pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp::default().after(since.unwrap_or_default())
}

pub(crate) fn failed(error: StoreProblem) -> Failure {
    Failure::usage(error, "`isolith doctor` says which file")
}
