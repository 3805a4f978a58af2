use crate::{BoxFuture, CallOutcome, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Names one run in audits and receipts. Later runs have larger names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One exercise of a grant, or one refusal, for those who ask later. It holds no content and no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// When it was asked for.
    pub at: Timestamp,
    /// By which run.
    pub run: RunId,
    /// By which program: the digest of its source.
    pub program: String,
    /// The grant that was used; for a refusal the smallest one that would have allowed it.
    pub grant: String,
    /// What was done or wanted: `GET https://api.example.com/v1/users`.
    pub what: String,
    /// The host, where it was a request to the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How it went.
    pub outcome: CallOutcome,
    /// Why it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// From being asked for to being over.
    pub duration_us: u64,
    /// What went out: arguments, a request's body.
    pub bytes_out: u64,
    /// What came back: an answer, a response's body.
    pub bytes_in: u64,
}

/// Where audit rows go. Rows come from calls under way, so taking one must not block.
pub trait AuditLog: Send + Sync {
    /// Takes one row.
    fn record(&self, row: AuditRow);

    /// Done when every row taken so far is where it will be found again, or says why it is not.
    fn flush(&self) -> BoxFuture<'_, Result<(), String>>;
}
