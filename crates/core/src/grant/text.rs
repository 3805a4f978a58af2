//! Grants as one line of text: what flags take, what receipts, audits and refusals show.

use super::{
    Access, Egress, FilesGrant, Grant, GrantError, HostPattern, Method, PathPrefix, Ports, Power, Rule, Schemes,
};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Power::Egress(egress) => write!(f, "egress:{egress}"),
            Power::Kv(kv) if kv.access == Access::Read => write!(f, "kv:read {}", kv.name),
            Power::Kv(kv) => write!(f, "kv:{}", kv.name),
            Power::Files(files) => write!(f, "files:{files}"),
            Power::Tool(tool) => write!(f, "tool:{}", tool.name),
            Power::Invoke(invoke) => write!(f, "invoke:{}", invoke.name),
            Power::Secret(secret) if secret.reveal => write!(f, "secret:reveal {}", secret.name),
            Power::Secret(secret) => write!(f, "secret:{}", secret.name),
            Power::Builtin(builtin) => write!(f, "builtin:{builtin}"),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Rule::Allow => write!(f, "{}", self.power),
            Rule::Ask => write!(f, "ask {}", self.power),
            Rule::Deny => write!(f, "deny {}", self.power),
        }
    }
}

impl fmt::Display for FilesGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.access == Access::Read { "read" } else { "write" };
        write!(f, "{access} {}", self.path)
    }
}

impl fmt::Display for Egress {
    /// `GET,HEAD https://api.example.com:8443/v1/`, as [`Egress::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<&str>| items.join(",");
        if !self.methods.is_empty() {
            write!(f, "{} ", list(self.methods.iter().map(Method::as_str).collect()))?;
        }
        let scheme = match self.schemes {
            Schemes::Https => "https",
            Schemes::Http => "http",
            Schemes::Both => "http(s)",
        };
        // A range has a slash of its own, so it stands in brackets like an IPv6 address.
        match &self.host {
            HostPattern::Net(ipnet::IpNet::V4(net)) if net.prefix_len() < 32 => write!(f, "{scheme}://[{net}]")?,
            host => write!(f, "{scheme}://{host}")?,
        }
        match &self.ports {
            Ports::Usual => {}
            Ports::Any => f.write_str(":*")?,
            Ports::Only(ports) => {
                write!(f, ":{}", ports.iter().map(u16::to_string).collect::<Vec<_>>().join(","))?;
            }
        }
        f.write_str(&list(self.paths.iter().map(PathPrefix::as_str).collect()))
    }
}

impl FromStr for Egress {
    type Err = String;

    /// Reads `api.example.com`, `localhost:8080`, `GET https://api.example.com/v1/*`, `*.example.com`, `10.0.0.0/8`.
    ///
    /// Without a scheme it is `https`, and with a port but no scheme it is either.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (methods, place) = match text.rsplit_once(char::is_whitespace) {
            Some((methods, place)) => (methods.split([',', ' ']).filter(|m| !m.is_empty()).collect(), place),
            None => (Vec::new(), text),
        };
        let (scheme, rest) = match place.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, place),
        };
        let (authority, paths) = split_paths(rest, scheme.is_some());
        let (host, ports) = split_ports(authority)?;
        let schemes = match scheme.as_deref() {
            None if ports == Ports::Usual => Schemes::Https,
            None | Some("http(s)") => Schemes::Both,
            Some("https") => Schemes::Https,
            Some("http") => Schemes::Http,
            Some(other) => {
                return Err(format!("`{other}` is no scheme that can be granted: there are `https` and `http`"));
            }
        };
        let paths: Vec<&str> = paths.split(',').filter(|p| !p.is_empty()).collect();
        let paths = paths.into_iter().map(PathPrefix::new).collect::<Result<_, _>>()?;
        Ok(Egress {
            schemes,
            ports,
            methods: methods.into_iter().filter(|m| *m != "*").map(Method::new).collect::<Result<BTreeSet<_>, _>>()?,
            paths: anywhere_or(paths),
            ..Egress::to(HostPattern::new(host).map_err(|error| error.to_string())?)
        })
    }
}

/// Prefixes of which one may be `/`: then the others say nothing.
pub(super) fn anywhere_or(paths: BTreeSet<PathPrefix>) -> BTreeSet<PathPrefix> {
    if paths.iter().any(|path| path.as_str() == "/") { BTreeSet::new() } else { paths }
}

/// `host:port` and `/path`. The slash of a range (`10.0.0.0/8`) starts no path, but after a scheme `10.0.0.1/24` is what
/// it is in every URL.
fn split_paths(rest: &str, url: bool) -> (&str, &str) {
    if !url && HostPattern::new(rest).is_ok() {
        return (rest, "");
    }
    let start = if rest.starts_with('[') { rest.find(']').unwrap_or(0) } else { 0 };
    match rest[start..].find('/') {
        Some(at) => rest.split_at(start + at),
        None => (rest, ""),
    }
}

fn split_ports(authority: &str) -> Result<(&str, Ports), String> {
    if authority.contains('@') {
        return Err(format!("`{authority}`: a grant names no user"));
    }
    let split = match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') && HostPattern::new(authority).is_err() => at,
        _ => return Ok((authority, Ports::Usual)),
    };
    let (host, ports) = (&authority[..split], &authority[split + 1..]);
    if ports == "*" {
        return Ok((host, Ports::Any));
    }
    let port = |text: &str| match text.parse::<u16>() {
        Ok(port) if port > 0 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(port),
        _ => Err(format!("`{text}` is no port")),
    };
    Ok((host, Ports::Only(ports.split(',').map(port).collect::<Result<_, _>>()?)))
}

impl FromStr for Grant {
    type Err = GrantError;

    /// Reads what [`Display`](fmt::Display) writes: `egress:GET https://api.example.com/v1/`, `kv:cache`, `files:read docs`,
    /// `tool:search`, each also after `ask ` or `deny `.
    fn from_str(text: &str) -> Result<Self, GrantError> {
        let (rule, rest) = match text.trim().split_once(char::is_whitespace) {
            Some(("ask", rest)) => (Rule::Ask, rest),
            Some(("deny", rest)) => (Rule::Deny, rest),
            _ => (Rule::Allow, text),
        };
        let Some((kind, what)) = rest.trim().split_once(':') else {
            return Err(GrantError::new(
                "",
                format!("`{text}` is no grant: write `egress:api.example.com`, `kv:cache`, …"),
            ));
        };
        let mut grant = super::read::one_line(kind, what.trim())?;
        grant.rule = rule;
        super::read::check_rule(&grant).map_err(|error| GrantError::new("", error))?;
        if let Power::Egress(egress) = &mut grant.power
            && rule == Rule::Deny
            && !what.contains("://")
        {
            egress.ban_everything_unsaid();
        }
        Ok(grant)
    }
}
