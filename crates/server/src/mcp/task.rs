//! A program that takes its time, as a task of the protocol: the client has the run's name and asks how it stands.

use super::attend::can_ask;
use super::elicit::{self, Standing};
use super::http::Visit;
use super::{Mcp, answer};
use crate::asked::run_id;
use crate::error::Refusal;
use crate::routes::approvals::reviewed;
use crate::run::{Run, Stage};
use crate::runs::{ENDED_TIME, now, running};
use axum::http::StatusCode;
use isolith_core::{CallId, ErrorKind, Outcome, Scope};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CreateTaskResult, DetailedTask, ElicitRequest, ErrorCode, InputRequest, InputRequests,
    InputResponses, JsonObject, ProtocolVersion, Task, TaskPayload, TaskStatus,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A program that runs for longer than this is a task, for a client that knows them. Most end before and cost one request.
pub(super) const AFTER: Duration = Duration::from_secs(1);
/// How often a client had better ask.
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Whether this very request says that its client knows tasks. What was said at the beginning of a session does not count.
pub(super) fn declared(context: &RequestContext<RoleServer>) -> bool {
    let of_today = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    of_today && context.meta.client_capabilities().is_some_and(|able| able.supports_tasks())
}

impl Mcp {
    /// The answer to a call whose run goes on without it.
    pub(super) async fn becomes_task(
        &self,
        run: &Arc<Run>,
        visit: &Visit,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Refusal> {
        // Before the client knows its name: it may ask at once, and after a crash.
        self.app.runs.keep(run).await?;
        if let Stage::Refused(refusal) = run.stage() {
            return Err(refusal);
        }
        let shown = self.shown(run, can_ask(context, &visit.caller)).await?;
        Ok(CreateTaskResult::new(shown.task).into())
    }

    /// `tasks/get`
    pub(super) async fn task_now(
        &self,
        visit: &Visit,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<DetailedTask, Refusal> {
        let run = self.task(visit, id).await?;
        // What was said meanwhile, at a terminal or elsewhere, is taken up now.
        if run.approvals.any_said() {
            self.app.runs.wake(&run);
        }
        self.shown(&run, can_ask(context, &visit.caller)).await
    }

    /// `tasks/update`: what a person said. Keys that nobody is asked about, or not any more, mean nothing.
    pub(super) async fn task_hears(
        &self,
        visit: &Visit,
        id: &str,
        mut said: InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), Refusal> {
        let run = self.task(visit, id).await?;
        // THREAT[T-APPROVAL-002]: who may start runs may not for that reason agree to what they ask.
        visit.caller.may(Scope::Approvals)?;
        if !can_ask(context, &visit.caller) {
            let message = "a client that cannot ask its person has nothing to say here";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "approval.form", message).hint("declare `elicitation`"));
        }
        let open: Vec<CallId> = run.approvals.open().iter().map(|ask| ask.id).collect();
        said.retain(|key, _| open.iter().any(|call| elicit::key(*call) == *key));
        match self.take(&run, &open, said).await {
            // Someone elsewhere was faster.
            Err(refusal) if refusal.code == "state.spent" => Ok(()),
            other => other.map(drop),
        }
    }

    /// `tasks/cancel`
    pub(super) async fn task_ends(&self, visit: &Visit, id: &str) -> Result<(), Refusal> {
        let run = self.task(visit, id).await?;
        self.app.runs.cancel(&run).await;
        Ok(())
    }

    /// The client of this process is gone. What waits for a person stays on disk; what runs would run for nobody.
    pub(super) async fn leave_tasks(&self) {
        let Some(caller) = &self.caller else { return };
        for run in self.app.runs.of(&caller.id) {
            if run.named.load(Ordering::Acquire) && matches!(run.stage(), Stage::Running) {
                self.app.runs.cancel(&run).await;
            }
        }
    }

    // THREAT[T-MCP-004]: whoever guesses or overhears a task's name would read, answer or stop it. Names are looked up among the
    // caller's own runs, so that another's does not exist.
    async fn task(&self, visit: &Visit, id: &str) -> Result<Arc<Run>, Refusal> {
        visit.caller.may(Scope::Runs)?;
        let none = || Refusal::new(StatusCode::NOT_FOUND, "run.unknown", format!("there is no task `{id}`"));
        let id = run_id(id.to_owned()).map_err(|_| none())?;
        let found = self.app.runs.find(&visit.caller, &id).await;
        found.map_err(|refusal| if refusal.code == "run.unknown" { none() } else { refusal })
    }

    /// How a run stands.
    async fn shown(&self, run: &Arc<Run>, can_ask: bool) -> Result<DetailedTask, Refusal> {
        let mut message = None;
        let payload = match run.stage() {
            Stage::Running => TaskPayload::Working,
            // Another process has it in hand.
            Stage::Ended(outcome) if *outcome == *running(&run.id) => TaskPayload::Working,
            Stage::Ended(outcome) if was_cancelled(&outcome) => TaskPayload::Cancelled,
            Stage::Ended(outcome) => TaskPayload::Completed { result: object(&answer::ended(&outcome)?)? },
            Stage::Refused(refusal) => {
                message = Some(refusal.message.clone());
                TaskPayload::Failed { error: object(&wrong(&refusal))? }
            }
            Stage::Waiting(_, awaited) if awaited.asks.is_empty() => TaskPayload::Working,
            Stage::Waiting(..) if can_ask => {
                let review = reviewed(&self.app, run).await?;
                message = Some(elicit::standing(&review));
                match questions(run, &review)? {
                    // Someone answered just now.
                    none if none.is_empty() => TaskPayload::Working,
                    input_requests => TaskPayload::InputRequired { input_requests },
                }
            }
            Stage::Waiting(..) => {
                message = Some(format!("A person has to agree first: `isolith approvals show {}`", run.id));
                TaskPayload::Working
            }
        };
        let mut task = Task::new(run.id.0.clone(), TaskStatus::Working, run.created.iso(), run.changed().iso())
            .with_poll_interval_ms(POLL_EVERY.as_millis() as u64)
            .with_ttl_ms(self.time_to_live(run).as_millis() as u64);
        task.status_message = message;
        Ok(DetailedTask::new(task, payload))
    }

    /// From its beginning until it may be forgotten, as far as that is known by now.
    fn time_to_live(&self, run: &Run) -> Duration {
        let keep = match run.stored.load(Ordering::Acquire) || matches!(run.stage(), Stage::Waiting(..)) {
            true => self.app.runs.settings.keep,
            false => ENDED_TIME,
        };
        let last = match run.stage() {
            Stage::Running => now(),
            Stage::Waiting(..) => {
                let asked = run.approvals.open().into_iter().map(|ask| ask.expires_us);
                asked.chain([now()]).max().unwrap_or_default()
            }
            Stage::Ended(_) | Stage::Refused(_) => run.changed(),
        };
        last.after(keep).since(run.created)
    }
}

/// All that is asked. The same question is the same text under the same key, however often it is shown and however far the run is.
fn questions(run: &Run, review: &Value) -> Result<InputRequests, Refusal> {
    let mut requests = InputRequests::new();
    for ask in run.approvals.open() {
        let form = ElicitRequest::new(elicit::form(&ask, review, Standing::Elsewhere)?);
        requests.insert(elicit::key(ask.id), InputRequest::Elicitation(form));
    }
    Ok(requests)
}

/// A refusal in the protocol's words.
pub(super) fn wrong(refusal: &Refusal) -> ErrorData {
    let code = match refusal.status.is_server_error() {
        true => ErrorCode::INTERNAL_ERROR,
        false => ErrorCode::INVALID_PARAMS,
    };
    ErrorData::new(code, refusal.message.clone(), serde_json::to_value(refusal).ok())
}

fn was_cancelled(outcome: &str) -> bool {
    let outcome: Option<Outcome> = serde_json::from_str(outcome).ok();
    outcome.and_then(|outcome| outcome.error).is_some_and(|error| error.kind == ErrorKind::Cancelled)
}

fn object(value: &impl Serialize) -> Result<JsonObject, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::internal("showing a task", error);
    match serde_json::to_value(value).map_err(|error| failed(&error))? {
        Value::Object(object) => Ok(object),
        _ => Err(failed(&"it is no object")),
    }
}
