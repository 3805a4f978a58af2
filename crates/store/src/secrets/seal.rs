//! XChaCha20-Poly1305 over one value. Its nonces are long enough to be drawn at random.

use super::key::Key;
use crate::StoreError;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

const NONCE_BYTES: usize = 24;
/// Comes before the name, so that nothing sealed for another purpose passes for a secret.
const PURPOSE: &str = "isolith secret 1\0";

/// A value that only the key opens.
pub(super) struct Sealed {
    pub(super) nonce: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

// THREAT[T-SECRET-016]: the name is sealed with the value. Otherwise someone who can write the file but not read it could
// exchange two secrets, and have one sent where the other belongs.
fn bound_to(name: &str) -> String {
    format!("{PURPOSE}{name}")
}

pub(super) fn seal(key: &Key, name: &str, value: &[u8]) -> Result<Sealed, StoreError> {
    let mut nonce = [0; NONCE_BYTES];
    super::key::random(&mut nonce)?;
    let bound = bound_to(name);
    let payload = Payload { msg: value, aad: bound.as_bytes() };
    let sealed = cipher(key).encrypt(&XNonce::from(nonce), payload);
    let bytes = sealed.map_err(|_| StoreError::Invalid("the secret could not be encrypted".into()))?;
    Ok(Sealed { nonce: nonce.to_vec(), bytes })
}

/// The value, or nothing when the key is another one or anything was altered.
pub(super) fn open(key: &Key, name: &str, sealed: &Sealed) -> Option<Zeroizing<Vec<u8>>> {
    let nonce: [u8; NONCE_BYTES] = sealed.nonce.as_slice().try_into().ok()?;
    let bound = bound_to(name);
    let payload = Payload { msg: &sealed.bytes, aad: bound.as_bytes() };
    cipher(key).decrypt(&XNonce::from(nonce), payload).ok().map(Zeroizing::new)
}

fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.bytes().into())
}
