//! The forms in which servers repeat what they were sent.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Shorter secrets are looked for as they are and in no other form: their other forms are in every text by chance.
const ENCODED_BYTES_MIN: usize = 4;

/// What different encoders leave as it is, besides letters and digits: the strictest, RFC 3986, `encodeURIComponent`, forms,
/// `encodeURI`, and what browsers do to a path and to a query.
const KEPT: [&[u8]; 7] = [
    b"",
    b"-._~",
    b"-_.!~*'()",
    b"*-._",
    b"-_.!~*'();/?:@&=+$,#",
    b"-_.!~*'();/:@&=+$,%[]|\\^",
    b"-_.!~*();/?:@&=+$,%[]|\\^`{}",
];

/// Every form of a secret that is looked for, the secret itself among them.
pub(super) fn of(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::from([secret.as_bytes().to_vec()]);
    if secret.len() < ENCODED_BYTES_MIN {
        return forms;
    }
    percent(secret, &mut forms);
    base64(secret.as_bytes(), &mut forms);
    json(secret, &mut forms);
    html(secret, &mut forms);
    let lower = hex(secret.as_bytes(), false);
    forms.extend([lower.to_ascii_uppercase().into_bytes(), lower.into_bytes()]);
    forms
}

fn percent(secret: &str, forms: &mut BTreeSet<Vec<u8>>) {
    for upper in [true, false] {
        let escaped = |b: u8| format!("%{}", hex(&[b], upper));
        for (i, kept) in KEPT.iter().enumerate() {
            let keeps = |b: u8| b.is_ascii_alphanumeric() || kept.contains(&b);
            let encode = |b: u8| if keeps(b) { char::from(b).to_string() } else { escaped(b) };
            let form: String = secret.bytes().map(encode).collect();
            if i == 3 {
                forms.insert(form.replace("%20", "+").into_bytes());
            }
            forms.insert(form.into_bytes());
        }
        forms.insert(secret.bytes().map(escaped).collect::<String>().into_bytes());
    }
}

/// At each of the three places where a secret can begin within a group of four characters: the characters that are its own.
fn base64(secret: &[u8], forms: &mut BTreeSet<Vec<u8>>) {
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for before in 0..3 {
            let text = engine.encode([&[0; 2][..before], secret].concat());
            let (first, last) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
            forms.insert(text.as_bytes()[first..last].to_vec());
        }
        // Alone, it has its last character to itself.
        forms.insert(engine.encode(secret).into_bytes());
    }
}

fn json(secret: &str, forms: &mut BTreeSet<Vec<u8>>) {
    for choice in 0..16 {
        let [slashes, ascii, markup, upper] = [1, 2, 4, 8].map(|bit| choice & bit != 0);
        let mut form = String::new();
        for c in secret.chars() {
            match c {
                '"' => form.push_str("\\\""),
                '\\' => form.push_str("\\\\"),
                '\n' => form.push_str("\\n"),
                '\r' => form.push_str("\\r"),
                '\t' => form.push_str("\\t"),
                '/' if slashes => form.push_str("\\/"),
                c if c < ' ' || (ascii && !c.is_ascii()) || (markup && "<>&'+=".contains(c)) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = if upper { write!(form, "\\u{unit:04X}") } else { write!(form, "\\u{unit:04x}") };
                    }
                }
                c => form.push(c),
            }
        }
        forms.insert(form.into_bytes());
    }
}

fn html(secret: &str, forms: &mut BTreeSet<Vec<u8>>) {
    for (double, single) in
        [("&quot;", "&#39;"), ("&#34;", "&#39;"), ("&quot;", "&#x27;"), ("&quot;", "&apos;"), ("\"", "'")]
    {
        let form = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        forms.insert(form.replace('"', double).replace('\'', single).into_bytes());
    }
}

fn hex(bytes: &[u8], upper: bool) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = if upper { write!(out, "{byte:02X}") } else { write!(out, "{byte:02x}") };
    }
    out
}
