use crate::dialect::Dialect;
use crate::isolate::JailedIsolate;
use crate::options::{JailMode, Launch, Options};
use crate::queue::Queue;
use crate::supervisor::{Lease, LeaseError, Shelf, Watch, ZygoteError};
use crate::walls::Jail;
use crate::worker::Settings;
use isolith_core::{
    BoxFuture, Builtin, Digest, Engine, EngineError, Isolate, OutputSink, Program, Start, Suspended, Unsupported,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Which engine lives inside, and how it is spoken to.
pub struct Kind {
    /// Its name, as receipts have it.
    pub name: &'static str,
    /// What it is built from.
    pub image: Digest,
    /// What of the language it can grant.
    pub builtins: &'static [Builtin],
    /// In which words it is told things.
    pub dialect: Box<dyn Dialect>,
    /// What its zygote is set up with.
    pub settings: serde_json::Value,
    /// Memory is told in steps of this: what a garbage collector holds at a moment is not the same in two equal runs.
    pub memory_step_bytes: u64,
}

/// An engine whose runs have a jailed process each. Cloning it is cheap and gives the same engine.
#[derive(Clone)]
pub struct Jailed {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) kind: Kind,
    shelf: Shelf,
    pub(crate) watch: Watch,
    queue: Queue,
    /// Of the last worker: its report as it came, and what it says. One is as the other, and is not read again.
    jail: Mutex<Option<(Vec<u8>, Arc<Jail>)>>,
    options: Options,
}

impl Jailed {
    /// Starts the zygote, and waits until it has loaded what it needs.
    pub fn start(kind: Kind, launch: Launch, options: Options) -> Result<Jailed, ZygoteError> {
        let settings = Settings { jail: options.jail, inside: kind.settings.clone() };
        let shelf = Shelf::start(launch, settings, options.ready)?;
        let queue = Queue::new(options.live, options.queue, options.queue_wait);
        let shared = Shared { kind, shelf, watch: Watch::default(), queue, jail: Mutex::default(), options };
        Ok(Jailed { shared: Arc::new(shared) })
    }

    /// Starts a worker to see which walls stand, and lets it go.
    pub async fn inspect_jail(&self) -> Result<Jail, EngineError> {
        Ok(Jail::clone(&*self.shared.worker().await?.1))
    }
}

impl Shared {
    /// A worker that is shut in and waits for a program.
    async fn worker(&self) -> Result<(Lease, Arc<Jail>), EngineError> {
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
            let jail = match ready.map(|report| report.and_then(|report| self.read(report))) {
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
            let missing = if self.options.jail == JailMode::Required { jail.missing() } else { Vec::new() };
            if !missing.is_empty() {
                let names: Vec<String> = missing.iter().map(|report| report.wall.to_string()).collect();
                let what = format!("a whole jail here: {} missing", names.join(", "));
                return Err(Unsupported { engine: self.kind.name, what }.into());
            }
            return Ok((lease, jail));
        }
    }

    /// What the report of a worker says.
    fn read(&self, report: Vec<u8>) -> Result<Arc<Jail>, LeaseError> {
        let mut last = self.jail.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, jail)) if *known == report => Ok(Arc::clone(jail)),
            _ => {
                let jail = serde_json::from_slice(&report).map_err(|_| LeaseError::Nonsense("no report of walls"))?;
                Ok(Arc::clone(&last.insert((report, Arc::new(jail))).1))
            }
        }
    }

    /// A process cannot be put on disk; a run that must survive is replayed from its journal.
    pub(crate) fn no_suspending(&self) -> Unsupported {
        let what = "suspending a run; record it, and replay its journal".into();
        Unsupported { engine: self.kind.name, what }
    }
}

/// How long a worker may take to shut itself in, and how many may fail before a run does.
const READY_TIME: Duration = Duration::from_secs(10);
const READY_TRIES: u32 = 5;
/// So long after one that died, another may be there.
const READY_PAUSE: Duration = Duration::from_millis(10);

impl Engine for Jailed {
    fn name(&self) -> &'static str {
        self.shared.kind.name
    }

    fn image(&self) -> Digest {
        self.shared.kind.image
    }

    fn builtins(&self) -> &'static [Builtin] {
        self.shared.kind.builtins
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            start.check(self)?;
            let place = self.shared.queue.place().await?;
            let worker = self.shared.worker().await?;
            let isolate = JailedIsolate::fresh(Arc::clone(&self.shared), place, worker, program, start);
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            let suspending = self.shared.kind.dialect.suspending().ok_or_else(|| self.shared.no_suspending())?;
            let mut frame = Vec::new();
            let counted = JailedIsolate::resumed_frame(suspending, suspended, &mut frame)?;
            let place = self.shared.queue.place().await?;
            let worker = self.shared.worker().await?;
            let isolate = JailedIsolate::resumed(Arc::clone(&self.shared), place, worker, counted, frame, sink);
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }
}
