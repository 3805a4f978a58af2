use crate::BodySource;
use std::fmt;

/// An answer from the network.
pub struct Response {
    /// What is known at once.
    pub head: ResponseHead,
    /// The body, unless there cannot be one (`HEAD`, 204, 304 and their like).
    pub body: Option<Box<dyn BodySource>>,
    /// How many bytes the body has, where that is known.
    pub length: Option<u64>,
}

/// What is known of an answer before its body, in the form the guest gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// Where it came from, without what was added to the query.
    pub url: String,
    /// 200, 404, …
    pub status: u16,
    /// What the server says about the status.
    pub status_text: String,
    /// Names in lower case, with their values; bytes above 0x7f as the characters of those numbers.
    pub headers: Vec<(String, String)>,
    /// Whether redirects led there.
    pub redirected: bool,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Response { head, body, length } = self;
        f.debug_struct("Response").field("head", head).field("body", &body.is_some()).field("length", length).finish()
    }
}
