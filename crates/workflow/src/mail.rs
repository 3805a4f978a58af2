use isolith_core::{BoxFuture, Json};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// A question of a workflow to the person behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What answers name it by.
    pub key: String,
    /// The question.
    pub question: String,
    /// What can be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Json>,
    /// Whether something else can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_other: Option<bool>,
    /// What holds when nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
}

/// Where signals and answers come from.
pub trait Mailbox: Send + Sync {
    /// The n-th signal of a name, counted from zero, once there is one. It stays: whoever asks for it again gets it again.
    fn signal<'a>(&'a self, name: &'a str, n: usize) -> BoxFuture<'a, Json>;

    /// What someone answers; nothing when there is nobody to wait for.
    fn answer<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<Json>>;
}

/// Signals in memory, and nobody to answer.
#[derive(Debug, Default)]
pub struct Letters {
    all: Mutex<BTreeMap<String, Vec<Json>>>,
    came: Notify,
}

impl Letters {
    /// Puts a signal behind the others of its name.
    pub fn put(&self, name: &str, value: Json) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default().push(value);
        self.came.notify_waiters();
    }

    fn get(&self, name: &str, n: usize) -> Option<Json> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).get(name)?.get(n).cloned()
    }
}

impl Mailbox for Letters {
    fn signal<'a>(&'a self, name: &'a str, n: usize) -> BoxFuture<'a, Json> {
        Box::pin(async move {
            loop {
                let came = self.came.notified();
                tokio::pin!(came);
                came.as_mut().enable();
                if let Some(value) = self.get(name, n) {
                    return value;
                }
                came.await;
            }
        })
    }

    fn answer<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Option<Json>> {
        Box::pin(std::future::ready(None))
    }
}
