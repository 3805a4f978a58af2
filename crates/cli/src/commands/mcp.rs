//! The door for agents that speak MCP, over stdin and stdout. What programs may do is said here, by whoever configures the client.

use super::serve::{Saved, parts, runtime, stdio};
use super::session;
use crate::args::{GrantOptions, Mcp};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job::Ceiling;
use crate::{Done, grants, job, toolbox};
use isolith_core::{Keeper, Manifest};
use isolith_server::{Server, Settings};

const HINT: &str = r#"it is for MCP clients: {"mcpServers": {"isolith": {"command": "isolith", "args": ["mcp"]}}}"#;

pub(crate) fn mcp(args: &Mcp) -> Done {
    let options = &args.grants;
    let policy = granted(options)?;
    let data = job::data_folder()?;
    let default = Settings::default();
    // Nobody else is there to be held up.
    let approval = options.approval_time.unwrap_or(default.approval);
    let settings = Settings {
        live_runs_per_caller: default.live_runs,
        keeper: Keeper::Client,
        approval,
        session: options.session.clone(),
        record: args.record,
        ..default
    };
    runtime(true)?.block_on(async {
        let (reader, writer) = stdio::pipes(HINT)?;
        let (ca, saved) = (options.ca.clone(), Saved::OfThisUser);
        let server = Server::new(parts(&data, Some(policy), ca, settings, saved, args.type_check, args.engines)?);
        let served = server.serve_mcp(reader, writer).await;
        served.map_err(|error| Failure::internal("serving an MCP client", &error))?;
        Ok(Exit::Ok)
    })
}

/// What programs may do and use: what the flags and the manifest name, as far as the policy allows it.
fn granted(options: &GrantOptions) -> Result<Manifest, Failure> {
    if options.audit_log.is_some() {
        return Err(Failure::usage("`--audit-log` is not for this", "`isolith audit` shows what programs did"));
    }
    let ceiling = Ceiling::of(options)?;
    let mut own = options.manifest.as_deref().map(grants::manifest).transpose()?.unwrap_or_default();
    toolbox::with_servers(&mut own, options)?;
    own.grants = grants::requested(options, Some(&own))?;
    if let Some(name) = &options.session {
        // There, and with what it says for its programs, before a client is told that there is one.
        let session = session::wake(&session::open()?, name)?;
        own.grants.extend(session::manifest(&session)?.unwrap_or_default().grants);
    }
    if options.allow_all {
        own.grants.extend(ceiling.allow_all()?);
    }
    Ok(ceiling.over(own))
}
