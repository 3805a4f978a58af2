use super::{Failed, Until, WorkflowHost, nonsense, turn_aside};
use crate::fault::Fault;
use crate::mail::Question;
use isolith_core::{CallId, Json};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

impl WorkflowHost {
    pub(super) async fn ask(&self, id: CallId, args: &Json, until: Until) -> Result<Value, Failed> {
        let Numbered { seq } = args.parse().map_err(|error| nonsense(&error))?;
        let question: Question = args.parse().map_err(|error| nonsense(&error))?;
        if let Some(imported) = &self.means.imported {
            imported.ask(seq);
        }
        turn_aside().await;
        self.waiting().insert(id);
        let _turn = self.asking.lock().await;
        if self.is_stopped(until) {
            return Err(Fault::stopped().into());
        }
        let cached = self.means.imported.as_ref().and_then(|imported| Some((imported, imported.line(seq)?)));
        self.tell(
            "question-asked",
            json!({ "key": question.key, "question": question.question, "choices": question.choices }),
        );
        let answer = match cached {
            Some((imported, line)) if line.key == question.key => {
                imported.turn(seq, &self.pace).await;
                line.data.clone().unwrap_or_else(|| Json::of(&line.text).unwrap_or_else(|_| Json::null()))
            }
            Some((_, line)) => {
                let (call, expected, found) = (format!("call {seq}"), line.key.clone(), question.key.clone());
                let fault = Fault::Divergence { call, expected, found };
                self.means.control.fail(fault.clone());
                return Err(fault.into());
            }
            None => self.person(&question, until).await?,
        };
        self.tell("question-answered", json!({ "key": question.key, "answer": answer, "cached": cached.is_some() }));
        let text = answer.parse::<String>().unwrap_or_else(|_| answer.text().to_owned());
        let mut told = json!({ "text": text, "data": answer, "outputTokens": 0 });
        if cached.is_some() {
            told["cached"] = json!(true);
        }
        Ok(told)
    }

    /// What was said beforehand, what someone says now, or what holds when nobody does.
    async fn person(&self, question: &Question, until: Until) -> Result<Json, Fault> {
        if let Some(answer) = self.settings.answers.get(&question.key) {
            return Ok(answer.clone());
        }
        let said = tokio::select! {
            biased;
            () = self.stopped(until) => return Err(Fault::stopped()),
            said = self.means.mail.answer(question) => said,
        };
        let known = said.or_else(|| question.default.clone());
        known.ok_or_else(|| Fault::UnansweredQuestion { key: question.key.clone() })
    }
}
