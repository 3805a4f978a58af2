//! Every decision about what a guest asks for. Decided first, in pure code; acted on by the gate.

use crate::address;
use crate::call::CallError;
use crate::grant::{
    Access, BindingName, Bounds, Egress, FilesGrant, Grant, GuestPath, HostPattern, InvokeGrant, KvGrant, LOCALHOST,
    Method, Ports, Power, Rule, Schemes, SecretGrant, SecretName, ToolGrant,
};
use crate::{Json, Target};
use serde_json::Value;
use std::net::IpAddr;
use url::Host;

/// A call that may be made, or that someone has to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted<'a> {
    /// The grant that covers it; of several, the narrowest.
    pub grant: &'a Grant,
    /// Its place among the grants.
    pub index: usize,
    /// Whether someone has to be asked first.
    pub ask: bool,
}

/// A call that may not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {why}")]
pub struct Refusal {
    /// What was asked for, in words.
    pub what: String,
    /// Why it is refused, naming the grant that would have allowed it or the one that forbids it.
    pub why: String,
    /// The smallest grant that would have allowed it.
    pub wanted: Power,
}

impl Refusal {
    /// As the guest's `catch` sees it.
    pub fn to_error(&self) -> CallError {
        let kind = self.wanted.to_string();
        let kind = kind.split(':').next().unwrap_or_default();
        CallError { name: "DeniedError".into(), message: self.to_string(), code: Some(format!("{kind}.denied")) }
    }
}

type Decision<'a> = Result<Admitted<'a>, Refusal>;

/// Whether a request may be sent.
pub fn egress<'a>(grants: &'a [Grant], method: &Method, target: &Target) -> Decision<'a> {
    let covering = |power: &Power| match power {
        Power::Egress(egress) if egress.covers(method, target) => Some(egress.rank(target)),
        _ => None,
    };
    decide(grants, covering, || (format!("{method} {target}"), Power::Egress(smallest(method, target))))
}

/// Whether a request to a name may be sent to an address that the name turned out to have.
pub fn address(grants: &[Grant], method: &Method, target: &Target, address: IpAddr) -> Result<(), Refusal> {
    let egress = |rule: Rule| {
        grants.iter().filter(move |grant| (grant.rule == Rule::Deny) == (rule == Rule::Deny)).filter_map(|grant| {
            match &grant.power {
                Power::Egress(egress) => Some((grant, egress)),
                _ => None,
            }
        })
    };
    let granted = |egress: &Egress| match &egress.host {
        HostPattern::Net(net) => address::within(net, address) && egress.covers_besides_host(method, target),
        // Who grants `localhost` means this machine.
        HostPattern::Name(name) => name == LOCALHOST && address.is_loopback() && egress.covers(method, target),
        _ => false,
    };
    let what = || format!("{method} {target}, which is at {address},");
    let wanted = || Power::Egress(Egress { host: HostPattern::Net(address.into()), ..smallest(method, target) });
    if let Some((forbidding, _)) = egress(Rule::Deny).find(|(_, egress)| granted(egress)) {
        return Err(Refusal { what: what(), why: format!("forbidden by `{forbidding}`"), wanted: wanted() });
    }
    if address::is_public(address) || egress(Rule::Allow).any(|(_, egress)| granted(egress)) {
        return Ok(());
    }
    let why = format!("not on the public internet: `{}` would allow it", wanted());
    Err(Refusal { what: what(), why, wanted: wanted() })
}

/// The smallest grant that covers a request.
pub fn smallest(method: &Method, target: &Target) -> Egress {
    let host = match target.host() {
        Host::Domain(name) => HostPattern::Name(name.clone()),
        Host::Ipv4(address) => HostPattern::Net(IpAddr::V4(*address).into()),
        Host::Ipv6(address) => HostPattern::Net(IpAddr::V6(*address).into()),
    };
    let usual = target.url().port().is_none();
    // A path with tricks in it can only be granted with all others.
    let path = target.path_is_plain().then(|| crate::PathPrefix::new(target.path()).ok()).flatten();
    Egress {
        schemes: if target.is_https() { Schemes::Https } else { Schemes::Http },
        ports: if usual { Ports::Usual } else { Ports::Only([target.port()].into()) },
        methods: [method.clone()].into(),
        paths: path.filter(|path| path.as_str() != "/").into_iter().collect(),
        ..Egress::to(host)
    }
}

/// Whether a key space may be used.
pub fn kv<'a>(grants: &'a [Grant], space: &BindingName, access: Access) -> Decision<'a> {
    let covering = |power: &Power| match power {
        Power::Kv(kv) if kv.name == *space && kv.access >= access => Some(kv.access),
        _ => None,
    };
    let quota_bytes = 0;
    let wanted = || {
        let doing = if access == Access::Read { "reading" } else { "changing" };
        (format!("{doing} the key space `{space}`"), Power::Kv(KvGrant { name: space.clone(), access, quota_bytes }))
    };
    decide(grants, covering, wanted)
}

/// Whether a place in the file tree may be used.
pub fn files<'a>(grants: &'a [Grant], path: &GuestPath, access: Access) -> Decision<'a> {
    let covering = |power: &Power| match power {
        Power::Files(files) if files.path.covers(path) && files.access >= access => Some(files.path.names().len()),
        _ => None,
    };
    let quota_bytes = 0;
    let wanted = || {
        let doing = if access == Access::Read { "reading" } else { "writing" };
        (format!("{doing} `{path}`"), Power::Files(FilesGrant { path: path.clone(), access, quota_bytes }))
    };
    decide(grants, covering, wanted)
}

/// Whether a function of the embedder may be called with this argument.
pub fn tool<'a>(grants: &'a [Grant], name: &BindingName, args: Option<&Json>) -> Decision<'a> {
    let own = |power: &Power| match power {
        Power::Tool(tool) if tool.name == *name => Some(tool.args.clone()),
        _ => None,
    };
    bounded(grants, own, args, || (format!("the tool `{name}`"), Power::Tool(ToolGrant::new(name.clone()))))
}

/// Whether another program may be called with this input.
pub fn invoke<'a>(grants: &'a [Grant], name: &BindingName, args: Option<&Json>) -> Decision<'a> {
    let own = |power: &Power| match power {
        Power::Invoke(invoke) if invoke.name == *name => Some(invoke.args.clone()),
        _ => None,
    };
    let wanted = || {
        let grant = InvokeGrant { name: name.clone(), program: None, grants: Vec::new(), args: Bounds::default() };
        (format!("invoking `{name}`"), Power::Invoke(grant))
    };
    bounded(grants, own, args, wanted)
}

/// Whether the guest may read a secret.
pub fn reveal<'a>(grants: &'a [Grant], name: &SecretName) -> Decision<'a> {
    let covering = |power: &Power| match power {
        Power::Secret(secret) if secret.name == *name && secret.reveal => Some(()),
        _ => None,
    };
    let wanted = || {
        let grant = SecretGrant { name: name.clone(), from: None, reveal: true };
        (format!("reading the secret `{name}`"), Power::Secret(grant))
    };
    decide(grants, covering, wanted)
}

/// A decision about a call whose arguments may be bounded.
fn bounded<'a>(
    grants: &'a [Grant],
    own: impl Fn(&Power) -> Option<Bounds>,
    args: Option<&Json>,
    wanted: impl Fn() -> (String, Power),
) -> Decision<'a> {
    // Read at most once, and only if someone wants to know.
    let mut value: Option<Value> = None;
    let mut broken = None;
    let mut keeps = |bounds: &Bounds| {
        if bounds.is_empty() {
            return true;
        }
        let value = value.get_or_insert_with(|| args.and_then(|a| a.parse().ok()).unwrap_or(Value::Null));
        bounds.check(value).map_err(|error| broken = Some(error)).is_ok()
    };
    let covers: Vec<bool> = grants.iter().map(|grant| own(&grant.power).is_some_and(|bounds| keeps(&bounds))).collect();
    let mut at = 0..;
    let covering = |_: &Power| at.next().filter(|i| covers[*i]).map(|_| ());
    match (decide(grants, covering, &wanted), broken) {
        (Err(refusal), Some(error)) if refusal.why.starts_with("not granted") => {
            Err(Refusal { why: format!("granted only within bounds: {error}"), ..refusal })
        }
        (decision, _) => decision,
    }
}

/// Deny wins over ask, and ask over allow, whatever their order; among the grants that allow, the narrowest is used.
fn decide<'a, R: Ord>(
    grants: &'a [Grant],
    mut covering: impl FnMut(&Power) -> Option<R>,
    wanted: impl Fn() -> (String, Power),
) -> Decision<'a> {
    let mut best: Option<(Rule, R, usize)> = None;
    for (index, grant) in grants.iter().enumerate() {
        let Some(rank) = covering(&grant.power) else { continue };
        if grant.rule == Rule::Deny {
            let (what, wanted) = wanted();
            return Err(Refusal { what, why: format!("forbidden by `{grant}`"), wanted });
        }
        let better = |(rule, other, _): &(Rule, R, usize)| (grant.rule, &rank) > (*rule, other);
        if best.as_ref().is_none_or(better) {
            best = Some((grant.rule, rank, index));
        }
    }
    match best {
        Some((rule, _, index)) => Ok(Admitted { grant: &grants[index], index, ask: rule == Rule::Ask }),
        None => {
            let (what, wanted) = wanted();
            Err(Refusal { what, why: format!("not granted: `{wanted}` would allow it"), wanted })
        }
    }
}
