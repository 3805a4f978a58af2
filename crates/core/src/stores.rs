//! What the gate needs kept. Implementations bring a database.

use crate::{BindingName, BoxFuture, HostReply, KvOp, SecretName, Timestamp};

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
