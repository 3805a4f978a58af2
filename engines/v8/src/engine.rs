use crate::dialect::V8Dialect;
use crate::install::{InstallError, Installed};
use crate::worker::Settings;
use isolith_core::{BoxFuture, Builtin, Digest, Engine, EngineError, Isolate, OutputSink, Program, Start, Suspended};
use isolith_jail::{Jail, JailMode, Jailed, Kind, Launch};
use std::sync::Arc;
use std::time::Duration;

/// How much of V8's heap is in use at a moment is not the same in two equal runs.
const MEMORY_STEP_BYTES: u64 = 8 << 20;

/// How an engine is sized and how its workers are held.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs that can exist at one time, each in a process of its own.
    pub live: u32,
    /// Workers that are kept ready.
    pub ready: usize,
    /// Callers that may wait for a place.
    pub queue: usize,
    /// How long they wait.
    pub queue_wait: Duration,
    /// Without a compiler: slower, and no memory that is both written and run.
    pub jitless: bool,
    /// Whether a wall that does not stand is an error.
    pub jail: JailMode,
}

impl Default for Options {
    fn default() -> Self {
        let isolith_jail::Options { live, ready, queue, queue_wait, jail } = isolith_jail::Options::default();
        Options { live, ready, queue, queue_wait, jitless: false, jail }
    }
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The library is not there, or not the one it should be.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The zygote did not start.
    #[error("cannot start V8: {0}")]
    Zygote(String),
}

/// The engine `v8`. Cloning it is cheap and gives the same engine.
#[derive(Clone)]
pub struct V8(Jailed);

impl V8 {
    /// Starts the zygote, and waits until it has loaded the library.
    pub fn start(installed: &Installed, launch: Launch, options: Options) -> Result<V8, StartError> {
        let settings = Settings { library: installed.library(), data: installed.data(), jitless: options.jitless };
        let failed = |error: &dyn std::fmt::Display| StartError::Zygote(error.to_string());
        let kind = Kind {
            name: "v8",
            image: image(installed, options.jitless),
            // Without the compiler there is nothing for modules to be compiled by.
            builtins: if options.jitless { &[Builtin::SharedArrayBuffer] } else { &Builtin::ALL },
            dialect: Box::new(V8Dialect),
            settings: serde_json::to_value(settings).map_err(|error| failed(&error))?,
            memory_step_bytes: MEMORY_STEP_BYTES,
        };
        let Options { live, ready, queue, queue_wait, jitless: _, jail } = options;
        let options = isolith_jail::Options { live, ready, queue, queue_wait, jail };
        Ok(V8(Jailed::start(kind, launch, options).map_err(|error| failed(&error))?))
    }

    /// Starts a worker to see which walls stand, and lets it go.
    pub async fn inspect_jail(&self) -> Result<Jail, EngineError> {
        self.0.inspect_jail().await
    }
}

/// Equal libraries, preludes and ways to run give equal outcomes.
fn image(installed: &Installed, jitless: bool) -> Digest {
    let mut hasher = blake3::Hasher::new();
    for part in [installed.sha256().as_bytes(), isolith_prelude::source().as_bytes(), crate::worker::GUEST.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(&[u8::from(jitless)]);
    Digest(*hasher.finalize().as_bytes())
}

impl Engine for V8 {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn image(&self) -> Digest {
        self.0.image()
    }

    fn builtins(&self) -> &'static [Builtin] {
        self.0.builtins()
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Engine::start(&self.0, program, start)
    }

    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        self.0.resume(suspended, sink)
    }
}
