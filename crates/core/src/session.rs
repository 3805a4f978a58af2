//! Sessions: a workspace of files, key spaces and settings that outlive runs.

use crate::files::{FilesError, Room};
use crate::{
    Access, BindingName, EventEffect, EventRecord, FileTree, FilesGrant, Grant, GuestPath, Json, KeySpaces, KvGrant,
    Power, Timestamp, WebhookRecord, WebhookSettings,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

const NAME_CHARS_MAX: usize = 100;

/// Names a session, an agent, a snapshot or a webhook: 1 to 100 of `a-z`, `0-9`, `_` and `-`, a letter or a digit first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

/// A name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a name: it takes 1 to 100 of `a-z`, `0-9`, `_` and `-`, beginning with a letter or a digit", .0.escape_debug())]
pub struct InvalidSessionName(String);

impl SessionName {
    /// Reads a name.
    pub fn new(text: &str) -> Result<SessionName, InvalidSessionName> {
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        // THREAT[T-SESSION-001]: the name becomes part of a path. Nothing in it can lead elsewhere.
        let whole = text.bytes().all(|byte| fine(byte) || byte == b'_' || byte == b'-');
        match text.bytes().next().is_some_and(fine) && text.len() <= NAME_CHARS_MAX && whole {
            true => Ok(SessionName(text.to_owned())),
            false => Err(InvalidSessionName(text.chars().take(120).collect())),
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionName {
    type Error = InvalidSessionName;
    fn try_from(text: String) -> Result<Self, InvalidSessionName> {
        SessionName::new(&text)
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> String {
        name.0
    }
}

impl std::str::FromStr for SessionName {
    type Err = InvalidSessionName;
    fn from_str(text: &str) -> Result<Self, InvalidSessionName> {
        SessionName::new(text)
    }
}

/// What programs of a session run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// An isolate.
    #[default]
    Isolate,
    /// A Linux box.
    Box,
}

/// What holds for every run of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// Whose it is: the agent's settings hold where these say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SessionName>,
    /// What programs run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// What programs may do besides using the session's own files and keys: a manifest, with egress, tools, secrets and limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Json>,
    /// How much its files may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
    /// After how many idle seconds it sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_s: Option<u64>,
    /// How many snapshots are kept: one more forgets the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots_kept: Option<u32>,
    /// For how many seconds snapshots are kept: older ones are forgotten when one is taken, and when sessions are swept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots_kept_s: Option<u64>,
}

/// Which snapshots of a session stay when one more is taken. That one always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotsKept {
    /// The most.
    pub most: u32,
    /// For how long, if not for good.
    pub age: Option<Duration>,
}

impl SessionSettings {
    /// After how many idle seconds a session sleeps when nothing is said.
    pub const SLEEP_AFTER_S: u64 = 60;
    /// How many snapshots are kept when nothing is said.
    pub const SNAPSHOTS_KEPT: u32 = 32;

    /// These, and those of `agent` where these say nothing.
    pub fn over(self, agent: SessionSettings) -> SessionSettings {
        SessionSettings {
            agent: self.agent,
            tier: self.tier.or(agent.tier),
            manifest: self.manifest.or(agent.manifest),
            room: self.room.or(agent.room),
            sleep_after_s: self.sleep_after_s.or(agent.sleep_after_s),
            snapshots_kept: self.snapshots_kept.or(agent.snapshots_kept),
            snapshots_kept_s: self.snapshots_kept_s.or(agent.snapshots_kept_s),
        }
    }

    /// Which snapshots are kept.
    pub fn snapshots(&self) -> SnapshotsKept {
        let most = self.snapshots_kept.unwrap_or(SessionSettings::SNAPSHOTS_KEPT);
        SnapshotsKept { most, age: self.snapshots_kept_s.map(Duration::from_secs) }
    }
}

/// A session, as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionRecord {
    /// Its name.
    pub session: SessionName,
    /// What was set for it.
    pub settings: SessionSettings,
    /// Since when there is one.
    pub created: Timestamp,
    /// When it was last used, within a minute.
    pub used: Timestamp,
    /// What it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A session as it was at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotRecord {
    /// Its name, one of its session's.
    pub snapshot: SessionName,
    /// Of which session.
    pub session: SessionName,
    /// When.
    pub created: Timestamp,
}

/// A kind of session: what is set here holds for each that names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentRecord {
    /// Its name.
    pub agent: SessionName,
    /// For people.
    pub description: String,
    /// What holds for its sessions.
    pub settings: SessionSettings,
    /// Since when there is one.
    pub created: Timestamp,
    /// When it was last changed.
    pub changed: Timestamp,
}

/// A session that is awake.
#[derive(Clone)]
pub struct OpenSession {
    /// Its files.
    pub files: Arc<dyn FileTree>,
    /// Its keys.
    pub keys: Arc<dyn KeySpaces>,
}

/// A session that is awake, with what holds for it.
pub struct Woken {
    /// Its name.
    pub session: SessionName,
    /// Its own settings, and its agent's where it has none.
    pub settings: SessionSettings,
    /// What it has.
    pub open: OpenSession,
}

impl Woken {
    /// The space in which programs have the keys of their session: `kv.session`.
    const KEYS: &'static str = "session";
    /// How much these may take.
    const KEYS_BYTES: u64 = 64 << 20;

    /// The grants of its own: all files and the keys, as far as nothing narrower of the kind was asked for.
    pub fn own_grants(&self, asked: &[Grant]) -> Vec<Grant> {
        let mut own = Vec::new();
        if !asked.iter().any(|grant| matches!(grant.power, Power::Files(_)))
            && let Ok(path) = GuestPath::new(".")
        {
            let quota_bytes = self.settings.room.unwrap_or_default().bytes;
            own.push(Power::Files(FilesGrant { path, access: Access::Write, quota_bytes }).into());
        }
        if !asked.iter().any(|grant| matches!(grant.power, Power::Kv(_)))
            && let Ok(name) = BindingName::new(Woken::KEYS)
        {
            own.push(Power::Kv(KvGrant { name, access: Access::Write, quota_bytes: Woken::KEYS_BYTES }).into());
        }
        own
    }
}

/// Whether a grant is about what a session has of its own: files and keys. For a program that runs in one, it acts on nothing else.
pub fn is_sessions_own(grant: &Grant) -> bool {
    matches!(grant.power, Power::Files(_) | Power::Kv(_))
}

/// Why something was not done with a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is none.
    #[error("there is no {what} `{name}`")]
    NotFound {
        /// Of what.
        what: &'static str,
        /// Of this name.
        name: String,
    },
    /// There is one already.
    #[error("there is a {what} `{name}` already: choose another name, or remove it first")]
    Exists {
        /// Of what.
        what: &'static str,
        /// Of this name.
        name: String,
    },
    /// What was asked for cannot be.
    #[error("{0}")]
    Invalid(String),
    /// It cannot be kept or read.
    #[error("{0}")]
    Store(String),
    /// What is kept is not what was written.
    #[error("the session `{0}` is damaged: restore a snapshot of it, or put a backup in its place")]
    Damaged(String),
    /// Its files are in the way.
    #[error("{0}")]
    Files(#[from] FilesError),
}

impl SessionError {
    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            SessionError::NotFound { .. } => "session.not_found",
            SessionError::Exists { .. } => "session.exists",
            SessionError::Invalid(_) => "session.invalid",
            SessionError::Store(_) => "session.io",
            SessionError::Damaged(_) => "session.damaged",
            SessionError::Files(error) => error.code(),
        }
    }
}

/// Sessions that outlive the process that uses them, of one caller.
///
/// Everything here takes its time with disks and locks: it is called from threads that may wait. What was answered is on disk.
pub trait SessionStore: Send + Sync {
    /// Makes a session, with a name of its own unless one is given.
    fn create(&self, name: Option<SessionName>, settings: SessionSettings) -> Result<SessionRecord, SessionError>;

    /// One session.
    fn get(&self, session: &SessionName) -> Result<Option<SessionRecord>, SessionError>;

    /// Sessions by name, beginning after one; all, or those of an agent.
    fn list(
        &self,
        agent: Option<&SessionName>,
        after: Option<&SessionName>,
        most: usize,
    ) -> Result<Vec<SessionRecord>, SessionError>;

    /// Sets what holds from now on.
    fn set(&self, session: &SessionName, settings: SessionSettings) -> Result<SessionRecord, SessionError>;

    /// Remembers that it was used.
    fn touch(&self, session: &SessionName) -> Result<(), SessionError>;

    /// Removes a session with all that is in it, its snapshots too, and says whether there was one.
    fn remove(&self, session: &SessionName) -> Result<bool, SessionError>;

    /// Wakes a session. It sleeps again when nobody holds what this gives.
    fn open(&self, session: &SessionName, room: Room) -> Result<OpenSession, SessionError>;

    /// Wakes a session, with what its agent says where it says nothing itself.
    fn wake(&self, session: &SessionName) -> Result<Woken, SessionError> {
        let missing = || SessionError::NotFound { what: "session", name: session.to_string() };
        let record = self.get(session)?.ok_or_else(missing)?;
        let agent = match &record.settings.agent {
            Some(agent) => self.agents()?.into_iter().find(|known| known.agent == *agent).map(|known| known.settings),
            None => None,
        };
        let settings = record.settings.over(agent.unwrap_or_default());
        let open = self.open(session, settings.room.unwrap_or_default())?;
        self.touch(session)?;
        Ok(Woken { session: session.clone(), settings, open })
    }

    /// Makes a session that begins as another one is, or as a snapshot of it was. The other one is not changed.
    fn fork(
        &self,
        session: &SessionName,
        snapshot: Option<&SessionName>,
        name: Option<SessionName>,
    ) -> Result<SessionRecord, SessionError>;

    /// Keeps a session as it is now. Those that are more than are kept, the oldest first, or older, are forgotten.
    fn snapshot(
        &self,
        session: &SessionName,
        name: Option<SessionName>,
        kept: SnapshotsKept,
    ) -> Result<SnapshotRecord, SessionError>;

    /// Snapshots of a session, the oldest first.
    fn snapshots(&self, session: &SessionName) -> Result<Vec<SnapshotRecord>, SessionError>;

    /// Forgets a snapshot, and says whether there was one.
    fn remove_snapshot(&self, session: &SessionName, snapshot: &SessionName) -> Result<bool, SessionError>;

    /// Removes content that no session and no snapshot has any more, and says how many bytes that were.
    fn sweep(&self) -> Result<u64, SessionError>;

    /// Makes an agent, or changes it.
    fn put_agent(
        &self,
        agent: &SessionName,
        description: &str,
        settings: SessionSettings,
    ) -> Result<AgentRecord, SessionError>;

    /// All agents by name.
    fn agents(&self) -> Result<Vec<AgentRecord>, SessionError>;

    /// Removes an agent that no session names, and says whether there was one.
    fn remove_agent(&self, agent: &SessionName) -> Result<bool, SessionError>;

    /// Makes a webhook, or changes it.
    fn put_webhook(&self, webhook: &SessionName, settings: WebhookSettings) -> Result<WebhookRecord, SessionError>;

    /// One webhook.
    fn webhook(&self, webhook: &SessionName) -> Result<Option<WebhookRecord>, SessionError>;

    /// All webhooks by name.
    fn webhooks(&self) -> Result<Vec<WebhookRecord>, SessionError>;

    /// Removes a webhook with its events, and says whether there was one.
    fn remove_webhook(&self, webhook: &SessionName) -> Result<bool, SessionError>;

    /// Keeps an event, unless there is one of that name: then the answer is that one.
    fn add_event(&self, webhook: &SessionName, event: &EventRecord) -> Result<Option<EventRecord>, SessionError>;

    /// One event.
    fn event(&self, webhook: &SessionName, id: &str) -> Result<Option<EventRecord>, SessionError>;

    /// Events, the newest first.
    fn events(&self, webhook: &SessionName, most: usize) -> Result<Vec<EventRecord>, SessionError>;

    /// Keeps what became of an event.
    fn set_effect(&self, webhook: &SessionName, id: &str, effect: &EventEffect) -> Result<(), SessionError>;
}
