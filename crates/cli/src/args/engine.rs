//! The engines of `isolith engine`, and which of them a program runs on.

use clap::{Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum Engine {
    /// Fetch an engine that does not come along, and check that it is the one this build knows
    Install {
        /// Which
        #[arg(value_enum)]
        engine: Installable,
        /// Its wheel: a file, or an address that pip fetches [default: by its name, from where pip is set to look]
        #[arg(long, value_name = "FILE|URL")]
        from: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List the engines
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove an engine that was installed
    Remove {
        /// Which
        #[arg(value_enum)]
        engine: Installable,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Installable {
    V8,
}

/// What runs a program here.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Starts in microseconds, and interprets
    #[default]
    Quickjs,
    /// Compiles, in a jailed process; starts in milliseconds
    V8,
}

/// What is around a program besides its engine.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// The engine is all
    #[default]
    None,
    /// A jailed process for each run, which ends with it
    Process,
}

impl super::Elsewhere {
    /// Where a recorded run is done again: on the engine it ran on.
    pub(crate) fn recorded_on(engine: &str) -> super::Elsewhere {
        let engine = if engine == "v8" { EngineName::V8 } else { EngineName::Quickjs };
        super::Elsewhere { engine, ..super::Elsewhere::default() }
    }
}
