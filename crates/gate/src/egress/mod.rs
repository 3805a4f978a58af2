//! Requests to the network: resolved, checked, sent, followed and read here, and nowhere else.
//!
//! [`Net`] is what a process has: proxy and trusted certificates. [`Client`] is what a run has: its connections, the names
//! it has looked up, its counts. Whether a request may go is not decided here: [`Hops`] is asked before every one, redirects
//! included, and again for every address a name turned out to have.

mod body;
mod client;
mod connection;
mod decode;
mod dial;
mod error;
mod hops;
mod injection;
mod journey;
mod names;
mod net;
mod pool;
mod proxy;
mod redirect;
mod request;
mod response;
mod sigv4;
#[cfg(feature = "test-net")]
mod test_net;
mod tls;
mod upload;

pub use client::{Client, Fetched};
pub use hops::{Hop, HopReport, Hops, Refused};
pub use injection::{Injection, InjectionError};
pub use net::{Net, NetError, NetOptions};
pub use response::{Response, ResponseHead};
#[cfg(feature = "test-net")]
pub use test_net::{TestNet, TestNetError};
pub use upload::{Upload, UploadSender, upload};
