//! What is asked for a program by flags, by its manifest and by its session, and what performs it.

use super::{Ceiling, data_folder, store};
use crate::args::GrantOptions;
use crate::ask::Terminal;
use crate::commands::session;
use crate::failure::Failure;
use crate::{grants, snippets, toolbox};
use isolith_core::{Grant, Manifest, Narrowed, Power, SecretSource, Woken, is_sessions_own};
use isolith_gate::Means;
use isolith_gate::egress::Net;
use isolith_runner::{ProgramFiles, Runner};
use isolith_upstream::Toolbox;
use std::sync::Arc;

/// What is asked for, and the operator's ceiling over it.
pub(crate) struct Wish<'a> {
    options: &'a GrantOptions,
    pub(crate) ceiling: Ceiling,
    /// The session that the program runs in, awake.
    pub(crate) session: Option<Woken>,
    /// What came in a file, with the tools of `--mcp-servers`.
    pub(crate) manifest: Option<Manifest>,
    pub(crate) grants: Vec<Grant>,
}

/// What performs grants.
pub(crate) struct Equipment {
    pub(crate) means: Means,
    /// The tools of others, which go when the run does.
    pub(crate) tools: Option<Arc<Toolbox>>,
}

impl Wish<'_> {
    /// `needs` tells what the program seems to need, which counts where everything is allowed.
    pub(crate) fn of(options: &GrantOptions, needs: impl FnOnce() -> Vec<Grant>) -> Result<Wish<'_>, Failure> {
        let session = match &options.session {
            Some(name) => Some(session::wake(&session::open()?, name)?),
            None => None,
        };
        let mut manifest = options.manifest.as_deref().map(grants::manifest).transpose()?;
        if let (None, Some(session)) = (&manifest, &session) {
            manifest = session::manifest(session)?;
        }
        if !options.mcp_servers.is_empty() {
            toolbox::with_servers(manifest.get_or_insert_default(), options)?;
        }
        let ceiling = Ceiling::of(options)?;
        let mut grants = grants::requested(options, manifest.as_ref())?;
        if options.allow_all {
            grants.extend(ceiling.allow_all()?);
            grants.extend(needs());
        }
        if let Some(session) = &session {
            grants.extend(session.own_grants(&grants));
        }
        Ok(Wish { options, ceiling, session, manifest, grants })
    }

    /// What is about a session's own files and keys, and what is not: a policy is about this machine.
    pub(crate) fn own(&self) -> (Vec<Grant>, Vec<Grant>) {
        self.grants.iter().cloned().partition(|grant| self.session.is_some() && is_sessions_own(grant))
    }

    /// What of it is allowed. Losses are told.
    pub(crate) fn narrowed(&self) -> Narrowed {
        let (own, others) = self.own();
        let mut narrowed = self.ceiling.narrow_loudly(others);
        narrowed.grants.extend(own);
        narrowed
    }

    /// The same without a word.
    pub(crate) fn allowed(&self) -> Vec<Grant> {
        let (own, others) = self.own();
        let mut grants = self.ceiling.narrow(others).grants;
        grants.extend(own);
        grants
    }

    /// The network as the operator wants it used.
    pub(crate) fn net(&self) -> Result<Arc<Net>, Failure> {
        let net = Net::new(self.ceiling.net(self.options));
        net.map(Arc::new).map_err(|error| Failure::usage(error, "check the file and the address"))
    }

    /// Opens what these grants need, and nothing else: a run without them starts as fast as before.
    pub(crate) fn equipment(&self, grants: &[Grant], runner: &Runner) -> Result<Equipment, Failure> {
        let folder =
            std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
        let mut means = Means::new(self.net()?, folder.clone());
        let data = data_folder()?;
        let any = |wanted: fn(&Power) -> bool| grants.iter().any(|grant| wanted(&grant.power));
        if let Some(session) = &self.session {
            means.tree = Some(Arc::clone(&session.open.files));
            means.kv = Some(Arc::clone(&session.open.keys));
        } else if any(|power| matches!(power, Power::Kv(_))) {
            means.kv = Some(Arc::new(data.kv().map_err(store)?));
        }
        let stored = |power: &Power| matches!(power, Power::Secret(secret) if matches!(secret.from, None | Some(SecretSource::Store(_))));
        if any(stored) {
            means.secrets = Some(Arc::new(data.secrets().map_err(store)?));
        }
        if any(|power| matches!(power, Power::Invoke(_))) {
            means.programs = Some(Arc::new(ProgramFiles::new(runner.clone(), folder.clone())));
        }
        let audit = data.audit().map_err(store)?;
        means.audit = Some(Arc::new(match &self.options.audit_log {
            Some(path) => audit.with_lines(path).map_err(store)?,
            None => audit,
        }));
        means.approver = Arc::new(Terminal);
        let named = self.manifest.as_ref().map(|manifest| manifest.tools.clone()).unwrap_or_default();
        let tools = toolbox::toolbox(self.ceiling.tools(named), folder.clone(), Arc::clone(&means.net))?;
        means.upstreams = snippets::beside(tools.clone(), grants, || Ok(runner.clone()), folder)?;
        Ok(Equipment { means, tools })
    }
}
