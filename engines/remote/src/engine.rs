use crate::Address;
use crate::isolate::{Held, RemoteIsolate};
use crate::link::Link;
use crate::peer::{Answer, Tally, lost};
use crate::socket::{self, ConnectError};
use crate::state;
use isolith_core::wire::{CONTENT_BYTES_MAX, request};
use isolith_core::{
    BoxFuture, Digest, Engine, EngineError, Isolate, Limits, OutputSink, Program, Start, Suspended, Unsupported, Usage,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

pub(crate) const NAME: &str = "remote";

/// Where isolates are to be found, unless the address names another path.
const PATH: &str = "/v1/isolates";
/// How long an isolate may take to be there: the other side has a queue.
const START_TIME: Duration = Duration::from_secs(30);
/// How long to wait for a connection that somebody else is opening, or for one's own.
const LINK_TIME: Duration = Duration::from_secs(40);

/// The engine of another isolith. Cloning it is cheap and gives the same engine.
///
/// All isolates share one connection. When it is lost, so are they; the next one opens another.
#[derive(Clone)]
pub struct Remote {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    address: Address,
    background: Background,
    link: tokio::sync::Mutex<Arc<Link>>,
    image: Mutex<Digest>,
}

/// Carries the connection on a thread of its own, whatever becomes of the runtime of whoever made it.
struct Background(Option<Runtime>);

impl Background {
    fn start() -> Result<Background, ConnectError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("isolith-remote").enable_all().build();
        let failed = |error: std::io::Error| ConnectError::Failed { address: "it".into(), why: error.to_string() };
        runtime.map(|runtime| Background(Some(runtime))).map_err(failed)
    }

    fn handle(&self) -> Option<&Handle> {
        self.0.as_ref().map(Runtime::handle)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // A runtime must not be waited for inside another one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Remote {
    /// Connects to another isolith: `https://sandbox.example.com`, with a key of it whose scope is `isolates`.
    pub async fn connect(url: &str, key: Option<&str>) -> Result<Remote, ConnectError> {
        let address = Address::parse(url, key.map(|key| format!("Bearer {key}")))?.or_path(PATH);
        let background = Background::start()?;
        let link = open(&background, &address).await?;
        let image = Mutex::new(link.image);
        let link = tokio::sync::Mutex::new(link);
        Ok(Remote { shared: Arc::new(Shared { address, background, link, image }) })
    }

    /// The connection, or a new one where it was lost.
    async fn link(&self) -> Result<Arc<Link>, EngineError> {
        let Shared { address, background, link, image } = &*self.shared;
        let current = async {
            let mut link = link.lock().await;
            if link.peer.is_lost() {
                *link = open(background, address).await?;
                *image.lock().unwrap_or_else(PoisonError::into_inner) = link.image;
            }
            Ok(Arc::clone(&link))
        };
        let late = |_| lost("it took too long to connect");
        tokio::time::timeout(LINK_TIME, current).await.map_err(late)?
    }

    /// Makes an isolate over there.
    async fn begin(
        &self,
        tally: Tally,
        sink: Arc<dyn OutputSink>,
        message: Vec<u8>,
    ) -> Result<(Held, Usage), EngineError> {
        let link = self.link().await?;
        let (isolate, coming) = link.begin(message, tally, sink).await?;
        let held = Held { link, isolate, _engine: Arc::clone(&self.shared) };
        match coming.within(START_TIME).await? {
            Answer::Begun(usage) => Ok((held, usage)),
            Answer::Step(..) | Answer::State(_) => Err(lost("the other side answers something else")),
        }
    }
}

async fn open(background: &Background, address: &Address) -> Result<Arc<Link>, ConnectError> {
    let failed = |why: String| ConnectError::Failed { address: address.shown(), why };
    let handle = background.handle().ok_or_else(|| failed("the engine is gone".into()))?;
    let address = address.clone();
    let opened = handle.spawn(async move { socket::open(&address).await });
    opened.await.map_err(|error| failed(error.to_string()))?
}

impl Engine for Remote {
    fn name(&self) -> &'static str {
        NAME
    }

    fn image(&self) -> Digest {
        *self.shared.image.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start<'a>(&'a self, program: &'a Program, start: Start) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            supported(&start.limits)?;
            let (tally, sink) = (Tally::new(start.limits), Arc::clone(&start.sink));
            let (held, usage) = self.begin(tally, sink, request::start(0, program, &start)).await?;
            Ok(Box::new(RemoteIsolate::fresh(held, usage)) as Box<dyn Isolate>)
        })
    }

    fn resume<'a>(
        &'a self,
        suspended: &'a Suspended,
        sink: Arc<dyn OutputSink>,
    ) -> BoxFuture<'a, Result<Box<dyn Isolate>, EngineError>> {
        Box::pin(async move {
            let (tally, sealed) = state::read(suspended)?;
            let (held, usage) = self.begin(tally, sink, request::resume(0, sealed)).await?;
            Ok(Box::new(RemoteIsolate::resumed(held, usage)) as Box<dyn Isolate>)
        })
    }
}

/// A limit that a message has no room for would be kept by accident only.
fn supported(limits: &Limits) -> Result<(), Unsupported> {
    limits.check().map_err(|error| Unsupported { engine: NAME, what: error.to_string() })?;
    for (name, bytes) in
        [("payload", limits.payload_bytes), ("value", limits.value_bytes), ("output", limits.output_bytes)]
    {
        if bytes > CONTENT_BYTES_MAX {
            let what = format!("a limit `{name}` of {bytes} bytes: the most is {CONTENT_BYTES_MAX}");
            return Err(Unsupported { engine: NAME, what });
        }
    }
    Ok(())
}
