use super::Client;
use isolith_core::Limits;
use std::path::PathBuf;
use std::sync::Arc;

/// How requests reach the network: an operator's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetOptions {
    /// A proxy's URL, or `env` for what the environment says. Nothing means no proxy, whatever the environment says.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) to trust besides the platform's.
    pub ca: Option<PathBuf>,
}

/// What all runs of a process share of the network: which certificates are trusted, and which proxy is used.
pub struct Net {}

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
}

impl Net {
    /// Checks the options. The platform's certificates are read when the first request needs them.
    pub fn new(_options: NetOptions) -> Result<Net, NetError> {
        Ok(Net {})
    }

    /// What one run needs to send requests.
    pub fn client(self: &Arc<Self>, limits: &Limits) -> Client {
        Client::new(self.clone(), limits)
    }
}
