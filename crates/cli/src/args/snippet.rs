use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum Snippet {
    /// Keep a program, or a new version of it
    Save(SaveSnippet),
    /// Agree to what the last version of a program may do
    Agree {
        /// Its name
        name: String,
        /// Print it as JSON, with what it may do more than before
        #[arg(long)]
        json: bool,
    },
    /// Show what is kept
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a program: its signature, what it may do, and its source
    Show {
        /// Its name
        name: String,
        /// An earlier version
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        version: Option<u32>,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a program with all its versions
    Rm {
        /// Its name
        name: String,
    },
}

#[derive(Args)]
pub(crate) struct SaveSnippet {
    /// What to call it by
    pub(crate) name: String,
    /// The program; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What it may do and use, a manifest; otherwise what its text says that it needs
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The JSON Schema of its input
    #[arg(long, value_name = "FILE")]
    pub(crate) input_schema: Option<PathBuf>,
    /// The JSON Schema of what it returns
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Agree to it, also when it may do more than the version before
    #[arg(long)]
    pub(crate) agree: bool,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
