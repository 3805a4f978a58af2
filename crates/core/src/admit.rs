//! Every decision about what a guest asks for. Decided first, in pure code; acted on by the gate.

#![expect(clippy::result_large_err, reason = "a refusal is made once a call, and callers take it apart at once")]

use crate::address;
use crate::call::CallError;
use crate::grant::{
    Access, BindingName, Bounds, Budget, Egress, FilesGrant, Grant, GuestPath, HostPattern, InvokeGrant, KvGrant,
    LOCALHOST, Method, Ports, Power, Rule, Schemes, SecretGrant, SecretName, ToolGrant, ToolName, unambiguous,
};
use crate::{Json, Target};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::net::IpAddr;
use url::Host;

/// A call that may be made, or that someone has to be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<'a> {
    /// The grant that covers it; of several, the narrowest, and one that asks before one that allows.
    pub grant: &'a Grant,
    /// Its place among the grants.
    pub index: usize,
    /// Whether someone has to be asked first.
    pub ask: bool,
    /// The grant that wants them to be asked. Not always the one that covers the call: `ask egress:https://h/admin` wants it
    /// for `/%61dmin` too, which only `egress:https://h` covers.
    pub asks: Option<&'a Grant>,
    /// The budgets of every grant that covers it: a narrower grant is no way around a wider one's count.
    pub budgets: Vec<&'a Budget>,
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

/// How a grant relates to a call.
enum Reach<R> {
    /// Not at all.
    None,
    /// Some server or tool could take the call for one of the grant's. That is enough to ask or to forbid, not to allow.
    Touches,
    /// The call is one of the grant's; with how narrow the grant is.
    Covers(R),
}

/// Whether a request may be sent.
pub fn egress<'a>(grants: &'a [Grant], method: &Method, target: &Target) -> Decision<'a> {
    let reach = |grant: &Grant| match &grant.power {
        Power::Egress(egress) if egress.covers(method, target) => Reach::Covers(egress.rank(target)),
        Power::Egress(egress) if egress.touches(grant.rule, method, target) => Reach::Touches,
        _ => Reach::None,
    };
    let wanted = || (format!("{method} {target}"), Power::Egress(smallest(method, target)));
    let admitted = decide(grants, reach, wanted)?;
    // What is added to the request is a secret's use, and there may be a say about that too.
    let Power::Egress(Egress { credential: Some(credential), .. }) = &admitted.grant.power else { return Ok(admitted) };
    let about = |rule: Rule| {
        grants.iter().find(|grant| {
            let named = |secret: &SecretGrant| credential.secrets().contains(&&secret.name);
            grant.rule == rule && matches!(&grant.power, Power::Secret(secret) if named(secret))
        })
    };
    if let Some(forbidding) = about(Rule::Deny) {
        let (what, wanted) = wanted();
        return Err(Refusal { what, why: format!("forbidden by `{forbidding}`"), wanted });
    }
    let asks = admitted.asks.or(about(Rule::Ask));
    Ok(Admitted { ask: asks.is_some(), asks, ..admitted })
}

/// Whether a request to a name may be sent to an address that the name turned out to have.
///
/// A public address needs no grant of its own. Another has to be granted as an address, and not only after asking: who was
/// asked about a name was not asked about that address.
pub fn address(grants: &[Grant], method: &Method, target: &Target, address: IpAddr) -> Result<(), Refusal> {
    let address = address::plain(address);
    let literal = !matches!(target.host(), Host::Domain(_));
    let of = |rule: Rule| {
        grants.iter().filter(move |grant| grant.rule == rule).filter_map(|grant| match &grant.power {
            Power::Egress(egress) => Some((grant, egress)),
            _ => None,
        })
    };
    let what = || format!("{method} {target}, which is at {address},");
    let wanted = || Power::Egress(Egress { host: HostPattern::Net(address.into()), ..smallest(method, target) });
    let refuse = |why: String| Err(Refusal { what: what(), why, wanted: wanted() });

    let bans = |egress: &Egress| match &egress.host {
        HostPattern::Net(net) => address::within(net, address),
        HostPattern::Any | HostPattern::Below(_) | HostPattern::Name(_) => egress.host.bans(target.host()),
    };
    let banned = |egress: &Egress| bans(egress) && egress.touches_besides_host(Rule::Deny, method, target);
    if let Some((forbidding, _)) = of(Rule::Deny).find(|(_, egress)| banned(egress)) {
        return refuse(format!("forbidden by `{forbidding}`"));
    }
    if address::is_public(address) {
        return Ok(());
    }
    // Who grants `localhost` means this machine.
    let at_home = |egress: &Egress| {
        matches!(&egress.host, HostPattern::Name(name) if name == LOCALHOST)
            && address.is_loopback()
            && egress.covers(method, target)
    };
    let names = |egress: &Egress| matches!(&egress.host, HostPattern::Net(net) if net.contains(&address));
    let asked = |egress: &Egress| names(egress) && egress.touches_besides_host(Rule::Ask, method, target);
    if !literal && let Some((asking, _)) = of(Rule::Ask).find(|(_, egress)| asked(egress)) {
        return refuse(format!("reached by a name, and `{asking}` would have to be asked about the address"));
    }
    let granted = |egress: &Egress| at_home(egress) || (names(egress) && egress.covers_besides_host(method, target));
    let by_asking = |egress: &Egress| at_home(egress) || (literal && granted(egress));
    if of(Rule::Allow).any(|(_, egress)| granted(egress)) || of(Rule::Ask).any(|(_, egress)| by_asking(egress)) {
        return Ok(());
    }
    refuse(format!("not on the public internet: `{}` would allow it", wanted()))
}

/// The smallest grant that covers a request.
pub fn smallest(method: &Method, target: &Target) -> Egress {
    let host = match target.host() {
        Host::Domain(name) => HostPattern::Name(name.clone()),
        Host::Ipv4(address) => HostPattern::Net(IpAddr::V4(*address).into()),
        Host::Ipv6(address) => HostPattern::Net(address::plain(IpAddr::V6(*address)).into()),
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
    let reach = |grant: &Grant| match &grant.power {
        Power::Kv(kv) if kv.name != *space => Reach::None,
        Power::Kv(kv) if kv.access >= access => Reach::Covers((Reverse(kv.access), Reverse(kv.quota_bytes))),
        // Who may not look, or not without asking, may not change either.
        Power::Kv(_) => Reach::Touches,
        _ => Reach::None,
    };
    let quota_bytes = 0;
    let wanted = || {
        let doing = if access == Access::Read { "reading" } else { "changing" };
        (format!("{doing} the key space `{space}`"), Power::Kv(KvGrant { name: space.clone(), access, quota_bytes }))
    };
    decide(grants, reach, wanted)
}

/// Whether a place in the file tree may be used.
pub fn files<'a>(grants: &'a [Grant], path: &GuestPath, access: Access) -> Decision<'a> {
    let reach = |grant: &Grant| match &grant.power {
        Power::Files(files) if files.path.covers(path) && files.access >= access => {
            Reach::Covers((files.path.names().len(), Reverse(files.access), Reverse(files.quota_bytes)))
        }
        Power::Files(files) if files.path.covers(path) => Reach::Touches,
        // Whoever moves or removes a folder does so to all that is in it.
        Power::Files(files) if access == Access::Write && path.covers(&files.path) => Reach::Touches,
        _ => Reach::None,
    };
    let quota_bytes = 0;
    let wanted = || {
        let doing = if access == Access::Read { "reading" } else { "writing" };
        (format!("{doing} `{path}`"), Power::Files(FilesGrant { path: path.clone(), access, quota_bytes }))
    };
    decide(grants, reach, wanted)
}

/// Whether a tool may be called with this argument.
pub fn tool<'a>(grants: &'a [Grant], name: &ToolName, args: Option<&Json>) -> Decision<'a> {
    let own = |power: &'a Power| match power {
        Power::Tool(tool) if tool.name.covers(name) => Some((&tool.args, tool.name.narrowness())),
        _ => None,
    };
    bounded(grants, own, args, || (format!("the tool `{name}`"), Power::Tool(ToolGrant::new(name.clone()))))
}

/// Whether a guest may know of a tool: some grant lets it be called, at least with some arguments, and none forbids that.
pub fn knows_tool(grants: &[Grant], name: &ToolName) -> bool {
    let about = |grant: &&Grant| matches!(&grant.power, Power::Tool(tool) if tool.name.covers(name));
    let forbids =
        |grant: &Grant| grant.rule == Rule::Deny && matches!(&grant.power, Power::Tool(tool) if tool.args.is_empty());
    let mut known = false;
    for grant in grants.iter().filter(about) {
        if forbids(grant) {
            return false;
        }
        known |= grant.rule != Rule::Deny;
    }
    known
}

/// Whether another program may be called with this input.
pub fn invoke<'a>(grants: &'a [Grant], name: &BindingName, args: Option<&Json>) -> Decision<'a> {
    let own = |power: &'a Power| match power {
        Power::Invoke(invoke) if invoke.name == *name => Some((&invoke.args, ())),
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
    let reach = |grant: &Grant| match &grant.power {
        Power::Secret(secret) if secret.name != *name => Reach::None,
        Power::Secret(secret) if secret.reveal => Reach::Covers(()),
        // What may not even be used may not be read.
        Power::Secret(_) => Reach::Touches,
        _ => Reach::None,
    };
    let wanted = || {
        let grant = SecretGrant { name: name.clone(), from: None, reveal: true };
        (format!("reading the secret `{name}`"), Power::Secret(grant))
    };
    decide(grants, reach, wanted)
}

/// A decision about a call whose arguments may be bounded.
fn bounded<'a, R: Ord>(
    grants: &'a [Grant],
    own: impl Fn(&'a Power) -> Option<(&'a Bounds, R)>,
    args: Option<&Json>,
    wanted: impl Fn() -> (String, Power),
) -> Decision<'a> {
    // Read at most once, and only if someone wants to know.
    let read = OnceCell::new();
    let value = || read.get_or_init(|| args.map_or(Some(Value::Null), unambiguous)).as_ref();
    let broken = RefCell::new(None);
    let reach = |grant: &'a Grant| {
        let Some((bounds, rank)) = own(&grant.power) else { return Reach::None };
        if bounds.is_empty() {
            return Reach::Covers(rank);
        }
        // What cannot be read here might be read by who performs the call.
        let Some(value) = value() else { return Reach::Touches };
        match bounds.check(value) {
            Ok(()) => Reach::Covers(rank),
            Err(error) => {
                broken.replace(Some(error));
                if bounds.could_hold(value) { Reach::Touches } else { Reach::None }
            }
        }
    };
    match (decide(grants, reach, &wanted), broken.take()) {
        (Err(refusal), Some(error)) if refusal.why.starts_with("not granted") => {
            Err(Refusal { why: format!("granted only within bounds: {error}"), ..refusal })
        }
        (decision, _) => decision,
    }
}

/// Deny wins over ask, and ask over allow, whatever their order; among the grants that win, the narrowest is used.
fn decide<'a, R: Ord>(
    grants: &'a [Grant],
    reach: impl Fn(&'a Grant) -> Reach<R>,
    wanted: impl Fn() -> (String, Power),
) -> Decision<'a> {
    let mut best: Option<(Rule, R, usize)> = None;
    let mut touching = None;
    let mut budgets: Vec<&Budget> = Vec::new();
    for (index, grant) in grants.iter().enumerate() {
        match (reach(grant), grant.rule) {
            (Reach::None, _) | (Reach::Touches, Rule::Allow) => {}
            (Reach::Touches | Reach::Covers(_), Rule::Deny) => {
                let (what, wanted) = wanted();
                return Err(Refusal { what, why: format!("forbidden by `{grant}`"), wanted });
            }
            (Reach::Touches, Rule::Ask) => touching = touching.or(Some(grant)),
            (Reach::Covers(rank), rule) => {
                let new = |budget: &&Budget| !budgets.contains(budget);
                let more: Vec<&Budget> = grant.budgets.iter().filter(new).collect();
                budgets.extend(more);
                if best.as_ref().is_none_or(|(best_rule, best_rank, _)| (rule, &rank) > (*best_rule, best_rank)) {
                    best = Some((rule, rank, index));
                }
            }
        }
    }
    match best {
        Some((rule, _, index)) => {
            let grant = &grants[index];
            let asks = if rule == Rule::Ask { Some(grant) } else { touching };
            Ok(Admitted { grant, index, ask: asks.is_some(), asks, budgets })
        }
        None => {
            let (what, wanted) = wanted();
            Err(Refusal { what, why: format!("not granted: `{wanted}` would allow it"), wanted })
        }
    }
}
