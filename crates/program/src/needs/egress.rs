//! The smallest egress grant for a URL with holes in it.

use super::text::{Piece, Text, Why};
use super::url::{Known, split};
use super::value;
use isolith_core::{Egress, HostPattern, Method, Ports, Target, admit};
use std::collections::BTreeSet;

/// Stands for a hole while the URL around it is read.
const ANY_LABEL: &str = "x";
const ANY_PORT: &str = "1";

/// What is needed for a request.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) egress: Egress,
    pub(super) exact: bool,
}

/// Why it cannot be told.
#[derive(Debug)]
pub(super) enum Lost {
    /// The URL is not known.
    Url(Why),
    /// No such request is ever sent, said in a sentence.
    Never(String),
}

/// The smallest grant for a request.
pub(super) fn reach(url: &Text, method: &value::Method) -> Result<Reach, Lost> {
    let known = match method {
        value::Method::Default => Some("GET"),
        value::Method::Known(text) => Some(text.as_str()),
        value::Method::Any => None,
    };
    let method = known.map(Method::new).transpose().map_err(Lost::Never)?;
    let (target, exact, ports, host) = match read(url)? {
        Read { target, exact, any_port: true, .. } => (target, exact, Some(Ports::Any), None),
        Read { target, exact, below, .. } => (target, exact, None, below),
    };
    // Which method stands there does not matter where any is meant.
    let any = || Method::new("GET").map_err(Lost::Never);
    let mut egress = admit::smallest(&method.clone().map_or_else(any, Ok)?, &target);
    if method.is_none() {
        egress.methods = BTreeSet::new();
    }
    egress.ports = ports.unwrap_or(egress.ports);
    egress.host = host.unwrap_or(egress.host);
    Ok(Reach { egress, exact: exact && method.is_some() })
}

/// A URL as far as it is known.
struct Read {
    target: Target,
    exact: bool,
    any_port: bool,
    /// The hosts, where the beginning of the host is a hole.
    below: Option<HostPattern>,
}

fn read(url: &Text) -> Result<Read, Lost> {
    let (beginning, hole) = url.beginning();
    let Some(hole) = hole else {
        let target = parse(beginning)?;
        return Ok(Read { target, exact: true, any_port: false, below: None });
    };
    let Some(Known { scheme, authority, rest }) = split(beginning) else { return Err(Lost::Url(hole)) };
    let after = &url.pieces()[2..];
    let next = match after.first() {
        Some(Piece::Known(text)) => text.as_str(),
        _ => "",
    };
    if authority.contains('@') || (rest.is_none() && next.contains('@')) {
        return Err(Lost::Url(hole));
    }
    if let Some(rest) = rest {
        let (path, exact) = path(rest, after, true);
        let target = parse(&format!("{scheme}{authority}{path}"))?;
        return Ok(Read { target, exact, any_port: false, below: None });
    }
    // The hole is in the authority. What follows up to the next hole says where in it.
    let end = next.find(['/', '?', '#', '\\']);
    let ended = end.is_some() || after.len() <= 1;
    let (label, next_rest) = next.split_at(end.unwrap_or(next.len()));
    let (path, _) = path(next_rest, after.get(1..).unwrap_or_default(), after.len() > 1);
    match label {
        _ if !ended => Err(Lost::Url(hole)),
        "" if authority.ends_with(':') && authority.len() > 1 => {
            let target = parse(&format!("{scheme}{authority}{ANY_PORT}{path}"))?;
            Ok(Read { target, exact: false, any_port: true, below: None })
        }
        // `https://host${path}`: nobody writes it so for the rest of a name.
        "" if end.is_none() && is_whole_host(authority) => {
            let target = parse(&format!("{scheme}{authority}/"))?;
            Ok(Read { target, exact: false, any_port: false, below: None })
        }
        label => {
            let (suffix, port) = label.split_once(':').map_or((label, None), |(name, port)| (name, Some(port)));
            let suffix = suffix.strip_prefix('.').filter(|suffix| suffix.contains('.')).ok_or(Lost::Url(hole))?;
            let pattern = HostPattern::new(&format!("*.{suffix}")).map_err(|_| Lost::Url(hole))?;
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let target = parse(&format!("{scheme}{ANY_LABEL}.{suffix}{port}{path}"))?;
            Ok(Read { target, exact: false, any_port: false, below: Some(pattern) })
        }
    }
}

fn parse(url: &str) -> Result<Target, Lost> {
    Target::parse(url).map_err(|error| {
        let url: String = url.chars().take(80).collect();
        Lost::Never(match split(&url) {
            None if !url.contains(':') => format!("`{url}` is relative, and a program has no address of its own"),
            _ => format!("`{url}` cannot be fetched: {error}"),
        })
    })
}

/// The part of a path that is certain, and whether that is all of it. `rest` is what stands before a hole or the end.
fn path<'t>(rest: &'t str, after: &[Piece], before_hole: bool) -> (&'t str, bool) {
    if let Some(end) = rest.find(['?', '#']) {
        return (&rest[..end], true);
    }
    if !before_hole {
        return (rest, true);
    }
    // What leads up again behind the hole could leave the folder that it is in.
    let leads_up = |piece: &Piece| match piece {
        Piece::Known(text) => {
            let path = text.split(['?', '#']).next().unwrap_or_default();
            path.contains("..") || path.to_ascii_lowercase().contains("%2e")
        }
        Piece::Hole(_) => false,
    };
    let slash = rest.rfind(['/', '\\']).filter(|_| !after.iter().any(leads_up));
    (slash.map_or("/", |slash| &rest[..=slash]), false)
}

/// Whether a name looks complete: `api.example.com`, `localhost:8080`.
fn is_whole_host(authority: &str) -> bool {
    let (name, port) = authority.split_once(':').map_or((authority, None), |(name, port)| (name, Some(port)));
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_name = name.contains('.') && last.len() >= 2 && last.bytes().all(|b| b.is_ascii_alphabetic());
    let is_address = name.parse::<std::net::Ipv4Addr>().is_ok();
    let is_port = port.is_none_or(|port| port.len() >= 2 && port.bytes().all(|b| b.is_ascii_digit()));
    (is_name || is_address || name == "localhost") && is_port
}
