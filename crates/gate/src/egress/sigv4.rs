//! AWS Signature Version 4, in a header.

use isolith_core::Timestamp;
use ring::{digest, hmac};
use std::fmt::Write as _;
use url::Url;
use zeroize::Zeroizing;

/// In place of the hash of a body that is not known beforehand. S3 takes this; other services may not.
pub(super) const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs, and for what.
pub(super) struct Signer {
    pub(super) access_key: Zeroizing<String>,
    pub(super) secret_key: Zeroizing<String>,
    pub(super) session_token: Option<Zeroizing<String>>,
    pub(super) region: String,
    pub(super) service: String,
    pub(super) now: Timestamp,
}

impl Signer {
    /// The moment, as `x-amz-date` has it: `20150830T123600Z`.
    pub(super) fn date(&self) -> String {
        let ([year, month, day], [hour, minute, second]) = self.now.civil();
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    /// The value of `authorization`. `headers` are those to sign: names in lower case and in order, `host` among them.
    pub(super) fn authorization(
        &self,
        method: &str,
        url: &Url,
        headers: &[(String, String)],
        payload_hash: &str,
    ) -> Zeroizing<String> {
        let date = self.date();
        let day = &date[..8];
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let names = headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let mut canonical =
            format!("{method}\n{}\n{}\n", self.path(url.path()), query(url.query().unwrap_or_default()));
        for (name, value) in headers {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(canonical, "{name}:{value}");
        }
        let _ = write!(canonical, "\n{names}\n{payload_hash}");
        let to_sign = format!("{ALGORITHM}\n{date}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let first = Zeroizing::new(format!("AWS4{}", *self.secret_key));
        let mut key = mac(first.as_bytes(), day);
        for part in [self.region.as_str(), &self.service, "aws4_request"] {
            key = mac(key.as_ref(), part);
        }
        let signature = hex(mac(key.as_ref(), &to_sign).as_ref());
        let access_key = &*self.access_key;
        Zeroizing::new(format!(
            "{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        ))
    }

    /// S3 signs the path as it is meant, all others the path as it is sent, encoded once more.
    fn path(&self, path: &str) -> String {
        let whole = if self.service == "s3" { decode(path) } else { path.as_bytes().to_vec() };
        encode(&whole, b"/")
    }
}

/// Sorted, and each part encoded in the one way that is signed.
fn query(query: &str) -> String {
    let again = |text: &str| encode(&decode(text), b"");
    let pair = |piece: &str| {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        (again(name), again(value))
    };
    let mut pairs: Vec<(String, String)> = query.split('&').filter(|piece| !piece.is_empty()).map(pair).collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// The hash of a body, as `x-amz-content-sha256` has it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn mac(key: &[u8], data: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Percent-encodes all but letters, digits, `-._~` and what is in `kept`.
pub(super) fn encode(bytes: &[u8], kept: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn decode(text: &str) -> Vec<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let (bytes, mut out, mut i) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while i < bytes.len() {
        let byte = match bytes[i..] {
            [b'%', high, low, ..] => digit(high).zip(digit(low)).map(|(high, low)| (high * 16 + low) as u8),
            _ => None,
        };
        out.push(byte.unwrap_or(bytes[i]));
        i += if byte.is_some() { 3 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The account of the test suite that AWS published.
    fn signer(service: &str) -> Signer {
        Signer {
            access_key: Zeroizing::new("AKIDEXAMPLE".into()),
            secret_key: Zeroizing::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into()),
            session_token: None,
            region: "us-east-1".into(),
            service: service.into(),
            now: Timestamp::from_micros(1_440_938_160_000_000),
        }
    }

    fn signature(method: &str, url: &str) -> String {
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let url = Url::parse(url).unwrap();
        signer("service").authorization(method, &url, &headers, &sha256(b"")).as_str().to_owned()
    }

    #[test]
    fn published_vectors() {
        assert_eq!(signer("service").date(), "20150830T123600Z");
        let start = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                     SignedHeaders=host;x-amz-date, Signature=";
        for (name, method, query, expected) in [
            ("get-vanilla", "GET", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("post-vanilla", "POST", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "get-vanilla-query-order-key-case",
                "GET",
                "?Param2=value2&Param1=value1",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            let url = format!("https://example.amazonaws.com/{query}");
            assert_eq!(signature(method, &url), format!("{start}{expected}"), "{name}");
        }
    }

    #[test]
    fn paths_and_queries() {
        assert_eq!(signer("s3").path("/a%20b/c,d"), "/a%20b/c%2Cd");
        assert_eq!(signer("x").path("/a%20b"), "/a%2520b");
        assert_eq!(query("b=2&a=%2f&a=+&c"), "a=%2B&a=%2F&b=2&c=");
    }
}
