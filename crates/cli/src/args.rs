use crate::exit::Exit;
use crate::paint::{self, ERROR, HINT};
use crate::quantity;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Runs code that nobody has read, in a sandbox that starts with no authority at all.
#[derive(Parser)]
#[command(name = "isolith", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a program: JavaScript or TypeScript, a module, a function or just statements
    Run(Run),
    /// Run a program given on the command line
    Eval(Eval),
    /// Go on with a run that was suspended
    Resume(Resume),
    /// Measure this build on this machine
    Bench(Bench),
    /// Look at what this machine offers
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
}

#[derive(Args)]
pub(crate) struct Run {
    /// The program; `-` reads it from stdin. Several run side by side, with results as JSON lines
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How many of several files to run at one time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Run again whenever the file changes
    #[arg(long, conflicts_with_all = ["suspend"])]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args)]
pub(crate) struct Eval {
    /// The program
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args)]
pub(crate) struct Resume {
    /// What `--suspend FILE` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) show: Show,
}

#[derive(Args)]
pub(crate) struct Suspend {
    /// When the program only waits for a timer, write its state to FILE and exit with 75
    #[arg(long, value_name = "FILE")]
    pub(crate) suspend: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct RunOptions {
    /// A global of the program, as JSON; can be given several times
    #[arg(long = "arg", value_name = "NAME=JSON")]
    pub(crate) args: Vec<String>,
    /// A JSON file, which the program sees as `input`; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// How long it may take, waiting included [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,
    /// How long it may compute [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration, allow_hyphen_values = true)]
    pub(crate) cpu: Option<Duration>,
    /// How much memory it may use [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    /// Fixes all randomness
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Starts the clock here and lets waiting take no time: a date such as 2026-01-31T12:00:00Z, or ms since 1970
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    #[command(flatten)]
    pub(crate) show: Show,
}

#[derive(Args, Clone, Copy)]
pub(crate) struct Show {
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the value only, not what the program writes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct Bench {
    /// Take a few seconds instead of a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure only the groups whose name starts with this: `start`, `call`, …
    #[arg(long, value_name = "GROUP")]
    pub(crate) only: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// One measurement that wants a process of its own
    #[arg(long, hide = true)]
    pub(crate) child: Option<String>,
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Shows what is wrong with the arguments in one line, and what to do in another; or the help that was asked for.
pub(crate) fn complain(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return if error.print().is_ok() { Exit::Ok } else { Exit::Internal };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Exit::Usage;
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let rest = text.lines().skip(1).take_while(|l| !l.trim().is_empty()).map(str::trim);
    let message = std::iter::once(line.trim_start_matches("error: ")).chain(rest).collect::<Vec<_>>().join(" ");
    paint::complain(ERROR, "error", &message);
    let suggestion = match error.get(ContextKind::SuggestedArg).or_else(|| error.get(ContextKind::SuggestedSubcommand))
    {
        Some(ContextValue::String(s)) => Some(s.clone()),
        Some(ContextValue::Strings(all)) => all.first().cloned(),
        _ => None,
    };
    let hint = match suggestion {
        Some(suggestion) => format!("did you mean `{suggestion}`? `isolith help` shows what there is"),
        None => "`isolith help` shows what there is".to_owned(),
    };
    paint::complain(HINT, "hint", &hint);
    Exit::Usage
}
