//! Digests of bytes, and with a key.

use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The digest of these parts one after the other; nothing when the name is none that is known.
pub(crate) fn digest(name: &str, parts: &[&[u8]]) -> Option<Vec<u8>> {
    macro_rules! with {
        ($hash:ty) => {{
            let mut hash = <$hash>::new();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize().to_vec()
        }};
    }
    match name {
        "SHA-1" => Some(with!(Sha1)),
        "SHA-256" => Some(with!(Sha256)),
        "SHA-384" => Some(with!(Sha384)),
        "SHA-512" => Some(with!(Sha512)),
        _ => None,
    }
}

/// HMAC of RFC 2104.
pub(crate) fn hmac(name: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let block = if matches!(name, "SHA-384" | "SHA-512") { 128 } else { 64 };
    let mut padded = if key.len() > block { digest(name, &[key])? } else { key.to_vec() };
    padded.resize(block, 0);
    let with = |pad: u8| padded.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
    let inner = digest(name, &[&with(0x36), bytes])?;
    digest(name, &[&with(0x5c), &inner])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: Option<Vec<u8>>) -> String {
        bytes.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(hex(digest("SHA-1", &[b"abc"])), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert!(hex(digest("SHA-256", &[b"a", b"bc"])).starts_with("ba7816bf8f01cfea"));
        assert_eq!(digest("MD5", &[b""]), None);
    }

    #[test]
    fn hmac_is_that_of_the_standard() {
        // RFC 4231, test case 2.
        let code = hex(hmac("SHA-256", b"Jefe", b"what do ya want for nothing?"));
        assert_eq!(code, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
