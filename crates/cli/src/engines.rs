//! The engines of this machine, each of which is started when it is first wanted.

use crate::args::EngineSettings;
use crate::commands::engine::{self, Missing};
use crate::failure::Failure;
use isolith_auto::{Auto, DEFAULT_AFTER};
use isolith_core::{Engine, EngineChoice, Housing, Isolation};
use isolith_jail::Jailed;
use isolith_quickjs::{Options, QuickJs};
use isolith_runner::Runner;
use isolith_v8::V8;
use std::sync::{Arc, OnceLock};

pub(crate) struct Engines {
    quickjs: Arc<dyn Engine>,
    process: OnceLock<Result<Jailed, Missing>>,
    v8: OnceLock<Result<V8, Missing>>,
    live: u32,
    settings: EngineSettings,
}

impl Engines {
    /// With the engine that comes along, for so many programs at one time.
    pub(crate) fn new(options: Options, settings: EngineSettings) -> Result<Arc<Engines>, Failure> {
        let quickjs = QuickJs::new(options).map_err(|error| Failure::internal("starting the engine", &error))?;
        let (quickjs, live) = (Arc::new(quickjs), options.live);
        Ok(Arc::new(Engines { quickjs, process: OnceLock::new(), v8: OnceLock::new(), live, settings }))
    }

    /// The one that starts in microseconds.
    pub(crate) fn quickjs(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.quickjs)
    }

    /// What runs programs in such a housing. To be called inside a runtime.
    pub(crate) fn of(self: &Arc<Self>, housing: Housing) -> Result<Arc<dyn Engine>, Missing> {
        let first = || match housing.isolation {
            Isolation::None => Ok(self.quickjs()),
            Isolation::Process => self.process(),
        };
        match housing.engine() {
            EngineChoice::Quickjs => first(),
            EngineChoice::V8 => self.v8(),
            EngineChoice::Auto => {
                let all = Arc::clone(self);
                let faster = Arc::new(move || all.v8().map_err(|missing| missing.to_string()));
                Ok(Arc::new(Auto::new(first()?, faster, self.settings.auto_after.unwrap_or(DEFAULT_AFTER))))
            }
        }
    }

    fn process(&self) -> Result<Arc<dyn Engine>, Missing> {
        let process = self.process.get_or_init(|| engine::process(self.live, self.settings));
        process.clone().map(|process| Arc::new(process) as Arc<dyn Engine>)
    }

    fn v8(&self) -> Result<Arc<dyn Engine>, Missing> {
        let v8 = self.v8.get_or_init(|| engine::v8(self.live, self.settings));
        v8.clone().map(|v8| Arc::new(v8) as Arc<dyn Engine>)
    }
}

impl isolith_server::Engines for Others {
    fn runner(&self, housing: Housing) -> Result<Runner, String> {
        self.0.of(housing).map(Runner::new).map_err(|missing| missing.to_string())
    }
}

/// The same, as a server wants them.
pub(crate) struct Others(pub(crate) Arc<Engines>);
