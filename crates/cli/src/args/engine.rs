//! The engines of `isolith engine`, and which of them a program runs on.

use clap::{Args, Subcommand, ValueEnum};
use isolith_core::{EngineChoice, Housing, Isolation, quantity};
use std::time::Duration;

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
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Starts in microseconds, and interprets
    Quickjs,
    /// Compiles, in a jailed process; starts in milliseconds
    V8,
    /// Begins on `quickjs`, and goes on in `v8` when it computes for long
    Auto,
}

/// What stands around it besides.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationName {
    /// An isolate in this process
    None,
    /// A jailed process of its own
    Process,
}

/// How the engines are run that have processes of their own.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct EngineSettings {
    /// Without V8's compiler: slower, and no memory that is both written and run
    #[arg(long)]
    pub(crate) jitless: bool,
    /// No program in a jail that lacks a wall: not every system offers all of them
    #[arg(long)]
    pub(crate) require_jail: bool,
    /// What a run on `auto` computes before it is tried in V8 [default: 50ms]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) auto_after: Option<Duration>,
}

impl super::Elsewhere {
    /// What the flags say.
    pub(crate) fn housing(&self) -> Housing {
        let engine = self.engine.map(|name| match name {
            EngineName::Quickjs => EngineChoice::Quickjs,
            EngineName::V8 => EngineChoice::V8,
            EngineName::Auto => EngineChoice::Auto,
        });
        let process = self.isolation == Some(IsolationName::Process);
        Housing { engine, isolation: if process { Isolation::Process } else { Isolation::None } }
    }
}
