use isolith_core::{
    Answer, BindingName, BoxFuture, CallId, Grant, Host, HostCall, HostReply, InvalidName, Json, ToolName,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tool as its author writes it: one argument in, a value or a message out.
pub type ToolFn = Box<dyn Fn(Option<Json>) -> BoxFuture<'static, HostReply> + Send + Sync>;

/// A host whose only powers are functions of the embedder.
#[derive(Default)]
pub struct Tools {
    tools: BTreeMap<ToolName, ToolFn>,
}

/// A host that can do nothing.
pub struct NoTools;

impl Tools {
    /// Adds a tool.
    pub fn with<F>(mut self, name: &str, tool: F) -> Result<Self, InvalidName>
    where
        F: Fn(Option<Json>) -> BoxFuture<'static, HostReply> + Send + Sync + 'static,
    {
        self.tools.insert(BindingName::new(name)?.into(), Box::new(tool));
        Ok(self)
    }

    /// One grant for each tool.
    pub fn grants(&self) -> Arc<[Grant]> {
        self.tools.keys().map(|name| Grant::tool(name.clone())).collect()
    }
}

impl Host for Tools {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        match call {
            HostCall::Tool { name, args } => match self.tools.get(&name) {
                Some(tool) => {
                    let reply = tool(args);
                    Box::pin(async { reply.await.into() })
                }
                None => refuse(&format!("tool `{name}`")),
            },
            call => refuse(&call.label().map_or("this".into(), |(_, what)| what)),
        }
    }
}

impl Host for NoTools {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        refuse(&call.label().map_or("this".into(), |(_, what)| what))
    }
}

fn refuse(what: &str) -> BoxFuture<'static, Answer> {
    let reply = HostReply::failed_as("tool.denied", "DeniedError", format!("{what} is not granted"));
    Box::pin(std::future::ready(reply.into()))
}
