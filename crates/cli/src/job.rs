//! One run, ready to be started: its plan, and the gate that stands between it and the world.

mod ceiling;
mod on;
mod wish;

pub(crate) use ceiling::Ceiling;
pub(crate) use on::On;
pub(crate) use wish::{Equipment, Wish};

use crate::args::{GrantOptions, RunOptions};
use crate::ask;
use crate::commands::workbench;
use crate::failure::Failure;
use crate::grants;
use crate::pending::{APPROVAL_TIME, Drawer};
use crate::rehearsal::{Notes, Rehearsal};
use crate::source::Source;
use crate::types::Types;
use isolith_core::{
    Approval, AuditLog, CallRecord, Consent, Grant, Host, Limits, Narrowed, Power, Rule, RunId, SessionName,
};
use isolith_gate::egress::Net;
use isolith_gate::{Approver, Asking, Gate, Identity};
use isolith_runner::{Durable, NoTools, Patience, Plan, Recording, Runner, SuspendedRun};
use isolith_store::DataFolder;
use isolith_upstream::Toolbox;
use std::path::Path;
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

impl Job {
    /// Everything a person can have got wrong is said here, before anything runs.
    pub(crate) fn new(
        source: Source,
        options: &RunOptions,
        suspend: Option<&Path>,
        runner: &Runner,
    ) -> Result<Job, Failure> {
        let needs = || {
            let needs = isolith_program::needs(&source.text, &source.name, isolith_program::Language::Auto);
            let needs = needs.map(|needs| needs.manifest()).unwrap_or_default();
            needs.into_iter().filter(|grant| ask::has(runner, &grant.power)).collect()
        };
        let mut wish = Wish::of(&options.grants, needs)?;
        suspend.map_or(Ok(()), |_| stays(runner))?;
        let mut plan = workbench::plan(source, options, suspend)?;
        plan.must_suspend = suspend.is_some();
        plan.limits = wish.ceiling.limits(workbench::limits(options, wish.manifest.as_ref()));
        if let Some(session) = &wish.session {
            let (files, own) = (&session.open.files, wish.own().0);
            let mut load = |path: &str| isolith_workspace::module_text(&**files, &own, path);
            plan.find_modules(&mut load).map_err(|error| Failure::program(error.render()))?;
        }
        // THREAT[T-CONSENT-002]: what someone agreed to is this text with these modules; another module is another program.
        let program = plan.digest().to_string();
        ask::about_needs(&plan, &mut wish.grants, &options.grants, runner)?;
        let ambient = wish.manifest.as_ref().map(|manifest| manifest.ambient).unwrap_or_default();
        plan = plan.with_ambient(wish.ceiling.ambient(ambient));
        let record = options.record.then(|| wish.grants.clone());
        let Narrowed { grants, report } = wish.narrowed();
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
        let Equipment { mut means, tools } = wish.equipment(&grants, runner)?;
        let asks = tools.is_some() || options.plan;
        let whom = if options.plan { Whom::Nobody } else { Whom::of(&options.grants) };
        if let Some(approvals) = approvals(&grants, &options.grants, asks, whom, &run)? {
            stays(runner)?;
            plan.must_suspend = true;
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
        let session = wish.session.map(|session| session.session);
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
        let flags = grants::requested(options, None)?;
        let mut wish = Wish::of(options, Vec::new)?;
        wish.grants = run.grants().iter().map(|grant| with_means_of(grant, &flags)).collect();
        let grants = wish.allowed();
        if grants.is_empty() {
            return Ok(Resumable {
                run: run.narrowed_to(Vec::new()),
                host: Arc::new(NoTools),
                audit: None,
                asks: false,
            });
        }
        let Equipment { mut means, tools } = wish.equipment(&grants, runner)?;
        let id = run.id().cloned().unwrap_or_else(|| RunId(uuid::Uuid::now_v7().to_string()));
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

/// Someone who performs what was granted, and asks whom they are told to.
pub(crate) fn granted(
    wish: &Wish<'_>,
    grants: Vec<Grant>,
    identity: Identity,
    limits: Limits,
    earlier: Earlier<'_>,
    approver: Arc<dyn Approver>,
    runner: &Runner,
) -> Result<Granted, Failure> {
    if grants.is_empty() {
        return Ok(Granted { grants, host: Arc::new(NoTools), audit: None, net: wish.net()? });
    }
    let Equipment { mut means, .. } = wish.equipment(&grants, runner)?;
    means.approver = approver;
    let (audit, net) = (means.audit.clone(), Arc::clone(&means.net));
    let all: Arc<[Grant]> = grants.clone().into();
    // Counts go on where they stood.
    let gate = Gate::new(all, limits, identity, means).map_err(invalid)?;
    let gate = gate.after(earlier.calls).having_agreed(earlier.agreed.into_iter());
    Ok(Granted { grants, host: Arc::new(gate), audit, net })
}

/// What a run did before, in another process.
#[derive(Default)]
pub(crate) struct Earlier<'a> {
    pub(crate) calls: &'a [CallRecord],
    /// The grants that someone agreed to for all of it.
    pub(crate) agreed: Vec<String>,
}

/// Refuses what takes a run out of memory where its engine cannot.
fn stays(runner: &Runner) -> Result<(), Failure> {
    match runner.engine().name() {
        "v8" => {
            Err(Failure::usage("a run on `v8` cannot wait outside memory", "run it on `quickjs`, or at a terminal"))
        }
        _ => Ok(()),
    }
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
