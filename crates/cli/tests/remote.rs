//! The whole conformance suite on another isolith: every isolate lives in a process of `isolith serve`, as one test each.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_remote::Remote;
use isolith_testing::{Suite, conformance_main};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use support::server::serve;
use tokio::runtime::Runtime;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // Where the connection lives.
    let runtime = Runtime::new()?;
    let folder = support::folder();
    let server = serve(&folder, &[]);
    let engine = runtime.block_on(Remote::connect(&format!("http://{}", server.address), None))?;
    conformance_main(vec![Suite { name: "remote", engine: Arc::new(engine), differences: BTreeMap::new() }])
}
