//! Asking until the answer is what it has to be: so often, so long, and not more.

use crate::schema::{self, Compiled};
use crate::words::{estimate, model};
use crate::{AgentError, Progress, Reply, Request, Step, extract, raw_output};
use isolith_core::{BoxFuture, Json};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What there is to say when an answer holds no JSON.
const NO_JSON: &str = "no JSON value found in output";
/// How much of an answer that cannot be used is repeated to whoever gave it.
const REPEATED_CHARS_MAX: usize = 4_000;

/// What is the same for all requests to one agent.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// The agent's name.
    pub(crate) name: String,
    /// The model unless the author says otherwise.
    pub(crate) model: Option<String>,
    /// How often an answer is asked for again that is not what the schema says.
    pub(crate) repairs: u32,
    /// How long all attempts may take together.
    pub(crate) limit: Duration,
}

/// One question, as whoever answers it gets it.
pub(crate) struct Ask<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) schema: Option<&'a Json>,
    pub(crate) model: Option<&'a str>,
    /// Where a program runs, if not where it always does.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) progress: &'a dyn Progress,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The value, where it came by another way than in the text.
    pub(crate) data: Option<Json>,
    /// Tokens, where they were told.
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) model: Option<String>,
}

/// Someone who answers one question at a time.
pub(crate) trait Answers: Send + Sync {
    /// Whether the schema is for them to read. Otherwise it is written into the prompt.
    fn takes_schema(&self) -> bool;

    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>>;
}

impl Terms {
    /// Asks, and asks again where that helps.
    pub(crate) async fn run(
        &self,
        who: &dyn Answers,
        request: &Request,
        progress: &Arc<dyn Progress>,
    ) -> Result<Reply, AgentError> {
        if request.isolation.is_some() && request.folder.is_none() {
            progress.report(Step::Note { message: "it has no tree of its own: nobody made one".into() });
        }
        let limit = request.timeout.map_or(self.limit, |wanted| wanted.min(self.limit));
        let asked = self.attempts(who, request, progress.as_ref());
        tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(AgentError::late(&request.label, limit)))
    }

    async fn attempts(
        &self,
        who: &dyn Answers,
        request: &Request,
        progress: &dyn Progress,
    ) -> Result<Reply, AgentError> {
        let schema = request.schema.as_ref();
        let compiled = schema.map(schema::compiled).transpose()?;
        let model = request.model.as_deref().or(self.model.as_deref()).map(model).transpose();
        let model = model.map_err(|why| AgentError::failed(&self.name, why))?;
        let base = match schema.filter(|_| !who.takes_schema()) {
            Some(schema) => with_schema(&request.prompt, schema),
            None => request.prompt.clone(),
        };
        let mut reply = Reply::default();
        let mut prompt = base.clone();
        loop {
            reply.attempts += 1;
            let ask = Ask { prompt: &prompt, schema, model, folder: request.folder.as_deref(), progress };
            let answer = who.ask(ask).await?;
            spend(&mut reply, &prompt, &answer, progress);
            reply.model = answer.model.or(reply.model);
            let Some(compiled) = &compiled else {
                reply.text = answer.text;
                return Ok(reply);
            };
            match fitting(compiled, answer.data, &answer.text) {
                Ok(data) => {
                    reply.text = if answer.text.is_empty() { data.text().to_owned() } else { answer.text };
                    reply.data = Some(data);
                    return Ok(reply);
                }
                Err(issues) if reply.attempts > self.repairs => {
                    let raw_output = Some(raw_output(&answer.text));
                    return Err(AgentError::SchemaValidation { issues, attempts: reply.attempts, raw_output });
                }
                Err(issues) => {
                    prompt = with_issues(&base, &answer.text, &issues);
                    progress.report(Step::Repair { attempt: reply.attempts + 1, issues });
                }
            }
        }
    }
}

fn spend(reply: &mut Reply, prompt: &str, answer: &Answer, progress: &dyn Progress) {
    let approximate = answer.input_tokens.is_none() || answer.output_tokens.is_none();
    let input_tokens = answer.input_tokens.unwrap_or_else(|| estimate(prompt));
    let output_tokens = answer.output_tokens.unwrap_or_else(|| estimate(&answer.text));
    reply.input_tokens += input_tokens;
    reply.output_tokens += output_tokens;
    reply.approximate |= approximate;
    progress.report(Step::Spent { input_tokens, output_tokens, approximate });
}

/// The value in an answer that is what the schema says, or what is wrong with the likeliest.
fn fitting(schema: &Compiled, given: Option<Json>, text: &str) -> Result<Json, Vec<String>> {
    let candidates = match given {
        Some(value) => vec![value],
        None => extract::candidates(text),
    };
    let mut first = None;
    for json in candidates {
        let checked = json.parse::<Value>().map_err(|error| vec![error.to_string()]);
        match checked.and_then(|value| schema.check(&value)) {
            Ok(()) => return Ok(json),
            Err(issues) => first = first.or(Some(issues)),
        }
    }
    Err(first.unwrap_or_else(|| vec![NO_JSON.to_owned()]))
}

fn with_schema(prompt: &str, schema: &Json) -> String {
    format!(
        "{prompt}\n\nAnswer with one JSON value that is valid under this JSON Schema, and nothing else: no explanation, \
         no code fence.\n{schema}"
    )
}

fn with_issues(prompt: &str, answer: &str, issues: &[String]) -> String {
    let repeated: String = answer.chars().take(REPEATED_CHARS_MAX).collect();
    let issues: Vec<String> = issues.iter().map(|issue| format!("- {issue}")).collect();
    format!(
        "{prompt}\n\nYour last answer did not fit the schema:\n{}\n\nIt was:\n{repeated}\n\nAnswer again with one JSON value \
         that fits, and nothing else.",
        issues.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use serde_json::json;
    use std::sync::Mutex;

    struct Script {
        answers: Mutex<Vec<Answer>>,
        prompts: Mutex<Vec<String>>,
    }

    impl Answers for Script {
        fn takes_schema(&self) -> bool {
            false
        }

        fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>> {
            self.prompts.lock().unwrap().push(ask.prompt.to_owned());
            let answer = self.answers.lock().unwrap().remove(0);
            Box::pin(async move { Ok(answer) })
        }
    }

    fn script(texts: &[&str]) -> Script {
        let answer = |text: &&str| Answer { text: (*text).to_owned(), ..Answer::default() };
        Script { answers: Mutex::new(texts.iter().map(answer).collect()), prompts: Mutex::default() }
    }

    fn terms(repairs: u32) -> Terms {
        Terms { name: "s".into(), model: None, repairs, limit: Duration::from_secs(60) }
    }

    fn request(schema: Option<Value>) -> Request {
        let schema = schema.map(|schema| Json::of(&schema).unwrap());
        Request { label: "a".into(), prompt: "n?".into(), schema, ..Request::default() }
    }

    async fn run(terms: &Terms, who: &Script, request: &Request) -> Result<Reply, AgentError> {
        terms.run(who, request, &(Arc::new(Silent) as Arc<dyn Progress>)).await
    }

    #[tokio::test]
    async fn an_answer_that_does_not_fit_is_asked_for_again() {
        let who = script(&["prose", "{\"n\":\"x\"}", "so: {\"n\":7}"]);
        let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
        let reply = run(&terms(2), &who, &request(Some(schema.clone()))).await.unwrap();
        assert_eq!((reply.data.unwrap().text(), reply.attempts, reply.approximate), ("{\"n\":7}", 3, true));
        assert_eq!(reply.output_tokens, 2 + 3 + 3);
        let prompts = who.prompts.lock().unwrap().clone();
        assert!(prompts[0].starts_with("n?\n\nAnswer with one JSON value"), "{prompts:?}");
        assert!(prompts[0].contains(&schema.to_string()));
        assert!(prompts[1].contains("- no JSON value found in output"), "{prompts:?}");
        assert!(prompts[2].contains("- /n must be number") && prompts[2].contains("It was:\n{\"n\":\"x\"}"));
        assert!(!prompts[2].contains("no JSON value found"));
    }

    #[tokio::test]
    async fn it_is_not_asked_for_without_end() {
        for (repairs, attempts) in [(0, 1), (2, 3)] {
            let who = script(&["prose"; 9]);
            let failed = run(&terms(repairs), &who, &request(Some(json!({ "type": "number" })))).await;
            let issues = vec!["no JSON value found in output".to_owned()];
            let raw_output = Some("prose".to_owned());
            assert_eq!(failed, Err(AgentError::SchemaValidation { issues, attempts, raw_output }));
        }
    }

    #[tokio::test]
    async fn of_several_values_the_one_that_fits_is_meant() {
        let who = script(&["```json\n{\"n\":1}\n```\nlike\n```\n[]\n```"]);
        let reply = run(&terms(0), &who, &request(Some(json!({ "type": "object" })))).await.unwrap();
        assert_eq!(reply.data.unwrap().text(), "{\"n\":1}");
    }

    #[tokio::test]
    async fn a_schema_that_cannot_be_used_asks_nobody() {
        let who = script(&[]);
        let failed = run(&terms(2), &who, &request(Some(json!({ "type": "nonsense" })))).await.unwrap_err();
        assert!(matches!(failed, AgentError::SchemaValidation { attempts: 0, raw_output: None, .. }), "{failed:?}");
    }

    #[tokio::test]
    async fn text_is_taken_as_it_is() {
        let reply = run(&terms(0), &script(&[" hello "]), &request(None)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.data, reply.attempts), (" hello ", None, 1));
    }
}
