//! Running a workflow, and going on with one.

use super::bench::Bench;
use super::post::{self, Post, Whom};
use super::tell::{Tell, Teller};
use super::{approve, artifacts, check, consent, crew, find, look, store};
use crate::args::{Attended, GrantOptions, ResumeWorkflow, RunWorkflow};
use crate::commands::workbench::{Workbench, flush};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job::{Earlier, Wish};
use crate::pending::APPROVAL_TIME;
use crate::terminal::Nowhere;
use crate::{Done, ask, job, journals, paint, show, source};
use isolith_agents::Setting;
use isolith_core::{Bindings, Json, Mark, Recorder, RunId, StoreProblem};
use isolith_gate::{Approver, Identity};
use isolith_runner::{Patience, Runner};
use isolith_store::{Flow, FlowState, JournalFile, Workflows};
use isolith_workflow::{
    Around, Bundle, Control, End, Finished, Imported, Keep, Kept as State, Means, Settings, limits,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// After how many turns the state of a run is kept.
const CHECKPOINT_EVERY: u32 = 256;
/// How long a run that only waits stays, where it is to leave.
const LEAVES_AFTER: Patience = Patience { timer: Duration::from_secs(1), outside: Duration::from_secs(1) };
/// The largest set of answers, and the largest journal of others.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// How a run is run, written down for whoever goes on with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) args: Option<Json>,
    pub(super) answers: BTreeMap<String, Json>,
    pub(super) budget: Option<u64>,
    pub(super) cap: Option<u32>,
    pub(super) concurrency: Option<u32>,
    pub(super) mock: bool,
    pub(super) agents: Option<PathBuf>,
    pub(super) harness: Option<serde_json::Value>,
    pub(super) output: Option<PathBuf>,
    /// Whether it was begun elsewhere, so that nobody here has agreed to it.
    #[serde(default)]
    pub(super) foreign: bool,
    /// Where it is run: its agents work there, also when it is taken up from elsewhere.
    #[serde(default)]
    pub(super) folder: Option<PathBuf>,
    /// A folder below that, which the workflow itself names for what it leaves.
    #[serde(default)]
    pub(super) named: Option<PathBuf>,
    /// A journal of another implementation.
    #[serde(default)]
    pub(super) journal: Option<String>,
}

impl Kept {
    fn settings(&self) -> Settings {
        let own = Settings::default();
        Settings {
            args: self.args.clone(),
            budget: self.budget,
            cap: self.cap.unwrap_or(own.cap),
            concurrency: self.concurrency.map_or(own.concurrency, |wanted| wanted as usize),
            mock: self.mock,
            answers: self.answers.clone(),
        }
    }
}

pub(super) fn run(args: RunWorkflow) -> Done {
    let bundle = check::bundle(&args.file)?;
    let kept = kept(&args, &bundle)?;
    let wish = Wish::of(&args.grants, || check::needs_of(&bundle, &[]).into_iter().map(|need| need.grant).collect())?;
    let grants = wish.narrowed().grants;
    if let Some(builtin) = Bindings::of(&grants).builtins.first() {
        let hint = "a program that the workflow has run for it can have what was granted to that program";
        return Err(Failure::usage(
            format!("a workflow leaves memory and comes back, which it cannot with `{builtin}`"),
            hint,
        ));
    }
    consent::gate(&bundle, &grants, &args.attended, args.grants.no_prompt)?;
    if args.detach {
        return detach(&bundle.digest().to_string(), args.attended.json);
    }
    let run = RunId(args.attended.headless.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string()));
    let digest = bundle.digest().to_string();
    let workbench = Workbench::small(&job::On::that_suspends(&args.grants)?)?;
    let identity = Identity { run: run.clone(), program: digest.clone() };
    let store = Arc::new(store()?);
    let stand = Stand::new(&run, &store, &args.attended)?;
    let approver = stand.approver(args.grants.approval_time)?;
    let granted = job::granted(&wish, grants, identity, limits(), Earlier::default(), approver, &workbench.runner)?;
    let settings = Json::of(&kept).map_err(|error| Failure::internal("keeping settings", &error))?;
    let (created, changed) = Default::default();
    let (state, process) = (FlowState::Running, std::process::id());
    let name = bundle.meta.name.clone();
    let flow = Flow { run: run.clone(), name, state, process, created, changed, digest, settings, result: None };
    let journal = journals::open()?.create(&run).map_err(job::store)?;
    let journal = Announced { to: journal, new: Some((Arc::clone(&store), flow)) };
    let means = stand.means(&kept, &granted, &workbench.runner)?;
    let around = stand.around(Box::new(journal));
    let went = workbench.runtime.block_on(stand.attended(isolith_workflow::run(
        &workbench.runner,
        &bundle,
        (run.clone(), &granted.grants, limits()),
        kept.settings(),
        means,
        around,
    )));
    workbench.runtime.block_on(flush(granted.audit.clone()))?;
    stand.finish(went?, &kept)
}

pub(super) fn resume(args: &ResumeWorkflow) -> Done {
    let store = Arc::new(store()?);
    let flow = find(&store, &args.run)?;
    if flow.state.is_over() {
        let message = format!("the run {} is {} [workflow.over]", flow.run, flow.state.word());
        return Err(Failure::usage(message, "`isolith workflow retry` or `fork` begins a new one from it"));
    }
    if look::is_alive(&flow) {
        // A process has it: it is paused, or has nothing to be told.
        store.send(&flow.run, post::ORDER, post::RESUME, &Json::null()).map_err(job::store)?;
        look::said(&flow.run, "goes on", args.attended.json);
        return Ok(Exit::Ok);
    }
    take_up(&store, &flow, &args.attended, &args.grants)
}

/// Goes on with a run that no process has.
pub(super) fn take_up(store: &Arc<Workflows>, flow: &Flow, attended: &Attended, grants: &GrantOptions) -> Done {
    let run = &flow.run;
    let mut kept: Kept = flow.settings.parse().map_err(|error| Failure::internal("reading settings", &error))?;
    kept.mock |= attended.mock;
    kept.agents = attended.agents.clone().or(kept.agents);
    let unknown =
        || Failure::usage(format!("the journal of {run} is gone [replay.unknown]"), "nothing is known of what it did");
    let workbench = Workbench::small(&job::On::that_suspends(grants)?)?;
    // One of another version is of no use: everything is told again.
    let state = store.kept(run).map_err(job::store)?.and_then(|bytes| State::from_bytes(&bytes).ok());
    let state = state.filter(|kept| workbench.runner.can_resume(&kept.state));
    let (journal, recorded) = journals::taken_up(run, state.as_ref().map(|kept| &kept.state))?.ok_or_else(unknown)?;
    if kept.foreign {
        consent::foreign(run, attended, grants.no_prompt)?;
    }
    let wish = Wish::of(grants, Vec::new)?;
    let asked = wish.narrowed().grants;
    // What it was begun with holds, as far as it is granted now too.
    let own: Vec<String> = recorded.header.grants.iter().map(ToString::to_string).collect();
    let (asked, others): (Vec<_>, Vec<_>) = asked.into_iter().partition(|grant| own.contains(&grant.to_string()));
    for grant in others {
        paint::complain(
            paint::HINT,
            "note",
            &format!("`{grant}` is not what the run was begun with, and not granted now"),
        );
    }
    let identity = Identity { run: run.clone(), program: flow.digest.clone() };
    let stand = Stand::new(run, store, attended)?;
    let approver = stand.approver(grants.approval_time)?;
    let calls = recorded.calls();
    let earlier = Earlier { calls: &calls, agreed: stand.post.agreed() };
    let granted = job::granted(&wish, asked, identity, limits(), earlier, approver, &workbench.runner)?;
    let means = stand.means(&kept, &granted, &workbench.runner)?;
    store.set(run, FlowState::Running, std::process::id(), None).map_err(job::store)?;
    let around = stand.around(Box::new(journal));
    let took = isolith_workflow::take_up(&workbench.runner, &recorded, state, kept.settings(), means, around);
    let went = workbench.runtime.block_on(stand.attended(took));
    workbench.runtime.block_on(flush(granted.audit.clone()))?;
    stand.finish(went?, &kept)
}

fn kept(args: &RunWorkflow, bundle: &Bundle) -> Result<Kept, Failure> {
    let json = |what: &str, text: &str| {
        Json::from_text(text.to_owned()).map_err(|error| {
            Failure::usage(format!("`{what}` is no JSON: {error}"), "text stands in quotes: '\"text\"'")
        })
    };
    let answers = match &args.answers {
        Some(text) => {
            let text = match text.strip_prefix('@') {
                Some(file) => source::text(file.as_ref(), INPUT_BYTES_MAX)?,
                None => text.clone(),
            };
            let wrong =
                |error| Failure::usage(format!("`--answers` is no object: {error}"), "such as '{\"color\": \"red\"}'");
            json("--answers", &text)?.parse().map_err(wrong)?
        }
        None => BTreeMap::new(),
    };
    let named =
        if args.output.is_some() { None } else { bundle.meta.output.as_deref().map(artifacts::below).transpose()? };
    let journal = args.journal.as_ref().map(|path| source::text(path, INPUT_BYTES_MAX)).transpose()?;
    let here = std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    Ok(Kept {
        args: args.args.as_deref().map(|text| json("--args", text)).transpose()?,
        answers,
        budget: args.budget,
        cap: args.max_agents,
        concurrency: args.concurrency,
        mock: args.attended.mock,
        agents: args.attended.agents.clone().map(absolute),
        harness: bundle.meta.harness.clone(),
        output: args.output.clone().map(absolute),
        foreign: false,
        folder: Some(here),
        named,
        journal,
    })
}

/// Begins the same in a process of its own.
fn detach(digest: &str, as_json: bool) -> Done {
    use std::os::unix::process::CommandExt as _;
    let run = RunId(uuid::Uuid::now_v7().to_string());
    let exe = std::env::current_exe().map_err(|error| Failure::internal("finding this program", &error))?;
    // What it is told by nobody's hand is said once.
    let ours = ["--detach", "--yes", "--quiet", "-q", "--json"];
    let own = std::env::args_os().skip(1).filter(|arg| !ours.iter().any(|one| arg == one));
    let mut child = std::process::Command::new(exe);
    child.args(own).args(["--agreed", digest, "--quiet", "--headless", &run.0]);
    child.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // A terminal that is closed does not end it.
    child.process_group(0);
    let mut child = child.spawn().map_err(|error| Failure::internal("starting a process", &error))?;
    let store = store()?;
    for _ in 0..500 {
        if store.get(&run).map_err(job::store)?.is_some() {
            look::said(&run, "runs", as_json);
            return Ok(Exit::Ok);
        }
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    Err(Failure::usage("the workflow did not begin", "run it without `--detach` to see why"))
}

/// The journal of a new run. The run is there for others once its journal says what it is.
struct Announced {
    to: JournalFile,
    new: Option<(Arc<Workflows>, Flow)>,
}

impl Recorder for Announced {
    fn append(&mut self, record: &str) -> Result<(), StoreProblem> {
        self.to.append(record)?;
        let Some((store, flow)) = self.new.take() else { return Ok(()) };
        self.to.sync()?;
        store.begin(&flow).map_err(|error| StoreProblem(error.to_string()))
    }

    fn sync(&mut self) -> Result<(), StoreProblem> {
        self.to.sync()
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> Result<(), StoreProblem> {
        self.to.rewrite(change)
    }

    fn mark(&self) -> Option<Mark> {
        self.to.mark()
    }
}

/// What stands around one run in this process.
struct Stand<'a> {
    run: &'a RunId,
    store: &'a Arc<Workflows>,
    args: &'a Attended,
    control: Arc<Control>,
    post: Arc<Post>,
    teller: Arc<Teller>,
}

impl Stand<'_> {
    fn new<'a>(run: &'a RunId, store: &'a Arc<Workflows>, args: &'a Attended) -> Result<Stand<'a>, Failure> {
        let whom = match (&args.headless, args.suspend, ask::at_terminal()) {
            (Some(_), ..) | (_, true, _) => Whom::Elsewhere,
            (None, false, true) => Whom::Person,
            (None, false, false) => Whom::Nobody,
        };
        let tell = match (args.json, args.quiet) {
            (true, _) => Tell::Json,
            (false, true) => Tell::Nothing,
            (false, false) if ask::at_terminal() && !args.plain => Tell::View,
            (false, false) => Tell::Lines,
        };
        let control = Arc::new(Control::default());
        let post = Post::new(whom, store, run).map_err(job::store)?;
        let teller = Teller::new(run, tell, &control)?;
        Ok(Stand { run, store, args, control, post, teller })
    }

    /// Who is asked about calls that someone has to agree to.
    fn approver(&self, patience: Option<Duration>) -> Result<Arc<dyn Approver>, Failure> {
        let audience = Arc::clone(&self.teller) as _;
        approve::asking((self.run, self.store), &self.post, audience, patience.unwrap_or(APPROVAL_TIME))
    }

    fn means(&self, kept: &Kept, granted: &job::Granted, runner: &Runner) -> Result<Means, Failure> {
        let here = std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
        let folder = kept.folder.clone().unwrap_or(here);
        let imported = kept.journal.as_deref().map(|text| Imported::read(text).map(Arc::new)).transpose();
        let imported = imported.map_err(|error| Failure::usage(error, "a line of JSON for each answer"))?;
        let secrets = job::data_folder()?.secrets().ok().map(|secrets| Arc::new(secrets) as _);
        let workshop = Some(Arc::new(Bench { runner: runner.clone() }) as _);
        let setting = Setting { net: Arc::clone(&granted.net), secrets, folder, workshop };
        let attended = Attended { mock: kept.mock, agents: kept.agents.clone(), ..self.args.clone() };
        Ok(Means {
            agents: crew::crew(&attended, kept.harness.as_ref(), &setting)?,
            inner: Arc::clone(&granted.host),
            audience: Arc::clone(&self.teller) as _,
            mail: Arc::clone(&self.post) as _,
            control: Arc::clone(&self.control),
            imported,
        })
    }

    fn around(&self, journal: Box<dyn Recorder>) -> Around {
        let (store, run) = (Arc::clone(self.store), self.run.clone());
        let keep = move |state: &State| {
            // The journal has everything; a state that is not kept costs time.
            let _ = store.keep(&run, &state.to_bytes());
        };
        Around {
            journal,
            keep: Some(Keep { every: CHECKPOINT_EVERY, to: Arc::new(keep) }),
            patience: self.args.suspend.then_some(LEAVES_AFTER),
            sink: Arc::new(Nowhere),
            leave: Default::default(),
        }
    }

    /// Runs it while what is sent to it is fetched.
    async fn attended<T>(&self, run: impl Future<Output = T>) -> T {
        let control = Arc::clone(&self.control);
        let fetch = Arc::clone(&self.post).fetch(Arc::clone(self.store), self.run.clone(), control);
        let fetching = tokio::spawn(fetch);
        let done = run.await;
        fetching.abort();
        done
    }

    /// Writes down how it ended, and tells.
    fn finish(&self, finished: Finished, kept: &Kept) -> Done {
        let set = |state: FlowState, result: Option<&Json>| {
            self.store.set(self.run, state, std::process::id(), result).map_err(job::store)
        };
        match finished.end {
            End::Value(value) => {
                let result = value.unwrap_or_else(Json::null);
                // What it leaves is there before anyone is told that it is done.
                let here = kept.folder.as_deref();
                let written = match (&kept.output, kept.named.as_deref().zip(here)) {
                    (Some(folder), _) => artifacts::write(folder, None, &result),
                    (None, Some((named, here))) => artifacts::write(here, Some(named), &result),
                    (None, None) => Ok(Vec::new()),
                };
                // Its value is not lost with them.
                set(FlowState::Finished, Some(&result))?;
                let written = written?;
                if self.args.json {
                    show::line(&show::to_json(
                        &json!({ "type": "result", "run": self.run, "status": "finished", "value": result, "files": written }),
                    ));
                } else {
                    show::line(&crate::terminal::shown(result.text()));
                    written.iter().for_each(|file| paint::note(paint::QUIET, &format!("written: {}", file.display())));
                }
                Ok(Exit::Ok)
            }
            End::Failed(fault) => {
                let stopped = self.control.stop.is_cancelled();
                let state = if stopped { FlowState::Stopped } else { FlowState::Failed };
                let error = Json::of(&fault).unwrap_or_else(|_| Json::null());
                set(state, Some(&error))?;
                if self.args.json {
                    show::line(&show::to_json(
                        &json!({ "type": "result", "run": self.run, "status": state.word(), "error": error }),
                    ));
                } else {
                    paint::complain(paint::ERROR, "error", &crate::terminal::inert(&fault.to_string(), true));
                    paint::complain(
                        paint::HINT,
                        "hint",
                        &format!(
                            "`isolith workflow show {0}` tells what it did; `retry {0}` begins anew before the failure",
                            self.run
                        ),
                    );
                }
                Ok(Exit::Failed)
            }
            End::NotTakenUp(fault) => {
                set(FlowState::Waiting, None)?;
                let hint = "it is as it was: take it up with the version that began it, or `fork` it";
                Err(Failure::usage(fault, hint))
            }
            End::Waits(state) => {
                self.store.keep(self.run, &state.to_bytes()).map_err(job::store)?;
                set(FlowState::Waiting, None)?;
                let wakes = state.state.wakes_at().map(|at| at.as_micros() / 1000);
                if self.args.json {
                    show::line(&show::to_json(
                        &json!({ "type": "result", "run": self.run, "status": "waiting", "wakesAt": wakes }),
                    ));
                } else {
                    paint::note(
                        paint::QUIET,
                        &format!("it waits: `isolith workflow resume {}` goes on with it", self.run),
                    );
                }
                Ok(Exit::Suspended)
            }
        }
    }
}
