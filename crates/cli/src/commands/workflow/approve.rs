//! Calls that someone has to agree to, asked like every other question of a workflow.

use super::post::{BEGUN, Post};
use crate::failure::Failure;
use crate::job;
use crate::pending::Drawer;
use isolith_core::{Ask, BoxFuture, CallId, Consent, Decision, Json, RunId, Verdict};
use isolith_gate::{Approvals, Approver, Asking, Desk};
use isolith_store::Workflows;
use isolith_workflow::{Audience, Event, Mailbox as _, Question};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "approve:";

/// Whom a run asks: whoever answers its questions.
pub(super) fn asking(
    (run, store): (&RunId, &Arc<Workflows>),
    post: &Arc<Post>,
    audience: Arc<dyn Audience>,
    patience: Duration,
) -> Result<Arc<dyn Approver>, Failure> {
    let approvals: Arc<Approvals> = Arc::default();
    let drawer = Drawer::new(job::data_folder()?, run.clone());
    let (run, store, post) = (run.clone(), Arc::clone(store), Arc::clone(post));
    let desk = Tray { run, store, post, audience, approvals: Arc::clone(&approvals), drawer };
    Ok(Arc::new(Asking { approvals, desk, patience }))
}

/// Whether answers to this question are about a call.
pub(super) fn is_key(key: &str) -> bool {
    key.starts_with(KEY)
}

/// What an answer says.
pub(super) fn verdict(answer: &Json) -> Option<Verdict> {
    let word = answer.parse::<String>().map(|word| word.to_ascii_lowercase());
    match word.as_deref() {
        Ok("y" | "yes" | "once") => Some(Verdict::approve(Consent::Once)),
        Ok("r" | "run") => Some(Verdict::approve(Consent::Run)),
        Ok("a" | "always") => Some(Verdict::approve(Consent::Always)),
        Ok("n" | "no") => Some(Verdict::deny(None)),
        Ok(_) => None,
        Err(_) => answer.parse().ok(),
    }
}

/// Where the questions of one run lie.
struct Tray {
    run: RunId,
    store: Arc<Workflows>,
    post: Arc<Post>,
    audience: Arc<dyn Audience>,
    approvals: Arc<Approvals>,
    /// Knows what was agreed to for good.
    drawer: Drawer,
}

impl Desk for Tray {
    fn asked(&self, ask: &Ask) {
        let with = ask.args.as_ref().map(|args| format!(" with {}", args.text())).unwrap_or_default();
        let question = format!("{}{with}: may it? (`{}`)", ask.what, ask.grant);
        let choices = Json::of(&["yes", "run", "always", "no"]).ok();
        let question = Question { key: key(ask.id), question, choices, allow_other: None, default: None };
        let event = json!({ "key": question.key, "question": question.question, "choices": question.choices });
        self.audience.hear(&Event::now("question-asked", event));
        let (post, approvals) = (Arc::clone(&self.post), Arc::clone(&self.approvals));
        let (audience, call) = (Arc::clone(&self.audience), ask.id);
        tokio::spawn(async move {
            let answer = post.answer(&question).await;
            let said = match &answer {
                Some(answer) => verdict(answer).unwrap_or_else(|| Verdict::deny(Some("that is no word".into()))),
                None => Verdict::deny(Some("nobody is there to be asked; `--suspend` waits for an answer".into())),
            };
            audience.hear(&Event::now("question-answered", json!({ "key": question.key, "answer": said })));
            approvals.decide(call, &said);
        });
    }

    // THREAT[T-APPROVAL-001]: a process that dies after a call was begun must not begin it again.
    fn begin(&self, call: CallId) -> BoxFuture<'_, bool> {
        let said = self.approvals.said().into_iter().find(|(ask, _)| ask.id == call);
        let first = !self.post.is_begun(&key(call));
        // A no begins nothing, and can be heard again.
        let denied = said.as_ref().is_some_and(|(_, verdict)| verdict.decision == Decision::Deny);
        let whole = said.filter(|(_, verdict)| verdict.consent != Consent::Once).map(|(ask, _)| ask.grant);
        let grant = Json::of(&whole).unwrap_or_else(|_| Json::null());
        let kept = denied || (first && self.store.send(&self.run, BEGUN, &key(call), &grant).is_ok());
        Box::pin(std::future::ready(kept))
    }

    fn always(&self, program: &str, grant: &str) -> bool {
        self.drawer.always(program, grant)
    }

    fn remember(&self, program: &str, grant: &str) {
        self.drawer.remember(program, grant);
    }
}

fn key(call: CallId) -> String {
    format!("{KEY}{}", call.0)
}
