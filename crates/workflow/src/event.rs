use isolith_core::Host;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Something that happened in a workflow, for whoever watches it. The journal, and not this, is what a run is taken up by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What: `agent-started`, `log`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What belongs to it.
    #[serde(flatten)]
    pub about: Map<String, Value>,
}

impl Event {
    /// An event about something: `about` is an object.
    pub fn new(kind: &str, at: u64, about: Value) -> Event {
        let about = if let Value::Object(about) = about { about } else { Map::new() };
        Event { kind: kind.to_owned(), at, about }
    }

    /// One that happens now.
    pub fn now(kind: &str, about: Value) -> Event {
        Event::new(kind, now_ms(), about)
    }

    /// A text of it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.about.get(name)?.as_str()
    }

    /// Whether an answer was known before.
    pub fn is_cached(&self) -> bool {
        self.about.get("cached") == Some(&Value::Bool(true))
    }
}

/// Whoever is told what happens. Called while the run waits, so it must not block for long.
pub trait Audience: Send + Sync {
    /// Something happened.
    fn hear(&self, event: &Event);
}

/// Passes on what is said, without the secrets that a host knows of.
pub(crate) struct Clean {
    pub(crate) audience: Arc<dyn Audience>,
    pub(crate) host: Arc<dyn Host>,
}

impl Audience for Clean {
    fn hear(&self, event: &Event) {
        let text = serde_json::to_string(&event.about).unwrap_or_default();
        match self.host.scrub(&text) {
            Cow::Borrowed(_) => self.audience.hear(event),
            Cow::Owned(clean) => {
                let about = serde_json::from_str(&clean).unwrap_or_default();
                self.audience.hear(&Event { about, ..event.clone() });
            }
        }
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Keeps what it hears.
#[derive(Debug, Default)]
pub struct Heard(Mutex<Vec<Event>>);

impl Heard {
    /// Everything so far.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Audience for Heard {
    fn hear(&self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }
}
