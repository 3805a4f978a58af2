use isolith_core::Json;
use std::collections::BTreeMap;

/// The most agents that one run may call.
pub const AGENTS_MAX: u32 = 1000;
/// The most agents that work at one time.
pub const CONCURRENCY_MAX: usize = 16;

/// What holds for one run of a workflow.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the script sees as `args`.
    pub args: Option<Json>,
    /// How many output tokens it may spend; without this as many as it likes.
    pub budget: Option<u64>,
    /// How many agents it may call in all.
    pub cap: u32,
    /// How many work at one time.
    pub concurrency: usize,
    /// Whether agents' answers are made up.
    pub mock: bool,
    /// What was answered beforehand, by the key of the question.
    pub answers: BTreeMap<String, Json>,
}

impl Default for Settings {
    fn default() -> Settings {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Settings {
            args: None,
            budget: None,
            cap: AGENTS_MAX,
            mock: false,
            // Agents wait for others most of the time, so that small machines need not have one at a time.
            concurrency: cores.clamp(4, CONCURRENCY_MAX),
            answers: BTreeMap::new(),
        }
    }
}
