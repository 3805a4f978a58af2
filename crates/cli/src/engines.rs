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
    /// Apart, because what `auto` makes its faster engine of must not hold all the engines, and so itself.
    v8: Arc<Started<V8>>,
    auto: Started<Auto>,
    auto_in_process: Started<Auto>,
    live: u32,
    settings: EngineSettings,
}

impl Engines {
    /// With the engine that comes along, for so many programs at one time.
    pub(crate) fn new(options: Options, settings: EngineSettings) -> Result<Arc<Engines>, Failure> {
        let quickjs = QuickJs::new(options).map_err(|error| Failure::internal("starting the engine", &error))?;
        Ok(Arc::new(Engines {
            quickjs: Arc::new(quickjs),
            process: Started::default(),
            v8: Arc::default(),
            auto: Started::default(),
            auto_in_process: Started::default(),
            live: options.live,
            settings,
        }))
    }

    /// The one that starts in microseconds.
    pub(crate) fn quickjs(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.quickjs)
    }

    /// What runs programs in such a housing. To be called inside a runtime.
    pub(crate) fn of(&self, housing: Housing) -> Result<Arc<dyn Engine>, Missing> {
        match (housing.engine(), housing.isolation) {
            (EngineChoice::Quickjs, Isolation::None) => Ok(self.quickjs()),
            (EngineChoice::Quickjs, Isolation::Process) => self.process(),
            (EngineChoice::V8, _) => self.v8.get_or_start(|| engine::v8(self.live, self.settings)).map(shared),
            (EngineChoice::Auto, Isolation::None) => {
                self.auto.get_or_start(|| Ok(self.auto_from(self.quickjs()))).map(shared)
            }
            (EngineChoice::Auto, Isolation::Process) => {
                self.auto_in_process.get_or_start(|| Ok(self.auto_from(self.process()?))).map(shared)
            }
        }
    }

    fn process(&self) -> Result<Arc<dyn Engine>, Missing> {
        self.process.get_or_start(|| engine::process(self.live, self.settings)).map(shared)
    }

    /// `auto` whose runs begin on `first`.
    fn auto_from(&self, first: Arc<dyn Engine>) -> Auto {
        let (v8, live, settings) = (Arc::clone(&self.v8), self.live, self.settings);
        let faster =
            move || v8.get_or_start(|| engine::v8(live, settings)).map(shared).map_err(|missing| missing.to_string());
        Auto::new(first, Arc::new(faster), settings.auto_after.unwrap_or(DEFAULT_AFTER))
    }
}

fn shared(engine: impl Engine + 'static) -> Arc<dyn Engine> {
    Arc::new(engine)
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
