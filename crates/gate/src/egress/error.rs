//! What a guest is told when a request is refused or goes wrong. No message holds a query or a secret.

use isolith_core::CallError;
use std::error::Error;
use std::io;

/// Trouble on the way, in the class that `fetch` has for it.
pub(super) fn network(code: &str, message: impl Into<String>) -> CallError {
    CallError { name: "TypeError".into(), message: message.into(), code: Some(code.to_owned()) }
}

/// A refusal by a rule that no grant lifts.
pub(super) fn denied(code: &str, message: impl Into<String>) -> CallError {
    CallError { name: "DeniedError".into(), message: message.into(), code: Some(code.to_owned()) }
}

/// Trouble while speaking HTTP to `host`.
pub(super) fn http(host: &str, error: &hyper::Error) -> CallError {
    if error.is_parse() {
        return network("egress.protocol", format!("{host} does not speak HTTP as it should: {error}"));
    }
    if error.is_user() || error.is_body_write_aborted() {
        return network("egress.reset", "the body of the request ended before its end");
    }
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(h2) = cause.downcast_ref::<h2::Error>() {
            let theirs = h2.is_io() || (h2.is_remote() && (h2.is_reset() || h2.is_go_away()));
            let code = if theirs { "egress.reset" } else { "egress.protocol" };
            return network(code, format!("the exchange with {host} broke off: {h2}"));
        }
        // What is read as a chunk, a trailer or a length and is none.
        let misread = |e: &io::Error| matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData);
        if cause.downcast_ref::<io::Error>().is_some_and(misread) {
            return network("egress.protocol", format!("{host} does not speak HTTP as it should: {cause}"));
        }
        source = cause.source();
    }
    network("egress.reset", format!("{host} closed the connection before the response was over"))
}
