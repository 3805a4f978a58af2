use super::progress::Told;
use super::{Failed, Until, WorkflowHost, nonsense, turn_aside};
use crate::fault::Fault;
use crate::imported::{Imported, Line};
use isolith_agents::{AgentError, Reply, Request, raw_output, validate};
use isolith_core::Json;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

impl WorkflowHost {
    pub(super) async fn agent(&self, args: &Json, until: Until) -> Result<Value, Failed> {
        let Numbered { seq } = args.parse().map_err(|error| nonsense(&error))?;
        let request: Request = args.parse().map_err(|error| nonsense(&error))?;
        let key = request.key.clone();
        if let Some(imported) = &self.means.imported {
            imported.ask(seq);
        }
        turn_aside().await;
        let done = self.answered(seq, request, until).await;
        if let Err(Failed { fault, .. }) = &done {
            self.tell("agent-failed", json!({ "key": key, "error": fault }));
        }
        done
    }

    async fn answered(&self, seq: u64, request: Request, until: Until) -> Result<Value, Failed> {
        if self.is_stopped(until) {
            return Err(Fault::stopped().into());
        }
        if let Some(imported) = &self.means.imported
            && let Some(line) = imported.line(seq)
        {
            return self.known(imported, line, &request).await;
        }
        self.may_call()?;
        let reply = tokio::select! {
            biased;
            () = self.stopped(until) => Err(Fault::stopped().into()),
            reply = self.live(request.clone()) => reply,
        };
        self.tally().busy -= 1;
        let reply = reply?;
        self.tally().spent += reply.output_tokens;
        if request.schema.is_some() && reply.data.is_none() {
            let issues = vec!["no JSON value found in output".to_owned()];
            let fault = invalid(issues, reply.attempts, &reply.text);
            return Err(Failed { fault, tokens: reply.output_tokens });
        }
        if let (Some(schema), Some(data)) = (&request.schema, &reply.data)
            && let Err(issues) = validate(schema, data)
        {
            let fault = invalid(issues, reply.attempts, &reply.text);
            return Err(Failed { fault, tokens: reply.output_tokens });
        }
        let Reply { text, data, input_tokens, output_tokens, approximate, model, .. } = reply;
        let data = data.filter(|_| request.schema.is_some());
        self.tell("agent-output", json!({ "key": request.key, "text": text, "data": data }));
        let usage = json!({ "inputTokens": input_tokens, "outputTokens": output_tokens, "approximate": approximate });
        self.tell("agent-finished", json!({ "key": request.key, "usage": usage, "cached": false, "model": model }));
        Ok(answer(&text, data.as_ref(), output_tokens, false))
    }

    /// Budget and number of agents, looked at before anything is done. Calls that are under way may overshoot the budget.
    fn may_call(&self) -> Result<(), Fault> {
        let mut tally = self.tally();
        if let Some(total) = self.settings.budget
            && tally.spent >= total
        {
            return Err(Fault::BudgetExhausted { spent: tally.spent, total });
        }
        if tally.agents >= self.settings.cap {
            return Err(Fault::AgentCapExceeded { cap: self.settings.cap });
        }
        tally.agents += 1;
        tally.busy += 1;
        Ok(())
    }

    async fn live(&self, request: Request) -> Result<Reply, Failed> {
        self.means.control.gate().await;
        let closed = |_| Failed::from(Fault::stopped());
        let _place = self.places.acquire().await.map_err(closed)?;
        let (key, model) = (&request.key, &request.model);
        self.tell("agent-started", json!({ "key": key, "model": model }));
        let told = Arc::new(Told::new(&request.key, Arc::clone(&self.means.audience)));
        let done = self.means.agents.run(request, Arc::clone(&told) as _).await;
        // A failure is paid for too.
        done.map_err(|error| {
            let tokens = told.spent();
            self.tally().spent += tokens;
            Failed { fault: fault(error), tokens }
        })
    }

    /// An answer from another journal, held against what is asked now.
    async fn known(&self, imported: &Imported, line: &Line, request: &Request) -> Result<Value, Failed> {
        if line.key != request.key {
            // Nothing live may come of a program that is not the recorded one any more, and no script may go on from here.
            let (call, expected, found) = (format!("call {}", line.seq), line.key.clone(), request.key.clone());
            let fault = Fault::Divergence { call, expected, found };
            self.means.control.fail(fault.clone());
            return Err(fault.into());
        }
        imported.turn(line.seq, &self.pace).await;
        self.tally().spent += line.output_tokens;
        if let Some(schema) = &request.schema {
            let checked = line.data.as_ref().map(|data| validate(schema, data));
            if let Err(issues) = checked.unwrap_or_else(|| Err(vec!["no JSON value found in output".to_owned()])) {
                let fault = invalid(issues, 1, &line.text);
                return Err(Failed { fault, tokens: line.output_tokens });
            }
        }
        self.tell("agent-output", json!({ "key": line.key, "text": line.text, "data": line.data }));
        let usage = json!({ "inputTokens": 0, "outputTokens": line.output_tokens });
        self.tell("agent-finished", json!({ "key": line.key, "usage": usage, "cached": true }));
        Ok(answer(&line.text, line.data.as_ref(), line.output_tokens, true))
    }
}

fn answer(text: &str, data: Option<&Json>, tokens: u64, cached: bool) -> Value {
    let mut answer = json!({ "text": text, "outputTokens": tokens });
    if let Some(data) = data {
        answer["data"] = json!(data);
    }
    if cached {
        answer["cached"] = json!(true);
    }
    answer
}

fn invalid(issues: Vec<String>, attempts: u32, raw: &str) -> Fault {
    Fault::SchemaValidation { issues, attempts: attempts.max(1), raw_output: Some(raw_output(raw)) }
}

fn fault(error: AgentError) -> Fault {
    match error {
        AgentError::AdapterSpawn { adapter, cause } => Fault::AdapterSpawn { adapter, cause },
        AgentError::SchemaValidation { issues, attempts, raw_output } => {
            Fault::SchemaValidation { issues, attempts, raw_output }
        }
        AgentError::Timeout { what, ms } => Fault::Timeout { what, ms },
    }
}
