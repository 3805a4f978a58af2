//! Who asks, and the most they can have.

use crate::error::Refusal;
use axum::http::StatusCode;
use isolith_core::{
    Ambient, AuditRow, BoxFuture, CallerId, Egress, Grant, HostPattern, Housing, JournalStore, Limits, Manifest,
    Narrowed, Ports, Power, Rule, Schemes, Scope, SecretSource, SessionStore, StoreProblem, narrow, narrow_limits,
};
use isolith_gate::Means;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Someone who may ask.
pub(crate) struct Caller {
    pub(crate) id: CallerId,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) ceiling: Ceiling,
    rate: Option<Rate>,
}

/// The most that runs can have: the server's policy and the key's own, both.
#[derive(Clone, Default)]
pub(crate) struct Ceiling {
    pub(crate) policies: Vec<Manifest>,
    /// Whether the caller is the user of this machine, who could do it without us.
    pub(crate) local: bool,
}

impl Caller {
    pub(crate) fn new(id: CallerId, scopes: Vec<Scope>, ceiling: Ceiling, rate: Option<u32>) -> Caller {
        Caller { id, scopes, ceiling, rate: rate.map(Rate::new) }
    }

    pub(crate) fn may(&self, scope: Scope) -> Result<(), Refusal> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let name =
            serde_json::to_value(scope).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        let refusal = Refusal::new(StatusCode::FORBIDDEN, "key.scope", format!("this key is not for `{name}`"));
        Err(refusal.hint("make another with `isolith key create --scope`"))
    }

    /// Counts one more run.
    pub(crate) fn spend(&self) -> Result<(), Refusal> {
        match &self.rate {
            Some(rate) => rate.take(),
            None => Ok(()),
        }
    }
}

impl Ceiling {
    /// What is left of a request.
    pub(crate) fn grants(&self, requested: Vec<Grant>) -> Result<Narrowed, Refusal> {
        let mut narrowed = Narrowed { grants: requested, report: Vec::new() };
        if self.policies.is_empty() {
            for grant in &narrowed.grants {
                harmless(grant)?;
            }
            if !self.local {
                let wide = Egress { schemes: Schemes::Both, ports: Ports::Any, ..Egress::to(HostPattern::Any) };
                narrowed = self.public_only(narrowed.grants, Power::Egress(wide).into());
            }
        }
        for policy in &self.policies {
            let next = narrow(&policy.grants, &narrowed.grants);
            narrowed.grants = next.grants;
            narrowed.report.extend(next.report);
        }
        Ok(narrowed)
    }

    /// All that can be had: what the last policy names, which is the caller's own. Nothing without one.
    pub(crate) fn all(&self) -> Vec<Grant> {
        self.policies.last().map(|policy| policy.grants.clone()).unwrap_or_default()
    }

    // THREAT[T-SERVER-003]: without a policy, a caller from elsewhere reaches public hosts only, never this machine's network.
    fn public_only(&self, requested: Vec<Grant>, wide: Grant) -> Narrowed {
        let (egress, mut others): (Vec<Grant>, Vec<Grant>) =
            requested.into_iter().partition(|grant| matches!(grant.power, Power::Egress(_)));
        let mut ceiling = others.clone();
        ceiling.push(wide);
        let Narrowed { grants, report } = narrow(&ceiling, &egress);
        others.extend(grants);
        Narrowed { grants: others, report }
    }

    pub(crate) fn limits(&self, requested: Limits) -> Limits {
        self.policies.iter().fold(requested, |limits, policy| narrow_limits(&policy.limits, &limits))
    }

    /// What a run is to be on. A policy takes choices away, and adds walls.
    pub(crate) fn housing(&self, requested: Housing) -> Result<Housing, Refusal> {
        let mut policies = self.policies.iter();
        let housing = policies.try_fold(requested, |housing, policy| housing.under(policy.housing));
        housing.map_err(|error| Refusal::new(StatusCode::FORBIDDEN, "engine.forbidden", error.to_string()).at("engine"))
    }

    pub(crate) fn ambient(&self, requested: Ambient) -> Ambient {
        self.policies.iter().fold(requested, |ambient, policy| policy.ambient.and(ambient))
    }
}

// THREAT[T-SERVER-004]: a request that names a command, a file or a variable of the host would act with the host's authority.
/// Refuses what acts on this machine: only a policy can name that.
fn harmless(grant: &Grant) -> Result<(), Refusal> {
    let harmless = grant.rule == Rule::Deny
        || match &grant.power {
            Power::Egress(_) | Power::Kv(_) | Power::Builtin(_) => true,
            // What a namespace brings is the operator's, with credentials of theirs.
            Power::Tool(tool) => tool.is_embedders(),
            Power::Secret(secret) => matches!(secret.from, None | Some(SecretSource::Store(_))),
            Power::Files(_) | Power::Invoke(_) => false,
        };
    if harmless {
        return Ok(());
    }
    let message = format!("`{grant}` acts on the server's machine, and no policy allows that");
    let refusal = Refusal::new(StatusCode::FORBIDDEN, "grant.forbidden", message);
    Err(refusal
        .at("grants")
        .hint("name it in a policy: `isolith serve --policy FILE` or `isolith key create --policy FILE`"))
}

/// So many a second, and a second's worth at once.
struct Rate {
    per_second: f64,
    state: Mutex<(f64, Instant)>,
}

impl Rate {
    fn new(per_second: u32) -> Rate {
        Rate {
            per_second: f64::from(per_second.max(1)),
            state: Mutex::new((f64::from(per_second.max(1)), Instant::now())),
        }
    }

    fn take(&self) -> Result<(), Refusal> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let left = (state.0 + now.duration_since(state.1).as_secs_f64() * self.per_second).min(self.per_second);
        *state = (left, now);
        if left >= 1.0 {
            state.0 -= 1.0;
            return Ok(());
        }
        let after = std::time::Duration::from_secs_f64((1.0 - left) / self.per_second);
        let message = format!("this key may start {} runs a second", self.per_second);
        Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate", message).retry(after))
    }
}

/// What is kept for each caller, apart from every other's.
pub trait Household: Send + Sync {
    /// What the gates of a caller's runs act with. The tools and the approver in it are replaced.
    fn means(&self, caller: &CallerId) -> Result<Means, StoreProblem>;

    /// A caller's sessions.
    fn sessions(&self, caller: &CallerId) -> Result<Arc<dyn SessionStore>, StoreProblem>;

    /// A caller's journals of runs.
    fn journals(&self, caller: &CallerId) -> Result<Arc<dyn JournalStore>, StoreProblem>;

    /// Whether someone agreed for good to what a grant asks about in a program, by its digest.
    fn consented(&self, caller: &CallerId, program: &str, grant: &str) -> bool;

    /// Keeps that they did.
    fn consent(&self, caller: &CallerId, program: &str, grant: &str) -> Result<(), StoreProblem>;

    /// The names of a caller's secrets.
    fn secrets(&self, caller: &CallerId) -> BoxFuture<'_, Result<Vec<String>, StoreProblem>>;

    /// Keeps a secret. The name was checked.
    fn set_secret(&self, caller: &CallerId, name: String, value: String) -> BoxFuture<'_, Result<(), StoreProblem>>;

    /// Forgets a secret, and says whether there was one.
    fn remove_secret(&self, caller: &CallerId, name: String) -> BoxFuture<'_, Result<bool, StoreProblem>>;

    /// What a caller's runs did, the newest last.
    fn audit(&self, caller: &CallerId, wanted: Wanted) -> BoxFuture<'_, Result<Vec<AuditRow>, StoreProblem>>;
}

/// Which rows of an audit.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Of this run.
    pub run: Option<String>,
    /// To this host.
    pub host: Option<String>,
    /// Only what was refused.
    pub denied: bool,
    /// At most this many, the newest.
    pub limit: u32,
}
