//! The nouns of isolith and every decision about them.
//!
//! A program in an isolate is a pure, resumable machine: it computes, and it asks the host. This crate
//! says what a program is ([`Program`]), what it may use ([`Limits`]) and do ([`Grant`], [`Manifest`], [`narrow()`],
//! [`admit`]), what it can ask ([`HostCall`]), how it proceeds ([`Engine`], [`Isolate`], [`Step`]) and how it ended
//! ([`Outcome`]). Nothing here performs I/O, reads a clock, draws a random number or needs a runtime.

mod address;
pub mod admit;
mod ambient;
mod approval;
mod audit;
mod call;
mod engine;
mod fields;
pub mod files;
mod future;
mod grant;
pub mod headers;
mod housing;
mod journal;
mod json;
mod judge;
pub mod key;
mod limits;
mod manifest;
mod narrow;
mod outcome;
mod program;
pub mod quantity;
mod session;
mod stores;
mod suspended;
mod target;
mod time;
mod webhook;
pub mod wire;

pub use address::is_public;
pub use admit::{Admitted, Refusal};
pub use ambient::{Ambient, Source};
pub use approval::{Approval, Ask, Consent, Decision, Heard, Said, Verdict};
pub use audit::{AuditLog, AuditRow, RunId};
pub use call::{
    Act, Answer, BodyId, CallError, CallId, FetchCall, HostCall, HostReply, KvOp, MAX_READ_BYTES, PendingCall,
    Redirect, RequestId,
};
pub use engine::{End, Engine, EngineError, Failure, Host, Isolate, OutputSink, Seed, Start, Step, Turn, Unsupported};
pub use fields::{FieldsError, nearest};
pub use files::{FileTree, FilesError, FilesOp, FilesReason};
pub use future::BoxFuture;
pub use grant::{
    Access, BindingName, Bindings, Bound, BoundError, Bounds, Budget, Builtin, Credential, Egress, FilesGrant, Grant,
    GrantError, GuestPath, HostPattern, InvalidHost, InvalidName, InvalidPath, InvalidPattern, InvokeGrant, KvGrant,
    Method, PathPrefix, PathStep, Ports, Power, Rule, Schemes, SecretGrant, SecretName, SecretSource, SigV4, Template,
    TemplateError, ToolGrant, ToolName, ToolPattern,
};
pub use housing::{EngineChoice, Housing, Isolation, OtherEngine};
pub use journal::{JournalStore, Mark, OpenJournal, Recorder};
pub use json::{InvalidJson, Json};
pub use judge::{judge, judge_request};
pub use limits::{InvalidLimit, Limits};
pub use manifest::{Change, Manifest, Network, SCHEMA, Upstream, UpstreamSource, from_mcp_servers};
pub use narrow::{Narrowed, Narrowing, narrow, narrow_limits};
pub use outcome::{
    CallOutcome, CallRecord, ErrorKind, Exercised, JailReceipt, MissingWall, Outcome, Output, RanOn, RunError, Status,
    Stream, Switch, Usage,
};
pub use program::{Digest, Form, Module, Program};
pub use session::{
    AgentRecord, InvalidSessionName, OpenSession, SessionError, SessionName, SessionRecord, SessionSettings,
    SessionStore, SnapshotRecord, SnapshotsKept, Tier, Woken, is_sessions_own,
};
pub use stores::{
    ApiKey, ApiKeys, CallerId, Keeper, KeySpaces, RunRecord, RunState, RunStore, Scope, SecretStore, StoreProblem, Word,
};
pub use suspended::{Suspended, SuspendedError};
pub use target::{InvalidTarget, Target};
pub use time::Timestamp;
pub use webhook::{EventEffect, EventRecord, WebhookRecord, WebhookSettings};
