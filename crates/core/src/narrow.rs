//! What is left of a request after the operator had a say: operator ∩ requested = effective, never wider.

use crate::grant::{
    Budget, Credential, Egress, FilesGrant, Grant, InvokeGrant, KvGrant, Power, Rule, SecretGrant, SecretName,
    ToolGrant,
};
use crate::{Json, Limits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
/// are counted. Credentials are the ceiling's; where it has none they are the request's, as far as the ceiling lets their
/// secrets be used.
pub fn narrow(ceiling: &[Grant], requested: &[Grant]) -> Narrowed {
    let sides = Sides { ceiling, requested };
    let (mut grants, mut report) = (Vec::new(), Vec::new());
    let mut add = |grant: &Grant| {
        if !grants.contains(grant) {
            grants.push(grant.clone());
        }
    };
    for grant in requested {
        if grant.rule == Rule::Deny {
            add(grant);
            continue;
        }
        let left = sides.left_of(grant);
        let banned: Vec<&Grant> = sides.newly_banned(grant).collect();
        if !banned.is_empty() || sides.is_less(&left, grant) {
            let effective = left.iter().chain(banned).map(Grant::to_string).collect();
            report.push(Narrowing { requested: grant.to_string(), effective });
        }
        left.iter().for_each(&mut add);
    }
    ceiling.iter().filter(|grant| grant.rule == Rule::Deny).for_each(add);
    Narrowed { grants, report }
}

/// Whether a grant holds the whole of another, credentials and what is asked or counted left aside.
pub(crate) fn holds(outer: &Power, inner: &Power) -> bool {
    let sides = Sides { ceiling: &[], requested: &[] };
    let bare = |power: &Power| match power {
        Power::Egress(egress) => Power::Egress(Egress { credential: None, ..egress.clone() }),
        power => power.clone(),
    };
    let (outer, inner) = (bare(outer), bare(inner));
    sides.powers(&outer, &inner).iter().any(|(power, _)| *power == inner)
}

/// Whether two grants have anything in common.
pub(crate) fn meets(a: &Power, b: &Power) -> bool {
    !Sides { ceiling: &[], requested: &[] }.powers(a, b).is_empty()
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

/// Both sides of a narrowing, for what one grant means among the others.
struct Sides<'a> {
    ceiling: &'a [Grant],
    requested: &'a [Grant],
}

impl Sides<'_> {
    /// The pieces that are left of one requested grant.
    fn left_of(&self, grant: &Grant) -> Vec<Grant> {
        let mut left: Vec<(Grant, &Grant)> = Vec::new();
        for ceiling in self.ceiling.iter().filter(|ceiling| ceiling.rule != Rule::Deny) {
            for piece in self.and(ceiling, grant) {
                // Two ceilings that leave the same requests: the one that would have decided about them does.
                match left.iter_mut().find(|(other, _)| same_calls(&other.power, &piece.power)) {
                    Some((other, by)) => {
                        let rule = other.rule.max(piece.rule);
                        // Both counts hold, as they would among the ceiling's own.
                        let budgets = counted([other.budgets.clone(), piece.budgets.clone()].concat());
                        if (ceiling.rule, narrowness(&ceiling.power)) > (by.rule, narrowness(&by.power)) {
                            (*other, *by) = (piece, ceiling);
                        }
                        (other.rule, other.budgets) = (rule, budgets);
                    }
                    None => left.push((piece, ceiling)),
                }
            }
        }
        let left: Vec<Grant> = left.into_iter().map(|(piece, _)| piece).collect();
        // Pieces of a piece say nothing, unless something is different about them.
        let alike = |a: &Grant, b: &Grant| a.rule == b.rule && a.budgets == b.budgets && comes_with(a) == comes_with(b);
        if !left.iter().all(|piece| alike(piece, &left[0])) {
            return left;
        }
        let within = |piece: &Grant| left.iter().any(|other| other != piece && holds(&other.power, &piece.power));
        left.iter().filter(|piece| !within(piece)).cloned().collect()
    }

    /// Whether what is left of a grant is less than the whole, as far as the request did not say so itself.
    fn is_less(&self, left: &[Grant], grant: &Grant) -> bool {
        let whole = left.iter().any(|piece| piece == grant);
        let said = |piece: &Grant| {
            self.requested
                .iter()
                .any(|own| own.rule == piece.rule && own.budgets == piece.budgets && holds(&own.power, &piece.power))
        };
        !whole || !left.iter().all(said)
    }

    /// What the ceiling forbids of a grant, and the request itself did not.
    fn newly_banned(&self, grant: &Grant) -> impl Iterator<Item = &Grant> {
        let banned = |ban: &&Grant| {
            ban.rule == Rule::Deny && !self.requested.contains(ban) && bans_some(&ban.power, &grant.power)
        };
        self.ceiling.iter().filter(banned)
    }

    /// What two grants have in common.
    fn and(&self, ceiling: &Grant, requested: &Grant) -> Vec<Grant> {
        let mut budgets = requested.budgets.clone();
        // The operator's count is one, however many grants were cut from it.
        budgets.extend(
            ceiling.budgets.iter().map(|budget| Budget { of: format!("operator {}", budget.of), ..budget.clone() }),
        );
        let budgets = counted(budgets);
        let rule = ceiling.rule.max(requested.rule).max(self.asked_in_vain(ceiling, requested));
        let powers = self.powers(&ceiling.power, &requested.power).into_iter();
        powers.map(|(power, asks)| Grant { power, rule: rule.max(asks), budgets: budgets.clone() }).collect()
    }

    /// A question about a name is still to be asked when the side that has it means something else by the name than the
    /// other, so that nothing is left of the grant that asks.
    fn asked_in_vain(&self, ceiling: &Grant, requested: &Grant) -> Rule {
        let asks = |grant: &&Grant| {
            grant.rule == Rule::Ask
                && same_name(&grant.power, &requested.power)
                && same_name(&grant.power, &ceiling.power)
        };
        let by_request = self.requested.iter().filter(asks).any(|grant| !meets(&ceiling.power, &grant.power));
        let by_ceiling = self.ceiling.iter().filter(asks).any(|grant| !meets(&grant.power, &requested.power));
        if by_request || by_ceiling { Rule::Ask } else { Rule::Allow }
    }

    /// What two powers have in common, and whether someone has to be asked about what comes with it.
    fn powers(&self, ceiling: &Power, requested: &Power) -> Vec<(Power, Rule)> {
        let plain = |power: Option<Power>| power.map(|power| (power, Rule::Allow)).into_iter().collect();
        match (ceiling, requested) {
            (Power::Egress(a), Power::Egress(b)) => {
                let (credential, asks) = self.credential(a, b);
                let both = a.and(b).into_iter();
                both.map(|egress| (Power::Egress(Egress { credential: credential.clone(), ..egress }), asks)).collect()
            }
            (Power::Kv(a), Power::Kv(b)) if a.name == b.name => plain(Some(Power::Kv(KvGrant {
                name: b.name.clone(),
                access: a.access.min(b.access),
                quota_bytes: a.quota_bytes.min(b.quota_bytes),
            }))),
            (Power::Files(a), Power::Files(b)) => plain(files(a, b)),
            (Power::Tool(a), Power::Tool(b)) => plain(tool(a, b)),
            (Power::Invoke(a), Power::Invoke(b)) if a.name == b.name => plain(self.invoke(a, b)),
            (Power::Secret(a), Power::Secret(b)) if a.name == b.name => plain(secret(a, b)),
            (Power::Builtin(a), Power::Builtin(b)) if a == b => plain(Some(Power::Builtin(*b))),
            _ => Vec::new(),
        }
    }

    /// The credential that goes with what two grants have in common.
    ///
    /// The operator may bring it; it then goes where that very grant leads, and nowhere else. Otherwise it is the
    /// request's own, if the operator lets its secrets be used; without them the request goes without it, not with less.
    fn credential(&self, ceiling: &Egress, requested: &Egress) -> (Option<Credential>, Rule) {
        // What a side says of the secrets of its own credential is said of its request, even if that goes without them.
        let of_own = |side: &[Grant], egress: &Egress| {
            let secrets = egress.credential.iter().flat_map(Credential::secrets);
            secrets.filter_map(|name| strictest(side, name)).max().unwrap_or_default()
        };
        let rule = of_own(self.ceiling, ceiling).max(of_own(self.requested, requested));
        let brought = ceiling.credential.is_some();
        let other = if brought { self.requested } else { self.ceiling };
        let Some(credential) = ceiling.credential.as_ref().or(requested.credential.as_ref()) else {
            return (None, rule);
        };
        let says: Vec<Option<Rule>> = credential.secrets().into_iter().map(|name| strictest(other, name)).collect();
        if says.contains(&Some(Rule::Deny)) || (!brought && says.contains(&None)) {
            return (None, rule);
        }
        (Some(credential.clone()), says.into_iter().flatten().max().unwrap_or_default().max(rule))
    }

    fn invoke(&self, ceiling: &InvokeGrant, requested: &InvokeGrant) -> Option<Power> {
        if requested.program.is_some() && requested.program != ceiling.program {
            return None;
        }
        // Where the operator says nothing of the callee's grants, they are held against the caller's when it is called.
        let grants = if ceiling.grants.is_empty() {
            requested.grants.clone()
        } else {
            let left = narrow(&ceiling.grants, &requested.grants).grants;
            if left.is_empty() { nothing_of(&ceiling.grants) } else { left }
        };
        Some(Power::Invoke(InvokeGrant {
            name: requested.name.clone(),
            program: ceiling.program.clone(),
            grants,
            args: ceiling.args.and(&requested.args),
        }))
    }
}

/// Of two counts by one name the smaller stays: a request cannot raise the operator's by naming it.
fn counted(mut budgets: Vec<Budget>) -> Vec<Budget> {
    budgets.sort();
    budgets.dedup_by(|next, kept| next.of == kept.of);
    budgets
}

/// An empty list would say nothing to whoever narrows by it later. This says: none of these.
fn nothing_of(grants: &[Grant]) -> Vec<Grant> {
    grants.iter().map(|grant| Grant { rule: Rule::Deny, budgets: Vec::new(), ..grant.clone() }).collect()
}

/// What a side has to say about a secret, if anything.
fn strictest(side: &[Grant], name: &SecretName) -> Option<Rule> {
    let about = |grant: &&Grant| matches!(&grant.power, Power::Secret(secret) if secret.name == *name);
    side.iter().filter(about).map(|grant| grant.rule).max()
}

/// Whether two powers cover the same calls, whatever comes with them.
fn same_calls(a: &Power, b: &Power) -> bool {
    match (a, b) {
        (Power::Egress(a), Power::Egress(b)) => {
            let bare = |egress: &Egress| Egress { credential: None, redact: true, ..egress.clone() };
            bare(a) == bare(b)
        }
        (a, b) => a == b,
    }
}

/// Whether two powers go by one name, or could, whatever is behind it.
fn same_name(a: &Power, b: &Power) -> bool {
    match (a, b) {
        (Power::Tool(a), Power::Tool(b)) => a.name.meets(&b.name),
        (Power::Invoke(a), Power::Invoke(b)) => a.name == b.name,
        (Power::Secret(a), Power::Secret(b)) => a.name == b.name,
        _ => false,
    }
}

/// How narrow a grant is on its own; the same order as `admit` has.
fn narrowness(power: &Power) -> Option<impl Ord + use<>> {
    match power {
        Power::Egress(egress) => Some(egress.narrowness()),
        _ => None,
    }
}

/// What is added to a request, and whether it is taken out of what comes back.
type Added<'a> = (&'a Option<Credential>, bool);
/// What a tool takes and gives.
type Shapes<'a> = (&'a Option<Json>, &'a Option<Json>);

/// What a grant brings along for the calls it covers.
fn comes_with(grant: &Grant) -> (Option<Added<'_>>, Option<Shapes<'_>>) {
    match &grant.power {
        Power::Egress(egress) => (Some((&egress.credential, egress.redact)), None),
        Power::Tool(tool) => (None, Some((&tool.input, &tool.output))),
        _ => (None, None),
    }
}

/// Whether a ban takes something from a grant. It may say so where it takes nothing, never the other way round.
fn bans_some(ban: &Power, grant: &Power) -> bool {
    match (ban, grant) {
        (Power::Egress(ban), Power::Egress(grant)) => ban.bans_some(grant),
        (Power::Kv(ban), Power::Kv(grant)) => ban.name == grant.name,
        (Power::Files(ban), Power::Files(grant)) => ban.path.and(&grant.path).is_some(),
        (Power::Tool(ban), Power::Tool(grant)) => ban.name.meets(&grant.name),
        (Power::Invoke(ban), Power::Invoke(grant)) => ban.name == grant.name,
        (Power::Secret(ban), Power::Secret(grant)) => ban.name == grant.name,
        (Power::Builtin(ban), Power::Builtin(grant)) => ban == grant,
        (Power::Secret(ban), Power::Egress(grant)) => {
            grant.credential.as_ref().is_some_and(|credential| credential.secrets().contains(&&ban.name))
        }
        _ => false,
    }
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
        name: ceiling.name.and(&requested.name)?,
        input: both_schemas(&ceiling.input, &requested.input),
        output: both_schemas(&ceiling.output, &requested.output),
        args: ceiling.args.and(&requested.args),
        command: ceiling.command.clone(),
        timeout_ms: ceiling.timeout_ms.min(requested.timeout_ms),
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

fn both_schemas(a: &Option<Json>, b: &Option<Json>) -> Option<Json> {
    let (Some(a), Some(b)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    let all_of = |json: &Json| match json.parse::<Value>() {
        Ok(Value::Object(table)) if table.len() == 1 => match table.get("allOf") {
            Some(Value::Array(parts)) => Some(parts.clone()),
            _ => None,
        },
        _ => None,
    };
    let own = a.parse::<Value>().ok();
    // A request that was narrowed before holds the operator's schema already.
    if a == b || all_of(b).zip(own).is_some_and(|(parts, own)| parts.contains(&own)) {
        return Some(b.clone());
    }
    Some(Json::of(&json!({ "allOf": [a, b] })).unwrap_or_else(|_| a.clone()))
}
