//! Servers on loopback, good and bad, and a gate's side that decides by real grants.

#![allow(dead_code, unreachable_pub, clippy::new_without_default, reason = "a module that each test file uses some of")]

mod routes;
pub mod rules;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

pub trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    /// The request target, as it was sent.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Counts connections.
    pub connection: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        let url = url::Url::parse(&format!("http://h{}", self.path)).unwrap();
        url.query_pairs().find(|(n, _)| n == name).map(|(_, value)| value.into_owned())
    }
}

/// A server on loopback that remembers what reached it.
pub struct Origin {
    pub address: SocketAddr,
    pub state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Default)]
pub struct State {
    pub seen: Mutex<Vec<Seen>>,
    pub connections: AtomicUsize,
    pub open: AtomicUsize,
    /// Bytes of endless bodies that were taken from the server.
    pub sent: AtomicUsize,
    /// How the last upload ended: whole, or broken off.
    pub upload: Mutex<Option<&'static str>>,
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Origin {
    /// Speaks HTTP/1.1; `routes.rs` says what it answers.
    pub async fn http() -> Origin {
        Origin::start(None).await
    }

    /// Speaks TLS with a certificate for `name`, and HTTP/2 if that is among the protocols.
    pub async fn https(authority: &Authority, name: &str, protocols: &[&str]) -> Origin {
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &authority.issuer).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Origin::start(Some(TlsAcceptor::from(Arc::new(config)))).await
    }

    async fn start(tls: Option<TlsAcceptor>) -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = state.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
                let (state, tls) = (shared.clone(), tls.clone());
                connections.spawn(async move {
                    let _open = Open::new(&state);
                    match tls {
                        None => serve(Box::new(stream), &state, connection).await,
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else { return };
                            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                                routes::serve_http2(stream, state.clone(), connection).await;
                            } else {
                                serve(Box::new(stream), &state, connection).await;
                            }
                        }
                    }
                });
            }
        });
        Origin { address, state, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Waits until every connection is closed.
    pub async fn all_closed(&self) {
        let closed = async {
            while self.state.open.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), closed).await.expect("connections stay open");
    }
}

struct Open<'a>(&'a State);

impl<'a> Open<'a> {
    fn new(state: &'a State) -> Self {
        state.open.fetch_add(1, Ordering::SeqCst);
        Open(state)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Signs the certificates of test servers.
pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    pub file: tempfile::NamedTempFile,
}

impl Authority {
    pub fn new() -> Authority {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), certificate.pem()).unwrap();
        Authority { issuer: rcgen::Issuer::new(parameters, key), file }
    }
}

async fn serve(mut wire: Box<dyn Wire>, state: &State, connection: usize) {
    while let Some(mut seen) = head(&mut wire, connection).await {
        if !seen.path.starts_with("/early") && !seen.path.starts_with("/upload") {
            let Some(body) = body(&mut wire, &seen).await else { return };
            seen.body = body;
        }
        state.seen.lock().unwrap().push(seen.clone());
        match routes::answer(&seen, &mut wire, state).await {
            Ok(true) => {}
            _ => return,
        }
    }
}

async fn head(wire: &mut Box<dyn Wire>, connection: usize) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(wire.read_u8().await.ok()?);
    }
    // Bytes as characters of those numbers, as the guest sees them.
    let text: String = head.iter().map(|b| char::from(*b)).collect();
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    Some(Seen { method, path, headers, body: Vec::new(), connection })
}

pub(crate) async fn body(wire: &mut Box<dyn Wire>, seen: &Seen) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if let Some(length) = seen.header("content-length") {
        out.resize(length.parse().unwrap(), 0);
        wire.read_exact(&mut out).await.ok()?;
    } else if seen.header("transfer-encoding").is_some() {
        while chunk(wire, &mut out).await? {}
    }
    Some(out)
}

/// Reads one chunk; false at the last.
pub(crate) async fn chunk(wire: &mut Box<dyn Wire>, out: &mut Vec<u8>) -> Option<bool> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(wire.read_u8().await.ok()?);
    }
    let length = usize::from_str_radix(std::str::from_utf8(&line).ok()?.trim(), 16).ok()?;
    let mut bytes = vec![0; length + 2];
    wire.read_exact(&mut bytes).await.ok()?;
    out.extend_from_slice(&bytes[..length]);
    Some(length > 0)
}

pub(crate) async fn write(wire: &mut Box<dyn Wire>, bytes: &[u8]) -> std::io::Result<()> {
    wire.write_all(bytes).await?;
    wire.flush().await
}
