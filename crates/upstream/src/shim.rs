//! Who brings the tools of a namespace.

use std::collections::BTreeMap;

/// One namespace.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// What stands behind it.
    pub source: UpstreamSource,
    /// May be called.
    pub allow: Vec<String>,
    /// Is asked about.
    pub ask: Vec<String>,
    /// May not be called.
    pub deny: Vec<String>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What it is for.
    pub description: Option<String>,
}

/// What stands behind a namespace.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum UpstreamSource {
    Command { command: Vec<String>, env: BTreeMap<String, String>, cwd: Option<String> },
    Url { url: String, headers: BTreeMap<String, String> },
    OpenApi { openapi: String, base: Option<String>, headers: BTreeMap<String, String> },
}
