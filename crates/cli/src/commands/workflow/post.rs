//! What is sent to a run while it goes on: signals, answers, orders.

use crate::ask;
use crate::paint::{self, HINT};
use crate::terminal::inert;
use isolith_core::{BoxFuture, Json, RunId};
use isolith_store::{Mail, StoreError, Workflows};
use isolith_workflow::{Control, Letters, Mailbox, Question};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

pub(super) const SIGNAL: &str = "signal";
pub(super) const ANSWER: &str = "answer";
/// A call that someone agreed to is about to be made; what was agreed to.
pub(super) const BEGUN: &str = "begun";
pub(super) const ORDER: &str = "order";
pub(super) const STOP: &str = "stop";
pub(super) const PAUSE: &str = "pause";
pub(super) const RESUME: &str = "resume";

/// How often it is looked for.
const PAUSE_BETWEEN: Duration = Duration::from_millis(100);

/// Who answers questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    /// The person at this terminal.
    Person,
    /// Whoever looks at what waits.
    Elsewhere,
    /// Nobody.
    Nobody,
}

/// What came for one run.
pub(super) struct Post {
    signals: Letters,
    answers: Mutex<BTreeMap<String, Json>>,
    begun: Mutex<BTreeMap<String, Json>>,
    came: Notify,
    whom: Whom,
    /// The last letter that was there before this process: orders up to it do not hold any more.
    last: i64,
}

impl Post {
    /// With everything that was sent so far.
    pub(super) fn new(whom: Whom, store: &Workflows, run: &RunId) -> Result<Arc<Post>, StoreError> {
        let mail = store.mail(run, 0)?;
        let last = mail.last().map_or(0, |mail| mail.id);
        let (answers, begun) = Default::default();
        let post = Post { signals: Letters::default(), answers, begun, came: Notify::new(), whom, last };
        mail.into_iter().for_each(|mail| post.take(mail, None));
        Ok(Arc::new(post))
    }

    /// Fetches what is sent, until this is dropped.
    pub(super) async fn fetch(self: Arc<Post>, store: Arc<Workflows>, run: RunId, control: Arc<Control>) {
        let mut last = self.last;
        loop {
            // One that cannot be read now can be read later.
            for mail in store.mail(&run, last).unwrap_or_default() {
                last = mail.id;
                self.take(mail, Some(&control));
            }
            tokio::time::sleep(PAUSE_BETWEEN).await;
        }
    }

    fn take(&self, mail: Mail, control: Option<&Control>) {
        match (mail.kind.as_str(), mail.name.as_str(), control) {
            (SIGNAL, name, _) => self.signals.put(name, mail.value),
            (ANSWER, key, _) => {
                self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), mail.value);
                self.came.notify_waiters();
            }
            (BEGUN, key, _) => {
                self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), mail.value);
            }
            // Whoever says it twice does not want to wait until everything is cleaned up.
            (ORDER, STOP, Some(control)) if control.stop.is_cancelled() => control.end.cancel(),
            (ORDER, STOP, Some(control)) => control.stop.cancel(),
            (ORDER, PAUSE, Some(control)) => control.pause(true),
            (ORDER, RESUME, Some(control)) => control.pause(false),
            _ => {}
        }
    }

    /// Whether a call that someone agreed to was begun, here or in an earlier process.
    pub(super) fn is_begun(&self, key: &str) -> bool {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    /// The grants that someone agreed to for the whole run.
    pub(super) fn agreed(&self) -> Vec<String> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.values().filter_map(|grant| grant.parse::<Option<String>>().ok().flatten()).collect()
    }

    fn answered(&self, key: &str) -> Option<Json> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    async fn elsewhere(&self, key: &str) -> Json {
        loop {
            let came = self.came.notified();
            tokio::pin!(came);
            came.as_mut().enable();
            if let Some(answer) = self.answered(key) {
                return answer;
            }
            came.await;
        }
    }
}

impl Mailbox for Post {
    fn signal<'a>(&'a self, name: &'a str, n: usize) -> BoxFuture<'a, Json> {
        self.signals.signal(name, n)
    }

    fn answer<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<Json>> {
        Box::pin(async move {
            match self.whom {
                Whom::Nobody => self.answered(&question.key),
                Whom::Elsewhere if question.default.is_some() => self.answered(&question.key),
                Whom::Elsewhere => Some(self.elsewhere(&question.key).await),
                Whom::Person => {
                    let asked = question.clone();
                    let typed = tokio::task::spawn_blocking(move || ask_person(&asked));
                    tokio::select! {
                        typed = typed => typed.ok().flatten(),
                        answer = self.elsewhere(&question.key) => Some(answer),
                    }
                }
            }
        })
    }
}

fn ask_person(question: &Question) -> Option<Json> {
    paint::complain(HINT, "asks", &inert(&question.question, true));
    let choices: Vec<Json> = question.choices.as_ref().and_then(|choices| choices.parse().ok()).unwrap_or_default();
    for (n, choice) in (1..).zip(&choices) {
        paint::note(paint::QUIET, &inert(&format!("  {n}  {}", plain(choice)), true));
    }
    let typed = ask::typed("answer: ")?;
    let chosen = typed.parse::<usize>().ok().and_then(|n| choices.get(n.checked_sub(1)?)).cloned();
    match (typed.is_empty(), chosen) {
        (true, _) => question.default.clone(),
        (false, Some(chosen)) => Some(chosen),
        (false, None) => Json::of(&typed).ok(),
    }
}

fn plain(value: &Json) -> String {
    value.parse::<String>().unwrap_or_else(|_| value.text().to_owned())
}
