//! `isolith approvals`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum Approvals {
    /// Show what waits for an answer
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a run asks: the program, the call, what it did so far and what may still come
    Show {
        /// The run, or the beginning of its name
        run: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Agree to a call
    Approve {
        #[command(flatten)]
        which: Agree,
        /// Agree to all that the same grant asks about in this run
        #[arg(long = "for-run", conflicts_with = "always")]
        run_long: bool,
        /// Agree to that for every run of exactly this program
        #[arg(long)]
        always: bool,
        /// Make the call with these arguments instead, as JSON
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        /// Print what was said as JSON
        #[arg(long)]
        json: bool,
    },
    /// Do not agree: the program gets an error that it can catch
    Deny {
        #[command(flatten)]
        which: Agree,
        /// Why, for the program to see
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Print what was said as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct Agree {
    /// The run, or the beginning of its name
    pub(crate) run: String,
    /// The numbers of its calls; not needed where only one waits
    #[arg(value_name = "CALL")]
    pub(crate) calls: Vec<u32>,
    /// Every call of the run that waits
    #[arg(long, conflicts_with = "calls")]
    pub(crate) all: bool,
}
