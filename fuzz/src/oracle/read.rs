//! A URL with the scheme `http` or `https`, read as the WHATWG URL standard says.

use super::address::{ends_in_number, v4, v6};
use super::{Answer, Host, Place};

pub(super) fn read(text: &str) -> Result<Place, Answer> {
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    let text: String = trimmed.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let (scheme, rest) = text.split_once(':').ok_or(Answer::Invalid)?;
    let https = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return Err(Answer::Invalid),
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let place = match authority.rsplit_once('@') {
        Some((":", _)) => return Err(Answer::Unsure("an empty user and an empty password")),
        Some((user, _)) if !user.is_empty() => return Err(Answer::Invalid),
        Some((_, place)) => place,
        None => authority,
    };
    let (host, port) = split_port(place)?;
    let port = port.unwrap_or(if https { 443 } else { 80 });
    let host = read_host(host)?;
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    Ok(Place { https, host, port, path: read_path(path) })
}

fn split_port(place: &str) -> Result<(&str, Option<u16>), Answer> {
    let mut inside = false;
    let mut colon = None;
    for (i, c) in place.char_indices() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            ':' if !inside => {
                colon = Some(i);
                break;
            }
            _ => {}
        }
    }
    let Some(colon) = colon else { return Ok((place, None)) };
    let (host, digits) = (&place[..colon], &place[colon + 1..]);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Answer::Invalid);
    }
    let port = digits.bytes().fold(0_u32, |port, b| (port * 10 + u32::from(b - b'0')).min(1_000_000));
    match (digits, u16::try_from(port)) {
        ("", _) => Ok((host, None)),
        (_, Ok(port)) if port > 0 => Ok((host, Some(port))),
        _ => Err(Answer::Invalid),
    }
}

fn read_host(host: &str) -> Result<Host, Answer> {
    if let Some(inner) = host.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or(Answer::Invalid)?;
        return v6(inner).map(Host::V6).ok_or(Answer::Invalid);
    }
    let bytes = decode(host.as_bytes());
    let Ok(host) = String::from_utf8(bytes) else { return Err(Answer::Unsure("a host that is not UTF-8")) };
    if !host.is_ascii() {
        return Err(Answer::Unsure("an international name"));
    }
    let host = host.to_ascii_lowercase();
    if host.split('.').any(|label| label.starts_with("xn--")) {
        return Err(Answer::Unsure("an international name in ASCII"));
    }
    if host.is_empty() || host.bytes().any(|b| b <= b' ' || b == 0x7f || b"#/:<>?@[\\]^|%".contains(&b)) {
        return Err(Answer::Invalid);
    }
    if ends_in_number(&host) {
        return v4(&host).map(Host::V4).ok_or(Answer::Invalid);
    }
    let name = host.strip_suffix('.').unwrap_or(&host);
    let letters = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let sound = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(letters);
    if name.len() > 253 || !name.split('.').all(sound) {
        return Err(Answer::Invalid);
    }
    Ok(Host::Name(name.to_owned()))
}

fn read_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix('/').unwrap_or(&path);
    let mut kept: Vec<String> = Vec::new();
    let names: Vec<&str> = path.split('/').collect();
    for (n, name) in names.iter().enumerate() {
        let last = n + 1 == names.len();
        match name.to_ascii_lowercase().replace("%2e", ".").as_str() {
            ".." => {
                kept.pop();
                if last {
                    kept.push(String::new());
                }
            }
            "." if last => kept.push(String::new()),
            "." => {}
            _ => kept.push(escape(name)),
        }
    }
    format!("/{}", kept.join("/"))
}

fn escape(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte <= b' ' || byte >= 0x7f || b"\"#<>?`{}".contains(&byte) {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// Undoes every escape once.
pub(super) fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let pair = bytes.get(i + 1..i + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let pair = pair.filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| bytes[i] == b'%') {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    out
}
