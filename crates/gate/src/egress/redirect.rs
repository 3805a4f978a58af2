//! Where a redirect leads. Nothing is decided here about whether one may go there.

use isolith_core::Method;

/// How often one request is sent elsewhere.
pub(super) const REDIRECTS_MAX: u32 = 10;

/// Headers that tell who the guest is: they are for the origin they were meant for.
const IDENTITY: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];
/// Headers that describe a body.
const OF_BODY: [&str; 4] = ["content-encoding", "content-language", "content-location", "content-type"];

/// Whether a response sends the client elsewhere, given that it says where.
pub(super) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The method to go on with, where it is another one. It has no body then.
pub(super) fn turned_to_get(status: u16, method: &Method) -> bool {
    match status {
        301 | 302 => method.as_str() == "POST",
        303 => !matches!(method.as_str(), "GET" | "HEAD"),
        _ => false,
    }
}

/// Leaves out what another origin has no business with.
// THREAT[T-SECRET-004]: a redirect takes what the guest meant for one server to another, be it only to another port.
pub(super) fn forget_identity(headers: &mut Vec<(String, String)>) {
    headers.retain(|(name, _)| !IDENTITY.contains(&name.as_str()));
}

/// Leaves out what described a body that is gone.
pub(super) fn forget_body(headers: &mut Vec<(String, String)>) {
    headers.retain(|(name, _)| !OF_BODY.contains(&name.as_str()));
}
