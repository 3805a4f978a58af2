//! The tools of others that this process brings: those of the manifest, and of a client's own list of MCP servers.

use crate::args::GrantOptions;
use crate::failure::Failure;
use crate::job;
use crate::paint::{self, HINT};
use isolith_core::{BindingName, Grant, Manifest, Power, ToolGrant, ToolPattern, Upstream, from_mcp_servers};
use isolith_gate::egress::Net;
use isolith_upstream::{Setting, Toolbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Namespaces by their names.
pub(crate) type Named = BTreeMap<BindingName, Upstream>;

/// The most a list of servers may be.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Adds to a manifest what `--mcp-servers` names, with the grants for it.
pub(crate) fn with_servers(manifest: &mut Manifest, options: &GrantOptions) -> Result<(), Failure> {
    for path in &options.mcp_servers {
        for (name, upstream) in servers(path)? {
            let all = ToolGrant::new(ToolPattern::all_of(name.clone()));
            let known = |grant: &Grant| matches!(&grant.power, Power::Tool(tool) if tool.name.namespace() == Some(name.as_str()));
            if !manifest.grants.iter().any(known) {
                manifest.grants.push(Power::Tool(all).into());
            }
            if manifest.tools.insert(name.clone(), upstream).is_some() {
                let hint = "rename one of them";
                return Err(Failure::usage(format!("two servers are called `{name}`"), hint));
            }
        }
    }
    Ok(())
}

fn servers(path: &Path) -> Result<Named, Failure> {
    let hint = "it is a file like `.mcp.json`: {\"mcpServers\": {\"name\": {\"command\": \"…\", \"args\": […]}}}";
    let text = crate::source::text(path, FILE_BYTES_MAX)?;
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(format!("in `{}`: {error}", path.display()), hint);
    let value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    from_mcp_servers(&value).map_err(|error| wrong(&error))
}

/// What is left of them under a policy: who starts a command on this machine is the operator, so theirs count.
pub(crate) fn under(policy: Option<&Manifest>, own: Named) -> Named {
    let Some(policy) = policy else { return own };
    let mut left = Named::new();
    for (name, _) in own {
        match policy.tools.get(&name) {
            Some(upstream) => drop(left.insert(name, upstream.clone())),
            None => paint::complain(HINT, "policy", &format!("`[tools.{name}]` is not in it, so nobody brings that")),
        }
    }
    left
}

/// Makes them ready. Nothing is started before a program, or someone else, asks for one of them.
pub(crate) fn toolbox(upstreams: Named, folder: PathBuf, net: Arc<Net>) -> Result<Option<Arc<Toolbox>>, Failure> {
    if upstreams.is_empty() {
        return Ok(None);
    }
    let secrets = job::data_folder()?.secrets().ok().map(|secrets| Arc::new(secrets) as _);
    let made = Toolbox::new(upstreams, Setting { folder, net, secrets });
    made.map(|toolbox| Some(Arc::new(toolbox))).map_err(|error| Failure::usage(error, "mend `[tools.…]`"))
}
