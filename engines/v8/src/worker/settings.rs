use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a zygote of V8 is set up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The library to load.
    pub(crate) library: PathBuf,
    /// Its tables of languages.
    pub(crate) data: PathBuf,
    /// Without a compiler: slower, and no memory that is both written and run.
    pub(crate) jitless: bool,
}
