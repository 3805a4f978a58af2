//! Every hostile program of `conformance/attacks` in V8.

#![allow(clippy::expect_used, reason = "a test says what is wrong by failing")]

mod common;

use isolith_testing::attacks_main;
use isolith_v8::Options;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    attacks_main(|| Ok(vec![("v8", Arc::new(common::engine(Options::default())) as Arc<_>)]))
}
