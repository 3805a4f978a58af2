//! One file a command.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod consent;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod key;
pub(crate) mod manifest;
pub(crate) mod many;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod snippet;
pub(crate) mod tools;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod why;
