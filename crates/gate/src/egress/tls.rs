//! Which certificates are trusted.

use super::{NetError, error};
use isolith_core::CallError;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How many sessions a run remembers, to shorten its next handshakes.
const SESSIONS_MAX: usize = 64;

/// The certificates in a file.
pub(super) fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let wrong = |why: String| NetError::Ca { path: path.to_owned(), why };
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?.collect();
    let found = found.map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() { Err(wrong("there is none in it".into())) } else { Ok(found) }
}

/// Reads the platform's certificates, which takes milliseconds, and adds these.
pub(super) fn config(more: &[CertificateDer<'static>]) -> Result<ClientConfig, CallError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots.add_parsable_certificates(more.iter().cloned());
    if roots.is_empty() {
        return Err(error::network("egress.tls", "this machine has no certificates to trust"));
    }
    let wrong = |error| error::network("egress.tls", format!("TLS cannot be set up: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(wrong)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The same for one run.
// THREAT[T-EGRESS-009]: a session ticket of one run makes another known to the server; every run has its own.
pub(super) fn for_run(config: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
    Arc::new(config)
}
