use super::upload::Outgoing;
use super::{Net, dial, error};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use isolith_core::{CallError, Target};
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

/// The most a response may say before its body, and behind it.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The most headers it may have.
const HEADERS_MAX: usize = 256;
/// How much of one response, and of all responses of one connection, may wait unread (HTTP/2).
const STREAM_WINDOW_BYTES: u32 = 128 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
/// How much of a request may wait to be sent (HTTP/2).
const SEND_BUFFER_BYTES: usize = 128 << 10;
/// How long the handshakes may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection that requests can be sent on.
pub(super) enum Link {
    /// HTTP/1.1: one at a time.
    One(http1::SendRequest<Outgoing>),
    /// HTTP/2: many at once.
    Many(http2::SendRequest<Outgoing>),
}

impl Link {
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Link::One(sender) => sender.is_closed(),
            Link::Many(sender) => sender.is_closed(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        match self {
            Link::One(sender) => sender.is_ready(),
            Link::Many(sender) => sender.is_ready(),
        }
    }

    /// Sends a request. A request that the server cannot have seen is given back.
    pub(super) async fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Outgoing>>> {
        match self {
            Link::One(sender) => sender.try_send_request(request).await,
            Link::Many(sender) => sender.try_send_request(request).await,
        }
    }
}

/// The tasks that move bytes on the connections of one run. They end with it.
#[derive(Default)]
pub(super) struct Tasks {
    set: Mutex<JoinSet<()>>,
}

impl Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while set.try_join_next().is_some() {}
        set.spawn(task);
    }
}

/// For hyper, which has tasks of its own. It must not keep them alive: they would keep each other so.
#[derive(Clone)]
struct Spawner(Weak<Tasks>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, task: F) {
        if let Some(tasks) = self.0.upgrade() {
            tasks.spawn(task);
        }
    }
}

/// Connects to one of the checked addresses, and says which. The connection lives in `tasks` and holds `permit`.
pub(super) async fn connect(
    net: &Net,
    tls: Option<Arc<ClientConfig>>,
    tasks: &Arc<Tasks>,
    target: &Target,
    addresses: &[IpAddr],
    permit: OwnedSemaphorePermit,
) -> Result<(Link, IpAddr), CallError> {
    let (stream, peer) = dial::dial(net, target, addresses).await?;
    let greet = async {
        let Some(config) = tls else { return one(stream, tasks, target, permit).await };
        let stream = encrypt(config, stream, target).await?;
        let many = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        if many { self::many(stream, tasks, target, permit).await } else { one(stream, tasks, target, permit).await }
    };
    let late = |_| error::network("egress.timeout", format!("the handshake with {} took too long", target.host()));
    let link = timeout(HANDSHAKE_TIMEOUT, greet).await.map_err(late)??;
    Ok((link, peer))
}

async fn encrypt(
    config: Arc<ClientConfig>,
    stream: TcpStream,
    target: &Target,
) -> Result<TlsStream<TcpStream>, CallError> {
    let host = target.host();
    let name = match host {
        Host::Domain(name) => ServerName::try_from(name.clone())
            .map_err(|_| error::network("egress.tls", format!("no certificate can be for `{name}`")))?,
        Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
        Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
    };
    let failed =
        |error| error::network("egress.tls", format!("{host} cannot be trusted, or does not speak TLS: {error}"));
    TlsConnector::from(config).connect(name, stream).await.map_err(failed)
}

// THREAT[T-EGRESS-006]: a server sends heads, trailers or lengths without end, or that can be read in two ways.
async fn one<S>(stream: S, tasks: &Tasks, target: &Target, permit: OwnedSemaphorePermit) -> Result<Link, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let greeted = http1::Builder::new()
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(HEAD_BYTES_MAX + (8 << 10))
        .handshake(TokioIo::new(stream))
        .await;
    let (sender, connection) = greeted.map_err(|e| error::http(&target.host().to_string(), &e))?;
    tasks.spawn(async move {
        let _permit = permit;
        // What went wrong is told to whoever waits for a response.
        let _ = connection.await;
    });
    Ok(Link::One(sender))
}

async fn many<S>(
    stream: S,
    tasks: &Arc<Tasks>,
    target: &Target,
    permit: OwnedSemaphorePermit,
) -> Result<Link, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let greeted = http2::Builder::new(Spawner(Arc::downgrade(tasks)))
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .handshake(TokioIo::new(stream))
        .await;
    let (sender, connection) = greeted.map_err(|e| error::http(&target.host().to_string(), &e))?;
    tasks.spawn(async move {
        let _permit = permit;
        let _ = connection.await;
    });
    Ok(Link::Many(sender))
}
