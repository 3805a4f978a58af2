//! Every program under `conformance/` in a jailed process, as one test each. Nothing may differ.

#![allow(clippy::expect_used, reason = "a test says what is wrong by failing")]

use isolith_jail::{Launch, Options};
use isolith_quickjs::process;
use isolith_testing::{Suite, conformance_main};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let launch = Launch { keep_stderr: true, ..Launch::new(env!("CARGO_BIN_EXE_isolith-quickjs-worker"), &[]) };
    let engine = Arc::new(process::jailed(launch, Options::default())?);
    conformance_main(vec![Suite { name: "quickjs-process", engine, differences: BTreeMap::new() }])
}
