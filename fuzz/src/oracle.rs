//! A second opinion: URLs read by the WHATWG rules and grants matched by what the documentation says, in strings and
//! loops, sharing nothing with `isolith-core`. Slow, and sure of itself only where it can be.

mod address;
mod matching;
mod read;

pub use matching::judge;

/// What should come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nobody has to be asked.
    Allow,
    /// Someone has to be asked.
    Ask,
    /// It is refused.
    Deny,
    /// It is not a URL that is fetched.
    Invalid,
    /// This oracle cannot tell, and why.
    Unsure(&'static str),
}

/// A URL that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    https: bool,
    host: Host,
    port: u16,
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Name(String),
    V4(u32),
    V6([u16; 8]),
}
