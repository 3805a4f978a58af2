//! What running one program takes: an engine of the right size, a runtime, and a plan made from the arguments.

use crate::args::{EngineSettings, RunOptions, Show};
use crate::engines::Engines;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job::{Job, On};
use crate::progress::Spinner;
use crate::source::{self, Source};
use crate::terminal::{Nowhere, Terminal};
use crate::types::Types;
use crate::{Done, paint, pending, rehearsal, show};
use isolith_core::{AuditLog, Engine, EngineChoice, Host, Isolation, Limits, Manifest, OutputSink, Timestamp};
use isolith_quickjs::Options;
use isolith_remote::{ItsLimits, Remote, Worker};
use isolith_runner::{Attend, Ended, Patience, Plan, Recording, RunError, Runner, Time};
use isolith_server::Checker as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// One program at a time needs one isolate, and those that it invokes; spare ones cost nothing.
const SMALL: Options = Options { live: 8, computing: 2, queue: 4, queue_wait: Duration::from_secs(5), test262: false };

/// `--suspend` is for timers: whatever else a run waits for is at work here.
pub(crate) const AT_ONCE: Patience = Patience { timer: Duration::ZERO, outside: Duration::MAX };

pub(crate) struct Workbench {
    pub(crate) runner: Runner,
    pub(crate) runtime: Runtime,
}

impl Workbench {
    pub(crate) fn small(on: &On<'_>) -> Result<Workbench, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Workbench::on(runtime, SMALL, on)
    }

    /// For `jobs` programs side by side.
    pub(crate) fn wide(jobs: u32, on: &On<'_>) -> Result<Workbench, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(jobs as usize);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        Workbench::on(runtime, Options { live: jobs, computing: jobs, ..Options::default() }, on)
    }

    fn on(runtime: std::io::Result<Runtime>, options: Options, on: &On<'_>) -> Result<Workbench, Failure> {
        let runtime = runtime.map_err(|error| Failure::internal("starting the runtime", &error))?;
        let engine = engine(&runtime, options, on)?;
        Ok(Workbench { runner: Runner::new(engine), runtime })
    }

    /// Shows what is wrong with a program's types; nothing when nothing is.
    fn mistaken(&self, types: &Types, source: &str, name: &str, show: Show) -> Result<Option<Exit>, Failure> {
        let mistakes = self.runtime.block_on(types.check(source));
        let mistakes = mistakes.map_err(|error| Failure::usage(error, "run it without `--type-check`"))?;
        if mistakes.is_empty() {
            return Ok(None);
        }
        if show.json {
            show::line(&show::to_json(&serde_json::json!({ "status": "error", "types": mistakes })));
            return Ok(Some(Exit::Failed));
        }
        for one in &mistakes {
            let text = format!("{} ({})\n  at {name}:{}:{}", one.message, one.code, one.line, one.column);
            paint::complain(paint::ERROR, "type", &crate::terminal::inert(&text, true));
        }
        Ok(Some(Exit::Failed))
    }

    /// Runs one program and shows how it ended.
    pub(crate) fn run(&self, mut job: Job, show: Show, suspend: Option<&Path>) -> Done {
        if let Some(types) = job.types.take()
            && let Some(exit) = self.mistaken(&types, &job.plan.source, &job.plan.name, show)?
        {
            return Ok(exit);
        }
        let recording = job.recording()?;
        let recorded = recording.is_some();
        let Job { plan, host, audit, tools, rehearsal, session, .. } = job;
        let (name, source) = (plan.name.clone(), plan.source.clone());
        let spinner = if show.json { Spinner::none() } else { Spinner::new("running") };
        let ended = self.runtime.block_on(go(&self.runner, plan, attend(host, show, &spinner), recording));
        spinner.done();
        if let Some(tools) = tools {
            self.runtime.block_on(tools.close());
        }
        self.runtime.block_on(flush(audit))?;
        let ended = ended?;
        if let Some(notes) = rehearsal {
            return rehearsal::tell(&ended, &notes, show.json);
        }
        self.runtime.block_on(pending::settle(&ended, None, session.as_ref(), show.json))?;
        if recorded && !show.json {
            paint::note(paint::QUIET, "recorded: `isolith replay last` does it again, without doing anything");
        }
        finish(&ended, show, suspend, &name, &source)
    }
}

/// Runs a program, and records it where that is wanted.
pub(crate) async fn go(
    runner: &Runner,
    plan: Plan,
    attend: Attend,
    recording: Option<Recording>,
) -> Result<Ended, RunError> {
    match recording {
        Some(recording) => runner.record(plan, attend, recording).await,
        None => runner.run(plan, attend).await,
    }
}

/// The engine of this build, or one that is elsewhere.
fn engine(runtime: &Runtime, options: Options, on: &On<'_>) -> Result<Arc<dyn Engine>, Failure> {
    means_something(on)?;
    if let Some(elsewhere) = on.elsewhere
        && let Some(url) = &elsewhere.remote
    {
        let key = elsewhere.remote_key_env.as_deref().map(variable).transpose()?;
        let connected = runtime.block_on(Remote::connect(url, key.as_deref()));
        let hint =
            "`isolith serve` has to run there, with a key of scope `isolates` in the variable of `--remote-key-env`";
        return Ok(Arc::new(connected.map_err(|error| Failure::usage(error, hint))?));
    }
    if let Some(elsewhere) = on.elsewhere
        && let Some(url) = &elsewhere.worker
    {
        let key = elsewhere.worker_key_env.as_deref().map(variable).transpose()?;
        let trust = if elsewhere.trust_worker_limits { ItsLimits::Trusted } else { ItsLimits::NotTrusted };
        let worker = Worker::new(url, key.as_deref(), trust);
        return Ok(Arc::new(worker.map_err(|error| Failure::usage(error, "give the address of the Worker"))?));
    }
    let _inside = runtime.enter();
    Ok(Engines::new(options, on.settings)?.of(on.housing)?)
}

/// Refuses what would be ignored: walls that nobody builds are worse than none.
fn means_something(on: &On<'_>) -> Result<(), Failure> {
    let EngineSettings { jitless, require_jail, auto_after } = on.settings;
    let elsewhere = on.elsewhere.is_some_and(|elsewhere| elsewhere.remote.is_some() || elsewhere.worker.is_some());
    let engine = on.housing.engine();
    if elsewhere && (engine == EngineChoice::V8 || on.housing.isolation == Isolation::Process) {
        let hint = "run it here, or leave `engine` and `isolation` out of the manifest and the policy";
        return Err(Failure::usage("what the manifest or the policy wants around programs is not had elsewhere", hint));
    }
    // `auto` begins without a process.
    let process = on.housing.isolation == Isolation::Process || engine == EngineChoice::V8;
    let wrong = match engine {
        _ if require_jail && !process => Some(("--require-jail", "`--engine v8` or `--isolation process`")),
        EngineChoice::Quickjs if jitless => Some(("--jitless", "`--engine v8`")),
        EngineChoice::Quickjs | EngineChoice::V8 if auto_after.is_some() => Some(("--auto-after", "`--engine auto`")),
        _ => None,
    };
    match wrong {
        Some((flag, other)) => {
            Err(Failure::usage(format!("`{flag}` means nothing here"), format!("say {other} as well")))
        }
        None => Ok(()),
    }
}

/// A key comes from the environment: what is on a command line is seen by everyone on the machine.
fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| Failure::usage(format!("there is no variable `{name}`"), "set it to the key"))
}

/// Shows how a run ended and, if it was suspended, puts it where it is to be found again.
pub(crate) fn finish(ended: &Ended, show: Show, suspend: Option<&Path>, name: &str, source: &str) -> Done {
    // What waits for someone's word is kept where that word is found.
    if let (Some(run), Some(path), true) = (&ended.suspended, suspend, ended.outcome.approvals.is_empty()) {
        write_whole(path, &run.to_bytes())?;
        if !show.json {
            paint::note(paint::QUIET, &format!("suspended: `isolith resume {}` goes on with it", path.display()));
        }
    }
    show::outcome(&ended.outcome, show, name, source);
    Ok(Exit::of(&ended.outcome))
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("cannot write `{}`: {error}", path.display()), "name a place that can be written")
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    std::io::Write::write_all(&mut file, bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Nobody is told how a run ended before it is written down what it did.
pub(crate) async fn flush(audit: Option<Arc<dyn AuditLog>>) -> Result<(), Failure> {
    let Some(audit) = audit else { return Ok(()) };
    audit.flush().await.map_err(|error| {
        Failure::usage(
            format!("the audit cannot be written: {error}"),
            "make room, or set ISOLITH_DATA to another folder",
        )
    })
}

pub(crate) fn attend(host: Arc<dyn Host>, show: Show, spinner: &Spinner) -> Attend {
    let sink: Arc<dyn OutputSink> =
        if show.json || show.quiet { Arc::new(Nowhere) } else { Arc::new(Terminal::new(spinner.clone())) };
    Attend::new(host, sink)
}

/// Makes the plan. Everything a person can have got wrong is said here, before anything runs.
pub(crate) fn plan(source: Source, options: &RunOptions, suspend: Option<&Path>) -> Result<Plan, Failure> {
    let mut plan = Plan::new(source.text, source.name);
    plan.limits = limits(options, None);
    plan.args = options.args.iter().map(|text| source::argument(text)).collect::<Result<_, _>>()?;
    plan.input = match &options.input {
        Some(path) => Some(source::json(path, plan.limits.payload_bytes)?),
        None => None,
    };
    plan.seed = options.seed;
    if let Some(text) = &options.time {
        plan.time = Time::Virtual(moment(text)?);
    }
    plan.patience = suspend.map(|_| AT_ONCE);
    plan.check().map_err(RunError::Plan)?;
    Ok(plan)
}

/// The limits of the manifest, where there is one, with what the flags say.
pub(crate) fn limits(options: &RunOptions, manifest: Option<&Manifest>) -> Limits {
    let default = manifest.map_or_else(Limits::default, |manifest| manifest.limits);
    let wall = options.timeout.unwrap_or(default.wall);
    Limits {
        wall,
        // Who allows a longer run and says nothing of computing does not want to be stopped for that.
        cpu: options.cpu.unwrap_or(if options.timeout.is_some() { wall.max(default.cpu) } else { default.cpu }),
        memory_bytes: options.memory.unwrap_or(default.memory_bytes),
        ..default
    }
}

fn moment(text: &str) -> Result<Timestamp, Failure> {
    let hint = "write a date such as `2026-01-31T12:00:00Z`, or milliseconds since 1970";
    let wrong = || Failure::usage(format!("`--time {text}` is not a moment"), hint);
    let micros = match text.parse::<u64>() {
        Ok(ms) => ms.checked_mul(1_000).ok_or_else(wrong)?,
        Err(_) => {
            let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
            u64::try_from(moment.as_microsecond()).map_err(|_| wrong())?
        }
    };
    // What JavaScript's Date can hold.
    if micros > 8_640_000_000_000_000_000 { Err(wrong()) } else { Ok(Timestamp::from_micros(micros)) }
}
