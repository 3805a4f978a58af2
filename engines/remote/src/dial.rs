//! A connection to an address, with TLS where it says so.

use crate::Address;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Host;

/// How long it may take to reach the other side, its TLS included.
pub(crate) const DIAL_TIME: Duration = Duration::from_secs(10);

/// Bytes both ways.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub(crate) async fn dial(address: &Address) -> io::Result<Box<dyn Stream>> {
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "it took too long to connect");
    tokio::time::timeout(DIAL_TIME, connect(address)).await.map_err(late)?
}

async fn connect(address: &Address) -> io::Result<Box<dyn Stream>> {
    let port = address.port();
    let stream = match address.host() {
        Host::Domain(name) => TcpStream::connect((name.as_str(), port)).await?,
        Host::Ipv4(ip) => TcpStream::connect((*ip, port)).await?,
        Host::Ipv6(ip) => TcpStream::connect((*ip, port)).await?,
    };
    // Messages are small and waited for: none of them is to wait for the next.
    stream.set_nodelay(true)?;
    if !address.has_tls() {
        return Ok(Box::new(stream));
    }
    let name = match address.host() {
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
        Host::Ipv4(ip) => ServerName::IpAddress((*ip).into()),
        Host::Ipv6(ip) => ServerName::IpAddress((*ip).into()),
    };
    Ok(Box::new(TlsConnector::from(tls()?).connect(name, stream).await?))
}

/// Reading the platform's certificates takes milliseconds: once is enough.
fn tls() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
