//! Needs against grants.

use super::power::is_only_space;
use super::{Need, Needs};
use isolith_core::{Egress, Grant, HostPattern, Method, Ports, Power, Rule, Schemes, ToolPattern, admit};
use std::collections::BTreeSet;

const PORT_HTTPS: u16 = 443;
const PORT_HTTP: u16 = 80;

impl Needs {
    /// The needs that these grants leave open.
    ///
    /// A grant that asks counts as one that allows; bounds on arguments and budgets are not looked at.
    pub fn lacking(&self, grants: &[Grant]) -> Vec<&Need> {
        self.needs.iter().filter(|need| !is_met(need, grants)).collect()
    }

    /// The shortest list of grants that meets every need. What is unknown is not in it.
    pub fn manifest(&self) -> Vec<Grant> {
        let mut powers: Vec<Power> = Vec::new();
        let within = |need: &Need| matches!(&need.power, Power::Tool(tool) if tool.name.namespace().is_some());
        let namespaced: Vec<&Power> = self.needs.iter().filter(|need| within(need)).map(|need| &need.power).collect();
        for need in &self.needs {
            if let Power::Tool(tool) = &need.power
                && namespaced.iter().any(|power| brings(power, &tool.name))
            {
                continue;
            }
            if powers.iter().any(|power| holds(power, &need.power)) {
                continue;
            }
            // A wider power takes the place of the first one that it holds.
            let at = powers.iter().position(|power| holds(&need.power, power)).unwrap_or(powers.len());
            powers.retain(|power| !holds(&need.power, power));
            powers.insert(at, need.power.clone());
        }
        // Requests that differ only in their methods are one grant.
        let mut merged: Vec<Power> = Vec::new();
        for power in powers {
            let same = merged.iter_mut().find_map(|known| match (known, &power) {
                (Power::Egress(known), Power::Egress(egress)) if differ_in_methods(known, egress) => {
                    Some((known, egress))
                }
                _ => None,
            });
            match same {
                Some((known, egress)) => known.methods.extend(egress.methods.iter().cloned()),
                None => merged.push(power),
            }
        }
        merged.into_iter().map(Grant::allow).collect()
    }
}

fn differ_in_methods(a: &Egress, b: &Egress) -> bool {
    let same = (&a.schemes, &a.host, &a.ports, &a.paths) == (&b.schemes, &b.host, &b.ports, &b.paths);
    same && !a.methods.is_empty() && !b.methods.is_empty()
}

fn is_met(need: &Need, grants: &[Grant]) -> bool {
    if grants.iter().any(|grant| grant.rule == Rule::Deny && holds(&grant.power, &need.power)) {
        return false;
    }
    let allowed = || grants.iter().filter(|grant| grant.rule != Rule::Deny).map(|grant| &grant.power);
    match &need.power {
        // One grant for each method will do.
        Power::Egress(egress) if !egress.methods.is_empty() => egress.methods.iter().all(|method| {
            let one = Power::Egress(Egress { methods: [method.clone()].into(), ..egress.clone() });
            allowed().any(|power| holds(power, &one))
        }),
        Power::Kv(kv) if is_only_space(need) => {
            let spaces = || allowed().filter_map(|power| if let Power::Kv(kv) = power { Some(kv) } else { None });
            let names: BTreeSet<_> = spaces().map(|space| &space.name).collect();
            names.len() == 1 && spaces().any(|space| admit::kv(grants, &space.name, kv.access).is_ok())
        }
        Power::Tool(tool) => allowed().any(|grant| holds(grant, &need.power) || brings(grant, &tool.name)),
        power => allowed().any(|grant| holds(grant, power)),
    }
}

/// What `tools` has beside tools where there is a namespace.
const ABOUT_TOOLS: [&str; 2] = ["search", "describe"];

/// Whether the namespace of a grant brings along what looks like a tool without one: itself, the twin of one of its functions,
/// or what tells about tools.
fn brings(grant: &Power, name: &ToolPattern) -> bool {
    let (Power::Tool(grant), Some(name)) = (grant, name.exact()) else { return false };
    let (Some(namespace), None) = (grant.name.namespace(), name.namespace()) else { return false };
    let twin = grant.name.exact().is_some_and(|function| function.as_str().replace('.', "_") == name.as_str());
    namespace == name.as_str() || twin || ABOUT_TOOLS.contains(&name.as_str())
}

/// Whether everything that is in `part` is in `whole`. Quotas, credentials, schemas and bounds play no part.
fn holds(whole: &Power, part: &Power) -> bool {
    match (whole, part) {
        (Power::Egress(whole), Power::Egress(part)) => holds_egress(whole, part),
        (Power::Kv(whole), Power::Kv(part)) => whole.name == part.name && whole.access >= part.access,
        (Power::Files(whole), Power::Files(part)) => whole.path.covers(&part.path) && whole.access >= part.access,
        (Power::Tool(whole), Power::Tool(part)) => whole.name.and(&part.name).as_ref() == Some(&part.name),
        (Power::Invoke(whole), Power::Invoke(part)) => whole.name == part.name,
        (Power::Secret(whole), Power::Secret(part)) => whole.name == part.name && (whole.reveal || !part.reveal),
        (Power::Builtin(whole), Power::Builtin(part)) => whole == part,
        _ => false,
    }
}

fn holds_egress(whole: &Egress, part: &Egress) -> bool {
    let schemes = whole.schemes == Schemes::Both || whole.schemes == part.schemes;
    let methods = holds_set(&whole.methods, &part.methods, |a: &Method, b| a == b);
    let paths = holds_set(&whole.paths, &part.paths, |a, b| a.covers(b.as_str()))
        || whole.paths.iter().any(|path| path.as_str() == "/");
    schemes && methods && paths && holds_host(&whole.host, &part.host) && holds_ports(whole, part)
}

/// Sets where an empty one means everything.
fn holds_set<T>(whole: &BTreeSet<T>, part: &BTreeSet<T>, covers: impl Fn(&T, &T) -> bool) -> bool {
    whole.is_empty() || !part.is_empty() && part.iter().all(|b| whole.iter().any(|a| covers(a, b)))
}

fn holds_host(whole: &HostPattern, part: &HostPattern) -> bool {
    whole.and(part).as_ref() == Some(part)
}

fn holds_ports(whole: &Egress, part: &Egress) -> bool {
    let usual: &[u16] = match part.schemes {
        Schemes::Https => &[PORT_HTTPS],
        Schemes::Http => &[PORT_HTTP],
        Schemes::Both => &[PORT_HTTPS, PORT_HTTP],
    };
    match (&whole.ports, &part.ports) {
        (Ports::Any, _) | (Ports::Usual, Ports::Usual) => true,
        (Ports::Only(whole), Ports::Only(part)) => part.is_subset(whole),
        (Ports::Only(whole), Ports::Usual) => usual.iter().all(|port| whole.contains(port)),
        (Ports::Usual, Ports::Only(part)) => usual.len() == 1 && part.iter().all(|port| usual.contains(port)),
        (_, Ports::Any) => false,
    }
}
