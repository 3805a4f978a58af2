use crate::address;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use url::Host;

/// Which hosts a grant is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostPattern {
    /// `*`: every name on the public internet. No addresses, and no names that only mean something at home.
    Any,
    /// `*.example.com`: every name below, at any depth, and not the domain itself.
    Below(String),
    /// One name, in ASCII, lower case, without a final dot.
    Name(String),
    /// An address or a range of them.
    Net(IpNet),
}

/// Text that names no hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a host: write `api.example.com`, `*.example.com`, `*`, an address or a range such as `10.0.0.0/8`"
)]
pub struct InvalidHost(String);

/// The last labels of names that no public server has.
const AT_HOME: [&str; 10] =
    ["localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "arpa"];

/// The name that stands for the machine itself.
pub(crate) const LOCALHOST: &str = "localhost";

impl HostPattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, InvalidHost> {
        let trimmed = text.trim();
        let invalid = || InvalidHost(text.to_owned());
        if trimmed == "*" {
            return Ok(HostPattern::Any);
        }
        let bare = trimmed.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(trimmed);
        if let Ok(net) = bare.parse::<IpNet>() {
            return Ok(HostPattern::Net(address::plain_net(net)));
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(HostPattern::Net(address::plain_net(address.into())));
        }
        let below = trimmed.strip_prefix("*.");
        match canonical(below.unwrap_or(trimmed)) {
            Some(Host::Domain(name)) if below.is_some() => Ok(HostPattern::Below(name)),
            Some(Host::Domain(name)) => Ok(HostPattern::Name(name)),
            // `0x7f.1` is an address in disguise: whoever grants one writes it plainly.
            _ => Err(invalid()),
        }
    }

    /// Whether a host, as a [`Target`](crate::Target) has it, is one of these.
    pub fn covers(&self, host: &Host) -> bool {
        match (self, host) {
            (HostPattern::Any, Host::Domain(name)) => is_public_name(name),
            (HostPattern::Below(suffix), Host::Domain(name)) => is_below(name, suffix),
            (HostPattern::Name(own), Host::Domain(name)) => own == name,
            (HostPattern::Net(net), Host::Ipv4(address)) => net.contains(&IpAddr::V4(*address)),
            (HostPattern::Net(net), Host::Ipv6(address)) => net.contains(&address::plain(IpAddr::V6(*address))),
            _ => false,
        }
    }

    /// Whether a ban of these is meant for a host: a ban of `*` is for everything, and one of an address for each of its
    /// forms.
    pub(crate) fn bans(&self, host: &Host) -> bool {
        match (self, host) {
            (HostPattern::Any, _) => true,
            (HostPattern::Net(net), Host::Ipv4(address)) => address::within(net, IpAddr::V4(*address)),
            (HostPattern::Net(net), Host::Ipv6(address)) => address::within(net, IpAddr::V6(*address)),
            _ => self.covers(host),
        }
    }

    /// The hosts that are in both.
    pub fn and(&self, other: &HostPattern) -> Option<HostPattern> {
        use HostPattern::{Any, Below, Name, Net};
        match (self, other) {
            (Any, Any) => Some(Any),
            (Any, Below(name)) | (Below(name), Any) => {
                is_public_name(&format!("x.{name}")).then(|| Below(name.clone()))
            }
            (Any, Name(name)) | (Name(name), Any) => is_public_name(name).then(|| Name(name.clone())),
            (Below(a), Below(b)) if a == b || is_below(a, b) => Some(self.clone()),
            (Below(a), Below(b)) if is_below(b, a) => Some(other.clone()),
            (Below(suffix), Name(name)) | (Name(name), Below(suffix)) => {
                is_below(name, suffix).then(|| Name(name.clone()))
            }
            (Name(a), Name(b)) => (a == b).then(|| self.clone()),
            (Net(a), Net(b)) if a.contains(b) => Some(other.clone()),
            (Net(a), Net(b)) if b.contains(a) => Some(self.clone()),
            _ => None,
        }
    }

    /// How narrow it is: of two grants that cover one request, the narrower one decides about credentials.
    pub(crate) fn rank(&self) -> (u8, usize) {
        match self {
            HostPattern::Any => (0, 0),
            HostPattern::Below(suffix) => (1, suffix.len()),
            HostPattern::Net(net) => (2, usize::from(net.prefix_len())),
            HostPattern::Name(_) => (3, 0),
        }
    }
}

/// A host as URLs spell it, brought to its one form: IDNA to ASCII, lower case, no final dot, addresses read.
pub(crate) fn canonical(text: &str) -> Option<Host> {
    // Only what could stand in a URL as it is: the parser would drop tabs and undo escapes.
    let odd = |c: char| c.is_ascii_control() || " #%/:<>?@[\\]^|*,".contains(c);
    if text.is_empty() || text.contains(odd) {
        return None;
    }
    match Host::parse(text).ok()? {
        Host::Domain(name) => named(&name).map(Host::Domain),
        address => Some(address),
    }
}

/// A parsed name without its final dot, if it is one that can be looked up.
pub(crate) fn named(name: &str) -> Option<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    // URLs may hold more than that, but no name that is looked up does.
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let sound = |label: &str| !label.is_empty() && label.len() <= 63 && label.bytes().all(plain);
    (name.len() <= 253 && name.split('.').all(sound)).then(|| name.to_owned())
}

fn is_below(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

fn is_public_name(name: &str) -> bool {
    name.contains('.') && !AT_HOME.iter().any(|home| name == *home || is_below(name, home))
}

impl TryFrom<String> for HostPattern {
    type Error = InvalidHost;
    fn try_from(text: String) -> Result<Self, InvalidHost> {
        HostPattern::new(&text)
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> String {
        pattern.to_string()
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Any => f.write_str("*"),
            HostPattern::Below(name) => write!(f, "*.{name}"),
            HostPattern::Name(name) => f.write_str(name),
            HostPattern::Net(net) if net.prefix_len() == net.max_prefix_len() => match net.addr() {
                IpAddr::V4(address) => write!(f, "{address}"),
                IpAddr::V6(address) => write!(f, "[{address}]"),
            },
            HostPattern::Net(IpNet::V4(net)) => write!(f, "{net}"),
            HostPattern::Net(IpNet::V6(net)) => write!(f, "[{net}]"),
        }
    }
}
