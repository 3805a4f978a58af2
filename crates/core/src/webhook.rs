//! Events from elsewhere that wake sessions: signed by who sends them, kept, and performed once.

use crate::{Json, SecretName, SessionName, Timestamp};
use serde::{Deserialize, Serialize};

/// What becomes of events that come to a webhook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// The secrets that senders sign with, by their names: any of them will do, so that they can be changed one by one.
    pub secrets: Vec<SecretName>,
    /// The agent of sessions that are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SessionName>,
    /// The session that all events wake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// Where an event names its session, such as `data.session_id`. One that is not there is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_field: Option<String>,
    /// A program to run in the session, with the event as `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The file of the session that has the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A place that events come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebhookRecord {
    /// Its name.
    pub webhook: SessionName,
    /// What becomes of them.
    pub settings: WebhookSettings,
    /// Since when there is one.
    pub created: Timestamp,
}

/// An event that came.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// The name that its sender gave it. One of the same name is the same event.
    pub id: String,
    /// When it came.
    pub at: Timestamp,
    /// What it says.
    pub body: Json,
    /// What became of it; nothing while nothing has.
    pub effect: Option<EventEffect>,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventEffect {
    /// The session that it woke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// The run that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl WebhookSettings {
    /// The session that an event names, as a name: what is not one becomes one, and different ones stay different.
    pub fn session_of(&self, event: &Json) -> Option<SessionName> {
        if let Some(session) = &self.session {
            return Some(session.clone());
        }
        let field = self.session_field.as_ref()?;
        let whole: serde_json::Value = event.parse().ok()?;
        let found = field.split('.').try_fold(&whole, |value, name| value.get(name))?;
        let text = match found {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(number) => number.to_string(),
            _ => return None,
        };
        SessionName::new(&text).ok().or_else(|| {
            let hash = blake3::hash(text.as_bytes()).to_hex();
            SessionName::new(&format!("event-{}", &hash[..32])).ok()
        })
    }
}
