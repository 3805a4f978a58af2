//! What changed from one manifest to another, and which of it lets the program do more.

use super::{Manifest, Upstream, limit_rows};
use crate::narrow::{holds, meets};
use crate::{BindingName, Egress, Grant, InvokeGrant, Limits, Ports, Power, Rule, Schemes};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// In words.
    pub what: String,
    /// Whether the program may do something that it could not do before. Where that is hard to tell, it may.
    pub escalates: bool,
}

impl Manifest {
    /// What changed from `old` to this, and which of it lets the program do more.
    pub fn diff(&self, old: &Manifest) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut text = |what: &str, old: &Option<String>, new: &Option<String>| {
            if old != new {
                let show = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".into());
                changes.push(Change { what: format!("{what}: {} is now {}", show(old), show(new)), escalates: false });
            }
        };
        text("name", &old.name, &self.name);
        text("version", &old.version, &self.version);
        text("description", &old.description, &self.description);
        changes.extend(grants_diff(&old.grants, &self.grants));
        changes.extend(upstreams_diff(&old.tools, &self.tools));
        changes.extend(limits_diff(&old.limits, &self.limits));
        for (what, old, new) in
            [("time", old.ambient.time, self.ambient.time), ("random", old.ambient.random, self.ambient.random)]
        {
            if old != new {
                let what = format!("{what}: {} is now {}", json!(old), json!(new));
                changes.push(Change { what, escalates: new < old });
            }
        }
        let (before, now) = (old.housing, self.housing);
        if before.engine() != now.engine() {
            let what = format!("engine: {} is now {}", before.engine(), now.engine());
            changes.push(Change { what, escalates: false });
        }
        if before.isolation != now.isolation {
            let what = format!("isolation: {} is now {}", json!(before.isolation), json!(now.isolation));
            changes.push(Change { what, escalates: now.isolation < before.isolation });
        }
        if old.network != self.network {
            changes.push(Change { what: "network: its settings changed".into(), escalates: true });
        }
        changes
    }
}

fn grants_diff(old: &[Grant], new: &[Grant]) -> Vec<Change> {
    let came = new.iter().filter(|grant| !old.contains(grant)).map(|grant| {
        // A ban gives nothing; what the old grants hold, part by part, is nothing new.
        let known = |part: &Grant| old.iter().any(|grant| gave(grant, part));
        let escalates = grant.rule != Rule::Deny && !parts(grant).iter().all(known);
        Change { what: format!("granted: `{grant}`"), escalates }
    });
    let went = old.iter().filter(|grant| !new.contains(grant)).map(|grant| {
        let what = match grant.rule {
            Rule::Deny => format!("no longer forbidden: `{grant}`"),
            Rule::Allow | Rule::Ask => format!("no longer granted: `{grant}`"),
        };
        Change { what, escalates: held_back(grant, new) }
    });
    came.chain(went).collect()
}

/// Whether a grant gave what another gives, with as few questions and as many calls.
fn gave(old: &Grant, new: &Grant) -> bool {
    let same = match (&old.power, &new.power) {
        (Power::Egress(a), Power::Egress(b)) => {
            (b.credential.is_none() || a.credential == b.credential) && holds(&old.power, &new.power)
        }
        (Power::Invoke(a), Power::Invoke(b)) => gave_callee(a, b),
        _ => holds(&old.power, &new.power),
    };
    old.rule != Rule::Deny && old.rule <= new.rule && calls(new) <= calls(old) && same
}

/// The same for a program that is called, which has grants of its own.
fn gave_callee(old: &InvokeGrant, new: &InvokeGrant) -> bool {
    old.name == new.name
        && old.program == new.program
        && old.args.and(&new.args) == new.args
        && !grants_diff(&old.grants, &new.grants).iter().any(|change| change.escalates)
}

/// Whether a grant that went held others back: a ban, a question or a count that took precedence over a wider grant.
fn held_back(gone: &Grant, new: &[Grant]) -> bool {
    let as_strict = |grant: &Grant| grant.rule >= gone.rule && (gone.rule == Rule::Deny || calls(grant) <= calls(gone));
    let laxer = |grant: &&Grant| grant.rule != Rule::Deny && !as_strict(grant) && meets(&grant.power, &gone.power);
    let replaced = new.iter().any(|grant| as_strict(grant) && holds(&grant.power, &gone.power));
    !replaced && (gone.rule == Rule::Deny || new.iter().any(|grant| laxer(&grant)))
}

/// How often a grant may be used.
fn calls(grant: &Grant) -> u32 {
    grant.budgets.iter().map(|budget| budget.calls).min().unwrap_or(u32::MAX)
}

/// A grant cut into pieces that were either granted before or were not.
fn parts(grant: &Grant) -> Vec<Grant> {
    let Power::Egress(egress) = &grant.power else { return vec![grant.clone()] };
    let mut parts = match egress.schemes {
        Schemes::Both => [Schemes::Https, Schemes::Http].map(|schemes| Egress { schemes, ..egress.clone() }).to_vec(),
        Schemes::Https | Schemes::Http => vec![egress.clone()],
    };
    if let Ports::Only(ports) = &egress.ports {
        parts = split(parts, ports, |part, port| {
            let usual = *port == if part.schemes == Schemes::Https { 443 } else { 80 };
            part.ports = if usual { Ports::Usual } else { Ports::Only([*port].into()) };
        });
    }
    if !egress.methods.is_empty() {
        parts = split(parts, &egress.methods, |part, method| part.methods = [method.clone()].into());
    }
    if !egress.paths.is_empty() {
        parts = split(parts, &egress.paths, |part, path| part.paths = [path.clone()].into());
    }
    parts.into_iter().map(|egress| Grant { power: Power::Egress(egress), ..grant.clone() }).collect()
}

fn split<'a, T: 'a>(
    parts: Vec<Egress>,
    by: impl IntoIterator<Item = &'a T> + Copy,
    set: impl Fn(&mut Egress, &T),
) -> Vec<Egress> {
    let one = |part: &Egress, item: &T| {
        let mut part = part.clone();
        set(&mut part, item);
        part
    };
    parts.iter().flat_map(|part| by.into_iter().map(move |item| (part, item))).map(|(p, item)| one(p, item)).collect()
}

/// Who brings tools does what is asked of it on this machine or elsewhere: any change may mean more.
fn upstreams_diff(old: &BTreeMap<BindingName, Upstream>, new: &BTreeMap<BindingName, Upstream>) -> Vec<Change> {
    let came = new.iter().filter(|(name, upstream)| old.get(name) != Some(upstream)).map(|(name, _)| {
        let how =
            if old.contains_key(name) { "who brings it, or what is said about it, changed" } else { "is brought" };
        Change { what: format!("tools `{name}`: {how}"), escalates: true }
    });
    let went = old.keys().filter(|name| !new.contains_key(name));
    let went = went.map(|name| Change { what: format!("tools `{name}`: no longer brought"), escalates: false });
    came.chain(went).collect()
}

fn limits_diff(old: &Limits, new: &Limits) -> Vec<Change> {
    let rows = limit_rows(old).into_iter().zip(limit_rows(new)).filter(|(old, new)| old != new);
    rows.map(|((key, old, old_text), (_, new, new_text))| Change {
        what: format!("limit {key}: {old_text} is now {new_text}"),
        escalates: new > old,
    })
    .collect()
}
