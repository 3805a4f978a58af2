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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an engine that did not start is not tried again: whoever waits for it meanwhile waits long enough.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct Engines {
    quickjs: Arc<dyn Engine>,
    process: Started<Jailed>,
    v8: Started<V8>,
    live: u32,
    settings: EngineSettings,
}

impl Engines {
    /// With the engine that comes along, for so many programs at one time.
    pub(crate) fn new(options: Options, settings: EngineSettings) -> Result<Arc<Engines>, Failure> {
        let quickjs = QuickJs::new(options).map_err(|error| Failure::internal("starting the engine", &error))?;
        let (quickjs, live) = (Arc::new(quickjs), options.live);
        Ok(Arc::new(Engines { quickjs, process: Started::default(), v8: Started::default(), live, settings }))
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
        let process = self.process.get_or_start(|| engine::process(self.live, self.settings))?;
        Ok(Arc::new(process))
    }

    fn v8(&self) -> Result<Arc<dyn Engine>, Missing> {
        Ok(Arc::new(self.v8.get_or_start(|| engine::v8(self.live, self.settings))?))
    }
}

/// An engine once it has started. That it did not is remembered for a moment only: it may be installed meanwhile.
struct Started<E>(Mutex<Option<(Instant, Result<E, Missing>)>>);

impl<E> Default for Started<E> {
    fn default() -> Self {
        Started(Mutex::default())
    }
}

impl<E: Clone> Started<E> {
    fn get_or_start(&self, start: impl FnOnce() -> Result<E, Missing>) -> Result<E, Missing> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((_, Ok(engine))) => Ok(engine.clone()),
            Some((at, Err(missing))) if at.elapsed() < TRY_AGAIN_AFTER => Err(missing.clone()),
            _ => known.insert((Instant::now(), start())).1.clone(),
        }
    }
}

/// The same, as a server wants them.
pub(crate) struct Served(pub(crate) Arc<Engines>);

impl isolith_server::Engines for Served {
    fn runner(&self, housing: Housing) -> Result<Runner, String> {
        self.0.of(housing).map(Runner::new).map_err(|missing| missing.to_string())
    }
}
