//! Sessions, their files, agents and webhooks, for machines.

use super::Problem;
use serde::Serialize;
use serde_json::Value;
use utoipa::{OpenApi, ToSchema};

/// What holds for every run of a session.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SessionSettings {
    /// The agent whose settings hold where these say nothing.
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    agent: Option<String>,
    tier: Option<Tier>,
    /// What programs may do besides using the session's own files and keys: grants and limits, as in a manifest.
    #[schema(value_type = Option<Object>)]
    manifest: Option<Value>,
    room: Option<Room>,
    /// After how many idle seconds it sleeps.
    #[schema(minimum = 0)]
    sleep_after_s: Option<u64>,
    /// How many snapshots are kept.
    #[schema(minimum = 0)]
    snapshots_kept: Option<u32>,
    /// For how many seconds snapshots are kept.
    #[schema(minimum = 0)]
    snapshots_kept_s: Option<u64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its description is used")]
enum Tier {
    Isolate,
    Box,
}

/// How much files may take.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Room {
    #[schema(minimum = 0)]
    bytes: Option<u64>,
    #[schema(minimum = 0)]
    files: Option<u64>,
    #[schema(minimum = 0)]
    file_bytes: Option<u64>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSession {
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    session: Option<String>,
    #[serde(flatten)]
    #[schema(inline)]
    settings: SessionSettings,
}

#[derive(Serialize, ToSchema)]
struct Session {
    session: String,
    created_ms: u64,
    used_ms: u64,
    settings: Value,
    origin: Option<String>,
    used_bytes: Option<u64>,
    used_files: Option<u64>,
    room: Option<Value>,
}

#[derive(Serialize, ToSchema)]
struct SessionList {
    sessions: Vec<Session>,
    /// Where the next page begins, if there may be one.
    after: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Fork {
    /// The name of the new one.
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    session: Option<String>,
    /// Which snapshot it begins as, instead of as the session is now.
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    snapshot: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSnapshot {
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    snapshot: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct Snapshot {
    session: String,
    snapshot: String,
    created_ms: u64,
}

#[derive(Serialize, ToSchema)]
struct SnapshotList {
    snapshots: Vec<Snapshot>,
}

/// An operation with files: `op` says which, and what else it takes depends on that.
#[derive(Serialize, ToSchema)]
struct FilesOperation {
    op: Operation,
    path: Option<String>,
    /// Of `write`.
    text: Option<String>,
    /// Of `write`, for bytes that are no text.
    base64: Option<String>,
    /// Of `rename`, `copy` and `diff`.
    to: Option<String>,
    /// Of `edit`: `{"old", "new", "replace_all"}`.
    edits: Option<Vec<Value>>,
    /// Of `glob` and `grep`.
    pattern: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its description is used")]
enum Operation {
    Read,
    ReadLines,
    Write,
    Edit,
    List,
    Stat,
    Remove,
    MakeFolder,
    Rename,
    Copy,
    Link,
    Set,
    Glob,
    Grep,
    Find,
    Tree,
    Diff,
    History,
    Undo,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAgent {
    description: Option<String>,
    #[serde(flatten)]
    #[schema(inline)]
    settings: SessionSettings,
}

#[derive(Serialize, ToSchema)]
struct Agent {
    agent: String,
    description: String,
    settings: Value,
    created_ms: u64,
    changed_ms: u64,
}

#[derive(Serialize, ToSchema)]
struct AgentList {
    agents: Vec<Agent>,
}

/// What becomes of events that come to a webhook.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebhookSettings {
    /// The caller's secrets that senders sign with.
    secrets: Vec<String>,
    agent: Option<String>,
    /// The session that all events wake.
    session: Option<String>,
    /// Where an event names its session, such as `data.session_id`.
    session_field: Option<String>,
    /// A program to run in it, with the event as `input`.
    program: Option<String>,
    /// The file of the session that has the program.
    file: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct Webhook {
    webhook: String,
    /// Where events are sent to.
    url: String,
    settings: Value,
    created_ms: u64,
}

#[derive(Serialize, ToSchema)]
struct WebhookList {
    webhooks: Vec<Webhook>,
}

#[derive(Serialize, ToSchema)]
struct EventList {
    events: Vec<Value>,
}

#[derive(Serialize, ToSchema)]
struct Done {
    event: String,
    effect: Value,
}

/// A workspace as an agent framework declares it.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Workspace {
    /// `{"kind": "in-memory" | "filestore" | "isolate", …}`
    #[schema(value_type = Object)]
    provider: Value,
    /// `{"fs": true, "script": {"network": "off", "maxDurationMs": 5000}, "snapshot": true}`
    #[schema(value_type = Object)]
    capabilities: Value,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WorkspaceCall {
    /// What opening it gave.
    #[serde(rename = "ref")]
    #[schema(value_type = Object)]
    reference: Value,
    /// One of its tools.
    tool: String,
    #[schema(value_type = Option<Object>)]
    arguments: Option<Value>,
}

#[derive(Serialize, ToSchema)]
struct Taken {
    entries: u64,
    bytes: u64,
}

macro_rules! with_body {
    ($($name:ident: $method:ident $path:literal $about:literal [$($params:tt)*] $(body $body:ty;)? {$($answers:tt)*})*) => {
        routes! { $($name: $method $path $about [$($params)*] $(body $body;)? {
            $($answers)*
            (status = 404, description = "There is none", body = Problem),
            (status = 408, description = "The body took too long", body = Problem),
            (status = 409, description = "There is one already, or something is in the way", body = Problem),
            (status = 413, description = "It is too large", body = Problem),
            (status = 415, description = "The body is not plain JSON, or is compressed", body = Problem),
            (status = 501, description = "There is no such thing on this machine", body = Problem),
        })* }
    };
}

with_body! {
    create_session: post "/v1/sessions" "Makes a session." [] body NewSession; { (status = 201, description = "It is made", body = Session), }
    list_sessions: get "/v1/sessions" "Lists sessions by name." [
        ("agent" = Option<String>, Query), ("after" = Option<String>, Query), ("limit" = Option<u32>, Query, minimum = 1, maximum = 10000),
    ] { (status = 200, description = "Sessions", body = SessionList), }
    get_session: get "/v1/sessions/{session}" "Shows a session." [("session" = String, Path)] { (status = 200, description = "It", body = Session), }
    set_session: put "/v1/sessions/{session}" "Sets what holds for a session from now on." [("session" = String, Path)] body SessionSettings; { (status = 200, description = "It", body = Session), }
    remove_session: delete "/v1/sessions/{session}" "Removes a session with all that is in it." [("session" = String, Path)] { (status = 200, description = "It is gone"), }
    fork_session: post "/v1/sessions/{session}/fork" "Makes a session that begins as this one is, or as a snapshot of it was." [("session" = String, Path)] body Fork; { (status = 201, description = "The new one", body = Session), }
    take_snapshot: post "/v1/sessions/{session}/snapshots" "Keeps a session as it is now." [("session" = String, Path)] body NewSnapshot; { (status = 201, description = "It is kept", body = Snapshot), }
    list_snapshots: get "/v1/sessions/{session}/snapshots" "Lists the snapshots of a session." [("session" = String, Path)] { (status = 200, description = "Snapshots", body = SnapshotList), }
    remove_snapshot: delete "/v1/sessions/{session}/snapshots/{snapshot}" "Forgets a snapshot." [("session" = String, Path), ("snapshot" = String, Path)] { (status = 200, description = "It is gone"), }
    use_files: post "/v1/sessions/{session}/files" "Does something with the files of a session." [("session" = String, Path)] body FilesOperation; { (status = 200, description = "The answer", body = Value), }
    read_file: get "/v1/sessions/{session}/files/{path}" "Reads a file." [
        ("session" = String, Path), ("path" = String, Path), ("offset" = Option<u64>, Query), ("length" = Option<u64>, Query), ("version" = Option<u64>, Query),
    ] { (status = 200, description = "Its bytes", content_type = "application/octet-stream"), }
    write_file: put "/v1/sessions/{session}/files/{path}" "Writes a file." [("session" = String, Path), ("path" = String, Path), ("append" = Option<bool>, Query)] body Vec<u8>; { (status = 200, description = "Its size", body = u64), }
    remove_file: delete "/v1/sessions/{session}/files/{path}" "Removes a file." [("session" = String, Path), ("path" = String, Path), ("recursive" = Option<bool>, Query)] { (status = 200, description = "Whether there was one", body = bool), }
    export_files: get "/v1/sessions/{session}/archive" "Gives files as an archive." [("session" = String, Path), ("format" = Option<String>, Query), ("path" = Option<String>, Query)] { (status = 200, description = "The archive", content_type = "application/x-tar"), }
    import_files: put "/v1/sessions/{session}/archive" "Takes the files of an archive in." [("session" = String, Path), ("format" = Option<String>, Query), ("path" = Option<String>, Query)] body Vec<u8>; { (status = 200, description = "How much that was", body = Taken), }
    open_workspace: post "/v1/workspaces" "Opens a workspace with capabilities, and says which tools these bring." [] body Workspace; {
        (status = 201, description = "It is open", body = Value),
        (status = 422, description = "A capability cannot be served", body = Problem),
    }
    call_workspace: post "/v1/workspaces/call" "Calls a tool of a workspace." [] body WorkspaceCall; {
        (status = 200, description = "Its result", body = Value),
        (status = 422, description = "There is no such workspace", body = Problem),
        (status = 429, description = "Too many runs", body = Problem),
    }
    list_agents: get "/v1/agents" "Lists agents." [] { (status = 200, description = "Agents", body = AgentList), }
    put_agent: put "/v1/agents/{agent}" "Makes an agent, or changes it." [("agent" = String, Path)] body NewAgent; { (status = 200, description = "It", body = Agent), }
    remove_agent: delete "/v1/agents/{agent}" "Removes an agent that has no sessions." [("agent" = String, Path)] { (status = 200, description = "It is gone"), }
    list_webhooks: get "/v1/webhooks" "Lists webhooks." [] { (status = 200, description = "Webhooks", body = WebhookList), }
    put_webhook: put "/v1/webhooks/{webhook}" "Makes a webhook, or changes it." [("webhook" = String, Path)] body WebhookSettings; { (status = 200, description = "It", body = Webhook), }
    remove_webhook: delete "/v1/webhooks/{webhook}" "Removes a webhook with its events." [("webhook" = String, Path)] { (status = 200, description = "It is gone"), }
    list_events: get "/v1/webhooks/{webhook}/events" "Lists the events that came, the newest first." [("webhook" = String, Path), ("limit" = Option<u32>, Query, minimum = 1, maximum = 200)] { (status = 200, description = "Events", body = EventList), }
    replay_event: post "/v1/webhooks/{webhook}/events/{event}/replay" "Performs an event once more." [("webhook" = String, Path), ("event" = String, Path)] { (status = 200, description = "What became of it", body = Done), }
    receive_event: post "/webhooks/{caller}/{webhook}" "Takes an event that is signed as Standard Webhooks says." [("caller" = String, Path), ("webhook" = String, Path)] body Value; { (status = 200, description = "What became of it", body = Done), }
}

#[derive(OpenApi)]
#[openapi(paths(
    create_session,
    list_sessions,
    get_session,
    set_session,
    remove_session,
    fork_session,
    take_snapshot,
    list_snapshots,
    remove_snapshot,
    use_files,
    read_file,
    open_workspace,
    call_workspace,
    write_file,
    remove_file,
    export_files,
    import_files,
    list_agents,
    put_agent,
    remove_agent,
    list_webhooks,
    put_webhook,
    remove_webhook,
    list_events,
    replay_event,
    receive_event
))]
pub(super) struct Sessions;
