//! Addresses as URLs spell them.

/// Whether a host is to be read as an IPv4 address, whatever comes of that.
pub(super) fn ends_in_number(host: &str) -> bool {
    let mut parts: Vec<&str> = host.split('.').collect();
    if parts.last() == Some(&"") {
        if parts.len() == 1 {
            return false;
        }
        parts.pop();
    }
    let last = parts.last().copied().unwrap_or_default();
    (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit())) || number(last).is_some()
}

pub(super) fn v4(host: &str) -> Option<u32> {
    let mut parts: Vec<&str> = host.split('.').collect();
    if parts.last() == Some(&"") && parts.len() > 1 {
        parts.pop();
    }
    if parts.len() > 4 {
        return None;
    }
    let numbers: Vec<u64> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, front) = numbers.split_last()?;
    let mut address = 0_u64;
    for n in front {
        if *n > 255 {
            return None;
        }
        address = address * 256 + n;
    }
    let room = 256_u64.pow(5 - numbers.len() as u32);
    if *last >= room {
        return None;
    }
    u32::try_from(address * room + last).ok()
}

fn number(part: &str) -> Option<u64> {
    if part.is_empty() {
        return None;
    }
    let (digits, radix) = match part.strip_prefix("0x").or(part.strip_prefix("0X")) {
        Some(rest) => (rest, 16),
        None if part.len() > 1 && part.starts_with('0') => (&part[1..], 8),
        None => (part, 10),
    };
    let mut value = 0_u64;
    for c in digits.chars() {
        value = value.saturating_mul(radix).saturating_add(u64::from(c.to_digit(radix as u32)?));
    }
    Some(value)
}

pub(super) fn v6(text: &str) -> Option<[u16; 8]> {
    let halves: Vec<&str> = text.split("::").collect();
    let (front, back) = match halves[..] {
        [whole] => (groups(whole)?, None),
        [front, back] => (groups(front)?, Some(groups(back)?)),
        _ => return None,
    };
    // An IPv4 address can only stand at the very end.
    if back.is_some() && halves[0].contains('.') {
        return None;
    }
    let mut out = [0; 8];
    match back {
        None if front.len() == 8 => out.copy_from_slice(&front),
        Some(back) if front.len() + back.len() <= 7 => {
            out[..front.len()].copy_from_slice(&front);
            out[8 - back.len()..].copy_from_slice(&back);
        }
        _ => return None,
    }
    Some(out)
}

fn groups(text: &str) -> Option<Vec<u16>> {
    let mut out = Vec::new();
    if text.is_empty() {
        return Some(out);
    }
    let parts: Vec<&str> = text.split(':').collect();
    for (n, part) in parts.iter().enumerate() {
        if part.contains('.') {
            if n + 1 != parts.len() {
                return None;
            }
            let bytes: Vec<u16> = part.split('.').map(dotted).collect::<Option<_>>()?;
            let [a, b, c, d] = bytes[..] else { return None };
            out.extend([a * 256 + b, c * 256 + d]);
        } else if part.is_empty() || part.len() > 4 || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        } else {
            out.push(u16::from_str_radix(part, 16).ok()?);
        }
    }
    Some(out)
}

fn dotted(part: &str) -> Option<u16> {
    let sound =
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part.len() == 1 || !part.starts_with('0'));
    part.parse().ok().filter(|n| sound && *n <= 255)
}
