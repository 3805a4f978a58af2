//! Every program under `conformance/` on every engine, as one test each: `quickjs::values/nan-becomes-null`.

use isolith_testing::{Suite, conformance_main, engines};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let suite = |engine: std::sync::Arc<dyn isolith_core::Engine>| Suite {
        name: engine.name(),
        engine,
        differences: BTreeMap::new(),
    };
    conformance_main(engines()?.into_iter().map(suite).collect())
}
