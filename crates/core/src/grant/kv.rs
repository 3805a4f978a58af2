use super::BindingName;
use serde::{Deserialize, Serialize};

/// Whether something may be changed, or only looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Only looked at.
    Read,
    /// Looked at and changed.
    #[default]
    Write,
}

/// A named space of keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KvGrant {
    /// Its name, here and in the guest: `kv.<name>`.
    pub name: BindingName,
    /// Whether it may be changed.
    pub access: Access,
    /// How much it may hold, keys, values and metadata together.
    pub quota_bytes: u64,
}

/// What a key space may hold unless a grant says otherwise.
pub(crate) const QUOTA_BYTES: u64 = 16 << 20;
