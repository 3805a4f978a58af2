//! Every program under `conformance/` in V8, as one test each. What may differ is written down in `conformance/differences-v8.toml`, and a
//! row that does not differ any more fails.

#![allow(clippy::expect_used, reason = "a test says what is wrong by failing")]

mod common;

use isolith_testing::{Suite, conformance_main};
use isolith_v8::Options;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

/// The most differences that there may be.
const DIFFERENCES_MAX: usize = 19;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (attacks, differences) = common::differences()?;
    let rows = attacks.len() + differences.len();
    if rows > DIFFERENCES_MAX {
        return Err(format!("{rows} differences are more than {DIFFERENCES_MAX}").into());
    }
    let engine = Arc::new(common::engine(Options::default()));
    conformance_main(vec![Suite { name: "v8", engine, differences }])
}
