//! The text of a key to a server: `isk_`, who its holder is, `_`, and what only its holder knows.
//!
//! Both parts are lowercase hex, so a key is one word everywhere, and has one spelling only.

use crate::{ApiKey, CallerId, Scope};
use std::fmt;

/// How every key begins, so that people and scanners know one when they see it.
pub const PREFIX: &str = "isk_";
const CALLER_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;
/// Where the secret part begins.
const SECRET_AT: usize = PREFIX.len() + 2 * CALLER_BYTES + 1;
/// How long every key is.
const TEXT_BYTES: usize = SECRET_AT + 2 * SECRET_BYTES;
/// What is compared with when there is no key. No secret that anyone could find has this hash.
const NOBODY: [u8; 32] = [0; 32];

/// What only the holder of a key knows. It is not printed, and compared by its hash alone.
#[derive(Clone)]
pub struct KeySecret([u8; SECRET_BYTES]);

impl KeySecret {
    /// A secret of bytes that were drawn at random.
    pub fn new(random: [u8; SECRET_BYTES]) -> KeySecret {
        KeySecret(random)
    }

    /// What is kept of it. The secret is 256 bits of chance, so a plain hash is enough: there is nothing to guess.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Names a caller by bytes that were drawn at random.
pub fn caller(random: [u8; CALLER_BYTES]) -> CallerId {
    let mut text = String::with_capacity(2 * CALLER_BYTES);
    push_hex(&mut text, &random);
    CallerId(text)
}

/// The text that the holder of a key is given, once.
pub fn text(caller: &CallerId, secret: &KeySecret) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    text.push_str(PREFIX);
    text.push_str(&caller.0);
    text.push('_');
    push_hex(&mut text, &secret.0);
    text
}

/// Takes a key's text apart; nothing where it is not one. Whether there is such a key is another question.
pub fn parse(text: &str) -> Option<(CallerId, KeySecret)> {
    // THREAT[T-KEY-001]: anyone can send anything here. Its length is the first thing that is looked at.
    if text.len() != TEXT_BYTES || !text.is_ascii() {
        return None;
    }
    let (caller, secret) = text.strip_prefix(PREFIX)?.split_at(2 * CALLER_BYTES);
    let random: [u8; CALLER_BYTES] = bytes(caller)?;
    Some((self::caller(random), KeySecret(bytes(secret.strip_prefix('_')?)?)))
}

/// Whether this is the secret of a key that is there and was not revoked.
// THREAT[T-KEY-002]: how long the answer takes must not tell how much of a secret is right, or whether there is such a caller.
// Hashes are compared in constant time, and a key that is not there is compared like one that is.
pub fn matches(key: Option<&ApiKey>, secret: &KeySecret) -> bool {
    let kept = blake3::Hash::from_bytes(key.map_or(NOBODY, |key| key.hash));
    let same = kept == blake3::hash(&secret.0);
    same & key.is_some_and(|key| key.revoked.is_none())
}

impl Scope {
    /// What people and files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Runs => "runs",
            Scope::Secrets => "secrets",
            Scope::Audit => "audit",
            Scope::Isolates => "isolates",
            Scope::Metrics => "metrics",
            Scope::Approvals => "approvals",
            Scope::Sessions => "sessions",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or_default());
        }
    }
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut found = [0; N];
    if hex.len() != 2 * N {
        return None;
    }
    for (byte, pair) in found.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Json, Timestamp};
    use proptest::prelude::*;

    fn key(caller: &CallerId, secret: &KeySecret) -> ApiKey {
        ApiKey {
            caller: caller.clone(),
            name: "agents".into(),
            hash: secret.hash(),
            scopes: vec![Scope::Runs],
            policy: None,
            rate: None,
            created: Timestamp::default(),
            revoked: None,
        }
    }

    #[test]
    fn only_the_one_spelling_of_a_key_is_one() {
        let good = text(&caller([0xab; 16]), &KeySecret([0x01; 32]));
        assert_eq!(good, format!("isk_{}_{}", "ab".repeat(16), "01".repeat(32)));
        let (found, secret) = parse(&good).unwrap();
        assert_eq!((found, secret.0), (caller([0xab; 16]), [0x01; 32]));
        for bad in [
            String::new(),
            "isk_".into(),
            good.to_uppercase(),
            good.replace("ab", "AB"),
            good.replace("isk_", "isk-"),
            good.replace("b_0", "b-0"),
            good.replace("ab_", "a/_"),
            good[1..].into(),
            good[..good.len() - 1].into(),
            format!("{good}0"),
            format!("{good}\n"),
            format!(" {}", &good[..good.len() - 1]),
            format!("{}é", &good[..good.len() - 2]),
            format!("isk_é{}", &good[6..]),
            format!("{}g", &good[..good.len() - 1]),
            "0".repeat(TEXT_BYTES),
            good.repeat(1000),
        ] {
            assert!(parse(&bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_key_opens_with_its_own_secret_only_and_while_it_is_worth_something() {
        let (secret, other) = (KeySecret([7; 32]), KeySecret([8; 32]));
        let kept = key(&caller([1; 16]), &secret);
        let revoked = ApiKey { revoked: Some(Timestamp::from_micros(1)), ..kept.clone() };
        let rows = [
            (Some(&kept), &secret, true),
            (Some(&kept), &other, false),
            (Some(&revoked), &secret, false),
            (Some(&revoked), &other, false),
            (None, &secret, false),
        ];
        for (position, (kept, secret, expected)) in rows.into_iter().enumerate() {
            assert_eq!(matches(kept, secret), expected, "row {position}");
        }
        // Even if the hash of nothing could be met, nothing has no holder.
        assert!(!matches(None, &KeySecret([0; 32])));
    }

    #[test]
    fn scopes_are_called_the_same_everywhere() {
        for scope in Scope::ALL {
            assert_eq!(Json::of(&scope).unwrap().text(), format!("\"{}\"", scope.name()));
            assert_eq!(Scope::named(scope.name()), Some(scope));
        }
        assert_eq!(Scope::named("Runs"), None);
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", KeySecret([7; 32])), "***");
    }

    proptest! {
        #[test]
        fn what_is_made_is_read_back(id: [u8; 16], secret: [u8; 32]) {
            let made = text(&caller(id), &KeySecret(secret));
            let (found, read) = parse(&made).unwrap();
            prop_assert_eq!((found, read.0), (caller(id), secret));
        }

        #[test]
        fn what_is_read_is_spelled_as_it_was(given in "(isk_)?[0-9a-fA-F_]{95,103}|.{0,120}") {
            if let Some((caller, secret)) = parse(&given) {
                prop_assert_eq!(text(&caller, &secret), given);
            }
        }
    }
}
