use crate::image::Image;
use crate::isolate::QuickJsIsolate;
use crate::suspend;
use crate::ticker::Ticker;
use isolith_core::{BoxFuture, Digest, Engine, EngineError, Isolate, OutputSink, Program, Start, Suspended};
use isolith_jail::Queue;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How an engine is sized.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Isolates that can exist at one time. Each reserves 4 GiB of address space and uses what it touches.
    pub live: u32,
    /// Isolates that can be computing at one time; more than these take turns.
    pub computing: u32,
    /// Callers that may wait for an isolate to become free.
    pub queue: usize,
    /// How long they wait.
    pub queue_wait: Duration,
    /// Gives programs the host functions of the test262 suite. Never for programs of others.
    pub test262: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { live: 1_000, computing: 32, queue: 1_000, queue_wait: Duration::from_secs(5), test262: false }
    }
}

/// The engine `quickjs`. Cloning it is cheap and gives the same engine.
#[derive(Clone)]
pub struct QuickJs {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) image: Image,
    pub(crate) ticker: Ticker,
    pub(crate) computing: Semaphore,
    queue: Queue,
    pub(crate) options: Options,
}

pub(crate) const NAME: &str = "quickjs";

impl QuickJs {
    /// Loads the image and reserves the pool.
    pub fn new(options: Options) -> Result<QuickJs, EngineError> {
        let image = Image::load(options.live)?;
        let ticker = Ticker::start(image.engine().clone())
            .map_err(|source| EngineError::Internal { doing: "starting the ticker", source: source.into() })?;
        let shared = Shared {
            image,
            ticker,
            computing: Semaphore::new(options.computing as usize),
            queue: Queue::new(options.live, options.queue, options.queue_wait),
            options,
        };
        Ok(QuickJs { shared: Arc::new(shared) })
    }
}

impl Engine for QuickJs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn image(&self) -> Digest {
        Image::digest()
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            start.check(self)?;
            let place = self.shared.queue.place().await?;
            let isolate = QuickJsIsolate::fresh(Arc::clone(&self.shared), place, program, start)?;
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            let state = suspend::State::read(suspended)?;
            let place = self.shared.queue.place().await?;
            let isolate = QuickJsIsolate::resumed(Arc::clone(&self.shared), place, &state, sink)?;
            Ok(Box::new(isolate) as Box<dyn Isolate>)
        })
    }
}
