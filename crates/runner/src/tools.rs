use isolith_core::{BindingName, BoxFuture, Grant, Host, HostCall, HostReply, InvalidName, Json};
use std::collections::BTreeMap;

/// A tool as its author writes it: one argument in, a value or a message out.
pub type ToolFn = Box<dyn Fn(Option<Json>) -> BoxFuture<'static, HostReply> + Send + Sync>;

/// A host whose only powers are functions of the embedder.
#[derive(Default)]
pub struct Tools {
    tools: BTreeMap<BindingName, ToolFn>,
}

/// A host that can do nothing.
pub struct NoTools;

impl Tools {
    /// Adds a tool.
    pub fn with<F>(mut self, name: &str, tool: F) -> Result<Self, InvalidName>
    where
        F: Fn(Option<Json>) -> BoxFuture<'static, HostReply> + Send + Sync + 'static,
    {
        self.tools.insert(BindingName::new(name)?, Box::new(tool));
        Ok(self)
    }

    /// One grant for each tool.
    pub fn grants(&self) -> Vec<Grant> {
        self.tools.keys().map(|name| Grant::Tool { name: name.clone() }).collect()
    }
}

impl Host for Tools {
    fn call(&self, call: HostCall) -> BoxFuture<'_, HostReply> {
        match call {
            HostCall::Tool { name, args } => match self.tools.get(&name) {
                Some(tool) => tool(args),
                None => refuse(format!("tool `{name}` is not granted")),
            },
            HostCall::ReadBody { .. } | HostCall::Sleep { .. } => refuse("nothing is there to be read".into()),
        }
    }
}

impl Host for NoTools {
    fn call(&self, _call: HostCall) -> BoxFuture<'_, HostReply> {
        refuse("nothing is granted".into())
    }
}

fn refuse(message: String) -> BoxFuture<'static, HostReply> {
    Box::pin(std::future::ready(HostReply::failed("Error", message)))
}
