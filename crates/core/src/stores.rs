//! What has to be kept for longer than a run, or a process, lasts. Implementations bring a database.

use crate::{
    Approval, Ask, BindingName, BoxFuture, CallId, Heard, HostReply, Json, KvOp, RunId, SecretName, SessionName,
    Timestamp, Verdict,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Named spaces of keys.
pub trait KeySpaces: Send + Sync {
    /// Performs one operation that was admitted. `quota_bytes` is what the space may hold.
    ///
    /// Reads answer at once where they can: whoever polls the future first should find them done.
    fn perform(&self, space: BindingName, quota_bytes: u64, op: KvOp, now: Timestamp) -> BoxFuture<'_, HostReply>;
}

/// Secrets kept encrypted.
pub trait SecretStore: Send + Sync {
    /// The value of a secret, or nothing when there is none of that name.
    fn get(&self, name: &SecretName) -> Result<Option<String>, String>;
}

/// Whoever has runs on a server. One caller never sees what is another's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallerId(pub String);

impl CallerId {
    /// The user of this machine, who needs no key.
    pub fn local() -> CallerId {
        CallerId("local".into())
    }

    /// Whoever runs programs by the command line. Their stores are the data folder's own.
    pub fn terminal() -> CallerId {
        CallerId("terminal".into())
    }
}

impl fmt::Display for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a key lets its holder do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Start runs, see them, answer their calls, stop them.
    Runs,
    /// Set and remove secrets, and list their names.
    Secrets,
    /// Read the audit log of its own runs.
    Audit,
    /// Run isolates for another isolith, which performs their calls itself.
    Isolates,
    /// Read the server's figures.
    Metrics,
    /// Agree to calls of its own runs that someone has to be asked about.
    Approvals,
    /// Have sessions: their files and keys, and programs that run in them.
    Sessions,
}

impl Scope {
    /// Every scope there is.
    pub const ALL: [Scope; 7] =
        [Scope::Runs, Scope::Secrets, Scope::Audit, Scope::Isolates, Scope::Metrics, Scope::Approvals, Scope::Sessions];
}

/// A key to a server, as it is kept: what is secret about it is only here as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Names the caller: random, and part of the key's text.
    pub caller: CallerId,
    /// For people.
    pub name: String,
    /// The BLAKE3 hash of the secret part.
    pub hash: [u8; 32],
    /// What its holder may do.
    pub scopes: Vec<Scope>,
    /// The most that its runs may have, as a manifest; without one the server's own policy holds alone.
    pub policy: Option<Json>,
    /// How many runs it may start a second.
    pub rate: Option<u32>,
    /// Since when there is one.
    pub created: Timestamp,
    /// Since when it is worth nothing.
    pub revoked: Option<Timestamp>,
}

/// The keys to a server.
pub trait ApiKeys: Send + Sync {
    /// A key by its caller, revoked or not.
    fn find(&self, caller: &CallerId) -> Result<Option<ApiKey>, StoreProblem>;

    /// Whether there is any that was not revoked.
    fn any(&self) -> Result<bool, StoreProblem>;
}

/// Something about the store that is not for callers to know in detail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreProblem(pub String);

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process has it in memory, or had when it died.
    Running,
    /// It waits outside memory.
    Suspended,
    /// It has its outcome.
    Ended,
}

/// What kind of process takes a run up again: it has to have what the run acts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// `isolith serve`.
    #[default]
    Server,
    /// `isolith mcp` and `isolith serve --stdio`, which go on with what they have in hand.
    Client,
    /// `isolith run` and `isolith resume`.
    Terminal,
}

/// One run, as it outlives a process.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Whose it is. Names of runs are the caller's own: two callers may use the same.
    pub caller: CallerId,
    /// Which one.
    pub run: RunId,
    /// When it was started.
    pub created: Timestamp,
    /// When it is forgotten.
    pub expires: Timestamp,
    /// How far it is.
    pub state: RunState,
    /// What it is shown as: its outcome, or what is known so far.
    pub outcome: Json,
    /// Its state, when it is suspended.
    pub suspended: Option<Vec<u8>>,
    /// The moment it wants to be woken, when it waits for one.
    pub wakes: Option<Timestamp>,
    /// Finds it by what a client without a name for it sends again.
    pub continuation: Option<String>,
    /// Who goes on with it.
    pub keeper: Keeper,
    /// The session whose files and keys it has, if any.
    pub session: Option<SessionName>,
    /// The calls that it makes only if someone agrees, with what was said about those that have no answer yet: they are begun, or begun
    /// again, when it is back. Written with it; [`RunStore::approvals`] reads them.
    pub asks: Vec<(Ask, Option<Verdict>)>,
}

/// Runs that outlive the process that started them.
///
/// What a future of these has answered is on disk.
pub trait RunStore: Send + Sync {
    /// Adds a run, unless its caller has one of that name: then the answer is false.
    fn add(&self, record: RunRecord) -> BoxFuture<'_, Result<bool, StoreProblem>>;

    /// Puts a run in place of what is kept of it, if anything is. What was answered to calls that are not in `open` is forgotten.
    fn put(&self, record: RunRecord, open: Vec<CallId>) -> BoxFuture<'_, Result<(), StoreProblem>>;

    /// One run.
    fn get(&self, caller: &CallerId, run: &RunId) -> BoxFuture<'_, Result<Option<RunRecord>, StoreProblem>>;

    /// One suspended run, by its continuation; the newest where there are several.
    fn find(&self, caller: &CallerId, continuation: &str) -> BoxFuture<'_, Result<Option<RunRecord>, StoreProblem>>;

    /// A caller's runs, the newest first, without their suspended states; all or those in a session, and those before a moment, and of
    /// that moment before a name.
    fn list(
        &self,
        caller: &CallerId,
        session: Option<&SessionName>,
        before: Option<(Timestamp, &RunId)>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<RunRecord>, StoreProblem>>;

    /// Keeps an answer to a call of a run. False when the call was answered before.
    fn answer(
        &self,
        caller: &CallerId,
        run: &RunId,
        call: CallId,
        reply: HostReply,
    ) -> BoxFuture<'_, Result<bool, StoreProblem>>;

    /// The answers that are kept for a run.
    fn answers(&self, caller: &CallerId, run: &RunId) -> BoxFuture<'_, Result<Vec<(CallId, HostReply)>, StoreProblem>>;

    /// What someone is or was asked about: of one caller or of all, of one run or of all, the oldest first.
    fn approvals(
        &self,
        caller: Option<&CallerId>,
        run: Option<&RunId>,
    ) -> BoxFuture<'_, Result<Vec<Approval>, StoreProblem>>;

    /// Keeps someone's word about a call, the first one.
    fn decide(&self, word: Word) -> BoxFuture<'_, Result<Heard, StoreProblem>>;

    /// Takes a word up, which can be done once. False when that was done before: then the call may have been made.
    fn begin(&self, caller: &CallerId, run: &RunId, call: CallId) -> BoxFuture<'_, Result<bool, StoreProblem>>;

    /// Suspended runs that have a word which was not taken up, of this keeper.
    fn decided(&self, keeper: Keeper) -> BoxFuture<'_, Result<Vec<(CallerId, RunId)>, StoreProblem>>;

    /// Every run that has not ended, of all callers, without their suspended states, a page at a time in a fixed order.
    fn unfinished(&self, after: Option<(CallerId, RunId)>) -> BoxFuture<'_, Result<Vec<RunRecord>, StoreProblem>>;

    /// Forgets runs whose time is over, and says how many they were.
    fn expire(&self, now: Timestamp) -> BoxFuture<'_, Result<u64, StoreProblem>>;
}

/// Someone's word about a call of a run.
#[derive(Clone, Debug)]
pub struct Word {
    /// Whose run.
    pub caller: CallerId,
    /// Which run.
    pub run: RunId,
    /// Which call.
    pub call: CallId,
    /// What was asked, where the run is in memory and may not have had it kept yet.
    pub ask: Option<Ask>,
    /// The word.
    pub verdict: Verdict,
    /// Who gives it, by the door they came through.
    pub by: String,
    /// When.
    pub at: Timestamp,
}
