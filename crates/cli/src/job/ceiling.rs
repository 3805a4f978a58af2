use crate::args::GrantOptions;
use crate::failure::Failure;
use crate::paint::{self, ERROR, HINT};
use crate::{grants, toolbox};
use isolith_core::{Ambient, Grant, Housing, Limits, Manifest, Narrowed, narrow, narrow_limits};
use isolith_gate::egress::NetOptions;
use std::path::PathBuf;

/// What an operator allows at most.
pub(crate) struct Ceiling {
    policy: Option<Manifest>,
}

impl Ceiling {
    pub(crate) fn of(options: &GrantOptions) -> Result<Ceiling, Failure> {
        Ok(Ceiling { policy: options.policy.as_deref().map(grants::manifest).transpose()? })
    }

    pub(super) fn narrow(&self, requested: Vec<Grant>) -> Narrowed {
        match &self.policy {
            Some(policy) => narrow(&policy.grants, &requested),
            None => Narrowed { grants: requested, report: Vec::new() },
        }
    }

    /// What is left of a request, whose losses are told.
    pub(super) fn narrow_loudly(&self, requested: Vec<Grant>) -> Narrowed {
        let narrowed = self.narrow(requested);
        for lost in &narrowed.report {
            let left = if lost.effective.is_empty() { "nothing".into() } else { lost.effective.join("`, `") };
            paint::complain(HINT, "policy", &format!("`{}` is narrowed to `{left}`", lost.requested));
        }
        narrowed
    }

    /// A manifest as far as it is allowed.
    pub(crate) fn over(&self, own: Manifest) -> Manifest {
        Manifest {
            grants: self.narrow_loudly(own.grants).grants,
            limits: self.limits(own.limits),
            ambient: self.ambient(own.ambient),
            tools: self.tools(own.tools),
            housing: self.housing_left(own.housing),
            network: self.policy.as_ref().map(|policy| policy.network.clone()).unwrap_or_default(),
            ..own
        }
    }

    /// What `--allow-all` stands for besides what a program seems to need, loudly.
    pub(crate) fn allow_all(&self) -> Result<Vec<Grant>, Failure> {
        if self.policy.is_some() {
            let hint = "name what may be done, or leave the policy away";
            return Err(Failure::usage("`--allow-all` cannot be used under a policy", hint));
        }
        let warning = "`--allow-all`: the network may be used and files in this folder changed";
        paint::complain(ERROR, "warning", warning);
        Ok(grants::all())
    }

    /// Who brings the tools of namespaces.
    pub(crate) fn tools(&self, own: toolbox::Named) -> toolbox::Named {
        toolbox::under(self.policy.as_ref(), own)
    }

    pub(super) fn limits(&self, requested: Limits) -> Limits {
        self.policy.as_ref().map_or(requested, |policy| narrow_limits(&policy.limits, &requested))
    }

    pub(super) fn ambient(&self, requested: Ambient) -> Ambient {
        self.policy.as_ref().map_or(requested, |policy| policy.ambient.and(requested))
    }

    /// What a program is to run on. A policy takes choices away, and adds walls.
    pub(super) fn housing(&self, wanted: Housing) -> Result<Housing, Failure> {
        let policy = self.policy.as_ref().map(|policy| policy.housing).unwrap_or_default();
        wanted.under(policy).map_err(|error| Failure::usage(error, "leave the engine to the policy"))
    }

    /// The same where nobody is there to hear of a refusal: what the policy has counts.
    fn housing_left(&self, wanted: Housing) -> Housing {
        let policy = self.policy.as_ref().map(|policy| policy.housing).unwrap_or_default();
        wanted.under(policy).unwrap_or_else(|_| policy.or(wanted))
    }

    pub(super) fn net(&self, options: &GrantOptions) -> NetOptions {
        let network = self.policy.as_ref().map(|policy| policy.network.clone()).unwrap_or_default();
        NetOptions { proxy: network.proxy, ca: options.ca.clone().or(network.ca.map(PathBuf::from)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{EngineChoice, Isolation};

    #[test]
    fn a_manifest_that_wants_another_engine_gets_the_policys_and_its_walls() {
        let housing = |engine, isolation| Housing { engine: Some(engine), isolation };
        let pinned = housing(EngineChoice::Quickjs, Isolation::Process);
        let ceiling = Ceiling { policy: Some(Manifest { housing: pinned, ..Manifest::default() }) };
        let own = Manifest { housing: housing(EngineChoice::V8, Isolation::None), ..Manifest::default() };
        assert_eq!(ceiling.over(own).housing, pinned);
    }
}
