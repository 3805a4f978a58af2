//! Certificates for servers on loopback.

use std::sync::Arc;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A certificate for these names and its key, as files have them.
pub fn pem(names: Vec<String>) -> (String, String) {
    let certified = rcgen::generate_simple_self_signed(names).unwrap();
    (certified.cert.pem(), certified.signing_key.serialize_pem())
}

/// A client that trusts this certificate (PEM) alone.
pub fn trusting(certificate: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}

/// What a server of these names needs, and the certificate (PEM) that a client has to trust.
pub fn certificate(names: Vec<String>) -> (Arc<ServerConfig>, String) {
    let certified = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certified.cert.der().clone()], key).unwrap();
    (Arc::new(config), certified.cert.pem())
}
