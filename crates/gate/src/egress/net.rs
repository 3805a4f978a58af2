#[cfg(feature = "test-net")]
use super::test_net::{TestNet, TestNetError};
use super::{Client, proxy::Proxies, tls};
use isolith_core::{CallError, Limits};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::CertificateDer;

/// How requests reach the network: an operator's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetOptions {
    /// A proxy's URL, or `env` for what the environment says. Nothing means no proxy, whatever the environment says.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) to trust besides the platform's.
    pub ca: Option<PathBuf>,
}

/// What all runs of a process share of the network: which certificates are trusted, and which proxy is used.
pub struct Net {
    pub(super) proxies: Proxies,
    certificates: Vec<CertificateDer<'static>>,
    config: OnceCell<ClientConfig>,
    #[cfg(feature = "test-net")]
    map: Option<Arc<TestNet>>,
}

/// Options that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The proxy is no URL of a proxy.
    #[error("`{url}` is not a proxy that can be used: {why}")]
    Proxy {
        /// As given, without user and password.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// The certificates cannot be read.
    #[error("cannot read certificates from `{path}`: {why}")]
    Ca {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The map of the test network cannot be used.
    #[cfg(feature = "test-net")]
    #[error(transparent)]
    TestNet(#[from] TestNetError),
}

impl Net {
    /// Checks the options. The platform's certificates are read when the first request needs them.
    pub fn new(options: NetOptions) -> Result<Net, NetError> {
        #[cfg(feature = "test-net")]
        let map = TestNet::from_environment()?.map(Arc::new);
        Ok(Net {
            proxies: Proxies::new(options.proxy.as_deref(), |name| std::env::var(name).ok())?,
            certificates: options.ca.as_deref().map(tls::read).transpose()?.unwrap_or_default(),
            config: OnceCell::new(),
            #[cfg(feature = "test-net")]
            map,
        })
    }

    /// The same, with a map instead of the one that the environment names.
    #[cfg(feature = "test-net")]
    pub fn mapped(options: NetOptions, map: Arc<TestNet>) -> Result<Net, NetError> {
        Ok(Net { map: Some(map), ..Net::new(options)? })
    }

    /// What one run needs to send requests.
    pub fn client(self: &Arc<Self>, limits: &Limits) -> Client {
        Client::new(self.clone(), limits)
    }

    /// How servers are told apart from impostors.
    pub(super) async fn tls(&self) -> Result<&ClientConfig, CallError> {
        let certificates = &self.certificates;
        self.config
            .get_or_try_init(|| async {
                let certificates = certificates.clone();
                let read = tokio::task::spawn_blocking(move || tls::config(&certificates)).await;
                read.unwrap_or_else(|error| Err(super::error::network("egress.tls", error.to_string())))
            })
            .await
    }

    /// Asks the system what addresses a name has.
    pub(super) async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, CallError> {
        #[cfg(feature = "test-net")]
        if let Some(map) = &self.map {
            return map.resolve(name).await;
        }
        let unknown =
            |error: std::io::Error| super::error::network("egress.dns", format!("`{name}` cannot be found: {error}"));
        let found = tokio::net::lookup_host((name, 0)).await.map_err(unknown)?;
        Ok(found.map(|address| address.ip()).collect())
    }

    /// Whether an address needs no grant of its own, whatever it looks like.
    pub(super) fn is_fixture(&self, _address: IpAddr) -> bool {
        #[cfg(feature = "test-net")]
        if self.map.is_some() {
            return TestNet::is_documentation(_address);
        }
        false
    }

    /// Opens a connection.
    pub(super) async fn dial(&self, address: SocketAddr) -> std::io::Result<TcpStream> {
        #[cfg(feature = "test-net")]
        let address = match &self.map {
            Some(map) => map.dial(address)?,
            None => address,
        };
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
