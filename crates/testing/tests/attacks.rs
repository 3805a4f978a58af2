//! Every hostile program of `conformance/attacks` on every engine that comes along.

use isolith_core::Engine;
use isolith_testing::{Besieged, attacks_main, engines};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let besieged = |engine: Arc<dyn Engine>| Besieged { name: engine.name(), engine, differences: BTreeMap::new() };
    attacks_main(|| Ok(engines()?.into_iter().map(besieged).collect()))
}
