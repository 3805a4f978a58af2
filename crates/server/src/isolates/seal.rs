//! States that leave this server, to come back from a caller. Sealed, and bound to whom they were made for.

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use isolith_core::{CallerId, Limits, Suspended, SuspendedError};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const NONCE_BYTES: usize = 24;
/// Handles are sealed by another key, so that neither can be taken for the other.
const CONTEXT: &str = "isolith 2026-11 suspended isolates";
/// Limits and a duration.
const HEAD_BYTES_MAX: usize = 4 << 10;

pub(crate) struct StateSeal {
    cipher: XChaCha20Poly1305,
}

/// What is sealed: the engine's state, and what holds for the rest of the run.
pub(super) struct Sealed {
    pub(super) head: Head,
    pub(super) state: Suspended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) limits: Limits,
    pub(super) wall_left: Duration,
}

impl StateSeal {
    /// With the key of the server, which is the same after a restart.
    pub(crate) fn new(key: &[u8; 32]) -> StateSeal {
        let key = blake3::derive_key(CONTEXT, key);
        StateSeal { cipher: XChaCha20Poly1305::new(&key.into()) }
    }

    pub(super) fn seal(&self, caller: &CallerId, head: Head, state: &Suspended) -> Option<Vec<u8>> {
        let head = serde_json::to_vec(&head).ok()?;
        let mut plain = Vec::with_capacity(4 + head.len() + state.0.len());
        plain.extend((head.len() as u32).to_le_bytes());
        plain.extend(head);
        plain.extend(&state.0);
        let mut nonce = [0; NONCE_BYTES];
        rustix::rand::getrandom(&mut nonce[..], rustix::rand::GetRandomFlags::empty()).ok()?;
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: caller.0.as_bytes() });
        Some([&nonce[..], &sealed.ok()?].concat())
    }

    // THREAT[T-REMOTE-005]: a state that a caller made up, changed or got from another would put memory of its own choice into
    // an isolate. Only what was sealed here, for this caller, is ever looked into.
    pub(super) fn open(&self, caller: &CallerId, bytes: &[u8]) -> Result<Sealed, SuspendedError> {
        let forged = || SuspendedError::Damaged("it was not made here for this caller");
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(forged)?;
        let payload = Payload { msg: sealed, aad: caller.0.as_bytes() };
        let plain = self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| forged())?;
        let (length, rest) = plain.split_first_chunk::<4>().ok_or_else(forged)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (head, state) = rest.split_at_checked(length).filter(|_| length <= HEAD_BYTES_MAX).ok_or_else(forged)?;
        let head = serde_json::from_slice(head).map_err(|_| forged())?;
        Ok(Sealed { head, state: Suspended(state.to_vec()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_good_for_its_caller_only_and_only_unchanged() {
        let seal = StateSeal::new(&[7; 32]);
        let (a, b) = (CallerId("a".into()), CallerId("b".into()));
        let head = Head { limits: Limits::default(), wall_left: Duration::from_secs(3) };
        let sealed = seal.seal(&a, head, &Suspended(vec![1, 2, 3])).unwrap();
        let open = seal.open(&a, &sealed).unwrap();
        assert_eq!((open.head, open.state.0), (head, vec![1, 2, 3]));
        assert_ne!(seal.seal(&a, head, &Suspended(vec![1, 2, 3])).unwrap(), sealed, "no nonce is used twice");
        assert!(seal.open(&b, &sealed).is_err());
        assert!(StateSeal::new(&[8; 32]).open(&a, &sealed).is_err());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(seal.open(&a, &changed).is_err(), "{at}");
            assert!(seal.open(&a, &sealed[..at]).is_err(), "{at}");
        }
    }
}
