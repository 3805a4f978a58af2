//! What is done with recorded runs: `isolith replay`, `why` and `policy`.

use clap::{Args, Subcommand};
use isolith_core::quantity;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct Replay {
    /// The run: its name, the beginning of it, or `last`. Without one the recorded runs are listed
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Stop before the reply to this call is delivered, and show the program as it is then
    #[arg(long, value_name = "CALL", requires = "run")]
    pub(crate) until: Option<u32>,
    /// Evaluate an expression there; can be given several times
    #[arg(long, value_name = "EXPRESSION", requires = "until")]
    pub(crate) eval: Vec<String>,
    /// Forget the run instead
    #[arg(long, conflicts_with = "until")]
    pub(crate) forget: bool,
    /// Forget all runs that ended so long ago, such as `7d`
    #[arg(long, value_name = "DURATION", requires = "forget", conflicts_with = "run", value_parser = quantity::duration)]
    pub(crate) older_than: Option<Duration>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Why {
    /// The run: its name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The call's number. Without one the calls are listed
    #[arg(value_name = "CALL")]
    pub(crate) call: Option<u32>,
    /// Print the explanation as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Policy {
    /// Decide about the calls of recorded runs by another policy; exits with 1 when a decision would change
    Test {
        /// The policy, a file like a manifest
        file: PathBuf,
        /// The runs; all that are recorded unless some are named
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Print the changes as JSON
        #[arg(long)]
        json: bool,
    },
}
