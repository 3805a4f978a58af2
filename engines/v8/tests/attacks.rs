//! Every hostile program of `conformance/attacks` in V8. What may differ is in the table that the conformance suite has.

#![allow(clippy::expect_used, reason = "a test says what is wrong by failing")]

mod common;

use isolith_testing::{Besieged, attacks_main};
use isolith_v8::Options;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    attacks_main(|| {
        let (differences, _) = common::differences()?;
        let engine = Arc::new(common::engine(Options::default()));
        Ok(vec![Besieged { name: "v8", engine, differences }])
    })
}
