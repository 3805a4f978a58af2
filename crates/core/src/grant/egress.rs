use super::{Credential, HostPattern, PathPrefix, Rule};
use crate::Target;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Requests to the network that may be made, with what is added to them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Egress {
    /// In the clear, encrypted, or either.
    pub schemes: Schemes,
    /// To which hosts.
    pub host: HostPattern,
    /// On which ports.
    pub ports: Ports,
    /// With which methods; none named means any.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub methods: BTreeSet<Method>,
    /// Below which paths; none named means anywhere.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub paths: BTreeSet<PathPrefix>,
    /// What is added after the request was admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Credential>,
    /// A response that repeats the credential does so without the secret.
    pub redact: bool,
}

/// In the clear, encrypted, or either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schemes {
    /// `https` only.
    #[default]
    Https,
    /// `http` only.
    Http,
    /// Both.
    Both,
}

/// Which ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ports {
    /// 443 for `https`, 80 for `http`.
    #[default]
    Usual,
    /// Every port.
    Any,
    /// These.
    Only(BTreeSet<u16>),
}

/// An HTTP method, in upper case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Method(String);

/// Methods that make something else of a connection, or that show what they should not.
const NEVER: [&str; 4] = ["CONNECT", "PRI", "TRACE", "TRACK"];
/// The longest method.
const METHOD_BYTES_MAX: usize = 24;

impl Method {
    /// Checks a method. Case counts for nothing.
    pub fn new(text: &str) -> Result<Self, String> {
        let method = text.to_ascii_uppercase();
        let sound = |b: u8| b.is_ascii_uppercase() || b == b'-';
        if method.is_empty() || method.len() > METHOD_BYTES_MAX || !method.bytes().all(sound) {
            return Err(format!("`{text}` is not an HTTP method"));
        }
        if NEVER.contains(&method.as_str()) {
            return Err(format!("the method {method} is never sent"));
        }
        Ok(Method(method))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Method {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Method::new(&text)
    }
}

impl From<Method> for String {
    fn from(method: Method) -> String {
        method.0
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Schemes {
    fn covers(self, https: bool) -> bool {
        match self {
            Schemes::Both => true,
            Schemes::Https => https,
            Schemes::Http => !https,
        }
    }

    fn and(self, other: Schemes) -> Option<Schemes> {
        match (self, other) {
            (Schemes::Both, one) | (one, Schemes::Both) => Some(one),
            (one, other) => (one == other).then_some(one),
        }
    }
}

impl Ports {
    fn covers(&self, port: u16, https: bool) -> bool {
        match self {
            Ports::Usual => port == usual_port(https),
            Ports::Any => true,
            Ports::Only(ports) => ports.contains(&port),
        }
    }
}

/// The port a URL of this scheme has when it names none.
pub(crate) fn usual_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

impl Egress {
    /// `https` to one host, on its usual port, with any method and path.
    pub fn to(host: HostPattern) -> Self {
        Egress {
            schemes: Schemes::Https,
            host,
            ports: Ports::Usual,
            methods: BTreeSet::new(),
            paths: BTreeSet::new(),
            credential: None,
            redact: true,
        }
    }

    /// A ban that says nothing of scheme and port is for all of them.
    pub(super) fn ban_everything_unsaid(&mut self) {
        self.schemes = Schemes::Both;
        if self.ports == Ports::Usual {
            self.ports = Ports::Any;
        }
    }

    /// Whether a request is one of these. Credentials play no part.
    pub fn covers(&self, method: &Method, target: &Target) -> bool {
        self.host.covers(target.host()) && self.covers_besides_host(method, target)
    }

    /// Whether a ban, or a wish to be asked, is meant for a request. Where a path can be read in several ways it is.
    pub(crate) fn touches(&self, rule: Rule, method: &Method, target: &Target) -> bool {
        let ban = rule == Rule::Deny;
        let host = if ban { self.host.bans(target.host()) } else { self.host.covers(target.host()) };
        host && self.touches_besides_host(rule, method, target)
    }

    pub(crate) fn touches_besides_host(&self, rule: Rule, method: &Method, target: &Target) -> bool {
        self.covers_besides_path(method, target)
            && (self.paths.is_empty()
                || !target.path_is_plain()
                || self.paths.iter().any(|prefix| prefix.touches(target.path(), rule == Rule::Deny)))
    }

    pub(crate) fn covers_besides_host(&self, method: &Method, target: &Target) -> bool {
        self.covers_besides_path(method, target)
            && (self.paths.is_empty()
                || (target.path_is_plain() && self.paths.iter().any(|prefix| prefix.covers(target.path()))))
    }

    fn covers_besides_path(&self, method: &Method, target: &Target) -> bool {
        self.schemes.covers(target.is_https())
            && self.ports.covers(target.port(), target.is_https())
            && (self.methods.is_empty() || self.methods.contains(method))
    }

    /// How narrow it is; see [`HostPattern`].
    pub(crate) fn rank(&self, target: &Target) -> impl Ord + use<> {
        let covering = self.paths.iter().filter(|prefix| prefix.covers(target.path()));
        let longest = covering.map(|prefix| prefix.as_str().len()).max().unwrap_or(0);
        self.narrow_with(longest)
    }

    /// How narrow it is, whatever is asked for.
    pub(crate) fn narrowness(&self) -> impl Ord + use<> {
        let longest = self.paths.iter().map(|prefix| prefix.as_str().len()).max().unwrap_or(0);
        self.narrow_with(longest)
    }

    fn narrow_with(&self, path: usize) -> impl Ord + use<> {
        let one_port = self.ports != Ports::Any;
        let one_scheme = self.schemes != Schemes::Both;
        (self.host.rank(), path, !self.methods.is_empty(), one_port, one_scheme, self.credential.is_some())
    }

    /// Whether a ban of these could be meant for one of those. Paths may be read in many ways, so they play no part unless
    /// they are nothing alike.
    pub(crate) fn bans_some(&self, other: &Egress) -> bool {
        let bare = |egress: &Egress| Egress {
            host: HostPattern::Any,
            paths: egress.paths.iter().filter_map(PathPrefix::folded).collect(),
            ..egress.clone()
        };
        let hosts = match (&self.host, &other.host) {
            (HostPattern::Any, _) => true,
            // An address has several forms.
            (HostPattern::Net(IpNet::V4(_)), HostPattern::Net(IpNet::V6(_))) => true,
            (own, other) => own.and(other).is_some(),
        };
        hosts && !bare(self).and(&bare(other)).is_empty()
    }

    /// The requests that are in both, leaving credentials aside. A scheme and its usual port belong together, so this
    /// can be more than one grant.
    pub(crate) fn and(&self, other: &Egress) -> Vec<Egress> {
        let Some(host) = self.host.and(&other.host) else { return Vec::new() };
        let Some(schemes) = self.schemes.and(other.schemes) else { return Vec::new() };
        let Some(methods) = both_or_one(&self.methods, &other.methods) else { return Vec::new() };
        let Some(paths) = paths_and(&self.paths, &other.paths) else { return Vec::new() };
        let one = |schemes, ports| Egress {
            schemes,
            host: host.clone(),
            ports,
            methods: methods.clone(),
            paths: paths.clone(),
            credential: None,
            redact: self.redact || other.redact,
        };
        match (&self.ports, &other.ports) {
            (Ports::Any, ports) | (ports, Ports::Any) => vec![one(schemes, ports.clone())],
            (Ports::Usual, Ports::Usual) => vec![one(schemes, Ports::Usual)],
            (Ports::Only(a), Ports::Only(b)) => {
                let ports: BTreeSet<u16> = a.intersection(b).copied().collect();
                if ports.is_empty() { Vec::new() } else { vec![one(schemes, Ports::Only(ports))] }
            }
            (Ports::Usual, Ports::Only(ports)) | (Ports::Only(ports), Ports::Usual) => {
                [(Schemes::Https, true), (Schemes::Http, false)]
                    .into_iter()
                    .filter(|(_, https)| schemes.covers(*https) && ports.contains(&usual_port(*https)))
                    .map(|(scheme, _)| one(scheme, Ports::Usual))
                    .collect()
            }
        }
    }
}

/// Two sets where an empty one means everything; nothing when they have nothing in common.
fn both_or_one<T: Ord + Clone>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> Option<BTreeSet<T>> {
    if a.is_empty() || b.is_empty() {
        return Some(a.union(b).cloned().collect());
    }
    let both: BTreeSet<T> = a.intersection(b).cloned().collect();
    (!both.is_empty()).then_some(both)
}

fn paths_and(a: &BTreeSet<PathPrefix>, b: &BTreeSet<PathPrefix>) -> Option<BTreeSet<PathPrefix>> {
    if a.is_empty() || b.is_empty() {
        return Some(a.union(b).cloned().collect());
    }
    let both: BTreeSet<PathPrefix> = a.iter().flat_map(|x| b.iter().filter_map(|y| x.and(y))).collect();
    (!both.is_empty()).then_some(both)
}
