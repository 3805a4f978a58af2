//! What is left of a request after the operator had a say: operator ∩ requested = effective, never wider.

use crate::grant::{Budget, Egress, FilesGrant, Grant, InvokeGrant, KvGrant, Power, Rule, SecretGrant, ToolGrant};
use crate::{Json, Limits};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a run really gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// Its grants.
    pub grants: Vec<Grant>,
    /// What was asked for and is not, or not wholly, among them.
    pub report: Vec<Narrowing>,
}

/// One grant that was asked for and did not come through whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowing {
    /// As asked for.
    pub requested: String,
    /// What is left of it; nothing when it was refused.
    pub effective: Vec<String>,
}

/// The part of `requested` that lies within `ceiling`.
///
/// What either side forbids stays forbidden, what either side wants to be asked about is asked about, and budgets of both
/// are counted. Credentials are the request's, as far as the ceiling lets its secrets be used.
pub fn narrow(ceiling: &[Grant], requested: &[Grant]) -> Narrowed {
    let (mut grants, mut report) = (Vec::new(), Vec::new());
    let ceilings = || ceiling.iter().filter(|grant| grant.rule != Rule::Deny);
    for grant in requested {
        if grant.rule == Rule::Deny {
            grants.push(grant.clone());
            continue;
        }
        let mut left: Vec<Grant> = ceilings().flat_map(|ceiling| and(ceiling, grant, requested)).collect();
        for one in &mut left {
            drop_unusable_credential(one, ceiling);
        }
        // A ceiling that holds the whole grant makes smaller pieces of it pointless.
        let whole =
            left.iter().find(|one| one.power == grant.power && one.rule == grant.rule && one.budgets == grant.budgets);
        let left = whole.map_or(left.clone(), |whole| vec![whole.clone()]);
        if left.len() != 1 || left[0] != *grant {
            report.push(Narrowing {
                requested: grant.to_string(),
                effective: left.iter().map(Grant::to_string).collect(),
            });
        }
        for one in left {
            if !grants.contains(&one) {
                grants.push(one);
            }
        }
    }
    let forbidden = ceiling.iter().filter(|grant| grant.rule == Rule::Deny);
    grants.extend(forbidden.cloned());
    Narrowed { grants, report }
}

/// The limits that keep within both.
pub fn narrow_limits(ceiling: &Limits, requested: &Limits) -> Limits {
    Limits {
        wall: ceiling.wall.min(requested.wall),
        cpu: ceiling.cpu.min(requested.cpu),
        memory_bytes: ceiling.memory_bytes.min(requested.memory_bytes),
        stack_bytes: ceiling.stack_bytes.min(requested.stack_bytes),
        source_bytes: ceiling.source_bytes.min(requested.source_bytes),
        output_bytes: ceiling.output_bytes.min(requested.output_bytes),
        value_bytes: ceiling.value_bytes.min(requested.value_bytes),
        payload_bytes: ceiling.payload_bytes.min(requested.payload_bytes),
        calls: ceiling.calls.min(requested.calls),
        calls_in_flight: ceiling.calls_in_flight.min(requested.calls_in_flight),
        suspended_bytes: ceiling.suspended_bytes.min(requested.suspended_bytes),
        egress_requests: ceiling.egress_requests.min(requested.egress_requests),
        egress_response_bytes: ceiling.egress_response_bytes.min(requested.egress_response_bytes),
    }
}

/// What two grants have in common.
fn and(ceiling: &Grant, requested: &Grant, all: &[Grant]) -> Vec<Grant> {
    let powers = match (&ceiling.power, &requested.power) {
        (Power::Egress(a), Power::Egress(b)) => egress(a, b),
        (Power::Kv(a), Power::Kv(b)) if a.name == b.name => vec![Power::Kv(KvGrant {
            name: b.name.clone(),
            access: a.access.min(b.access),
            quota_bytes: a.quota_bytes.min(b.quota_bytes),
        })],
        (Power::Files(a), Power::Files(b)) => files(a, b).into_iter().collect(),
        (Power::Tool(a), Power::Tool(b)) if a.name == b.name => tool(a, b).into_iter().collect(),
        (Power::Invoke(a), Power::Invoke(b)) if a.name == b.name => invoke(a, b, all).into_iter().collect(),
        (Power::Secret(a), Power::Secret(b)) if a.name == b.name => secret(a, b).into_iter().collect(),
        _ => Vec::new(),
    };
    let mut budgets: Vec<Budget> = requested.budgets.clone();
    // The operator's count is one, however many grants were cut from it.
    budgets.extend(
        ceiling.budgets.iter().map(|budget| Budget { of: format!("operator {}", budget.of), ..budget.clone() }),
    );
    budgets.sort();
    budgets.dedup();
    let rule = ceiling.rule.max(requested.rule);
    powers.into_iter().map(|power| Grant { power, rule, budgets: budgets.clone() }).collect()
}

fn egress(ceiling: &Egress, requested: &Egress) -> Vec<Power> {
    // The operator may bring the credential; otherwise the request's own is used.
    let credential = ceiling.credential.as_ref().or(requested.credential.as_ref());
    let both = ceiling.and(requested).into_iter();
    both.map(|egress| Power::Egress(Egress { credential: credential.cloned(), ..egress })).collect()
}

fn files(ceiling: &FilesGrant, requested: &FilesGrant) -> Option<Power> {
    Some(Power::Files(FilesGrant {
        path: ceiling.path.and(&requested.path)?,
        access: ceiling.access.min(requested.access),
        quota_bytes: ceiling.quota_bytes.min(requested.quota_bytes),
    }))
}

fn tool(ceiling: &ToolGrant, requested: &ToolGrant) -> Option<Power> {
    // A request cannot make the operator's machine run a command that the operator did not name.
    if !requested.command.is_empty() && requested.command != ceiling.command {
        return None;
    }
    Some(Power::Tool(ToolGrant {
        name: requested.name.clone(),
        input: both_schemas(&ceiling.input, &requested.input),
        output: both_schemas(&ceiling.output, &requested.output),
        args: ceiling.args.and(&requested.args),
        command: ceiling.command.clone(),
        timeout_ms: ceiling.timeout_ms.min(requested.timeout_ms),
    }))
}

fn invoke(ceiling: &InvokeGrant, requested: &InvokeGrant, all: &[Grant]) -> Option<Power> {
    if requested.program.is_some() && requested.program != ceiling.program {
        return None;
    }
    // Where the operator says nothing of the callee's grants, they are held against the caller's when it is called.
    let grants = if ceiling.grants.is_empty() { all } else { &ceiling.grants };
    Some(Power::Invoke(InvokeGrant {
        name: requested.name.clone(),
        program: ceiling.program.clone(),
        grants: narrow(grants, &requested.grants).grants,
        args: ceiling.args.and(&requested.args),
    }))
}

fn secret(ceiling: &SecretGrant, requested: &SecretGrant) -> Option<Power> {
    if requested.from.is_some() && requested.from != ceiling.from {
        return None;
    }
    Some(Power::Secret(SecretGrant {
        name: requested.name.clone(),
        from: ceiling.from.clone(),
        reveal: ceiling.reveal && requested.reveal,
    }))
}

/// A credential needs secrets that the operator lets be used; without them the request goes without it, not with less.
fn drop_unusable_credential(grant: &mut Grant, ceiling: &[Grant]) {
    let Power::Egress(egress) = &mut grant.power else { return };
    let Some(credential) = &egress.credential else { return };
    let brought =
        ceiling.iter().any(|c| matches!(&c.power, Power::Egress(e) if e.credential.as_ref() == Some(credential)));
    let usable = credential.secrets().iter().all(|name| {
        ceiling.iter().any(|c| c.rule != Rule::Deny && matches!(&c.power, Power::Secret(s) if s.name == **name))
    });
    if !brought && !usable {
        egress.credential = None;
    }
}

fn both_schemas(a: &Option<Json>, b: &Option<Json>) -> Option<Json> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Json::of(&json!({ "allOf": [a, b] })).ok(),
        (a, b) => a.clone().or_else(|| b.clone()),
    }
}
