//! An agent that works in a session: it writes programs, they run there, and it is told what came of them.

use crate::{Agent, AgentError, Progress, Reply, Request, SessionConfig, Step};
use isolith_core::BoxFuture;
use std::sync::Arc;

/// How much of what a program gave is told, in bytes.
const TOLD_BYTES_MAX: usize = 16 << 10;

/// Runs programs in sessions. Whoever has the sessions says what that is.
pub trait Workshop: Send + Sync {
    /// Runs a program in a session, with its files and keys and nothing else, and says how it went: words for a model. A program's
    /// failure is such words too; an error is that it could not be run at all.
    fn run<'a>(&'a self, session: &'a str, program: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// Someone who thinks, and a session to work in.
pub(crate) struct SessionAgent {
    pub(crate) name: String,
    pub(crate) config: SessionConfig,
    /// Who writes the programs.
    pub(crate) by: Arc<dyn Agent>,
    pub(crate) workshop: Arc<dyn Workshop>,
}

impl Agent for SessionAgent {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(self.work(request, progress))
    }
}

impl SessionAgent {
    async fn work(&self, request: Request, progress: Arc<dyn Progress>) -> Result<Reply, AgentError> {
        let mut so_far = format!("{}\n\n{HOW}", request.prompt);
        let mut whole = Reply::default();
        for _ in 0..self.config.turns {
            // What is asked for in the end is asked for in the end: a program is no value of any schema.
            let asked = Request { prompt: so_far.clone(), schema: None, adapter: None, ..request.clone() };
            let said = self.by.run(asked, Arc::clone(&progress)).await?;
            let text = add(&mut whole, said);
            let Some(program) = program(&text) else {
                return self.finish(whole, text, &so_far, request, progress).await;
            };
            progress.report(Step::Tool { name: format!("program in session {}", self.config.session) });
            let came = self.workshop.run(&self.config.session, program).await;
            let came = came.map_err(|why| AgentError::failed(&self.name, why))?;
            so_far.push_str(&format!("\n\nYou wrote:\n```ts\n{program}\n```\nIt gave:\n{}", cut(&came)));
        }
        so_far.push_str("\n\nNo further program can be run. Answer now.");
        let asked = Request { prompt: so_far.clone(), schema: None, adapter: None, ..request.clone() };
        let said = self.by.run(asked, Arc::clone(&progress)).await?;
        let text = add(&mut whole, said);
        self.finish(whole, text, &so_far, request, progress).await
    }

    /// The answer, in the form that was asked for.
    async fn finish(
        &self,
        mut whole: Reply,
        text: String,
        so_far: &str,
        request: Request,
        progress: Arc<dyn Progress>,
    ) -> Result<Reply, AgentError> {
        if request.schema.is_none() {
            return Ok(Reply { text, ..whole });
        }
        let prompt = format!("{so_far}\n\nYou answered:\n{text}\n\nGive this answer in the form that is asked for.");
        let said = self.by.run(Request { prompt, adapter: None, ..request }, progress).await?;
        let data = said.data.clone();
        let text = add(&mut whole, said);
        Ok(Reply { text, data, ..whole })
    }
}

/// Adds what an answer cost, and gives its text.
fn add(whole: &mut Reply, said: Reply) -> String {
    whole.input_tokens += said.input_tokens;
    whole.output_tokens += said.output_tokens;
    whole.approximate |= said.approximate;
    whole.attempts += said.attempts.max(1);
    whole.model = said.model.or(whole.model.take());
    said.text
}

const HOW: &str = "You work in a session with files. To use it, answer with one fenced block of TypeScript and nothing else: it is run, \
with `files` (readText, write, edit, list, glob, grep, …) and `kv.session` (get, put, …), and what it returns and logs is told to you. \
There is no network. When you are done, answer in words, without a block.";

/// The program that an answer is: one block, and nothing around it.
fn program(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (language, program) = inside.split_once('\n')?;
    let known = ["", "ts", "typescript", "js", "javascript"].contains(&language.trim());
    (known && !program.contains("\n```")).then_some(program)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(TOLD_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use isolith_core::Json;
    use std::sync::Mutex;

    /// Says one thing after the other, and writes down what it was asked.
    struct Script(Mutex<Vec<&'static str>>, Mutex<Vec<Request>>);

    impl Agent for Script {
        fn run(&self, request: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
            let text = self.0.lock().unwrap().remove(0).to_owned();
            let data = request.schema.as_ref().map(|_| Json::of(&7).unwrap());
            self.1.lock().unwrap().push(request);
            Box::pin(std::future::ready(Ok(Reply { text, data, output_tokens: 2, attempts: 1, ..Reply::default() })))
        }
    }

    #[derive(Default)]
    struct Ran(Mutex<Vec<String>>);

    impl Workshop for Ran {
        fn run<'a>(&'a self, session: &'a str, program: &'a str) -> BoxFuture<'a, Result<String, String>> {
            self.0.lock().unwrap().push(format!("{session}: {program}"));
            Box::pin(std::future::ready(Ok("it returned 42".into())))
        }
    }

    async fn work(says: Vec<&'static str>, schema: bool) -> (Reply, Vec<String>, Vec<Request>) {
        let by = Arc::new(Script(Mutex::new(says), Mutex::default()));
        let workshop = Arc::new(Ran::default());
        let config = SessionConfig { session: "s".into(), agent: "by".into(), turns: 2 };
        let agent =
            SessionAgent { name: "a".into(), config, by: Arc::clone(&by) as _, workshop: Arc::clone(&workshop) as _ };
        let schema = schema.then(|| Json::from_text("{}".into()).unwrap());
        let request = Request { prompt: "count".into(), schema, adapter: Some("a".into()), ..Request::default() };
        let reply = agent.run(request, Arc::new(Silent)).await.unwrap();
        let ran = workshop.0.lock().unwrap().clone();
        let asked = by.1.lock().unwrap().clone();
        (reply, ran, asked)
    }

    #[tokio::test]
    async fn programs_are_run_and_what_came_of_them_is_told() {
        let (reply, ran, asked) = work(vec!["```ts\nreturn 6 * 7\n```", "there are 42"], false).await;
        assert_eq!((reply.text.as_str(), reply.output_tokens, reply.attempts), ("there are 42", 4, 2));
        assert_eq!(ran, ["s: return 6 * 7\n"]);
        assert!(asked[1].prompt.contains("it returned 42") && asked[0].prompt.starts_with("count"));
        assert_eq!(asked[0].adapter, None, "nobody asks themselves");
    }

    #[tokio::test]
    async fn the_form_is_asked_for_at_the_end_and_turns_come_to_one() {
        let block = "```\nreturn 1\n```";
        let (reply, ran, asked) = work(vec![block, block, "enough", "7"], true).await;
        assert_eq!((reply.data, ran.len()), (Some(Json::of(&7).unwrap()), 2));
        assert!(asked[2].prompt.ends_with("Answer now.") && asked[2].schema.is_none() && asked[3].schema.is_some());
    }

    #[test]
    fn words_around_a_block_make_it_words() {
        assert_eq!(program("```js\nx\n```\n"), Some("x\n"));
        for text in ["see ```js\nx\n```", "```js\nx\n```\nand\n```js\ny\n```", "```python\nx\n```", "plain", "``````"] {
            assert_eq!(program(text), None, "{text}");
        }
    }
}
