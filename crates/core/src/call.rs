use crate::{BindingName, Json, Timestamp};
use serde::{Deserialize, Serialize};

/// The most bytes one [`HostCall::ReadBody`] may ask for, so that no reply is large.
pub const MAX_READ_BYTES: u32 = 256 << 10;

/// Names one call of one run; the guest numbers its calls in the order it makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u32);

/// Names bytes that the host holds for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BodyId(pub u32);

/// Everything a guest can ask of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HostCall {
    /// Call a granted function of the embedder.
    Tool {
        /// Which one.
        name: BindingName,
        /// Its one argument; absent when it was called without, or with `undefined`.
        args: Option<Json>,
    },
    /// Wake the guest when this moment has come. A guest has at most one such call outstanding.
    Sleep {
        /// The moment.
        until: Timestamp,
    },
    /// Read on in a body that an earlier reply named.
    ReadBody {
        /// Which one.
        body: BodyId,
        /// At most this many bytes, and never more than [`MAX_READ_BYTES`].
        most_bytes: u32,
    },
}

/// The answer to one [`HostCall`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HostReply {
    /// A value.
    Value {
        /// Absent for `undefined`.
        json: Option<Json>,
    },
    /// Bytes that stay with the host; the guest reads them piece by piece.
    Body {
        /// Names them in [`HostCall::ReadBody`].
        body: BodyId,
        /// How many there are, where that is known.
        length: Option<u64>,
    },
    /// The next bytes of a body; none at its end.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// It was not done. The guest can catch this.
    Failed {
        /// Why.
        error: CallError,
    },
}

impl HostReply {
    /// How large it is on its way to the guest, in bytes of content.
    pub fn bytes(&self) -> usize {
        match self {
            HostReply::Value { json } => json.as_ref().map_or(0, |json| json.text().len()),
            HostReply::Bytes { bytes } => bytes.len(),
            HostReply::Body { .. } => 0,
            HostReply::Failed { error } => error.name.len() + error.message.len(),
        }
    }

    /// A reply that is a failure with this message.
    pub fn failed(name: impl Into<String>, message: impl Into<String>) -> Self {
        HostReply::Failed { error: CallError { name: name.into(), message: message.into(), code: None } }
    }
}

/// Why a host call was refused or went wrong, as the guest's `catch` sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// `Error`, `TypeError`, ...
    pub name: String,
    /// For people and models.
    pub message: String,
    /// A stable code, such as `tool.failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A call that has no reply yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Which call.
    pub id: CallId,
    /// What was asked.
    pub call: HostCall,
}
