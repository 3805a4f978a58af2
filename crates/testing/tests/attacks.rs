//! Every hostile program of `conformance/attacks` on every engine that comes along.

use isolith_testing::{attacks_main, engines};
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    attacks_main(|| Ok(engines()?.into_iter().map(|engine| (engine.name(), engine)).collect()))
}
