//! The API in machine-readable form. The types here describe what is on the wire; what reads and writes it is elsewhere.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};

/// A program to be run.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunRequest {
    /// The source, in any shape that `isolith run` takes. `code` is the same: one of them is needed.
    program: Option<String>,
    /// The same as `program`.
    code: Option<String>,
    /// What to call it in errors and stacks.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^/\x00-\x1f\x7f-\x9f]+$")]
    name: Option<String>,
    language: Option<Language>,
    /// Visible to it as `input`.
    #[schema(value_type = serde_json::Value, required = false)]
    input: Option<serde_json::Value>,
    /// Visible to it as globals.
    args: Option<BTreeMap<String, serde_json::Value>>,
    /// What it asks for, as in a manifest: one line each, or a table.
    grants: Option<Vec<serde_json::Value>>,
    /// What it may use, as in a manifest: `{"timeout": "5s", "memory": "64MiB"}`.
    limits: Option<BTreeMap<String, serde_json::Value>>,
    engine: Option<Engine>,
    isolation: Option<Isolation>,
    time: Option<Ambience>,
    random: Option<Ambience>,
    /// Functions that the client brings.
    #[schema(max_items = 1000)]
    tools: Option<Vec<Tool>>,
    /// Fixes its randomness.
    seed: Option<u64>,
    /// A name of the client's own for the run.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-]+$")]
    run: Option<String>,
    /// How long to wait for an answer; `0` answers at once.
    wait: Option<Length>,
    /// The file of the session that has the program, in the place of `program`.
    file: Option<String>,
    /// The session that it runs in: `files` and `kv.session` are its own.
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,99}$")]
    session: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Language {
    Auto,
    Javascript,
    Typescript,
}

/// What it runs on: `quickjs` unless it says otherwise.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Engine {
    Quickjs,
    V8,
    Auto,
}

/// What stands around it besides: `process` is a jailed process of its own.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Isolation {
    None,
    Process,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Ambience {
    Live,
    Virtual,
    Banned,
}

/// A number of seconds, or text with a unit: `500ms`, `10s`, `2m`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Length {
    Seconds(f64),
    Text(String),
}

/// A tool: its name, or a table.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Tool {
    Name(String),
    Table(ToolTable),
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    #[schema(min_length = 1, pattern = "^[A-Za-z_$][A-Za-z0-9_$]*$")]
    name: String,
    description: Option<String>,
    /// The JSON Schema of its argument.
    #[schema(value_type = serde_json::Value, required = false)]
    input: Option<serde_json::Value>,
    /// The JSON Schema of its answer.
    #[schema(value_type = serde_json::Value, required = false)]
    output: Option<serde_json::Value>,
}

/// A run: its outcome, or how far it is.
#[derive(Serialize, ToSchema)]
struct Run {
    run: Option<String>,
    status: RunStatus,
    /// What it returned.
    #[schema(value_type = serde_json::Value, required = false)]
    value: Option<serde_json::Value>,
    error: Option<RunFailure>,
    outputs: Option<Vec<OutputLine>>,
    /// What it ran on: its `engine`, the `jail` of its process, and what came of a `switch` to another engine.
    ran_on: Option<BTreeMap<String, serde_json::Value>>,
    usage: Option<BTreeMap<String, u64>>,
    calls: Option<Vec<serde_json::Value>>,
    /// The grants it really had.
    grants: Option<Vec<String>>,
    /// What was asked for and not, or not wholly, allowed.
    narrowed: Option<Vec<serde_json::Value>>,
    exercised: Option<Vec<serde_json::Value>>,
    denied: Option<Vec<serde_json::Value>>,
    /// What a suspended run waits for.
    waiting_for: Option<Vec<serde_json::Value>>,
    /// The calls that a suspended run makes only if someone agrees.
    approvals: Option<Vec<Approval>>,
    /// The handle to answer its calls with.
    resume: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum RunStatus {
    Ok,
    Error,
    Running,
    Suspended,
}

#[derive(Serialize, ToSchema)]
struct RunFailure {
    /// One of a closed set: `syntax`, `thrown`, `timeout`, `denied`, …
    kind: String,
    name: String,
    message: String,
    code: Option<String>,
    stack: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    hint: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct OutputLine {
    /// `stdout` or `stderr`.
    stream: String,
    text: String,
    at_ms: u64,
}

#[derive(Serialize, ToSchema)]
struct RunList {
    runs: Vec<Run>,
}

/// Answers to open calls.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Replies {
    /// The handle that came with the calls.
    resume: String,
    #[schema(min_items = 1)]
    replies: Vec<Reply>,
    wait: Option<Length>,
}

/// A value, an error, or neither for `undefined`.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reply {
    id: u32,
    #[schema(value_type = serde_json::Value, required = false)]
    value: Option<serde_json::Value>,
    error: Option<ReplyError>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplyError {
    name: Option<String>,
    message: String,
}

/// A call that someone has to agree to.
#[derive(Serialize, ToSchema)]
struct Approval {
    run: Option<String>,
    /// Which call of its run.
    id: u32,
    /// The grant that asks.
    grant: String,
    /// What is to be done.
    what: String,
    /// What it is to be called with.
    #[schema(value_type = serde_json::Value, required = false)]
    args: Option<serde_json::Value>,
    /// Since when it waits, in microseconds since 1970.
    asked_us: u64,
    /// When the answer is no.
    expires_us: u64,
}

#[derive(Serialize, ToSchema)]
struct ApprovalList {
    approvals: Vec<Approval>,
}

/// What there is to know before one agrees.
#[derive(Serialize, ToSchema)]
struct Review {
    run: String,
    name: Option<String>,
    source: Option<String>,
    /// What is asked, with the lines that may have led to it.
    asks: Vec<serde_json::Value>,
    /// What the run did so far.
    done: Option<Vec<serde_json::Value>>,
    /// What reading the program says may still come.
    ahead: Option<Vec<serde_json::Value>>,
    /// Lines where it does what cannot be told from its text.
    unclear: Option<Vec<u32>>,
}

/// What someone says about calls.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    #[schema(min_items = 1, max_items = 1000)]
    approvals: Vec<Word>,
    wait: Option<Length>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Word {
    id: u32,
    decision: Decision,
    consent: Option<Consent>,
    /// What to make the call with instead.
    #[schema(value_type = serde_json::Value, required = false)]
    args: Option<serde_json::Value>,
    /// Why not.
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Decision {
    Approve,
    Deny,
}

/// What a yes is good for: this call, this run, or every run of exactly this program.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Consent {
    Once,
    Run,
    Always,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SecretValue {
    #[schema(min_length = 1, max_length = 65536)]
    value: String,
}

#[derive(Serialize, ToSchema)]
struct SecretNames {
    secrets: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct AuditRows {
    rows: Vec<serde_json::Value>,
}

/// Why a request was refused.
#[derive(Serialize, ToSchema)]
struct Problem {
    error: ProblemBody,
}

#[derive(Serialize, ToSchema)]
struct ProblemBody {
    /// Stable, for programs.
    code: String,
    message: String,
    hint: Option<String>,
    field: Option<String>,
    retry_after_ms: Option<u64>,
}

/// A round of TanStack's Cloudflare isolate driver.
#[derive(Serialize, ToSchema)]
struct CodeModeRound {
    #[schema(min_length = 1)]
    code: String,
    tools: Vec<CodeModeTool>,
    #[serde(rename = "toolResults")]
    tool_results: Option<BTreeMap<String, CodeModeResult>>,
    timeout: Option<f64>,
}

#[derive(Serialize, ToSchema)]
struct CodeModeTool {
    name: String,
}

#[derive(Serialize, ToSchema)]
struct CodeModeResult {
    success: bool,
    #[schema(value_type = serde_json::Value, required = false)]
    value: Option<serde_json::Value>,
    error: Option<String>,
}

/// The answer to a round.
#[derive(Serialize, ToSchema)]
struct CodeModeAnswer {
    /// `done`, `need_tools` or `error`.
    status: String,
    success: Option<bool>,
    #[schema(value_type = serde_json::Value, required = false)]
    value: Option<serde_json::Value>,
    error: Option<CodeModeFailure>,
    /// What it wrote since the round before.
    logs: Option<Vec<String>>,
    #[serde(rename = "toolCalls")]
    tool_calls: Option<Vec<CodeModeCall>>,
    #[serde(rename = "continuationId")]
    continuation_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct CodeModeFailure {
    name: String,
    message: String,
    stack: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct CodeModeCall {
    /// `tc_0`, `tc_1`, …
    #[schema(pattern = "^tc_[0-9]+$")]
    id: String,
    name: String,
    #[schema(value_type = serde_json::Value)]
    args: serde_json::Value,
}

/// Why a round was refused: in the driver's words, or in ours.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum CodeModeRefusal {
    Theirs(CodeModeMessage),
    Ours(Problem),
}

#[derive(Serialize, ToSchema)]
struct CodeModeMessage {
    error: String,
}

/// A body that could not be read, in the driver's words; or a fault of the server.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum CodeModeFault {
    Theirs(CodeModeAnswer),
    Ours(Problem),
}

/// Takes a round of TanStack's Cloudflare isolate driver.
#[utoipa::path(post, path = "/v1/code-mode", request_body = CodeModeRound, responses(
    (status = 200, description = "It is done, or needs tools", body = CodeModeAnswer),
    (status = 400, description = "There is no code", body = CodeModeRefusal),
    (status = 401, description = "It needs a key", body = Problem),
    (status = 403, description = "It is not for this caller, name or origin", body = Problem),
    (status = 408, description = "The body took too long", body = Problem),
    (status = 409, description = "A run of that name exists", body = Problem),
    (status = 413, description = "The body is too large", body = Problem),
    (status = 415, description = "The body is compressed", body = Problem),
    (status = 429, description = "Too many runs", body = Problem),
    (status = 500, description = "The body cannot be read, or something went wrong here", body = CodeModeFault),
    (status = 503, description = "There is no room, or the server is about to stop", body = Problem),
))]
#[expect(dead_code, reason = "only its description is used")]
fn code_mode() {}

/// What any route can answer.
macro_rules! routes {
    ($($name:ident: $method:ident $path:literal $about:literal [$($params:tt)*] $(body $body:ty;)? {$($answers:tt)*})*) => {
        $(
            #[doc = $about]
            #[utoipa::path($method, path = $path, params($($params)*), $(request_body = $body,)? responses(
                $($answers)*
                (status = 400, description = "The request is wrong", body = Problem),
                (status = 401, description = "It needs a key", body = Problem),
                (status = 403, description = "It is not for this caller, name or origin", body = Problem),
                (status = 500, description = "Something went wrong here", body = Problem),
                (status = 503, description = "There is no room, or the server is about to stop", body = Problem),
            ))]
            #[expect(dead_code, reason = "only its description is used")]
            fn $name() {}
        )*
    };
}

mod sessions;

routes! {
    start_run: post "/v1/runs" "Runs a program, and waits for its end or for its next round of calls." [] body RunRequest; {
        (status = 200, description = "It ended, or waits for its client", body = Run),
        (status = 202, description = "It goes on", body = Run),
        (status = 408, description = "The body took too long", body = Problem),
        (status = 409, description = "There is a run of that name", body = Problem),
        (status = 413, description = "The body or the program is too large", body = Problem),
        (status = 415, description = "The body is not plain JSON", body = Problem),
        (status = 429, description = "Too many runs", body = Problem),
    }
    list_runs: get "/v1/runs" "Lists the caller's runs, the newest first." [
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200), ("session" = Option<String>, Query, description = "Only those of a session"), ("before" = Option<String>, Query, description = "The last run of the page before", min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-]+$"),
    ] { (status = 200, description = "Runs", body = RunList), (status = 404, description = "`before` is no run of the caller's", body = Problem), }
    get_run: get "/v1/runs/{run}" "Shows a run." [
        ("run" = String, Path), ("wait" = Option<String>, Query, description = "Waits this long for its end or next round", pattern = "^[0-9]{1,3}(ms|s|m)$"),
    ] {
        (status = 200, description = "It ended, or waits for its client", body = Run),
        (status = 202, description = "It goes on", body = Run),
        (status = 404, description = "There is no such run", body = Problem),
    }
    answer_calls: post "/v1/runs/{run}/calls" "Answers calls of a run, and waits for its end or its next round." [("run" = String, Path)] body Replies; {
        (status = 200, description = "It ended, or waits for its client", body = Run),
        (status = 202, description = "It goes on", body = Run),
        (status = 404, description = "There is no such run, or no such call", body = Problem),
        (status = 408, description = "The body took too long", body = Problem),
        (status = 409, description = "A call was answered before, or the run has ended", body = Problem),
        (status = 410, description = "The handle has expired", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The body is not plain JSON", body = Problem),
    }
    list_approvals: get "/v1/approvals" "Lists the calls that someone has to agree to." [] { (status = 200, description = "Calls", body = ApprovalList), }
    review_run: get "/v1/runs/{run}/approvals" "Shows what a run asks: the program, the calls, what it did and what may still come." [("run" = String, Path)] {
        (status = 200, description = "What there is to know", body = Review),
        (status = 404, description = "There is no such run", body = Problem),
    }
    answer_asks: post "/v1/runs/{run}/approvals" "Says whether calls of a run are to be made, and waits for its end or its next round." [("run" = String, Path)] body Words; {
        (status = 200, description = "It ended, or waits for someone", body = Run),
        (status = 202, description = "It goes on", body = Run),
        (status = 404, description = "There is no such run, or nobody is asked about that call", body = Problem),
        (status = 408, description = "The body took too long", body = Problem),
        (status = 409, description = "Someone was earlier", body = Problem),
        (status = 410, description = "Its time is over", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The body is not plain JSON", body = Problem),
    }
    cancel_run: post "/v1/runs/{run}/cancel" "Stops a run." [("run" = String, Path)] {
        (status = 200, description = "It is over", body = Run),
        (status = 202, description = "It goes on for a moment", body = Run),
        (status = 404, description = "There is no such run", body = Problem),
    }
    list_secrets: get "/v1/secrets" "Lists the names of the caller's secrets." [] { (status = 200, description = "Names", body = SecretNames), }
    set_secret: put "/v1/secrets/{name}" "Keeps a secret, which never comes out again." [("name" = String, Path)] body SecretValue; {
        (status = 200, description = "It is kept"),
        (status = 404, description = "There is nothing here", body = Problem),
        (status = 408, description = "The body took too long", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The body is not plain JSON", body = Problem),
    }
    remove_secret: delete "/v1/secrets/{name}" "Forgets a secret." [("name" = String, Path)] {
        (status = 200, description = "It is forgotten"),
        (status = 404, description = "There is no such secret", body = Problem),
    }
    audit: get "/v1/audit" "Shows what the caller's runs did, and were refused." [
        ("run" = Option<String>, Query), ("host" = Option<String>, Query), ("denied" = Option<bool>, Query), ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000),
    ] { (status = 200, description = "Rows", body = AuditRows), }
    socket: get "/v1/socket" "Opens a WebSocket that carries many runs and their calls." [] {
        (status = 101, description = "It is open"),
        (status = 426, description = "This is for WebSockets", body = Problem),
    }
    health: get "/healthz" "Says whether the server is well." [] { (status = 200, description = "It is"), }
    metrics: get "/metrics" "Figures for Prometheus." [] { (status = 200, description = "Figures", content_type = "text/plain"), }
    description: get "/openapi.json" "This document." [] { (status = 200, description = "It"), }
}

#[derive(OpenApi)]
#[openapi(
    info(title = "isolith", description = "Runs code that nobody has read, in a sandbox that starts with no authority at all."),
    paths(
        start_run, list_runs, get_run, answer_calls, list_approvals, review_run, answer_asks, cancel_run, list_secrets, set_secret, remove_secret, audit, socket, code_mode, health,
        metrics, description
    ),
    modifiers(&Keys),
    security((), ("key" = [])),
)]
struct Document;

/// How a caller says who they are.
struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        openapi.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    }
}

/// The whole document, as JSON.
pub fn document() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let whole = Document::openapi().merge_from(sessions::Sessions::openapi());
        whole.to_pretty_json().unwrap_or_default()
    })
}
