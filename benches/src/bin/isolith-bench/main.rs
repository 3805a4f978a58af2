//! Measures isolith, alone and beside other runtimes. `benches/run` builds what this needs and starts it.

mod chart;
mod compare;
mod document;
mod goals;
mod peers;
mod results;

use clap::{Args, Parser, Subcommand};
use compare::{Setup, What};
use isolith_bench::{Job, Mode, On, Options};
use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Measures isolith, alone and beside other runtimes")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure isolith alone: what `isolith bench` prints
    Alone(Alone),
    /// Measure isolith beside its peers, in turns
    Compare(Compare),
    /// Measure isolith's engines beside other ways to V8, in turns
    Engines(Engines),
    /// Do one job as the peer `isolith`
    #[command(hide = true)]
    Peer {
        #[arg(long, value_enum, default_value_t)]
        on: On,
        job: String,
    },
    /// Do the part of a measurement that needs a process of its own
    #[command(hide = true)]
    Child { task: String },
}

#[derive(Args)]
struct Alone {
    /// About ten seconds instead of a minute
    #[arg(long)]
    quick: bool,
    /// Only the groups whose name starts with this
    #[arg(long)]
    only: Option<String>,
    /// The `isolith` binary, whose cold start is measured
    #[arg(long)]
    exe: Option<PathBuf>,
    /// JSON instead of a table
    #[arg(long)]
    json: bool,
    /// A Markdown file whose part `alone` becomes the table
    #[arg(long)]
    document: Option<PathBuf>,
}

#[derive(Args)]
struct Compare {
    /// Fewer and shorter rounds
    #[arg(long)]
    quick: bool,
    /// The Node binary for the peers that need one
    #[arg(long)]
    node: PathBuf,
    /// The folder with the peers on Node and their packages
    #[arg(long)]
    node_peers: PathBuf,
    /// The binary of the peer rquickjs
    #[arg(long)]
    rquickjs: PathBuf,
    /// The `isolith` binary, for its cold start
    #[arg(long)]
    exe: PathBuf,
    /// Where `latest.json` and `start.svg` go
    #[arg(long)]
    results: PathBuf,
    /// A Markdown file whose part `compare` becomes the table
    #[arg(long)]
    document: Option<PathBuf>,
}

#[derive(Args)]
struct Engines {
    /// Fewer and shorter rounds
    #[arg(long)]
    quick: bool,
    /// The Node binary for the peers that need one
    #[arg(long)]
    node: PathBuf,
    /// The folder with the peers on Node and their packages
    #[arg(long)]
    node_peers: PathBuf,
    /// Where `engines.json` goes
    #[arg(long)]
    results: PathBuf,
    /// A Markdown file whose part `engines` becomes the table
    #[arg(long)]
    document: Option<PathBuf>,
}

fn main() -> ExitCode {
    if let Some(code) = isolith_bench::worker() {
        return code;
    }
    let done = match Cli::parse().command {
        Task::Alone(alone) => measure(alone),
        Task::Compare(compare) => beside(compare),
        Task::Engines(engines) => among(engines),
        Task::Peer { on, job } => peer(&job, on),
        Task::Child { task } => isolith_bench::child(&task).map_err(Into::into).and_then(|text| out(&text)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = format!("error: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            note(&text);
            ExitCode::FAILURE
        }
    }
}

fn mode(quick: bool) -> Mode {
    if quick { Mode::Quick } else { Mode::Full }
}

fn measure(alone: Alone) -> Result<(), Box<dyn Error>> {
    let child = vec![std::env::current_exe()?.into_os_string(), OsString::from("child")];
    let options = Options {
        mode: mode(alone.quick),
        only: alone.only,
        exe: alone.exe,
        child: Some(child),
        command: "isolith bench".into(),
    };
    let report = isolith_bench::measure(&options, &mut |group| note(&format!("measuring {group}")))?;
    if let Some(path) = alone.document {
        document::replace(&path, "alone", &format!("```text\n{}```\n", report.table()))?;
    }
    if alone.json { out(&serde_json::to_string_pretty(&report)?) } else { out(report.table().trim_end()) }
}

fn beside(compare: Compare) -> Result<(), Box<dyn Error>> {
    let setup = Setup {
        mode: mode(compare.quick),
        peers: peers::all(&compare.node, &compare.node_peers, &compare.rquickjs, &compare.exe)?,
        command: if compare.quick { "benches/run --quick" } else { "benches/run" },
        what: What::Isolates,
    };
    let results = compare::compare(&setup, &mut note)?;
    std::fs::create_dir_all(&compare.results)?;
    let json = format!("{}\n", serde_json::to_string_pretty(&results)?);
    std::fs::write(compare.results.join("latest.json"), json)?;
    std::fs::write(compare.results.join("start.svg"), chart::draw(&results))?;
    let table = results.table();
    if let Some(path) = compare.document {
        document::replace(&path, "compare", &table)?;
    }
    out(table.trim_end())
}

fn among(engines: Engines) -> Result<(), Box<dyn Error>> {
    let setup = Setup {
        mode: mode(engines.quick),
        peers: peers::engines(&engines.node, &engines.node_peers)?,
        command: if engines.quick { "benches/run --quick" } else { "benches/run" },
        what: What::Engines,
    };
    let results = compare::compare(&setup, &mut note)?;
    std::fs::create_dir_all(&engines.results)?;
    let json = format!("{}\n", serde_json::to_string_pretty(&results)?);
    std::fs::write(engines.results.join("engines.json"), json)?;
    let table = results.table();
    if let Some(path) = engines.document {
        document::replace(&path, "engines", &table)?;
    }
    out(table.trim_end())
}

fn peer(job: &str, on: On) -> Result<(), Box<dyn Error>> {
    let job: Job = serde_json::from_str(job)?;
    let mut failed = None;
    isolith_bench::peer(&job, on, &mut |line| failed = out(line).err().or(failed.take()))?;
    failed.map_or(Ok(()), Err)
}

fn out(text: &str) -> Result<(), Box<dyn Error>> {
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

/// For people: goes to stderr, and it does not matter whether anyone reads it.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
