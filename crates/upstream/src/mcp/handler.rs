//! What a server may ask of us: nothing, and it is told so.

#![expect(deprecated, reason = "today's protocol has no roots any more, servers of before ask for them")]

use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorData, Implementation, ListRootsRequestMethod, ListRootsResult,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Declares no capability, declines what is asked all the same, and notes when the tools have changed.
pub(super) struct Handler {
    pub(super) changed: Arc<AtomicBool>,
}

// Elicitation is declined and sampling is not known as it is.
impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("isolith", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
