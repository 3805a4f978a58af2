//! The door for agents that speak MCP: a program comes as the argument of one tool, and only its result goes back.
//!
//! What a program may do is not an argument. Whoever writes the program, a model, would grant it; so it has what the caller's policy
//! names, and without a policy it can only compute.

mod answer;
mod attend;
mod elicit;
mod find;
mod http;
mod opening;
mod progress;
mod script;
mod state;
mod task;
mod tools;
mod workspace;

use crate::app::App;
use crate::asked::{Asked, Table};
use crate::caller::Caller;
use crate::error::Refusal;
use axum::http::request::Parts;
use http::Visit;
pub(crate) use http::{door, serve as route};
use isolith_core::{Grant, Power, Rule, nearest};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, GetTaskParams, GetTaskResult, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

const INSTRUCTIONS: &str = "Runs JavaScript or TypeScript in a sandbox. Write one program for a whole task: loop, filter and combine \
in it, and return only what you need.";
/// The fields of `execute`'s argument.
const FIELDS: [&str; 5] = ["program", "input", "engine", "limits", "session"];

/// One client's end of it.
#[derive(Clone)]
pub(crate) struct Mcp {
    app: Arc<App>,
    /// Who is there; over HTTP every request says it for itself.
    caller: Option<Arc<Caller>>,
}

/// Serves a client over a pair of pipes until it is gone.
pub(crate) async fn serve(
    app: Arc<App>,
    reader: impl AsyncRead + Unpin + Send + 'static,
    writer: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let caller = app.local();
    let most = app.runs.settings.body_bytes;
    let handler = Mcp { app, caller: Some(caller) };
    let own = handler.clone();
    let transport = rmcp::transport::async_rw::AsyncRwTransport::new_server(reader, writer).with_max_line_length(most);
    let transport = opening::Opening { transport, begun: false };
    let service = match rmcp::serve_server(handler, transport).await {
        Ok(service) => service,
        // It went before it said anything, which is no failure of ours.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(std::io::Error::other(error)),
    };
    let served = service.waiting().await;
    own.leave_tasks().await;
    served.map(drop).map_err(std::io::Error::other)
}

impl rmcp::ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
            .with_server_info(Implementation::new("isolith", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = tools::all(self.app.runs.upstreams.is_some());
        if self.visit(&context)?.session.is_some() {
            all.extend(workspace::all());
        }
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = || tools::NAMES.into_iter().chain(workspace::names());
        if !known().any(|name| name == request.name) {
            let near = nearest(&request.name, known()).map(|near| format!(": did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`{near}", request.name), None));
        }
        let visit = self.visit(&context)?;
        match self.perform(&visit, request, context).await {
            Ok(result) => Ok(result),
            // A model can mend its arguments when it sees what is wrong with them; a protocol error would go to its host.
            Err(refusal) => Ok(answer::refused(&refusal).into()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let visit = self.visit(&context)?;
        let task = self.task_now(&visit, &request.task_id, &context).await;
        task.map(GetTaskResult::new).map_err(|refusal| task::wrong(&refusal))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visit = self.visit(&context)?;
        let heard = self.task_hears(&visit, &request.task_id, request.input_responses, &context).await;
        heard.map_err(|refusal| task::wrong(&refusal))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visit = self.visit(&context)?;
        self.task_ends(&visit, &request.task_id).await.map_err(|refusal| task::wrong(&refusal))
    }
}

impl Mcp {
    fn visit(&self, context: &RequestContext<RoleServer>) -> Result<Visit, ErrorData> {
        let visit = match &self.caller {
            Some(caller) => {
                let (session, gone) = (self.app.runs.settings.session.clone(), self.app.runs.leave.clone());
                Some(Visit { caller: Arc::clone(caller), session, gone })
            }
            None => context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Visit>().cloned()),
        };
        visit.ok_or_else(|| ErrorData::internal_error("the caller is not known", None))
    }
}

/// The run that a call asks for.
fn asked(arguments: &[u8], visit: &Visit) -> Result<Asked, Refusal> {
    let table = Table::read(arguments)?;
    // THREAT[T-MCP-001]: a model that is talked into it would grant its program everything. Grants are no argument of this tool.
    if let Some((key, _)) = table.0.iter().find(|(key, _)| !FIELDS.contains(&key.as_str())) {
        let refusal = Refusal::invalid(format!("there is no argument `{key}`")).at(key.clone());
        return Err(refusal.hint(format!("there are `{}`", FIELDS.join("`, `"))));
    }
    let mut asked = Asked::read(table)?;
    asked.session = asked.session.or_else(|| visit.session.clone());
    asked.manifest.grants = granted(&visit.caller);
    Ok(asked)
}

/// What programs may do here.
fn granted(caller: &Caller) -> Vec<Grant> {
    let mut grants = caller.ceiling.all();
    // A tool without a command or a namespace is one that the client brings, and a client of this kind brings none.
    let brought = |grant: &Grant| !matches!(&grant.power, Power::Tool(tool) if tool.is_embedders());
    grants.retain(|grant| grant.rule == Rule::Deny || brought(grant));
    grants
}
