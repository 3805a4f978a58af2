//! One file a command.

pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod many;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod watch;
