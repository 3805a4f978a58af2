//! Signatures of events, by the Standard Webhooks scheme: HMAC-SHA256 over `id.timestamp.body`.

use crate::error::Refusal;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use isolith_core::Timestamp;
use ring::hmac;

/// How far a sender's clock may be from ours.
const TOLERANCE_S: u64 = 300;
const ID_BYTES_MAX: usize = 256;
/// The most signatures that one event carries.
const SIGNATURES_MAX: usize = 16;

/// What the head of an event says about who sends it.
pub(crate) struct Signed {
    pub(crate) id: String,
    timestamp: String,
    signatures: Vec<Vec<u8>>,
}

impl Signed {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Signed, Refusal> {
        let one = |name: &str| {
            let mut all = headers.get_all(name).iter();
            let text = all.next()?.to_str().ok()?.to_owned();
            all.next().is_none().then_some(text)
        };
        let (Some(id), Some(timestamp), Some(given)) =
            (one("webhook-id"), one("webhook-timestamp"), one("webhook-signature"))
        else {
            return Err(refused());
        };
        if id.is_empty() || id.len() > ID_BYTES_MAX {
            return Err(refused());
        }
        let versioned = given.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
        let signatures = versioned.filter_map(|text| BASE64_STANDARD.decode(text).ok()).take(SIGNATURES_MAX).collect();
        Ok(Signed { id, timestamp, signatures })
    }

    /// Whether one of the signatures was made with a secret. Compared in constant time.
    pub(crate) fn fits(&self, secret: &str, body: &[u8]) -> bool {
        let key = match secret.strip_prefix("whsec_").and_then(|text| BASE64_STANDARD.decode(text).ok()) {
            Some(bytes) => bytes,
            None => secret.as_bytes().to_vec(),
        };
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let mut message = format!("{}.{}.", self.id, self.timestamp).into_bytes();
        message.extend_from_slice(body);
        self.signatures.iter().fold(false, |fits, signature| fits | hmac::verify(&key, &message, signature).is_ok())
    }

    // THREAT[T-WEBHOOK-003]: a signature is good for a while, or whoever once saw it could send it again in a year.
    /// Whether it was signed just now.
    pub(crate) fn check_time(&self, now: Timestamp) -> Result<(), Refusal> {
        let now = now.as_micros() / 1_000_000;
        match self.timestamp.parse::<u64>() {
            Ok(at) if at.abs_diff(now) <= TOLERANCE_S => Ok(()),
            _ => Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "webhook.time",
                format!("the event was signed more than {TOLERANCE_S} seconds from now"),
            )
            .hint("send it with a fresh `webhook-timestamp`; check both clocks")),
        }
    }
}

pub(crate) fn refused() -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, "webhook.signature", "the event is not signed with a secret of this webhook")
        .hint("send `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,…` as Standard Webhooks says")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(id: &str, timestamp: &str, signature: &str) -> Result<Signed, Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)] {
            headers.insert(name, value.parse().unwrap());
        }
        Signed::of(&headers)
    }

    fn sign(secret: &[u8], id: &str, timestamp: &str, body: &str) -> String {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", BASE64_STANDARD.encode(tag))
    }

    #[test]
    fn one_right_signature_among_others_is_enough() {
        let right = sign(b"secret", "m1", "100", "{}");
        let several = format!("v1,AAAA v2,xx {right} garbage");
        assert!(signed("m1", "100", &several).unwrap().fits("secret", b"{}"));
        let encoded = format!("whsec_{}", BASE64_STANDARD.encode(b"secret"));
        assert!(signed("m1", "100", &right).unwrap().fits(&encoded, b"{}"));
        for (id, timestamp, secret, body) in [
            ("m2", "100", "secret", "{}"),
            ("m1", "101", "secret", "{}"),
            ("m1", "100", "other", "{}"),
            ("m1", "100", "secret", "{ }"),
        ] {
            assert!(
                !signed(id, timestamp, &right).unwrap().fits(secret, body.as_bytes()),
                "{id} {timestamp} {secret} {body}"
            );
        }
        assert!(!signed("m1", "100", "v1,").unwrap().fits("secret", b"{}"));
    }

    #[test]
    fn a_signature_is_good_for_five_minutes() {
        let at = |seconds: u64| Timestamp::from_micros(seconds * 1_000_000);
        let signed = signed("m", "1000", "v1,AAAA").unwrap();
        for (now, fine) in [(1000, true), (1300, true), (700, true), (1301, false), (699, false), (0, false)] {
            assert_eq!(signed.check_time(at(now)).is_ok(), fine, "{now}");
        }
    }
}
