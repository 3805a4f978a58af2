use isolith_core::{HostCall, Json};
use serde_json::{Map, Value};

/// What of a call counts when a changed workflow is held against what was recorded: all of it, but for what only tells those who watch.
pub fn alike(call: HostCall) -> HostCall {
    let HostCall::Tool { name, args: Some(args) } = call else { return call };
    if !name.to_string().starts_with("workflow.") {
        return HostCall::Tool { name, args: Some(args) };
    }
    let bare = args.parse::<Map<String, Value>>().ok().and_then(|mut fields| {
        fields.remove("events");
        Json::of(&fields).ok()
    });
    HostCall::Tool { name, args: Some(bare.unwrap_or(args)) }
}
