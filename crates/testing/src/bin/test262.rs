//! Runs ECMAScript's own test suite: `cargo run --release -p isolith-testing --bin test262 -- DIR`.

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isolith_testing::test262::{Options, Report, Suite, Test262Error};
use std::error::Error;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A test failed.
const EXIT_FAILED: u8 = 1;
/// Asked wrongly.
const EXIT_USAGE: u8 = 2;
/// How often the line of progress is drawn, in times a second.
const DRAWS_A_SECOND: u8 = 5;

/// Run a checkout of test262 on the engine `quickjs`, each test in a fresh isolate.
#[derive(Parser)]
#[command(name = "test262")]
struct Arguments {
    /// The checkout, a folder in it, or one test.
    dir: PathBuf,
    /// Only tests whose path below `test/` contains this text.
    #[arg(long)]
    filter: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// How many tests to run at one time [default: one for each processor].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How long one test may compute, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    limit_ms: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(report) => finish(&arguments, &report),
        Err(error) => {
            complain(&error);
            ExitCode::from(EXIT_USAGE)
        }
    }
}

fn run(arguments: &Arguments) -> Result<Report, Test262Error> {
    let suite = Suite::open(&arguments.dir, arguments.filter.as_deref())?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let options =
        Options { jobs: arguments.jobs.unwrap_or(processors), limit: Duration::from_millis(arguments.limit_ms.max(1)) };
    let bar = progress(suite.len() as u64);
    let report = suite.run(options, &|| bar.inc(1));
    bar.finish_and_clear();
    report
}

/// A line of progress on a terminal, and nothing elsewhere.
fn progress(tests: u64) -> ProgressBar {
    let target = match stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(DRAWS_A_SECOND),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(tests), target);
    match ProgressStyle::with_template("{bar:30} {pos}/{len} tests, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn finish(arguments: &Arguments, report: &Report) -> ExitCode {
    let text = match arguments.json {
        true => serde_json::to_string_pretty(report).map(|json| json + "\n"),
        false => Ok(report.text()),
    };
    let written = text.map_err(|error| Box::new(error) as Box<dyn Error>).and_then(|text| {
        stdout().write_all(text.as_bytes())?;
        Ok(())
    });
    match written {
        Err(error) => {
            complain(&*error);
            ExitCode::from(EXIT_USAGE)
        }
        Ok(()) if report.total.failed > 0 => ExitCode::from(EXIT_FAILED),
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn complain(error: &dyn Error) {
    let mut text = format!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    let _ = writeln!(stderr(), "{text}");
}
