use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a supervisor tells a zygote before anything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The library to load.
    pub library: PathBuf,
    /// Its tables of languages.
    pub data: PathBuf,
    /// Without a compiler: slower, and no memory that is both written and run.
    pub jitless: bool,
    /// Whether workers are jailed.
    pub jail: JailMode,
}

/// Whether workers are jailed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JailMode {
    /// As far as the kernel allows.
    #[default]
    BestEffort,
    /// A wall that does not stand is an error.
    Required,
    /// Not at all. For tests that show what the walls are good for.
    Off,
}
