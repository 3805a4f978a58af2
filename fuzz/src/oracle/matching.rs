//! What a policy says about a place.

use super::address::v6;
use super::read::{decode, read};
use super::{Answer, Host, Place};
use crate::policy::Rule;

/// What should come of a request.
pub fn judge(rules: &[Rule], method: &str, url: &str) -> Answer {
    let place = match read(url) {
        Ok(place) => place,
        Err(answer) => return answer,
    };
    let method = method.to_ascii_uppercase();
    let mut answer = Answer::Deny;
    for rule in rules.iter().filter(|rule| rule.rule == "allow" && covers(rule, &method, &place)) {
        let _ = rule;
        answer = Answer::Allow;
    }
    for rule in rules.iter().filter(|rule| rule.rule == "ask") {
        let granted = covers(rule, &method, &place);
        if granted || (answer != Answer::Deny && touches(rule, &method, &place)) {
            answer = Answer::Ask;
        }
    }
    if rules.iter().any(|rule| rule.rule == "deny" && touches(rule, &method, &place)) {
        answer = Answer::Deny;
    }
    answer
}

fn covers(rule: &Rule, method: &str, place: &Place) -> bool {
    besides_path(rule, method, place)
        && (anywhere(rule) || (is_plain(&place.path) && rule.paths.iter().any(|path| is_below(path, &place.path))))
}

/// For what forbids or asks: also where the path could be taken for another.
fn touches(rule: &Rule, method: &str, place: &Place) -> bool {
    let fold = rule.rule == "deny";
    besides_path(rule, method, place)
        && (anywhere(rule)
            || !is_plain(&place.path)
            || rule.paths.iter().any(|path| is_loosely_below(path, &place.path, fold)))
}

fn anywhere(rule: &Rule) -> bool {
    rule.paths.is_empty() || rule.paths.iter().any(|path| *path == "/" || *path == "/*")
}

fn besides_path(rule: &Rule, method: &str, place: &Place) -> bool {
    let unsaid = rule.rule == "deny" && rule.schemes.is_none();
    let scheme = if place.https { "https" } else { "http" };
    let schemes = match &rule.schemes {
        Some(schemes) => schemes.contains(&scheme),
        None => unsaid || place.https,
    };
    let ports = match &rule.ports {
        None => unsaid || place.port == if place.https { 443 } else { 80 },
        Some(ports) => ports.is_empty() || ports.contains(&place.port),
    };
    schemes && ports && (rule.methods.is_empty() || rule.methods.contains(&method)) && hosts(rule, &place.host)
}

fn hosts(rule: &Rule, host: &Host) -> bool {
    let deny = rule.rule == "deny";
    let pattern = rule.host.to_ascii_lowercase();
    let pattern = pattern.strip_suffix('.').unwrap_or(&pattern);
    if pattern == "*" {
        return deny || matches!(host, Host::Name(name) if is_public(name));
    }
    if let Some((net, len)) = net(pattern) {
        let forms = if deny { forms(host) } else { plain_form(host).into_iter().collect() };
        return forms.iter().any(|form| form.len() == net.len() && form[..len] == net[..len]);
    }
    match (pattern.strip_prefix("*."), host) {
        (Some(suffix), Host::Name(name)) => name.len() > suffix.len() + 1 && name.ends_with(&format!(".{suffix}")),
        (None, Host::Name(name)) => name == pattern,
        _ => false,
    }
}

fn is_public(name: &str) -> bool {
    let home = ["localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "arpa"];
    name.rsplit_once('.').is_some_and(|(_, last)| !home.contains(&last))
}

/// An address or a range as bits, and how many of them count.
fn net(pattern: &str) -> Option<(String, usize)> {
    let pattern = pattern.trim_matches(['[', ']']);
    let (address, len) = match pattern.split_once('/') {
        Some((address, len)) => (address, Some(len.parse::<usize>().ok()?)),
        None => (pattern, None),
    };
    if address.contains(':') {
        let bits = bits6(&v6(address)?);
        let len = len.unwrap_or(128);
        let mapped = format!("{}{}", "0".repeat(80), "1".repeat(16));
        return Some(if bits.starts_with(&mapped) && len >= 96 {
            (bits[96..].to_owned(), len - 96)
        } else {
            (bits, len)
        });
    }
    let parts: Vec<u8> = address.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    (parts.len() == 4).then(|| (parts.iter().map(|part| format!("{part:08b}")).collect(), len.unwrap_or(32)))
}

fn bits6(groups: &[u16; 8]) -> String {
    groups.iter().map(|group| format!("{group:016b}")).collect()
}

/// The one form in which an address is granted.
fn plain_form(host: &Host) -> Option<String> {
    match host {
        Host::Name(_) => None,
        Host::V4(address) => Some(format!("{address:032b}")),
        Host::V6([0, 0, 0, 0, 0, 0xffff, a, b]) => Some(format!("{a:016b}{b:016b}")),
        Host::V6(groups) => Some(bits6(groups)),
    }
}

/// Every form in which it can be forbidden.
fn forms(host: &Host) -> Vec<String> {
    let mut forms: Vec<String> = plain_form(host).into_iter().collect();
    if let Host::V6(groups) = host {
        forms.push(bits6(groups));
        let inner = match *groups {
            [0, 0, 0, 0, 0xffff, 0, a, b] | [0x64, 0xff9b, 0, 0, 0, 0, a, b] | [0x2002, a, b, ..] => Some((a, b)),
            [0, 0, 0, 0, 0, 0, a, b] if a != 0 || b > 1 => Some((a, b)),
            _ => None,
        };
        forms.extend(inner.map(|(a, b)| format!("{a:016b}{b:016b}")));
    }
    forms
}

/// Whether every server reads a path alike.
fn is_plain(path: &str) -> bool {
    let mut now = path.as_bytes().to_vec();
    for _ in 0..4 {
        let Ok(text) = String::from_utf8(now.clone()) else { return false };
        let odd = "\\\u{ff0f}\u{ff3c}\u{ff0e}\u{2024}\u{2025}\u{fe52}\u{fe68}\u{2044}\u{2215}\u{29f8}\u{2216}";
        if text.chars().any(|c| c.is_control() || odd.contains(c)) {
            return false;
        }
        let dots = |name: &str| {
            let name = name.split(';').next().unwrap_or_default().to_ascii_lowercase();
            let name = name.replace("%2e", ".").replace("%20", " ");
            name.trim() == "." || name.trim() == ".."
        };
        let lower = text.to_ascii_lowercase();
        let wide = lower.match_indices("%u").any(|(i, _)| {
            let digits: Vec<char> = lower[i + 2..].chars().take(4).collect();
            digits.len() == 4 && digits.iter().all(|c| c.is_ascii_hexdigit())
        });
        if text.split('/').any(dots) || wide || lower.contains("%2f") || lower.contains("%5c") {
            return false;
        }
        let next = decode(&now);
        if next == now {
            return true;
        }
        now = next;
    }
    false
}

fn is_below(prefix: &str, path: &str) -> bool {
    let prefix = same(prefix.strip_suffix('*').unwrap_or(prefix));
    let path = same(path);
    path == prefix || path.starts_with(&if prefix.ends_with('/') { prefix } else { prefix + "/" })
}

/// Escapes of letters, digits, `-`, `.`, `_` and `~` undone, others in upper case; nothing if one is broken.
fn same(path: &str) -> String {
    let mut out = String::new();
    for (n, part) in path.split('%').enumerate() {
        if n == 0 {
            out.push_str(part);
            continue;
        }
        let (Some(pair), Some(rest)) = (part.get(..2), part.get(2..)) else { return path.to_owned() };
        if !pair.bytes().all(|b| b.is_ascii_hexdigit()) {
            return path.to_owned();
        }
        let byte = u8::from_str_radix(pair, 16).unwrap_or_default();
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&pair.to_ascii_uppercase());
        }
        out.push_str(rest);
    }
    out
}

fn is_loosely_below(prefix: &str, path: &str, fold: bool) -> bool {
    let read = |path: &str| {
        let mut bytes = path.as_bytes().to_vec();
        (0..4).for_each(|_| bytes = decode(&bytes));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let text = if fold { text.to_lowercase() } else { text };
        let names: Vec<String> =
            text.split('/').map(|name| name.split(';').next().unwrap_or_default().to_owned()).collect();
        let open = names.last().is_some_and(String::is_empty);
        (names.into_iter().filter(|name| !matches!(name.as_str(), "" | ".")).collect::<Vec<_>>(), open)
    };
    let ((own, own_open), (other, open)) = (read(prefix.strip_suffix('*').unwrap_or(prefix)), read(path));
    other.len() >= own.len() && other[..own.len()] == own[..] && (!own_open || open || other.len() > own.len())
}
