//! Percent escapes.

/// What stands for itself everywhere in a URL, besides letters and digits.
const UNRESERVED: &[u8] = b"-._~";
/// What may stand in a path besides, as far as the description's own text goes.
const IN_PATH: &[u8] = b"/:@!$&'()*+,;=";

/// A text with everything escaped but letters, digits, `-._~` and what is to be kept.
pub(super) fn encoded(text: &str, keep: &[u8]) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            escape(byte, &mut out);
        }
        out
    })
}

/// The fixed text of a path: what is an escape already stays one.
pub(super) fn path_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, part) in text.split('%').enumerate() {
        if i > 0 {
            let is_escape = part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
            out.push_str(if is_escape { "%" } else { "%25" });
        }
        out.push_str(&encoded(part, IN_PATH));
    }
    out
}

/// A text with its escapes undone, unless one is broken or the result is not UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

fn escape(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}
