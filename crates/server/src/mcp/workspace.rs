//! The files of a session as tools, for a client that was given one.

use super::Mcp;
use super::http::Visit;
use super::tools::object;
use crate::asked::{Asked, Table};
use crate::error::Refusal;
use crate::routes::files::done;
use crate::workspaces::{self, Wanted};
use isolith_workspace::contract::{Capabilities, Offer, Switch, offers};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Runs a program that is a file. The others are performed here.
pub(super) const RUN_FILE: &str = "workspace_run_file";
const RUNS_FILES: Offer = Offer {
    name: RUN_FILE,
    description: "Runs a program that is a file of the workspace.",
    fields: &[("path", "string")],
    required: 1,
    reads: false,
};

/// In an order that never changes. Restoring makes another session, which is not this client's.
fn own() -> impl Iterator<Item = &'static Offer> {
    let capabilities =
        Capabilities { fs: Some(Switch::On(true)), snapshot: Some(Switch::On(true)), ..Capabilities::default() };
    let meant = |offer: &&Offer| !matches!(offer.name, "workspace_restore" | "workspace_delete_snapshot");
    offers(&capabilities).into_iter().filter(meant).chain([&RUNS_FILES])
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    own().map(|offer| offer.name)
}

pub(super) fn all() -> Vec<Tool> {
    let tool = |offer: &Offer| {
        let annotations = ToolAnnotations::new().read_only(offer.reads).destructive(!offer.reads).open_world(false);
        Tool::new(offer.name, offer.description, object(offer.schema())).with_annotations(annotations)
    };
    own().map(tool).collect()
}

fn no_session() -> Refusal {
    Refusal::invalid("no session was given to this client").hint("`isolith mcp --session NAME`, or `/mcp?session=NAME`")
}

impl Mcp {
    /// The run of a program that is a file.
    pub(super) async fn file(&self, visit: &Visit, arguments: &[u8]) -> Result<Asked, Refusal> {
        let session = visit.session.as_ref().ok_or_else(no_session)?;
        let mut table = Table::read(arguments)?;
        let path: Option<String> = table.parse("path", "a path")?;
        table.finish(&["path"])?;
        let path = path.ok_or_else(|| Refusal::invalid("`path` is missing").at("path"))?;
        let woken = self.app.runs.session(&visit.caller, session).await?;
        let program = crate::sessions::program(&woken, &path).await?;
        let request = serde_json::to_vec(&json!({ "program": program }));
        let request = request.map_err(|error| Refusal::internal("reading a program", &error))?;
        Ok(Asked { name: crate::sessions::path_of(&path)?, ..super::asked(&request, visit)? })
    }

    /// Performs a call of one of these on the session that the client was given.
    pub(super) async fn workspace(
        &self,
        visit: &Visit,
        name: &str,
        arguments: &[u8],
    ) -> Result<CallToolResult, Refusal> {
        let session = visit.session.clone().ok_or_else(no_session)?;
        let offer = own().find(|offer| offer.name == name).ok_or_else(no_session)?;
        let wanted = workspaces::read(offer, &mut Table::read(arguments)?)?;
        let runs = &self.app.runs;
        let value = match wanted {
            Wanted::Files(op, bytes) => {
                workspaces::value_of(done(&self.app, &visit.caller, session.to_string(), op, bytes).await?)
            }
            Wanted::Snapshot(wanted) => {
                let kept = runs.session(&visit.caller, &session).await?.settings.snapshots();
                let take = runs.with_sessions(&visit.caller, move |store| store.snapshot(&session, wanted, kept));
                json!({ "snapshot": take.await?.snapshot })
            }
            Wanted::Snapshots(most) => {
                let found = runs.with_sessions(&visit.caller, move |store| store.snapshots(&session)).await?;
                let names: Vec<String> = found.iter().rev().take(most).map(|one| one.snapshot.to_string()).collect();
                json!({ "snapshots": names })
            }
            Wanted::Restore(_) | Wanted::Forget(_) => return Err(no_session()),
        };
        Ok(shown(value))
    }
}

/// A text is what a model wants to see as it is; everything is in the structured content too.
fn shown(value: Value) -> CallToolResult {
    let text = value.get("text").and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_owned);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(if value.is_object() { value } else { json!({ "value": value }) });
    result
}
