//! Workspaces as agent frameworks declare them, from Rust: a provider, capabilities, and a reference to find them again by.

use super::{Isolith, Job};
use isolith_core::files::Room;
use isolith_core::{FileTree, FilesError, FilesOp, Grant, SessionName, SessionSettings, SessionStore as _, Stream};
use isolith_gate::HostFolder;
use isolith_store::Sessions;
use isolith_workspace::contract::{
    CodeOutput, Declared, Network, Offer, Provider, RunCodeResult, ScriptSettings, WorkspaceFailed, WorkspaceRef,
    offers, prompt, wrong_language,
};
use isolith_workspace::{Answer, Memory, Scope, whole};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How much a workspace in memory may hold.
const IN_MEMORY_ROOM: Room = Room { bytes: 256 << 20, files: 100_000, file_bytes: 64 << 20 };

/// The workspaces in memory of one [`Isolith`].
pub(super) type InMemory = Arc<Mutex<BTreeMap<String, Arc<Memory>>>>;

/// A workspace that is open.
///
/// ```
/// use isolith::{Isolith, json, workspace::{Answer, FilesOp}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// let isolith = Isolith::builder().build()?;
/// let declared = json!({
///     "provider": { "kind": "local-directory", "path": folder.path() },
///     "capabilities": { "fs": true, "script": { "maxDurationMs": 5000 } },
/// });
/// let workspace = isolith.open_workspace(serde_json::from_value(declared)?)?;
/// workspace.files(FilesOp::Write { path: "a.txt".into(), append: false }, b"hello".to_vec()).await?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("a.txt"))?, "hello");
///
/// let script = workspace.script().ok_or("no script")?;
/// assert!(!script.is_stateful());
/// let ran = script.run_code("javascript", "console.log('hi'); return 6 * 7", Default::default()).await;
/// assert_eq!((ran.exit_code, ran.outputs.len()), (0, 2));
///
/// // What says where it is finds it again.
/// let text = serde_json::to_string(workspace.reference())?;
/// assert!(isolith.resolve_workspace(serde_json::from_str(&text)?).is_ok());
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone)]
pub struct Workspace {
    reference: WorkspaceRef,
    isolith: Isolith,
    tree: Option<Arc<dyn FileTree>>,
    past: Option<(Arc<Sessions>, SessionName)>,
}

/// Runs scripts, each in an isolate of its own: there is nothing that one leaves to the next.
#[derive(Clone)]
pub struct CodeInterpreter {
    isolith: Isolith,
    settings: ScriptSettings,
}

/// What goes with one script.
#[derive(Clone, Default)]
pub struct RunCodeOptions {
    /// How long it may take; otherwise as the capability says, or the provider.
    pub timeout: Option<Duration>,
    /// Is told what it writes, as it does.
    pub on_output: Option<Arc<dyn Fn(CodeOutput) + Send + Sync>>,
}

impl Isolith {
    /// Opens a workspace. What it cannot do fails here, with the reason, and not when it is used.
    pub fn open_workspace(&self, declared: Declared) -> Result<Workspace, WorkspaceFailed> {
        let mut reference = declared.open()?;
        match &mut reference.reference {
            Provider::InMemory { id } => {
                let new = format!("inmem-{}", uuid::Uuid::new_v4().simple());
                self.lock_memory().insert(new.clone(), Arc::new(Memory::new(IN_MEMORY_ROOM)));
                *id = Some(new);
            }
            Provider::Filestore { session: session @ None } => {
                let made = self.sessions()?.create(None, SessionSettings::default()).map_err(|error| failed(&error))?;
                *session = Some(made.session);
            }
            Provider::Filestore { .. } | Provider::LocalDirectory { .. } | Provider::Isolate { .. } => {}
        }
        self.resolve_workspace(reference)
    }

    /// Finds a workspace again by what [`Workspace::reference`] said.
    pub fn resolve_workspace(&self, reference: WorkspaceRef) -> Result<Workspace, WorkspaceFailed> {
        reference.check()?;
        let (tree, past): (Option<Arc<dyn FileTree>>, _) = match &reference.reference {
            Provider::Isolate { .. } => (None, None),
            Provider::InMemory { id } => {
                let found = id.as_ref().and_then(|id| self.lock_memory().get(id).cloned());
                let gone = || WorkspaceFailed("a workspace in memory is gone with the process that had it".into());
                (Some(found.ok_or_else(gone)?), None)
            }
            Provider::LocalDirectory { path } => {
                let path = std::path::absolute(path).map_err(|error| failed(&error))?;
                if !path.is_dir() {
                    return Err(WorkspaceFailed(format!("`{}` is no folder", path.display())));
                }
                (Some(Arc::new(HostFolder::new(path))), None)
            }
            Provider::Filestore { session } => {
                let sessions = Arc::new(self.sessions()?);
                let session =
                    session.clone().ok_or_else(|| WorkspaceFailed("the reference names no session".into()))?;
                let woken = sessions.wake(&session).map_err(|error| failed(&error))?;
                (Some(Arc::clone(&woken.open.files)), Some((sessions, session)))
            }
        };
        Ok(Workspace { reference, isolith: self.clone(), tree, past })
    }

    fn sessions(&self) -> Result<Sessions, WorkspaceFailed> {
        let none = || WorkspaceFailed("the provider `filestore` needs a data folder: `Builder::data_folder`".into());
        self.data.as_ref().ok_or_else(none)?.sessions().map_err(|error| failed(&error))
    }

    fn lock_memory(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Memory>>> {
        self.in_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace {
    /// What finds it again, with the settings that hold.
    pub fn reference(&self) -> &WorkspaceRef {
        &self.reference
    }

    /// The tools that a model is given for it.
    pub fn tools(&self) -> Vec<&'static Offer> {
        offers(&self.reference.capabilities)
    }

    /// What a model is told about it.
    pub fn prompt(&self) -> String {
        prompt(&self.reference.capabilities)
    }

    /// Does something with its files; `bytes` is what is to be written.
    pub async fn files(&self, op: FilesOp, bytes: Vec<u8>) -> Result<Answer, FilesError> {
        let has = self.reference.capabilities.fs.as_ref().is_some_and(|fs| fs.is_on());
        let tree = self.tree.clone().filter(|_| has);
        let tree = tree.ok_or(isolith_core::FilesReason::Unsupported("files: `fs` is not declared"))?;
        let work = move || whole(&*tree, &Scope::whole(), &op, &bytes);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(isolith_core::FilesReason::Io("it was given up".into()).into()))
    }

    /// Runs scripts, where `script` is declared.
    pub fn script(&self) -> Option<CodeInterpreter> {
        let script = self.reference.capabilities.script.as_ref().filter(|script| script.is_on())?;
        Some(CodeInterpreter { isolith: self.isolith.clone(), settings: script.settings() })
    }

    /// Keeps its files as they are now, and gives the name to find them by.
    pub fn snapshot(&self, name: Option<SessionName>) -> Result<SessionName, WorkspaceFailed> {
        let (sessions, session) = self.past()?;
        let made = sessions.snapshot(session, name, SessionSettings::default().snapshots());
        made.map(|made| made.snapshot).map_err(|error| failed(&error))
    }

    /// A new workspace with the files of a snapshot. This one stays as it is.
    pub fn restore(&self, snapshot: &SessionName) -> Result<Workspace, WorkspaceFailed> {
        let (sessions, session) = self.past()?;
        let made = sessions.fork(session, Some(snapshot), None).map_err(|error| failed(&error))?;
        let reference = Provider::Filestore { session: Some(made.session) };
        self.isolith.resolve_workspace(WorkspaceRef { reference, ..self.reference.clone() })
    }

    fn past(&self) -> Result<&(Arc<Sessions>, SessionName), WorkspaceFailed> {
        let has = self.reference.capabilities.snapshot.as_ref().is_some_and(|one| one.is_on());
        let none = || WorkspaceFailed("`snapshot` is not declared for this workspace".into());
        self.past.as_ref().filter(|_| has).ok_or_else(none)
    }
}

impl CodeInterpreter {
    /// What scripts may be written in, as models are told.
    pub fn languages(&self) -> &[String] {
        self.settings.languages.as_deref().unwrap_or_default()
    }

    /// Never: there are no contexts to make, and none to delete.
    pub fn is_stateful(&self) -> bool {
        false
    }

    /// Runs a script. It never fails but in what it gives: another language, a mistake, too much time.
    pub async fn run_code(&self, language: &str, code: &str, options: RunCodeOptions) -> RunCodeResult {
        if let Some(wrong) = wrong_language(language) {
            return wrong;
        }
        let allowed = self.settings.network == Some(Network::Allow);
        let grants: Vec<Grant> = if allowed { "egress:*".parse().into_iter().collect() } else { Vec::new() };
        let isolith = Isolith { grants: grants.into(), ..self.isolith.clone() };
        let mut limits = isolith.limits;
        if let Some(wall) = options.timeout.or(self.settings.max_duration_ms.map(Duration::from_millis)) {
            limits.wall = wall.clamp(Duration::from_millis(1), limits.wall);
        }
        let mut job = Job::new(code).name("script.ts").limits(limits);
        if let Some(hear) = options.on_output {
            job = job.on_output(move |stream, text| {
                let data = format!("{text}\n");
                hear(if stream == Stream::Stdout { CodeOutput::Stdout { data } } else { CodeOutput::Stderr { data } });
            });
        }
        match isolith.run(job).await {
            Ok(ran) => RunCodeResult::from(&ran.outcome),
            Err(error) => RunCodeResult::failed("Error", error.to_string(), 1),
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> WorkspaceFailed {
    WorkspaceFailed(error.to_string())
}
