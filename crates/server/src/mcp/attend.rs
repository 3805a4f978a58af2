//! A call of a tool that runs a program: started or taken up again, attended until it ends or has to ask someone.

use super::elicit::Standing;
use super::http::Visit;
use super::{Mcp, answer, asked, elicit, progress, script, state, task, tools, workspace};
use crate::asked::{Asked, Table, run_id};
use crate::caller::Caller;
use crate::error::Refusal;
use crate::routes::approvals::reviewed;
use crate::run::{Awaited, Run, Stage};
use crate::trace::Trace;
use axum::http::request::Parts;
use isolith_core::{Ask, CallId, Scope};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a person may take who is asked while the call waits. After that the run waits without it.
const ANSWER_TIME: Duration = Duration::from_secs(600);
/// A run asks this often within one call; then the call ends, and the run goes on waiting.
const ROUNDS_MAX: usize = 100;

impl Mcp {
    pub(super) async fn perform(
        &self,
        visit: &Visit,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Refusal> {
        visit.caller.may(Scope::Runs)?;
        let arguments = serde_json::to_vec(&request.arguments.unwrap_or_default())
            .map_err(|error| Refusal::internal("reading a call", &error))?;
        match &*request.name {
            tools::SEARCH => return self.search(&visit.caller, &arguments).await.map(Into::into),
            tools::DESCRIBE => return self.describe(&visit.caller, &arguments).await.map(Into::into),
            name if name != workspace::RUN_FILE && workspace::names().any(|known| known == name) => {
                return self.workspace(visit, name, &arguments).await.map(Into::into);
            }
            _ => {}
        }
        let digest = state::digest(&request.name, &arguments);
        let is_script = request.name == tools::SCRIPT;
        let mut silent = false;
        let trace = Trace::of(context.meta.get_traceparent(), context.meta.get_tracestate())
            .or_else(|| Trace::in_headers(&context.extensions.get::<Parts>()?.headers));
        let can_be_task = !is_script && task::declared(&context);
        let progress = progress::Progress::of(&context);
        // Nobody listens any more when this call has its answer, whatever it is.
        let hearing = OnceLock::new();
        let hear = |run: &Arc<Run>| {
            if let Some(progress) = &progress {
                hearing.get_or_init(|| progress.hear(run));
            }
        };
        let run = match (&request.request_state, &*request.name) {
            (Some(text), _) => {
                let state = state::read(&self.app, &visit.caller.id, text, &digest)?;
                let run = self.app.runs.find(&visit.caller, &state.run).await?;
                hear(&run);
                silent = !self.take(&run, &state.asks, request.input_responses.unwrap_or_default()).await?;
                run
            }
            (None, tools::RESUME) => {
                let run = self.named(&visit.caller, &arguments).await?;
                hear(&run);
                // What was said meanwhile, at a terminal or elsewhere, is taken up now.
                if run.approvals.any_said() {
                    self.app.runs.wake(&run);
                }
                run
            }
            (None, tools::SCRIPT) => match script::read(visit, &arguments)? {
                Ok(asked) => self.app.runs.start(&visit.caller, Asked { trace, ..asked }, false, hear).await?,
                Err(result) => return Ok(result.into()),
            },
            (None, name) => {
                let asked = match name {
                    workspace::RUN_FILE => self.file(visit, &arguments).await?,
                    _ => asked(&arguments, visit)?,
                };
                if let Some(checker) = &self.app.checker {
                    let mistakes = checker.check(&asked.source).await;
                    let mistakes = mistakes.map_err(|error| Refusal::internal("checking types", &error))?;
                    if !mistakes.is_empty() {
                        return Ok(answer::mistaken(&mistakes).into());
                    }
                }
                self.app.runs.start(&visit.caller, Asked { trace, ..asked }, false, hear).await?
            }
        };
        let telling = async {
            match progress {
                Some(progress) => progress.tell(&context.peer).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(telling);
        for _ in 0..ROUNDS_MAX {
            let stage = tokio::select! {
                biased;
                stage = run.stop() => stage,
                // THREAT[T-MCP-002]: whoever gave a call up does not want its program to go on.
                () = given_up(&context, visit, &mut telling) => {
                    self.app.runs.cancel(&run).await;
                    run.stop().await
                }
                () = tokio::time::sleep(task::AFTER), if can_be_task => return self.becomes_task(&run, visit, &context).await,
            };
            let (outcome, awaited) = match stage {
                Stage::Ended(outcome) if is_script => return script::ended(&outcome).map(Into::into),
                Stage::Ended(outcome) => return answer::ended(&outcome).map(Into::into),
                Stage::Refused(refusal) => return Err(refusal),
                Stage::Waiting(outcome, awaited) if !awaited.asks.is_empty() => (outcome, awaited),
                Stage::Running | Stage::Waiting(..) => {
                    return Err(Refusal::internal("waiting for a run", &"it waits for someone who is not there"));
                }
            };
            if can_be_task {
                return self.becomes_task(&run, visit, &context).await;
            }
            let waits = || match is_script {
                true => Ok(script::waits(&run.id).into()),
                false => answer::suspended(&outcome, &run.id).map(Into::into),
            };
            // Who closed the forms without a word is not shown them again at once.
            if silent || !can_ask(&context, &visit.caller) {
                return waits();
            }
            let review = reviewed(&self.app, &run).await?;
            let asks: Vec<Ask> =
                run.approvals.open().into_iter().filter(|ask| awaited.asks.contains(&ask.id)).collect();
            if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
                return self.in_rounds(&run, &asks, &review, &digest);
            }
            if self.caller.is_none() || !self.at_once(&run, &asks, &review, &context, &awaited).await? {
                return waits();
            }
        }
        match run.stage() {
            Stage::Waiting(outcome, _) => answer::suspended(&outcome, &run.id).map(Into::into),
            _ => Err(Refusal::internal("waiting for a run", &"it asks without end")),
        }
    }

    /// The run that `resume` names.
    async fn named(&self, caller: &Arc<Caller>, arguments: &[u8]) -> Result<Arc<Run>, Refusal> {
        let mut table = Table::read(arguments)?;
        let id = table.parse::<String>("run", "a run's name")?;
        table.finish(&["run"])?;
        let id = id.ok_or_else(|| Refusal::invalid("`run` is missing").at("run"))?;
        self.app.runs.find(caller, &run_id(id)?).await
    }

    /// Everything that is asked, in the answer to the call: the client asks its person and calls again.
    fn in_rounds(&self, run: &Run, asks: &[Ask], review: &Value, digest: &str) -> Result<CallToolResponse, Refusal> {
        let mut requests = InputRequests::new();
        for ask in asks {
            let form = ElicitRequest::new(elicit::form(ask, review, Standing::Told)?);
            requests.insert(elicit::key(ask.id), InputRequest::Elicitation(form));
        }
        let state = state::make(&self.app, run, asks.iter().map(|ask| ask.id).collect(), digest);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// What the client's person said in answer to that. False when they said nothing.
    pub(super) async fn take(&self, run: &Arc<Run>, asks: &[CallId], said: InputResponses) -> Result<bool, Refusal> {
        let open = run.approvals.open();
        if !asks.iter().any(|call| open.iter().any(|ask| ask.id == *call)) && !said.is_empty() {
            return Err(state::spent(Refusal::new(axum::http::StatusCode::CONFLICT, "approval.answered", "")));
        }
        let mut words = Vec::new();
        for ask in open.iter().filter(|ask| asks.contains(&ask.id)) {
            if let Some(answer) = said.get(&elicit::key(ask.id))
                && let Some(verdict) = elicit::verdict(ask, answer)?
            {
                verdict.check(ask).map_err(|message| Refusal::invalid(message).at(elicit::key(ask.id)))?;
                words.push((ask.id, verdict));
            }
        }
        let any = !words.is_empty();
        for (call, verdict) in words {
            let for_all = verdict.consent != isolith_core::Consent::Once;
            match self.app.runs.decide(run, call, verdict, "mcp").await {
                // A yes for the whole run answered the others with the first.
                Err(refusal) if for_all && refusal.code == "approval.answered" => {}
                other => other.map_err(state::spent)?,
            }
        }
        Ok(any)
    }

    /// Asks the person while the call waits, as older clients can. False when they gave no word.
    async fn at_once(
        &self,
        run: &Arc<Run>,
        asks: &[Ask],
        review: &Value,
        context: &RequestContext<RoleServer>,
        awaited: &Awaited,
    ) -> Result<bool, Refusal> {
        for ask in asks {
            let form = ElicitRequest::new(elicit::form(ask, review, Standing::Told)?);
            let asked = context.peer.send_request(ServerRequest::ElicitRequest(form));
            let Ok(Ok(ClientResult::ElicitResult(said))) = tokio::time::timeout(ANSWER_TIME, asked).await else {
                return Ok(false);
            };
            let said = serde_json::to_value(&said).map_err(|error| Refusal::internal("reading a word", &error))?;
            let Some(verdict) = elicit::verdict(ask, &said)? else { return Ok(false) };
            let mut responses = InputResponses::new();
            responses.insert(elicit::key(ask.id), said);
            if run.approvals.open().iter().any(|open| open.id == ask.id) {
                self.take(run, &awaited.asks, responses).await?;
            }
            if verdict.consent != isolith_core::Consent::Once {
                break;
            }
        }
        Ok(true)
    }
}

/// Whether the person behind the client can be asked, and may agree.
pub(super) fn can_ask(context: &RequestContext<RoleServer>, caller: &Caller) -> bool {
    let able = context.client_capabilities().is_some_and(|able| able.elicitation.is_some());
    able && caller.may(Scope::Approvals).is_ok()
}

async fn given_up(
    context: &RequestContext<RoleServer>,
    Visit { gone, .. }: &Visit,
    telling: &mut (impl Future<Output = ()> + Unpin),
) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = gone.cancelled() => {}
        // Nobody to tell is left before the run is over only when the client is.
        () = telling => {}
    }
}
