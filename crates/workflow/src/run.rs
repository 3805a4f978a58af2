use crate::bundle::Bundle;
use crate::fault::Fault;
use crate::host::{Means, WorkflowHost};
use crate::kept::Kept;
use crate::pace::Paced;
use crate::settings::Settings;
use crate::tally::Tally;
use isolith_core::{Grant, Json, Limits, Outcome, OutputSink, Recorder, RunId, Status};
use isolith_runner::{
    Attend, Checkpoints, Durable, Ended, Patience, Recorded, Recording, RunError, Runner, SuspendedRun, TakeUp,
    TakeUpError,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where a run is kept, and what stands around it.
pub struct Around {
    /// Takes the journal.
    pub journal: Box<dyn Recorder>,
    /// Keeps its state on the way.
    pub keep: Option<Keep>,
    /// How long it is kept in memory while it only waits; without this it stays.
    pub patience: Option<Patience>,
    /// Takes what it writes to the console.
    pub sink: Arc<dyn OutputSink>,
    /// Asks it to leave memory as soon as it can.
    pub leave: CancellationToken,
}

/// Keeps the state of a run every so many turns, so that taking it up again does not take as long as it took.
#[derive(Clone)]
pub struct Keep {
    /// After how many turns.
    pub every: u32,
    /// Takes the state. One that cannot be kept costs time later, and nothing else.
    pub to: Arc<dyn Fn(&Kept) + Send + Sync>,
}

/// How a run of a workflow ended.
#[derive(Debug)]
pub struct Finished {
    /// Its value, or why it has none.
    pub end: End,
    /// The outcome of the program behind it; not there where it could not even begin again.
    pub outcome: Option<Outcome>,
}

/// Its value, or why it has none.
#[derive(Debug)]
pub enum End {
    /// It returned; nothing stands for `undefined`.
    Value(Option<Json>),
    /// It failed.
    Failed(Fault),
    /// It waits outside memory.
    Waits(Box<Kept>),
    /// It could not be taken up, and nothing was done: it is as it was.
    NotTakenUp(Fault),
}

/// Runs a workflow from its beginning.
pub async fn run(
    runner: &Runner,
    bundle: &Bundle,
    (run, granted, limits): (RunId, &[Grant], Limits),
    settings: Settings,
    means: Means,
    around: Around,
) -> Result<Finished, RunError> {
    let name = bundle.meta.name.clone();
    let plan =
        isolith_runner::Plan { patience: around.patience, ..bundle.plan(run.clone(), &settings, granted, limits) };
    let host = Arc::new(WorkflowHost::new(means, settings, Tally::default()));
    host.tell("run-started", json!({ "runId": run, "name": name, "budgetTotal": host.settings.budget }));
    for phase in bundle.meta.phases.iter().flatten() {
        let title = phase.get("title").unwrap_or(phase);
        if title.is_string() {
            host.tell("phase-started", json!({ "phase": title }));
        }
    }
    let (attend, journal, checkpoints) = attended(&host, around);
    let recording = Recording { to: journal, requested: granted.to_vec(), durable: Durable::EachTurn, checkpoints };
    let ended = runner.record(plan, attend, recording).await?;
    Ok(host.finished(ended))
}

/// Goes on with a run where its journal ends.
pub async fn take_up(
    runner: &Runner,
    recorded: &Recorded,
    kept: Option<Kept>,
    settings: Settings,
    means: Means,
    around: Around,
) -> Result<Finished, RunError> {
    // What the script was told of its budget holds, wherever it is taken up.
    let budget = recorded.header.input().and_then(|input| input.parse::<Given>().ok()).map(|given| given.budget_total);
    let settings = Settings { budget: budget.unwrap_or(settings.budget), ..settings };
    let kept = kept.filter(|kept| runner.fits(recorded, &kept.state));
    // Where the beginning was not read, a state knows what came of it.
    let tally = match &kept {
        Some(kept) if !recorded.is_whole() => kept.tally.clone().and(recorded),
        _ => Tally::of(recorded),
    };
    let checkpoint = kept.map(|kept| kept.state);
    let host = Arc::new(WorkflowHost::new(means, settings, tally));
    let patience = around.patience;
    host.tell("run-resumed", json!({ "runId": recorded.header.run }));
    let (attend, to, checkpoints) = attended(&host, around);
    let durable = Durable::EachTurn;
    match runner.take_up(TakeUp { recorded, checkpoint, to, durable, checkpoints, patience }, attend).await {
        Ok(ended) => Ok(host.finished(ended)),
        Err(TakeUpError::Run(error)) => Err(error),
        Err(TakeUpError::Divergence(found)) => {
            let fault = Fault::Divergence { call: found.at, expected: found.expected, found: found.found };
            Ok(Finished { end: End::NotTakenUp(fault), outcome: None })
        }
        // It came to its end, and nobody was told: its journal knows how, told again.
        Err(TakeUpError::Ended) => Ok(match runner.replay(recorded).await?.outcome {
            Some(outcome) => host.finished(Ended { outcome, suspended: None }),
            None => Finished { end: End::Failed(Fault::of_run("the run was ended from outside")), outcome: None },
        }),
        Err(error @ TakeUpError::Redacted) => {
            Ok(Finished { end: End::NotTakenUp(Fault::of_run(error.to_string())), outcome: None })
        }
    }
}

fn attended(host: &Arc<WorkflowHost>, around: Around) -> (Attend, Box<dyn Recorder>, Option<Checkpoints>) {
    let Around { journal, keep, sink, leave, .. } = around;
    let checkpoints = keep.map(|Keep { every, to }| {
        let host = Arc::downgrade(host);
        let to = Arc::new(move |state: &SuspendedRun| {
            if let Some(host) = host.upgrade() {
                to(&Kept { state: state.clone(), tally: host.tally().answered() });
            }
        });
        Checkpoints { every, to }
    });
    let mut attend = Attend::new(Arc::clone(host) as _, sink);
    (attend.cancel, attend.leave) = (host.means.control.end.clone(), leave);
    let journal = Box::new(Paced { to: journal, pace: Arc::clone(&host.pace) });
    (attend, journal, checkpoints)
}

/// What a script was told when it began.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    budget_total: Option<u64>,
}

/// What the library makes of a run.
#[derive(Deserialize)]
struct Result_ {
    #[serde(default, deserialize_with = "present")]
    value: Option<Json>,
    #[serde(default)]
    error: Option<Fault>,
    #[serde(default)]
    events: Vec<Map<String, Value>>,
}

impl WorkflowHost {
    fn finished(&self, ended: Ended) -> Finished {
        let Ended { outcome, suspended } = ended;
        let end = match (self.means.control.fatal(), suspended, &outcome.value) {
            (Some(fault), ..) => self.failed(fault),
            (None, Some(suspended), _) => {
                End::Waits(Box::new(Kept { state: suspended, tally: self.tally().answered() }))
            }
            (None, None, Some(value)) if outcome.status == Status::Ok => match value.parse::<Result_>() {
                Ok(Result_ { value, error, events }) => {
                    self.tell_all(events);
                    match error {
                        Some(fault) => self.failed(fault),
                        None => {
                            self.tell("run-finished", json!({ "status": "finished" }));
                            End::Value(value)
                        }
                    }
                }
                Err(_) => self.failed(Fault::of_run("the workflow came to no end that makes sense")),
            },
            _ => self.failed(self.broken(&outcome)),
        };
        Finished { end, outcome: Some(outcome) }
    }

    fn failed(&self, fault: Fault) -> End {
        self.tell("run-finished", json!({ "status": "failed", "error": fault }));
        End::Failed(fault)
    }

    /// What ended the program behind the library's back: a limit, or someone outside.
    fn broken(&self, outcome: &Outcome) -> Fault {
        if self.means.control.stop.is_cancelled() {
            return Fault::stopped();
        }
        let error = outcome.error.as_ref();
        Fault::of_run(
            error
                .map_or_else(|| "it ended without a word".into(), |error| format!("{}: {}", error.name, error.message)),
        )
    }
}

/// A field that is there, be it `null`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
