use crate::options::JailMode;
use serde::{Deserialize, Serialize};

/// What a supervisor tells a zygote before anything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Whether workers are jailed.
    pub(crate) jail: JailMode,
    /// What the engine inside is set up with.
    pub(crate) inside: serde_json::Value,
}
