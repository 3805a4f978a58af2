use crate::CallOutcome;
use crate::{BindingName, FilesOp, Json, SecretName, Timestamp, ToolName};
use serde::{Deserialize, Serialize};

mod read;

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
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case")]
pub enum HostCall {
    /// Call a granted function: of the embedder, or of a namespace.
    Tool {
        /// Which one.
        name: ToolName,
        /// Its one argument; absent when it was called without, or with `undefined`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Json>,
    },
    /// Send a request to the network.
    Fetch(Box<FetchCall>),
    /// Use a key space.
    Kv {
        /// Which one.
        space: BindingName,
        /// What for.
        #[serde(flatten)]
        op: KvOp,
    },
    /// Use files.
    Files {
        /// What for.
        #[serde(flatten)]
        op: FilesOp,
        /// What is to be written, where something is.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        bytes: Vec<u8>,
    },
    /// Run another program.
    Invoke {
        /// Which one.
        name: BindingName,
        /// Its input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Json>,
    },
    /// Read a secret.
    Reveal {
        /// Which one.
        name: SecretName,
    },
    /// Send on in the body of a request whose body is streamed. Answered when there is room for more.
    WriteBody {
        /// Which request.
        request: RequestId,
        /// The next bytes.
        #[serde(default)]
        bytes: Vec<u8>,
        /// Whether these are the last.
        last: bool,
    },
    /// Give up on a request, or on what is left of a body. Answered at once.
    Drop {
        /// The request.
        #[serde(default)]
        request: Option<RequestId>,
        /// The body.
        #[serde(default)]
        body: Option<BodyId>,
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

/// Names one request of one run; the guest numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u32);

/// A request to the network, as the guest wants it.
///
/// Answered by a value: `{"url", "status", "statusText", "headers": [[name, value], …], "redirected", "body", "length"}`, where
/// `body` is a [`BodyId`] or null and `length` the number of bytes where it is known; or by a [`HostReply::Response`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchCall {
    /// The guest's number for it.
    pub request: RequestId,
    /// Where to.
    pub url: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// Names in lower case, with their values; bytes above 0x7f as the characters of those numbers.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What to do when the answer is to look elsewhere.
    #[serde(default)]
    pub redirect: Redirect,
    /// Whether the body comes piece by piece, by [`HostCall::WriteBody`].
    #[serde(default)]
    pub streamed: bool,
    /// The whole body, when it is not streamed and there is one.
    #[serde(default)]
    pub body: Option<Vec<u8>>,
}

impl FetchCall {
    /// Where it goes and how, without what it carries.
    pub fn bare(&self) -> FetchCall {
        FetchCall { method: self.method.clone(), ..FetchCall::get(self.request, self.url.as_str()) }
    }

    /// A request with nothing but a URL.
    pub fn get(request: RequestId, url: impl Into<String>) -> FetchCall {
        let (url, method, redirect) = (url.into(), "GET".into(), Redirect::default());
        FetchCall { request, url, method, headers: Vec::new(), redirect, streamed: false, body: None }
    }
}

/// What to do with a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redirect {
    /// Go there, if that is granted too.
    #[default]
    Follow,
    /// Fail.
    Error,
    /// Hand it to the guest.
    Manual,
}

/// What is done with a key space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum KvOp {
    /// Answered by a list with one entry for each key: null, or `{"value", "metadata", "version", "expires"}`.
    Get {
        /// Which ones.
        keys: Vec<String>,
    },
    /// Answered by the new version, or by null when the key was not as expected.
    Put {
        /// Which one.
        key: String,
        /// Any JSON.
        value: Json,
        /// How long to keep it, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        /// Anything small to keep beside the value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Json>,
        /// Only if the key has this version; 0 means that there is no such key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<u64>,
    },
    /// Answered by whether the key was there, or by null when it was not as expected.
    Delete {
        /// Which one.
        key: String,
        /// As for `Put`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<u64>,
    },
    /// Answered by `{"keys": [{"key", "metadata", "version", "expires"}, …], "cursor": text or null}`.
    List {
        /// Only keys that start with this.
        #[serde(default)]
        prefix: String,
        /// Where an earlier list ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
}

impl KvOp {
    /// Whether it changes something.
    pub fn access(&self) -> crate::Access {
        match self {
            KvOp::Get { .. } | KvOp::List { .. } => crate::Access::Read,
            KvOp::Put { .. } | KvOp::Delete { .. } => crate::Access::Write,
        }
    }

    /// In a word.
    pub fn verb(&self) -> &'static str {
        match self {
            KvOp::Get { .. } => "get",
            KvOp::Put { .. } => "put",
            KvOp::Delete { .. } => "delete",
            KvOp::List { .. } => "list",
        }
    }
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
    /// What a server answered, with the whole body beside it: small bodies that are all there need no further calls.
    Response {
        /// As for [`FetchCall`]; its `body` is null.
        head: Json,
        /// The status, which it has too: few programs look at more of it.
        status: u16,
        /// The body.
        whole: Vec<u8>,
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
            HostReply::Response { head, whole, .. } => head.text().len() + whole.len(),
            HostReply::Body { .. } => 0,
            HostReply::Failed { error } => error.name.len() + error.message.len(),
        }
    }

    /// A reply that is a failure with a stable code.
    pub fn failed_as(code: &str, name: impl Into<String>, message: impl Into<String>) -> Self {
        HostReply::Failed {
            error: CallError { name: name.into(), message: message.into(), code: Some(code.to_owned()) },
        }
    }

    /// The value, as JSON.
    pub fn value(value: &impl Serialize) -> Self {
        match Json::of(value) {
            Ok(json) => HostReply::Value { json: Some(json) },
            Err(error) => HostReply::failed("Error", error.to_string()),
        }
    }

    /// `undefined`: done, and nothing to say about it.
    pub fn done() -> Self {
        HostReply::Value { json: None }
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

impl CallError {
    /// Whether policy refused the call.
    pub fn is_refusal(&self) -> bool {
        self.code.as_deref().is_some_and(|code| code.ends_with(".denied"))
    }
}

/// A reply, and what was done for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// For the guest.
    pub reply: HostReply,
    /// For the receipt. Empty means: what the call says, and how the reply went.
    #[serde(default)]
    pub acts: Vec<Act>,
}

/// One exercise of a grant, or one refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The grant that was used; for a refusal the smallest one that would have allowed it.
    pub grant: String,
    /// What was done or wanted, without content: `GET https://api.example.com/v1/users`.
    pub what: String,
    /// How it went.
    pub outcome: CallOutcome,
}

impl From<HostReply> for Answer {
    fn from(reply: HostReply) -> Answer {
        Answer { reply, acts: Vec::new() }
    }
}

/// A call that has no reply yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Which call.
    pub id: CallId,
    /// What was asked.
    pub call: HostCall,
}
