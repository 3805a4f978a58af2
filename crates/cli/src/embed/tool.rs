use isolith_core::{BoxFuture, HostReply, Json};
use isolith_runner::ToolFn;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;

/// A function of the embedder's, as the guest calls it: its argument read from JSON, its answer or its complaint written as JSON.
pub(super) fn tool<A, R, E, F, Fut>(function: F) -> ToolFn
where
    A: DeserializeOwned + Send + 'static,
    R: Serialize,
    E: Display,
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send + 'static,
{
    Box::new(move |args: Option<Json>| -> BoxFuture<'static, HostReply> {
        let args = args.unwrap_or_else(Json::null);
        match args.parse::<A>() {
            Ok(args) => {
                let answer = function(args);
                Box::pin(async move {
                    match answer.await {
                        Ok(value) => HostReply::value(&value),
                        Err(error) => HostReply::failed_as("tool.failed", "Error", error.to_string()),
                    }
                })
            }
            Err(error) => {
                let reply = HostReply::failed_as(
                    "tool.invalid_input",
                    "TypeError",
                    format!("the argument does not fit: {error}"),
                );
                Box::pin(std::future::ready(reply))
            }
        }
    })
}
