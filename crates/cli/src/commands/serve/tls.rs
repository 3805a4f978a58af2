//! TLS, where the operator brings a certificate.

use super::file_failure;
use crate::args::Serve;
use crate::failure::Failure;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(crate) fn acceptor(args: &Serve) -> Result<Option<TlsAcceptor>, Failure> {
    let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return match (&args.tls_cert, &args.tls_key) {
            (None, None) => Ok(None),
            _ => Err(Failure::usage("TLS needs a certificate and its key", "give both `--tls-cert` and `--tls-key`")),
        };
    };
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::internal("setting up TLS", &error))?
        .with_no_client_auth()
        .with_single_cert(certificates(cert)?, private_key(key)?);
    let mut config = config.map_err(|error| file_failure(key, error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| file_failure(path, error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| file_failure(path, error))?;
    if all.is_empty() { Err(file_failure(path, "there is no certificate in it")) } else { Ok(all) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| file_failure(path, error))
}
