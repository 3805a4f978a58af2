//! Workspaces as agent frameworks declare them: opened with capabilities, used by the tools that these bring.

use super::events::{self, Voice};
use super::runs::json;
use crate::app::{App, Authed};
use crate::asked::{Asked, Table};
use crate::body::Fields;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::run::Stage;
use crate::runs::lock;
use crate::sessions::files_refusal;
use crate::workspaces::{self, Wanted};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use isolith_core::files::Room;
use isolith_core::{CallerId, FileTree, GuestPath, Json, Outcome, Scope as Right, SessionName, SessionSettings};
use isolith_gate::HostFolder;
use isolith_workspace::contract::{
    Declared, Network, Provider, RunCodeResult, WorkspaceFailed, WorkspaceRef, offers, prompt, wrong_language,
};
use isolith_workspace::{Memory, Scope};
use serde_json::{Value, json as value};
use std::sync::Arc;

/// Workspaces in memory at one time: one more, and the oldest is gone.
const IN_MEMORY_MAX: usize = 64;
/// How much one of these may hold.
const IN_MEMORY_ROOM: Room = Room { bytes: 64 << 20, files: 10_000, file_bytes: 16 << 20 };

/// `POST /v1/workspaces`
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Right::Runs)?;
    let declared =
        value!({ "provider": field(&mut table, "provider")?, "capabilities": field(&mut table, "capabilities")? });
    table.finish(&["provider", "capabilities"])?;
    let declared: Declared = serde_json::from_value(declared).map_err(|error| Refusal::invalid(error.to_string()))?;
    let mut reference = declared.open().map_err(|error| failed(&error))?;
    match &mut reference.reference {
        Provider::Filestore { session } => {
            let named = session.clone();
            let made = app.runs.with_sessions(&caller, move |store| match named {
                Some(name) => store.wake(&name).map(|woken| woken.session),
                None => store.create(None, SessionSettings::default()).map(|made| made.session),
            });
            *session = Some(made.await?);
        }
        Provider::InMemory { id } => *id = Some(remember(&app, &caller)),
        Provider::LocalDirectory { path } => drop(folder(&app, &caller, path)?),
        Provider::Isolate { .. } => {}
    }
    let tools: Vec<Value> = offers(&reference.capabilities)
        .iter()
        .map(|offer| value!({ "name": offer.name, "description": offer.description, "inputSchema": offer.schema() }))
        .collect();
    let script = reference
        .capabilities
        .script
        .as_ref()
        .map(|script| value!({ "languages": script.settings().languages, "isStateful": false }));
    let answer =
        value!({ "ref": reference, "tools": tools, "prompt": prompt(&reference.capabilities), "script": script });
    Ok(json(StatusCode::CREATED, answer.to_string()))
}

/// `POST /v1/workspaces/call`
pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    headers: HeaderMap,
    Fields(mut table): Fields,
) -> Result<Response, Refusal> {
    caller.may(Right::Runs)?;
    let reference: WorkspaceRef = serde_json::from_value(field(&mut table, "ref")?)
        .map_err(|error| Refusal::invalid(error.to_string()).at("ref"))?;
    let tool: Option<String> = table.parse("tool", "the name of a tool")?;
    let arguments = table.take("arguments");
    table.finish(&["ref", "tool", "arguments"])?;
    reference.check().map_err(|error| failed(&error))?;
    let tool = tool.ok_or_else(|| Refusal::invalid("`tool` is missing").at("tool"))?;
    let known = offers(&reference.capabilities);
    let Some(offer) = known.iter().find(|offer| offer.name == tool) else {
        let names: Vec<&str> = known.iter().map(|offer| offer.name).collect();
        let refusal = Refusal::invalid(format!("this workspace has no tool `{tool}`")).at("tool");
        return Err(refusal.hint(format!("there are `{}`", names.join("`, `"))));
    };
    let text = arguments.as_ref().map_or("{}", Json::text);
    let mut arguments = Table::read(text.as_bytes())?;
    if tool == "workspace_script" {
        return script(&app, &caller, &reference, arguments, events::wanted(&headers)).await;
    }
    let answer = perform(&app, &caller, &reference, workspaces::read(offer, &mut arguments)?).await?;
    Ok(json(StatusCode::OK, answer.to_string()))
}

fn field(table: &mut Table, name: &str) -> Result<Value, Refusal> {
    let json = table.take(name).ok_or_else(|| Refusal::invalid(format!("`{name}` is missing")).at(name))?;
    json.parse().map_err(|error| Refusal::invalid(error.to_string()).at(name))
}

fn failed(error: &WorkspaceFailed) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "workspace.failed", error.to_string())
}

// THREAT[T-SERVER-015]: a caller names a folder of the server's machine. It is below the one that the operator named, for each caller below
// one of its own, and nothing leads out of it.
/// A workspace in a folder of this machine.
fn folder(app: &App, caller: &Caller, path: &str) -> Result<HostFolder, Refusal> {
    caller.may(Right::Sessions)?;
    let none =
        "folders of the server's machine are there if it was started with `--workspaces FOLDER`, by paths below that";
    let root = app.runs.settings.workspaces.as_ref().ok_or_else(|| failed(&WorkspaceFailed(none.into())))?;
    let own = if caller.id == CallerId::local() { root.clone() } else { root.join(&caller.id.0) };
    let below = GuestPath::new(path).map_err(|error| failed(&WorkspaceFailed(error.to_string())))?;
    let missing = || failed(&WorkspaceFailed(format!("there is no folder `{path}`")));
    // A link on the way may lead anywhere: what counts is where it really is.
    let real = own.join(below.to_string()).canonicalize().map_err(|_| missing())?;
    let inside = own.canonicalize().is_ok_and(|own| real.starts_with(own)) && real.is_dir();
    if inside { Ok(HostFolder::new(real)) } else { Err(missing()) }
}

/// A new workspace in memory.
fn remember(app: &App, caller: &Caller) -> String {
    let id = format!("inmem-{}", uuid::Uuid::new_v4().simple());
    let mut all = lock(&app.in_memory);
    if all.len() >= IN_MEMORY_MAX {
        all.pop_front();
    }
    all.push_back((caller.id.clone(), id.clone(), Arc::new(Memory::new(IN_MEMORY_ROOM))));
    id
}

async fn perform(app: &App, caller: &Caller, reference: &WorkspaceRef, wanted: Wanted) -> Result<Value, Refusal> {
    let session = match &reference.reference {
        Provider::Filestore { session: Some(session) } => Some(session.clone()),
        _ => None,
    };
    match (wanted, session) {
        (Wanted::Files(op, bytes), session) => {
            let tree = tree(app, caller, reference, session).await?;
            let path = op.path().to_owned();
            let work = move || isolith_workspace::whole(&*tree, &Scope::whole(), &op, &bytes);
            let done = tokio::task::spawn_blocking(work).await;
            let done = done.map_err(|error| Refusal::internal("using files", &error))?;
            Ok(workspaces::value_of(done.map_err(|error| files_refusal(&error, &path))?))
        }
        (Wanted::Snapshot(name), Some(session)) => {
            let kept = SessionSettings::default().snapshots();
            let made = app.runs.with_sessions(caller, move |store| store.snapshot(&session, name, kept)).await?;
            Ok(value!({ "providerId": "filestore", "ref": made.snapshot }))
        }
        (Wanted::Restore(snapshot), Some(session)) => {
            let made = app.runs.with_sessions(caller, move |store| store.fork(&session, Some(&snapshot), None)).await?;
            // A new identity: the workspace itself stays as it is.
            let restored =
                WorkspaceRef { reference: Provider::Filestore { session: Some(made.session) }, ..reference.clone() };
            Ok(value!(restored))
        }
        (Wanted::Snapshots(most), Some(session)) => {
            let found = app.runs.with_sessions(caller, move |store| store.snapshots(&session)).await?;
            let rows: Vec<Value> = found
                .iter()
                .rev()
                .take(most)
                .map(|one| value!({ "providerId": "filestore", "ref": one.snapshot }))
                .collect();
            Ok(value!({ "snapshots": rows }))
        }
        (Wanted::Forget(snapshot), Some(session)) => {
            let gone = app.runs.with_sessions(caller, move |store| store.remove_snapshot(&session, &snapshot)).await?;
            Ok(value!(gone))
        }
        (_, None) => Err(failed(&WorkspaceFailed("this workspace keeps nothing of the past".into()))),
    }
}

async fn tree(
    app: &App,
    caller: &Caller,
    reference: &WorkspaceRef,
    session: Option<SessionName>,
) -> Result<Arc<dyn FileTree>, Refusal> {
    if let Some(session) = session {
        return Ok(Arc::clone(&app.runs.session(caller, &session).await?.open.files));
    }
    if let Provider::LocalDirectory { path } = &reference.reference {
        return Ok(Arc::new(folder(app, caller, path)?));
    }
    let Provider::InMemory { id: Some(id) } = &reference.reference else {
        return Err(failed(&WorkspaceFailed("this workspace has no files".into())));
    };
    let all = lock(&app.in_memory);
    let found = all.iter().find(|(owner, known, _)| *owner == caller.id && known == id);
    let gone = || failed(&WorkspaceFailed("a workspace in memory is gone with the process that had it".into()));
    found.map(|(_, _, tree)| Arc::clone(tree) as Arc<dyn FileTree>).ok_or_else(gone)
}

/// Runs a script, in an isolate of its own that leaves nothing behind.
async fn script(
    app: &Arc<App>,
    caller: &Arc<Caller>,
    reference: &WorkspaceRef,
    mut table: Table,
    streamed: bool,
) -> Result<Response, Refusal> {
    let settings = reference.capabilities.script.as_ref().map(|script| script.settings()).unwrap_or_default();
    let code: Option<String> = table.parse("code", "the script's source, as text")?;
    let language: Option<String> = table.parse("language", "a text")?;
    let timeout_ms: Option<u64> = table.parse("timeoutMs", "a number of milliseconds")?;
    table.finish(&["code", "language", "timeoutMs"])?;
    let code = code.ok_or_else(|| Refusal::invalid("`code` is missing").at("code"))?;
    if let Some(wrong) = language.as_deref().and_then(wrong_language) {
        return Ok(json(StatusCode::OK, shown(&wrong)));
    }
    // The call's time before the capability's, which the provider's is in where there was none.
    let mut request = value!({ "program": code });
    if let Some(ms) = timeout_ms.or(settings.max_duration_ms) {
        request["limits"] = value!({ "timeout": format!("{}ms", ms.max(1)) });
    }
    if settings.network == Some(Network::Allow) {
        request["grants"] = value!(["egress:*"]);
    }
    let asked = Asked::read(Table::read(request.to_string().as_bytes())?)?;
    if streamed {
        return events::start(app, caller, asked, Voice::Script).await;
    }
    let run = app.runs.start(caller, asked, false, |_| {}).await?;
    let result = match run.stop().await {
        Stage::Ended(outcome) => {
            let outcome: Outcome =
                serde_json::from_str(&outcome).map_err(|error| Refusal::internal("reading an outcome", &error))?;
            RunCodeResult::from(&outcome)
        }
        Stage::Refused(refusal) => return Err(refusal),
        Stage::Running | Stage::Waiting(..) => {
            let message = format!("a person has to agree first: the run is `{}`", run.id);
            RunCodeResult::failed("Suspended", message, 75)
        }
    };
    Ok(json(StatusCode::OK, shown(&result)))
}

fn shown(result: &RunCodeResult) -> String {
    serde_json::to_string(result).unwrap_or_default()
}
