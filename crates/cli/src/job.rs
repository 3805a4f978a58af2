//! One run, ready to be started: its plan, and the gate that stands between it and the world.

use crate::args::{GrantOptions, RunOptions};
use crate::ask::{self, Terminal};
use crate::commands::{session, workbench};
use crate::failure::Failure;
use crate::grants;
use crate::paint::{self, ERROR, HINT};
use crate::pending::{APPROVAL_TIME, Drawer};
use crate::rehearsal::{Notes, Rehearsal};
use crate::snippets;
use crate::source::Source;
use crate::toolbox;
use crate::types::Types;
use isolith_core::{
    Ambient, Approval, AuditLog, CallRecord, Consent, Grant, Host, Limits, Manifest, Narrowed, Power, Rule, RunId,
    SecretSource, SessionName, Woken, is_sessions_own, narrow, narrow_limits,
};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Asking, Gate, Identity, Means};
use isolith_runner::{Durable, NoTools, Patience, Plan, ProgramFiles, Recording, Runner, SuspendedRun};
use isolith_store::DataFolder;
use isolith_upstream::Toolbox;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A run that can be started.
pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) host: Arc<dyn Host>,
    /// Flushed when the run is over, before anyone is told how it ended.
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    /// What was asked for it, where it is to be recorded.
    pub(crate) record: Option<Vec<Grant>>,
    /// The tools of others, which go when the run does.
    pub(crate) tools: Option<Arc<Toolbox>>,
    /// Looks at its types before it runs.
    pub(crate) types: Option<Types>,
    /// What is learnt, where nothing is to be done.
    pub(crate) rehearsal: Option<Arc<Mutex<Notes>>>,
    /// The session that it runs in.
    pub(crate) session: Option<SessionName>,
}

/// A suspended run with what it goes on with.
pub(crate) struct Resumable {
    pub(crate) run: SuspendedRun,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    /// Whether it may have to wait for someone's word, outside memory.
    pub(crate) asks: bool,
}

/// What an operator allows at most.
pub(crate) struct Ceiling {
    policy: Option<Manifest>,
}

impl Ceiling {
    pub(crate) fn of(options: &GrantOptions) -> Result<Ceiling, Failure> {
        Ok(Ceiling { policy: options.policy.as_deref().map(grants::manifest).transpose()? })
    }

    fn narrow(&self, requested: Vec<Grant>) -> Narrowed {
        match &self.policy {
            Some(policy) => narrow(&policy.grants, &requested),
            None => Narrowed { grants: requested, report: Vec::new() },
        }
    }

    /// What is left of a request, whose losses are told.
    fn narrow_loudly(&self, requested: Vec<Grant>) -> Narrowed {
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

    fn limits(&self, requested: Limits) -> Limits {
        self.policy.as_ref().map_or(requested, |policy| narrow_limits(&policy.limits, &requested))
    }

    fn ambient(&self, requested: Ambient) -> Ambient {
        self.policy.as_ref().map_or(requested, |policy| policy.ambient.and(requested))
    }

    fn net(&self, options: &GrantOptions) -> NetOptions {
        let network = self.policy.as_ref().map(|policy| policy.network.clone()).unwrap_or_default();
        NetOptions { proxy: network.proxy, ca: options.ca.clone().or(network.ca.map(PathBuf::from)) }
    }
}

impl Job {
    /// Everything a person can have got wrong is said here, before anything runs.
    pub(crate) fn new(
        source: Source,
        options: &RunOptions,
        suspend: Option<&Path>,
        runner: &Runner,
    ) -> Result<Job, Failure> {
        let session = woken(&options.grants)?;
        let mut manifest = options.grants.manifest.as_deref().map(grants::manifest).transpose()?;
        if let (None, Some(session)) = (&manifest, &session) {
            manifest = session::manifest(session)?;
        }
        if !options.grants.mcp_servers.is_empty() {
            toolbox::with_servers(manifest.get_or_insert_default(), &options.grants)?;
        }
        let ceiling = Ceiling::of(&options.grants)?;
        let mut requested = grants::requested(&options.grants, manifest.as_ref())?;
        if options.grants.allow_all {
            requested.extend(ceiling.allow_all()?);
            let needs = isolith_program::needs(&source.text, &source.name, isolith_program::Language::Auto);
            requested.extend(needs.map(|needs| needs.manifest()).unwrap_or_default());
        }
        if let Some(session) = &session {
            requested.extend(session.own_grants(&requested));
        }
        let mut plan = workbench::plan(source, options, suspend)?;
        plan.limits = ceiling.limits(workbench::limits(options, manifest.as_ref()));
        if let Some(session) = &session {
            let (files, own) = (&session.open.files, own_of(Some(session), requested.clone()).0);
            let mut load = |path: &str| isolith_workspace::module_text(&**files, &own, path);
            plan.find_modules(&mut load).map_err(|error| Failure::program(error.render()))?;
        }
        // THREAT[T-CONSENT-002]: what someone agreed to is this text with these modules; another module is another program.
        let program = plan.digest().to_string();
        ask::about_needs(&plan, &mut requested, &options.grants)?;
        let (ambient, named) = manifest.map(|manifest| (manifest.ambient, manifest.tools)).unwrap_or_default();
        plan = plan.with_ambient(ceiling.ambient(ambient));
        let record = options.record.then(|| requested.clone());
        let (own, requested) = own_of(session.as_ref(), requested);
        let Narrowed { mut grants, report } = ceiling.narrow_loudly(requested);
        grants.extend(own);
        let grants: Arc<[Grant]> = grants.into();
        (plan.grants, plan.narrowed) = (Arc::clone(&grants), report);
        let run = RunId(uuid::Uuid::now_v7().to_string());
        if record.is_some() || !grants.is_empty() {
            plan.id = Some(run.clone());
        }
        if grants.is_empty() {
            let types = options.type_check.then(|| Types::new(Arc::default(), None)).transpose()?;
            let host = Arc::new(NoTools);
            return Ok(Job { plan, host, audit: None, record, tools: None, types, rehearsal: None, session: None });
        }
        let mut means = means(&grants, &options.grants, &ceiling, runner, session.as_ref())?;
        let tools = ceiling.tools(named);
        let tools = toolbox::toolbox(tools, means.folder.clone(), Arc::clone(&means.net))?;
        means.upstreams = snippets::beside(tools.clone(), &grants, runner, means.folder.clone())?;
        let asks = tools.is_some() || options.plan;
        let whom = if options.plan { Whom::Nobody } else { Whom::of(&options.grants) };
        if let Some(approvals) = approvals(&grants, &options.grants, asks, whom, &run)? {
            means.approver = Arc::new(approvals);
            let timer = plan.patience.map_or(Duration::MAX, |patience| patience.timer);
            plan.patience = Some(Patience { timer, outside: Duration::ZERO });
        }
        let audit = means.audit.clone();
        let upstreams = means.upstreams.clone();
        let types = options.type_check.then(|| Types::new(Arc::clone(&grants), tools.clone())).transpose()?;
        let gate = Gate::new(Arc::clone(&grants), plan.limits, Identity { run, program }, means).map_err(invalid)?;
        let (mut host, mut rehearsal): (Arc<dyn Host>, _) = (Arc::new(gate), None);
        if options.plan {
            let notes: Arc<Mutex<Notes>> = Arc::default();
            rehearsal = Some(Arc::clone(&notes));
            host = Arc::new(Rehearsal { host, grants, upstreams, notes });
        }
        let session = session.map(|session| session.session);
        Ok(Job { plan, host, audit, record, tools, types, rehearsal, session })
    }

    /// The journal of the run, where it is to have one.
    pub(crate) fn recording(&mut self) -> Result<Option<Recording>, Failure> {
        let (Some(requested), Some(run)) = (self.record.take(), &self.plan.id) else { return Ok(None) };
        let journal = data_folder()?.journals().and_then(|journals| journals.create(run)).map_err(store)?;
        Ok(Some(Recording { to: Box::new(journal), requested, durable: Durable::AtItsEnd, checkpoints: None }))
    }

    /// What a suspended run needs to go on: its own grants, as far as they are still allowed.
    pub(crate) fn again(
        run: SuspendedRun,
        said: &[Approval],
        options: &GrantOptions,
        runner: &Runner,
    ) -> Result<Resumable, Failure> {
        let ceiling = Ceiling::of(options)?;
        let flags = grants::requested(options, None)?;
        let saved: Vec<Grant> = run.grants().iter().map(|grant| with_means_of(grant, &flags)).collect();
        let session = woken(options)?;
        let (own, saved) = own_of(session.as_ref(), saved);
        let mut grants = ceiling.narrow(saved).grants;
        grants.extend(own);
        if grants.is_empty() {
            return Ok(Resumable {
                run: run.narrowed_to(Vec::new()),
                host: Arc::new(NoTools),
                audit: None,
                asks: false,
            });
        }
        let mut means = means(&grants, options, &ceiling, runner, session.as_ref())?;
        let id = run.id().cloned().unwrap_or_else(|| RunId(uuid::Uuid::now_v7().to_string()));
        let mut named = options.manifest.as_deref().map(grants::manifest).transpose()?.unwrap_or_default();
        toolbox::with_servers(&mut named, options)?;
        let tools = toolbox::toolbox(ceiling.tools(named.tools), means.folder.clone(), Arc::clone(&means.net))?;
        means.upstreams = snippets::beside(tools.clone(), &grants, runner, means.folder.clone())?;
        let approvals = approvals(&grants, options, tools.is_some(), Whom::of(options), &id)?;
        let asks = approvals.is_some();
        if let Some(approvals) = approvals {
            // One that was begun before and never came to an end is put there too: it is told so.
            let waits = said.iter();
            approvals.approvals.put(waits.map(|one| (one.ask.clone(), one.said.clone().map(|said| said.verdict))));
            means.approver = Arc::new(approvals);
        }
        let audit = means.audit.clone();
        let identity = Identity { run: id, program: run.digest().to_string() };
        let gate = Gate::new(grants.clone(), run.limits(), identity, means).map_err(invalid)?;
        let gate = gate.after(run.calls()).having_agreed(agreed(said));
        Ok(Resumable { run: run.narrowed_to(grants), host: Arc::new(gate), audit, asks })
    }
}

/// What performs what was granted on the command line to a program that is run in another way.
pub(crate) struct Granted {
    pub(crate) grants: Vec<Grant>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    /// The network as the operator wants it used.
    pub(crate) net: Arc<Net>,
}

/// What was asked for, as far as it is allowed. Nothing is opened before it is needed.
pub(crate) fn asked_for(options: &GrantOptions) -> Result<Vec<Grant>, Failure> {
    let manifest = options.manifest.as_deref().map(grants::manifest).transpose()?;
    Ok(Ceiling::of(options)?.narrow_loudly(grants::requested(options, manifest.as_ref())?).grants)
}

/// The same, with someone to perform it.
pub(crate) fn granted(
    options: &GrantOptions,
    grants: Vec<Grant>,
    identity: Identity,
    (limits, earlier): (Limits, &[CallRecord]),
    runner: &Runner,
) -> Result<Granted, Failure> {
    let ceiling = Ceiling::of(options)?;
    let net =
        Net::new(ceiling.net(options)).map_err(|error| Failure::usage(error, "check the file and the address"))?;
    if grants.is_empty() {
        return Ok(Granted { grants, host: Arc::new(NoTools), audit: None, net: Arc::new(net) });
    }
    let means = means(&grants, options, &ceiling, runner, None)?;
    let audit = means.audit.clone();
    let all: Arc<[Grant]> = grants.clone().into();
    // Counts go on where they stood.
    let gate = Gate::new(all, limits, identity, means).map_err(invalid)?.after(earlier);
    Ok(Granted { grants, host: Arc::new(gate), audit, net: Arc::new(net) })
}

/// Who is there to be asked at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Person,
    Nobody,
}

impl Whom {
    fn of(options: &GrantOptions) -> Whom {
        if !options.no_prompt && ask::at_terminal() { Whom::Person } else { Whom::Nobody }
    }
}

/// Whom a run asks that nobody at a terminal watches: whoever looks at what waits.
fn approvals(
    grants: &[Grant],
    options: &GrantOptions,
    owners: bool,
    whom: Whom,
    run: &RunId,
) -> Result<Option<Asking<Drawer>>, Failure> {
    // Who brings a tool may want to be asked about it as well.
    let asks = owners || grants.iter().any(|grant| grant.rule == Rule::Ask);
    if whom == Whom::Person || !asks {
        return Ok(None);
    }
    let desk = Drawer::new(data_folder()?, run.clone());
    let patience = options.approval_time.unwrap_or(APPROVAL_TIME);
    Ok(Some(Asking { approvals: Arc::default(), desk, patience }))
}

/// The grants that someone agreed to for a whole run.
fn agreed(said: &[Approval]) -> impl Iterator<Item = String> + '_ {
    // What the run has not taken up yet is said to it when it asks, and kept for good where that was meant.
    let all =
        |one: &&Approval| one.begun && one.said.as_ref().is_some_and(|said| said.verdict.consent != Consent::Once);
    said.iter().filter(all).map(|one| one.ask.grant.clone())
}

/// A grant as it was suspended, performed by what is given now: a command, a source of secrets, a file.
fn with_means_of(saved: &Grant, flags: &[Grant]) -> Grant {
    let mut grant = saved.clone();
    for flag in flags {
        match (&mut grant.power, &flag.power) {
            (Power::Tool(own), Power::Tool(new)) if own.name == new.name => own.command.clone_from(&new.command),
            (Power::Secret(own), Power::Secret(new)) if own.name == new.name => own.from.clone_from(&new.from),
            (Power::Invoke(own), Power::Invoke(new)) if own.name == new.name => own.program.clone_from(&new.program),
            _ => {}
        }
    }
    grant
}

/// Opens what these grants need, and nothing else: a run without them starts as fast as before.
fn means(
    grants: &[Grant],
    options: &GrantOptions,
    ceiling: &Ceiling,
    runner: &Runner,
    session: Option<&Woken>,
) -> Result<Means, Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
    let net =
        Net::new(ceiling.net(options)).map_err(|error| Failure::usage(error, "check the file and the address"))?;
    let mut means = Means::new(Arc::new(net), folder.clone());
    let data = data_folder()?;
    let any = |wanted: fn(&Power) -> bool| grants.iter().any(|grant| wanted(&grant.power));
    if let Some(session) = session {
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
        means.programs = Some(Arc::new(ProgramFiles::new(runner.clone(), folder)));
    }
    let audit = data.audit().map_err(store)?;
    means.audit = Some(Arc::new(match &options.audit_log {
        Some(path) => audit.with_lines(path).map_err(store)?,
        None => audit,
    }));
    means.approver = Arc::new(Terminal);
    Ok(means)
}

/// The session that a program runs in, awake.
fn woken(options: &GrantOptions) -> Result<Option<Woken>, Failure> {
    let Some(name) = &options.session else { return Ok(None) };
    session::wake(&session::open()?, name).map(Some)
}

/// What is about a session's own files and keys, and what is not: a policy is about this machine.
fn own_of(session: Option<&Woken>, grants: Vec<Grant>) -> (Vec<Grant>, Vec<Grant>) {
    grants.into_iter().partition(|grant| session.is_some() && is_sessions_own(grant))
}

/// The folder where keys, secrets, audit and consent are kept.
pub(crate) fn data_folder() -> Result<DataFolder, Failure> {
    DataFolder::default_path().and_then(DataFolder::open).map_err(store)
}

pub(crate) fn store(error: isolith_store::StoreError) -> Failure {
    Failure::usage(error, "ISOLITH_DATA names another folder")
}

fn invalid(error: String) -> Failure {
    Failure::usage(error, "mend the grant")
}
