//! Continuation handles: what a client gets to answer open calls with. Sealed, bound to the caller, expiring.

use crate::error::Refusal;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use isolith_core::{CallId, CallerId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const NONCE_BYTES: usize = 24;
/// The most a handle can be: a few calls have a short one, a thousand a long one.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Makes handles and reads them back.
pub(crate) struct Seal {
    cipher: XChaCha20Poly1305,
}

#[derive(Serialize, Deserialize)]
struct Inside {
    run: RunId,
    calls: Vec<CallId>,
    until: Timestamp,
}

/// What a handle says.
pub(crate) struct Continuation {
    pub(crate) run: RunId,
    /// The calls that were open when it was made.
    pub(crate) calls: Vec<CallId>,
}

impl Seal {
    pub(crate) fn new(key: &[u8; 32]) -> Seal {
        Seal { cipher: XChaCha20Poly1305::new(key.into()) }
    }

    pub(crate) fn make(
        &self,
        caller: &CallerId,
        run: &RunId,
        calls: &[CallId],
        now: Timestamp,
        keep: Duration,
    ) -> String {
        let inside = Inside { run: run.clone(), calls: calls.to_vec(), until: now.after(keep) };
        self.seal(&inside, caller.0.as_bytes())
    }

    /// Seals a value, for one purpose.
    pub(crate) fn seal(&self, value: &impl Serialize, purpose: &[u8]) -> String {
        // Plain data of ours always has a JSON form.
        let plain = serde_json::to_vec(value).unwrap_or_default();
        let nonce = random();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: purpose });
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed.unwrap_or_default());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What was sealed here for this purpose; nothing when it was not.
    pub(crate) fn open<T: serde::de::DeserializeOwned>(&self, text: &str, purpose: &[u8]) -> Option<T> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let plain = self.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: purpose }).ok()?;
        serde_json::from_slice(&plain).ok()
    }

    // THREAT[T-SERVER-005]: a handle that was made up, changed, or made for someone else says nothing about why it is refused.
    pub(crate) fn read(&self, caller: &CallerId, text: &str, now: Timestamp) -> Result<Continuation, Refusal> {
        let forged = || Refusal::new(StatusCode::FORBIDDEN, "continuation.invalid", "this is not a handle of yours");
        let Inside { run, calls, until } = self.open(text, caller.0.as_bytes()).ok_or_else(forged)?;
        if until < now {
            return Err(Refusal::new(StatusCode::GONE, "continuation.expired", "this handle has expired"));
        }
        Ok(Continuation { run, calls })
    }
}

/// Long enough to be drawn at random for each handle. Where the system gives none, the clock and a counter keep it from repeating.
fn random() -> [u8; NONCE_BYTES] {
    let mut bytes = [0; NONCE_BYTES];
    let (time, rest) = bytes.split_at_mut(16);
    time.copy_from_slice(uuid::Uuid::now_v7().as_bytes());
    let _ = rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_for_its_caller_and_its_time_only() {
        let seal = Seal::new(&[7; 32]);
        let (a, b, run) = (CallerId("a".into()), CallerId("b".into()), RunId("r".into()));
        let now = Timestamp::from_micros(1_000_000);
        let text = seal.make(&a, &run, &[CallId(3)], now, Duration::from_secs(1));
        let read = seal.read(&a, &text, now).unwrap();
        assert_eq!((read.run, read.calls), (run, vec![CallId(3)]));
        let code = |refusal: Result<Continuation, Refusal>| refusal.err().unwrap().code;
        assert_eq!(code(seal.read(&b, &text, now)), "continuation.invalid");
        assert_eq!(code(seal.read(&a, &text, now.after(Duration::from_secs(2)))), "continuation.expired");
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(code(seal.read(&a, &changed, now)), "continuation.invalid", "{at}");
        }
        for other in ["", "A", "….", &"A".repeat(100_000)] {
            assert_eq!(code(seal.read(&a, other, now)), "continuation.invalid");
        }
    }
}
