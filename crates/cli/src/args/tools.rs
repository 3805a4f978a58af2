//! `isolith tools`.

use super::GrantOptions;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Tools {
    /// Find tools by words
    Search {
        /// The words
        query: String,
        /// How many to show at most
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
        limit: u32,
        #[command(flatten)]
        options: GrantOptions,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the TypeScript declaration of a tool or of a namespace
    Describe {
        /// `github.create_issue`, or `github`
        path: String,
        #[command(flatten)]
        options: GrantOptions,
    },
}
