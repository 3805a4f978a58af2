//! Policies and URLs that are likely to meet, and to just miss each other.

use crate::pick::{count, of, rarely};
use arbitrary::Unstructured;
use isolith_core::Grant;
use serde_json::{Value, json};

/// One egress grant, as plain as it can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `allow`, `ask` or `deny`.
    pub rule: &'static str,
    /// `https`, `http`, both, or not said.
    pub schemes: Option<Vec<&'static str>>,
    /// As a person writes it.
    pub host: &'static str,
    /// Not said, these, or any when empty.
    pub ports: Option<Vec<u16>>,
    /// Any when empty.
    pub methods: Vec<&'static str>,
    /// Anywhere when empty.
    pub paths: Vec<&'static str>,
}

const HOSTS: [&str; 26] = [
    "api.example.com",
    "API.Example.com",
    "example.com.",
    "*.example.com",
    "*.api.example.com",
    "*",
    "*.com",
    "localhost",
    "*.localhost",
    "intranet",
    "a_b.example.com",
    "127.0.0.1",
    "10.0.0.0/8",
    "10.1.0.0/16",
    "0.0.0.0/0",
    "192.168.0.1/24",
    "[::1]",
    "[::/0]",
    "[fd00::/8]",
    "[::ffff:10.0.0.1]",
    "[::ffff:0:0/96]",
    "64:ff9b::/96",
    "2001:db8::/32",
    "x.home.arpa",
    "*.arpa",
    "1.1.1.1",
];
const PATHS: [&str; 16] = [
    "/v1", "/v1/", "/v1/*", "/", "/*", "/a", "/A", "/a/b", "/a%20b", "/%61", "/admin", "/Admin/", "/100%25", "/%C3%A4",
    "/~x", "/a+b",
];
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "PURGE"];

impl Rule {
    /// A rule out of bytes.
    pub fn pick(bytes: &mut Unstructured<'_>) -> Rule {
        let ports = match count(bytes, 5) {
            0..=2 => None,
            3 => Some(Vec::new()),
            n => Some((0..n - 3).map(|_| of(bytes, &[80, 443, 8080, 8443, 65535])).collect()),
        };
        Rule {
            rule: of(bytes, &["allow", "allow", "allow", "ask", "deny"]),
            schemes: of(bytes, &[None, Some(vec!["https"]), Some(vec!["http"]), Some(vec!["http", "https"])]),
            host: of(bytes, &HOSTS),
            ports,
            methods: (0..count(bytes, 4).saturating_sub(2)).map(|_| of(bytes, &METHODS)).collect(),
            paths: (0..count(bytes, 4).saturating_sub(2)).map(|_| of(bytes, &PATHS)).collect(),
        }
    }

    /// The same as a table.
    pub fn to_value(&self) -> Value {
        let mut out = json!({"kind": "egress", "rule": self.rule, "host": self.host});
        if let Some(schemes) = &self.schemes {
            out["scheme"] = json!(schemes);
        }
        match &self.ports {
            None => {}
            Some(ports) if ports.is_empty() => out["port"] = json!("*"),
            Some(ports) => out["port"] = json!(ports),
        }
        if !self.methods.is_empty() {
            out["method"] = json!(self.methods);
        }
        if !self.paths.is_empty() {
            out["path"] = json!(self.paths);
        }
        out
    }

    /// The same as a grant.
    pub fn to_grant(&self) -> Grant {
        Grant::from_value(&self.to_value(), "").unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

/// A method, most often one that is granted.
pub fn method(bytes: &mut Unstructured<'_>) -> &'static str {
    of(bytes, &["GET", "POST", "get", "PUT", "PURGE", "DELETE"])
}

/// A URL that starts out at, or near, what one of the rules is for, and is then bent.
pub fn url(bytes: &mut Unstructured<'_>, rules: &[Rule]) -> String {
    let near = (!rules.is_empty() && !rarely(bytes, 4)).then(|| of(bytes, rules));
    let scheme = match near.as_ref().and_then(|rule| rule.schemes.as_ref()) {
        Some(schemes) if !rarely(bytes, 8) => of(bytes, schemes),
        _ => of(bytes, &["https", "http", "https", "http", "HTTPS", "ftp"]),
    };
    let slashes = if rarely(bytes, 12) { of(bytes, &["", "/", "///", "\\\\", "/\\"]) } else { "//" };
    let user = if rarely(bytes, 24) { of(bytes, &["@", "u@", "u:p@", "api.example.com@", "a:b@c@"]) } else { "" };
    let host = match &near {
        Some(rule) if !rarely(bytes, 8) => bent(bytes, inside(rule.host)),
        _ => host(bytes),
    };
    let odd_port = rarely(bytes, 6);
    let port = match near.as_ref().map(|rule| &rule.ports) {
        Some(None) if !odd_port => String::new(),
        Some(Some(ports)) if !odd_port && !ports.is_empty() => format!(":{}", of(bytes, ports)),
        _ => of(
            bytes,
            &["", ":80", ":443", ":8080", ":8443", ":", ":0443", ":0", ":65536", ":+80", ":80x", ":65535", ":443:1"],
        )
        .to_owned(),
    };
    let start = match &near {
        Some(rule) if !rule.paths.is_empty() => of(bytes, &rule.paths).trim_end_matches(['*', '/']),
        _ => "",
    };
    let start = if rarely(bytes, 4) { escape_one(bytes, start) } else { start.to_owned() };
    let mut text = format!("{scheme}:{slashes}{user}{host}{port}{start}{}", path(bytes));
    if rarely(bytes, 3) {
        text.push_str(of(bytes, &["?q=/../x", "#f", "?", "#/admin", "?a#b?c", "\\?"]));
    }
    if rarely(bytes, 12) {
        let odd = of(bytes, &["\t", "\n", "\r", " ", "\0", "\\", "@", "%", "\u{7f}", "/", ".", ":", "[", "%00", "^"]);
        let at = count(bytes, text.len());
        if text.is_char_boundary(at) {
            text.insert_str(at, odd);
        }
    }
    text
}

/// A host that a pattern is for.
fn inside(pattern: &str) -> String {
    let address = pattern.trim_matches(['[', ']']).split('/').next().unwrap_or_default();
    match pattern {
        "*" => "public.example".to_owned(),
        _ if pattern.contains(':') => format!("[{address}]"),
        _ => address.replace('*', "x"),
    }
}

fn host(bytes: &mut Unstructured<'_>) -> String {
    let host = match count(bytes, 3) {
        0 | 1 => of(
            bytes,
            &[
                "api.example.com",
                "example.com",
                "x.example.com",
                "a.b.api.example.com",
                "apiexample.com",
                "evil.test",
                "api.example.com.evil.test",
                "localhost",
                "x.localhost",
                "intranet",
                "a_b.example.com",
                "x.home.arpa",
                "y.arpa",
                "foo.1x",
                "b.corp",
                "com",
            ],
        )
        .to_owned(),
        2 => number(bytes),
        _ => of(
            bytes,
            &[
                "[::1]",
                "[::]",
                "[0:0:0:0:0:0:0:1]",
                "[::ffff:10.0.0.1]",
                "[::ffff:a00:1]",
                "[fd00::1]",
                "[64:ff9b::10.0.0.1]",
                "[2001:db8::1]",
                "[2001:DB8:0::0:1]",
                "[::1%25lo]",
                "[1::2::3]",
                "[::10.0.0.256]",
                "[1:2:3:4:5:6:7:8]",
                "[1:2:3:4:5:6:7::]",
                "[:1::]",
                "[::1",
                "[12345::]",
                "[2002:a00:1::]",
                "[::1.2.3]",
                "[1:2:3:4:5:6:1.2.3.4]",
            ],
        )
        .to_owned(),
    };
    bent(bytes, host)
}

fn bent(bytes: &mut Unstructured<'_>, host: String) -> String {
    if rarely(bytes, 6) {
        return match count(bytes, 6) {
            0 => host.to_uppercase(),
            1 => host + ".",
            2 => host + "..",
            3 => format!(".{host}"),
            4 => escape_one(bytes, &host),
            5 => host.replacen('.', "%2E", 1),
            _ => host.replacen('e', of(bytes, &["\u{e9}", "\u{ff45}", "*", ",", ";", "<", "xn--"]), 1),
        };
    }
    host
}

/// An IPv4 address in one of its many spellings, or nearly one.
fn number(bytes: &mut Unstructured<'_>) -> String {
    let address: u32 = of(bytes, &[0x7f00_0001, 0x0a00_0001, 0x0a01_0203, 0, 0xc0a8_0005, 0x0101_0101, 0x0b00_0000]);
    let parts = 1 + count(bytes, 3) as u32;
    let mut out = Vec::new();
    for n in 0..parts {
        let last = n + 1 == parts;
        let value = if last { address & (u32::MAX >> (8 * n)) } else { (address >> (24 - 8 * n)) & 0xff };
        out.push(match count(bytes, 5) {
            0 | 1 => value.to_string(),
            2 => format!("{value:#x}"),
            3 => format!("0X{value:X}"),
            4 => format!("0{value:o}"),
            _ => format!("{}", u64::from(value) + of(bytes, &[0_u64, 0, 1, 256, 1 << 32])),
        });
    }
    let tail = of(bytes, &["", "", "", "", ".", ".1", "x", ".0x", ".09", "..", "a"]);
    out.join(".") + tail
}

fn path(bytes: &mut Unstructured<'_>) -> String {
    let mut out = String::new();
    for _ in 0..count(bytes, 5) {
        out.push_str(of(bytes, &["/", "/", "/", "/", "/", "//", "\\", "%2f", "%5C", ""]));
        let name = of(
            bytes,
            &[
                "v1",
                "a",
                "A",
                "b",
                "admin",
                "Admin",
                "a%20b",
                "a b",
                "100%25",
                "~x",
                "a+b",
                "a%2Bb",
                "\u{e4}",
                "%c3%a4",
                "v10",
                "..",
                ".",
                "%2e%2E",
                ".%2e",
                "%252e%252e",
                "..;x",
                "a;x=1",
                "%zz",
                "%2%65",
                "%00",
                "%c0%ae",
                "%u002f",
                "..%20",
                "%2561",
                "\u{2025}",
                "{x}",
                "%",
                "x%0ay",
            ],
        );
        let name = if rarely(bytes, 8) { escape_one(bytes, name) } else { name.to_owned() };
        out.push_str(&name);
    }
    if rarely(bytes, 5) {
        out.push('/');
    }
    out
}

/// Writes one character as its escape, in either case.
fn escape_one(bytes: &mut Unstructured<'_>, text: &str) -> String {
    let at = count(bytes, text.len().saturating_sub(1));
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => {
            let escape = if rarely(bytes, 2) { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
            format!("{}{escape}{}", &text[..at], &text[at + 1..])
        }
        _ => text.to_owned(),
    }
}
