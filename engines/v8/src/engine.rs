use crate::install::{InstallError, Installed};
use crate::isolate::V8Isolate;
use crate::jail::Jail;
use crate::supervisor::{Lease, Shelf, ZygoteError};
use crate::worker::{JailMode, Settings};
use isolith_core::{
    BoxFuture, Digest, Engine, EngineError, Isolate, OutputSink, Program, Start, Suspended, Unsupported,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) const NAME: &str = "v8";

/// How workers are started: an executable whose `main` ends in [`worker::main`](crate::worker::main) when it is called like this.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The executable.
    pub program: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// Whether what it writes to its standard error is shown: V8 says there why it gives up.
    pub keep_stderr: bool,
}

impl Launch {
    /// An executable and what it is called with.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Launch {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Launch { program: program.into(), arguments, keep_stderr: false }
    }
}

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
        Options {
            live: 100,
            ready: 2,
            queue: 1_000,
            queue_wait: Duration::from_secs(5),
            jitless: false,
            jail: JailMode::BestEffort,
        }
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
pub struct V8 {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    shelf: Shelf,
    image: Digest,
    live: Arc<Semaphore>,
    waiting: AtomicUsize,
    jail: Mutex<Option<Jail>>,
    pub(crate) options: Options,
}

impl V8 {
    /// Starts the zygote, and waits until it has loaded the library.
    pub fn start(installed: &Installed, launch: Launch, options: Options) -> Result<V8, StartError> {
        let settings = Settings {
            library: installed.library(),
            data: installed.data(),
            jitless: options.jitless,
            jail: options.jail,
        };
        let image = image(installed, options.jitless);
        let shelf =
            Shelf::start(launch, settings, options.ready).map_err(|error| StartError::Zygote(error.to_string()))?;
        let live = Arc::new(Semaphore::new(options.live as usize));
        let shared = Shared { shelf, image, live, waiting: AtomicUsize::new(0), jail: Mutex::default(), options };
        Ok(V8 { shared: Arc::new(shared) })
    }

    /// The walls of the last worker that was started; nothing before there was one.
    pub fn jail(&self) -> Option<Jail> {
        self.shared.jail.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a worker to see which walls stand, and lets it go.
    pub async fn inspect_jail(&self) -> Result<Jail, EngineError> {
        Ok(self.shared.worker().await?.1)
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

impl Shared {
    /// A place for one more run, or `Busy`.
    async fn place(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        if let Ok(place) = Arc::clone(&self.live).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = Queued::join(&self.waiting, self.options.queue).ok_or_else(|| self.busy())?;
        match tokio::time::timeout(self.options.queue_wait, Arc::clone(&self.live).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(self.busy()),
        }
    }

    fn busy(&self) -> EngineError {
        let live = self.options.live as usize - self.live.available_permits();
        EngineError::Busy { live, waiting: self.waiting.load(SeqCst) }
    }

    /// A worker that is shut in and waits for a program.
    async fn worker(&self) -> Result<(Lease, Jail), EngineError> {
        let failed = |error: ZygoteError| EngineError::Internal { doing: "starting a worker", source: error.into() };
        // With a zygote goes every worker that stands ready: all of those may be taken before there is a new one.
        let most = READY_TRIES + self.options.ready as u32;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut lease = match self.shelf.take().await {
                Ok(lease) => lease,
                // A zygote that died is replaced, and so is one that dies while it is set up.
                Err(_) if tries < most => continue,
                Err(error) => return Err(failed(error)),
            };
            let ready = tokio::time::timeout(READY_TIME, lease.ready()).await;
            let jail = match ready {
                Ok(Ok(jail)) => jail,
                // It may have died while it stood there. The next one has not.
                Ok(Err(_)) | Err(_) if tries < most => {
                    tokio::time::sleep(READY_PAUSE).await;
                    continue;
                }
                Ok(Err(error)) => {
                    return Err(EngineError::Internal { doing: "starting a worker", source: error.into() });
                }
                Err(late) => return Err(EngineError::Internal { doing: "starting a worker", source: late.into() }),
            };
            let missing = jail.missing();
            *self.jail.lock().unwrap_or_else(PoisonError::into_inner) = Some(jail.clone());
            if self.options.jail == JailMode::Required && !missing.is_empty() {
                let names: Vec<String> = missing.iter().map(|report| report.wall.to_string()).collect();
                let what = format!("a whole jail here: {} missing", names.join(", "));
                return Err(Unsupported { engine: NAME, what }.into());
            }
            return Ok((lease, jail));
        }
    }
}

/// How long a worker may take to shut itself in, and how many may fail before a run does.
const READY_TIME: Duration = Duration::from_secs(10);
const READY_TRIES: u32 = 5;
/// So long after one that died, another may be there.
const READY_PAUSE: Duration = Duration::from_millis(10);

/// One caller in the queue, for as long as this lives.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn join(waiting: &'a AtomicUsize, most: usize) -> Option<Queued<'a>> {
        if waiting.fetch_add(1, SeqCst) < most {
            return Some(Queued(waiting));
        }
        waiting.fetch_sub(1, SeqCst);
        None
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Engine for V8 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn image(&self) -> Digest {
        self.shared.image
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            start.limits.check().map_err(|e| Unsupported { engine: NAME, what: e.to_string() })?;
            let place = self.shared.place().await?;
            let worker = self.shared.worker().await?;
            Ok(Box::new(V8Isolate::new(Arc::clone(&self.shared), place, worker, program, start)) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        _: &'a Suspended,
        _: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async { Err(suspending().into()) })
    }
}

/// A process cannot be put on disk; a run that must survive is replayed from its journal.
pub(crate) fn suspending() -> Unsupported {
    Unsupported { engine: NAME, what: "suspending a run; record it, and replay its journal".into() }
}
