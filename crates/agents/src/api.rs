//! Models behind an API, asked over HTTP by the gate's own client.

mod anthropic;
mod openai;
mod retry;
mod route;
mod wrap;

use crate::attempts::{Answer, Answers, Ask, Terms};
use crate::words::said;
use crate::{Agent, AgentError, ApiConfig, Progress, Reply, Request, Setting, Step};
use isolith_core::BoxFuture;
use retry::Again;
use route::{Route, Said};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How the API is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    Openai,
}

/// A model behind an API.
pub(crate) struct Api {
    terms: Terms,
    dialect: Dialect,
    url: String,
    max_tokens: Option<u32>,
    retries: u32,
    route: Route,
}

impl Api {
    pub(crate) fn new(name: &str, dialect: Dialect, config: ApiConfig, setting: &Setting) -> Api {
        let ApiConfig { url, key, model, max_tokens, timeout, repairs, retries } = config;
        let terms = Terms { name: name.to_owned(), model, repairs, limit: timeout };
        let route = Route::new(&url, key, dialect, setting);
        Api { terms, dialect, url, max_tokens, retries, route }
    }

    async fn answer(&self, ask: Ask<'_>) -> Result<Answer, AgentError> {
        let failed = |cause: String| AgentError::failed(&self.terms.name, cause);
        let model = ask.model.ok_or_else(|| failed("no model is named: write `model` for this agent".into()))?;
        let wrapped = ask.schema.map(wrap::schema).transpose().map_err(failed)?;
        let schema = wrapped.as_ref().map(|wrapped| &wrapped.schema);
        let limit = self.max_tokens;
        let (path, body) = match self.dialect {
            Dialect::Anthropic => {
                ("/v1/messages", serde_json::to_vec(&anthropic::body(model, limit, ask.prompt, schema)))
            }
            Dialect::Openai => {
                ("/chat/completions", serde_json::to_vec(&openai::body(&self.url, model, limit, ask.prompt, schema)))
            }
        };
        let body = body.map_err(|error| failed(error.to_string()))?;
        let text = self.send(&format!("{}{path}", self.url), body, ask.progress).await?;
        let read = match self.dialect {
            Dialect::Anthropic => anthropic::read(&text),
            Dialect::Openai => openai::read(&text),
        };
        let Told { mut answer, note } = read.map_err(failed)?;
        if let Some(message) = note {
            ask.progress.report(Step::Note { message });
        }
        if wrapped.is_some_and(|wrapped| wrapped.inside) {
            wrap::unwrap(&mut answer);
        }
        Ok(answer)
    }

    /// Sends it until there is an answer, or none is to be expected any more.
    async fn send(&self, url: &str, body: Vec<u8>, progress: &dyn Progress) -> Result<Vec<u8>, AgentError> {
        let failed = |cause: String| AgentError::failed(&self.terms.name, cause);
        let mut sent = 0;
        loop {
            let Said { status, retry_after, body: text } = self.route.post(url, body.clone()).await.map_err(failed)?;
            if (200..300).contains(&status) {
                return Ok(text);
            }
            let why = format!("HTTP status {status}{}", complaint(&text));
            match retry::again(status, retry_after.as_deref(), sent, self.retries) {
                Again::Never => return Err(failed(why)),
                Again::Exhausted => return Err(failed(format!("{why} (asked {} times)", sent + 1))),
                Again::TooLate(wait) => {
                    return Err(failed(format!("{why} (it wants to be asked again in {} s)", wait.as_secs())));
                }
                Again::After(wait) => pause(wait, why, progress).await,
            }
            sent += 1;
        }
    }
}

async fn pause(wait: Duration, why: String, progress: &dyn Progress) {
    let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    progress.report(Step::Waiting { ms, why });
    tokio::time::sleep(wait).await;
}

/// An answer, and what a person should know about it.
#[derive(Debug)]
struct Told {
    answer: Answer,
    note: Option<String>,
}

/// What a server says about what is wrong.
fn complaint(text: &[u8]) -> String {
    let message = serde_json::from_slice::<Value>(text).ok().and_then(|value| {
        let found = ["/error/message", "/error", "/message", "/detail"];
        found.iter().find_map(|pointer| value.pointer(pointer).and_then(Value::as_str)).map(str::to_owned)
    });
    let message = said(&message.unwrap_or_else(|| String::from_utf8_lossy(text).into_owned()));
    if message.is_empty() { message } else { format!(": {message}") }
}

/// Reads what a server answered.
fn parse<T: serde::de::DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| format!("the server's answer cannot be read: {error}"))
}

/// What a prompt is about, where an API wants a name for it.
const ANSWER: &str = "answer";

impl Agent for Api {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move { self.terms.run(self, &request, &progress).await })
    }
}

impl Answers for Api {
    fn takes_schema(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, AgentError>> {
        Box::pin(self.answer(ask))
    }
}
