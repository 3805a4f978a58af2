//! Connections: taken, bounded, served, and let go in order.

use crate::app::{App, Peer};
use crate::caller::Household;
use crate::checker::Checker;
use crate::engines::Engines;
use crate::mcp;
use crate::pipes;
use crate::routes;
use crate::runs::Runs;
use crate::settings::Settings;
use crate::trace::Adopt;
use crate::wire::{Slot, Wire};
use axum::extract::ConnectInfo;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use isolith_core::{ApiKeys, CallerId, Manifest, RunStore, StoreProblem};
use isolith_gate::Upstreams;
use isolith_runner::Runner;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// The most header bytes of a request.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 100;
/// Streams of one HTTP/2 connection at one time.
const STREAMS_MAX: u32 = 256;
/// After a connection could not be taken, for want of file descriptors for one, the next is tried after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// Connections that are quiet have this long to be closed in order when the server stops.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// What a server is made of.
pub struct Parts {
    /// Runs programs.
    pub runner: Runner,
    /// The other engines, where there are any.
    pub engines: Option<Arc<dyn Engines>>,
    /// Keeps runs that outlive us.
    pub store: Arc<dyn RunStore>,
    /// Who may call.
    pub keys: Arc<dyn ApiKeys>,
    /// What callers have.
    pub household: Arc<dyn Household>,
    /// The tools of others, where there are any.
    pub upstreams: Option<Arc<dyn Upstreams>>,
    /// Who looks at programs that come over MCP before they run, where someone does.
    pub checker: Option<Arc<dyn Checker>>,
    /// Puts a run's spans into the trace that its request belongs to, where spans are exported.
    pub adopt: Option<Adopt>,
    /// The most that any run can have.
    pub policy: Option<Manifest>,
    /// How much is taken on.
    pub settings: Settings,
    /// Seals continuation handles: the same after a restart.
    pub handle_key: [u8; 32],
}

/// Serves runs.
pub struct Server {
    app: Arc<App>,
}

impl Server {
    /// A server that does not listen yet.
    pub fn new(parts: Parts) -> Server {
        let Parts { runner, engines, store, keys, household, upstreams, checker, adopt, policy, settings, handle_key } =
            parts;
        let runs = Runs::new((runner, engines), store, household, upstreams, Arc::new(settings), adopt);
        Server { app: App::new(runs, keys, policy, checker, &handle_key) }
    }

    /// Serves a client over a pair of pipes until it is gone.
    pub async fn serve_pipes(
        &self,
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> std::io::Result<()> {
        self.tended(pipes::serve(Arc::clone(&self.app), reader, writer)).await
    }

    /// Serves an MCP client over a pair of pipes until it is gone.
    pub async fn serve_mcp(
        &self,
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> std::io::Result<()> {
        self.tended(mcp::serve(Arc::clone(&self.app), reader, writer)).await
    }

    /// Serves one client, looks after its runs meanwhile, and lets them end or leave memory when it is gone.
    async fn tended(&self, serving: impl Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
        let tending = tokio::spawn(self.tend());
        let served = serving.await;
        self.drain().await;
        tending.abort();
        served
    }

    /// Takes up what an earlier process left behind, and says how many runs that are.
    pub async fn recover(&self) -> Result<u64, StoreProblem> {
        let app = Arc::clone(&self.app);
        self.app.runs.recover(move |caller| app.caller(caller)).await
    }

    fn tend(&self) -> impl Future<Output = ()> + Send + use<> {
        let app = Arc::clone(&self.app);
        Arc::clone(&self.app.runs).tend(move |caller: &CallerId| app.caller(caller))
    }

    /// Serves until it is told to stop; then runs end or leave memory, and nothing is lost.
    pub async fn serve(
        &self,
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        stop: CancellationToken,
    ) -> std::io::Result<()> {
        let to = listener.local_addr()?;
        let tending = tokio::spawn(self.tend());
        let router = routes::router(Arc::clone(&self.app));
        let settings = Arc::clone(&self.app.runs.settings);
        let room = Arc::new(Semaphore::new(settings.connections));
        let graceful = GracefulShutdown::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "taking a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            // THREAT[T-SERVER-011]: connections that do nothing. What is beyond the bound is closed at once.
            let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
            let _ = stream.set_nodelay(true);
            let local = stream.local_addr().unwrap_or(to);
            let (router, tls) = (router.clone(), tls.clone());
            let (builder, watcher) = (builder(&settings), graceful.watcher());
            let patience = settings.idle;
            let slot = Slot::new(Arc::clone(&self.app.runs), permit);
            tokio::spawn(async move {
                let peer = Peer { from, to: local };
                match tls {
                    None => connection(builder, Wire::new(stream, slot, patience), router, peer, watcher).await,
                    Some(tls) => {
                        if let Ok(Ok(stream)) = tokio::time::timeout(patience, tls.accept(stream)).await {
                            connection(builder, Wire::new(stream, slot, patience), router, peer, watcher).await;
                        }
                    }
                }
            });
        }
        drop(listener);
        self.drain().await;
        let _ = tokio::time::timeout(CLOSE_TIME, graceful.shutdown()).await;
        tending.abort();
        Ok(())
    }

    /// Waits until every run has ended or left memory.
    async fn drain(&self) {
        let runs = &self.app.runs;
        runs.leave.cancel();
        runs.tasks.close();
        if tokio::time::timeout(runs.settings.drain, runs.tasks.wait()).await.is_err() {
            tracing::warn!("runs that neither ended nor waited are left");
        }
    }
}

fn builder(settings: &Settings) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // Not `pipeline_flush`: it keeps an answer back while bytes of the client are unread, and a refusal of those bytes is then lost.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.idle)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .keep_alive_interval(Some(settings.idle))
        .keep_alive_timeout(settings.idle);
    builder
}

async fn connection<S>(
    builder: Builder<TokioExecutor>,
    stream: S,
    router: axum::Router,
    peer: Peer,
    watcher: hyper_util::server::graceful::Watcher,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let served = watcher.watch(builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned());
    if let Err(error) = served.await {
        tracing::debug!(%error, from = %peer.from, "a connection ended");
    }
}

/// For whoever prints it.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
