use crate::clock::Time;
use crate::lineage::Lineage;
use isolith_core::{
    Ambient, BindingName, Digest, Grant, InvalidLimit, Json, Limits, Narrowing, RunId, Source, Timestamp,
};
use isolith_program::{Language, ModuleSource, SourceError, find_modules, source_digest};
use std::sync::Arc;
use std::time::Duration;

/// 2026-01-01T00:00:00Z: where a virtual clock starts when nobody says.
const VIRTUAL_START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// How long a run that only waits is kept in memory before it is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A timer further off than this is waited for outside memory.
    pub timer: Duration,
    /// An answer from outside is awaited in memory for this long.
    pub outside: Duration,
}

/// Everything that is decided before a run starts.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The run's name in audits and receipts.
    pub id: Option<RunId>,
    /// What the author wrote.
    pub source: String,
    /// The name to show in errors and stacks: a file name, or a path in the workspace, never one of the host.
    pub name: String,
    /// What it is written in.
    pub language: Language,
    /// The files that it imports, as [`find_modules`](Plan::find_modules) finds them; `name` is its own path among them.
    pub modules: Vec<ModuleSource>,
    /// What it may use.
    pub limits: Limits,
    /// What it may do.
    pub grants: Arc<[Grant]>,
    /// What was asked for it and not, or not wholly, allowed.
    pub narrowed: Vec<Narrowing>,
    /// Visible to it as `input`.
    pub input: Option<Json>,
    /// Visible to it as globals.
    pub args: Vec<(BindingName, Json)>,
    /// What it may know of the world without asking.
    pub ambient: Ambient,
    /// The time it lives in.
    pub time: Time,
    /// Fixes its randomness; otherwise that comes from the system.
    pub seed: Option<u64>,
    /// How long it is kept in memory while it only waits; without this it is never suspended.
    pub patience: Option<Patience>,
    /// Whether it may have to leave memory, so that an engine that cannot let it is none for it.
    pub must_suspend: bool,
    /// What its span belongs under.
    pub lineage: Option<Lineage>,
}

impl Plan {
    /// A plan with nothing granted and the default limits.
    pub fn new(source: impl Into<String>, name: impl Into<String>) -> Self {
        Plan {
            id: None,
            source: source.into(),
            name: name.into(),
            language: Language::Auto,
            modules: Vec::new(),
            limits: Limits::default(),
            grants: Arc::default(),
            narrowed: Vec::new(),
            input: None,
            args: Vec::new(),
            ambient: Ambient::default(),
            time: Time::Live,
            seed: None,
            patience: None,
            must_suspend: false,
            lineage: None,
        }
    }

    /// Gives it a clock and chance of these kinds. What is made up has to begin somewhere that can be repeated.
    pub fn with_ambient(mut self, ambient: Ambient) -> Plan {
        self.ambient = ambient;
        if ambient.time == Source::Virtual && matches!(self.time, Time::Live) {
            self.time = Time::Virtual(VIRTUAL_START);
        }
        if ambient.random == Source::Virtual {
            self.seed = self.seed.or(Some(0));
        }
        self
    }

    /// Brings the files along that the program imports. `load` reads a file by its path: its text, nothing where there is no
    /// such file, or why it cannot be read.
    ///
    /// What is wrong with an import is the program's failure: [`Ended::not_a_program`](crate::Ended::not_a_program) says so.
    pub fn find_modules(
        &mut self,
        load: &mut dyn FnMut(&str) -> Result<Option<String>, String>,
    ) -> Result<(), SourceError> {
        let found = find_modules(&self.source, &self.name, self.language, self.limits.source_bytes, load)?;
        self.modules = found;
        Ok(())
    }

    /// What names the program by its text and that of its modules.
    pub fn digest(&self) -> Digest {
        source_digest(&self.source, &self.modules)
    }

    /// Refuses what cannot be run at all. The program itself is not looked at.
    pub fn check(&self) -> Result<(), PlanError> {
        self.limits.check()?;
        let brought = self.modules.iter().map(|module| module.source.len()).sum::<usize>();
        let (bytes, limit) = ((self.source.len() + brought) as u64, self.limits.source_bytes);
        if bytes > limit {
            return Err(PlanError::SourceTooLarge { bytes, limit });
        }
        Ok(())
    }
}

/// Why a plan cannot be run: the caller's mistake, not the program's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A limit out of range.
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    /// More source than the limit.
    #[error("the source is {bytes} bytes, but the limit is {limit}")]
    SourceTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}
