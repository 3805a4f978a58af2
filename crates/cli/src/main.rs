//! `isolith`, the command: runs programs that nobody has read.

mod args;
mod ask;
mod commands;
mod decision;
mod engines;
mod exit;
mod failure;
mod grants;
mod household;
mod job;
mod journals;
mod logs;
mod paint;
mod pending;
mod progress;
mod rehearsal;
mod show;
mod snippets;
mod source;
mod terminal;
mod toolbox;
mod types;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use failure::Failure;
use std::process::ExitCode;

/// A run is many small allocations, which this one is made for and the platform's is not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before there is a second thread, or anything that a worker should not have.
    if let Some(code) = commands::engine::worker() {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::complain(&error).into(),
    };
    let _logs = logs::start();
    let done = match cli.command {
        Command::Run(args) => commands::run::run(args),
        Command::Eval(args) => commands::eval::eval(args),
        Command::Resume(args) => commands::resume::resume(args),
        Command::Check(args) => commands::check::check(&args),
        Command::Manifest(args) => commands::manifest::manifest(args),
        Command::Audit(args) => commands::audit::audit(args),
        Command::Replay(args) => commands::replay::replay(args),
        Command::Why(args) => commands::why::why(&args),
        Command::Policy(args) => commands::policy::policy(args),
        Command::Secret(args) => commands::secret::secret(args),
        Command::Session(args) => commands::session::session(args),
        Command::Agent(args) => commands::agent::agent(args),
        Command::Snippet(args) => commands::snippet::snippet(args),
        Command::Workflow(args) => commands::workflow::workflow(args),
        Command::Serve(args) => commands::serve::serve(args),
        Command::Mcp(args) => commands::mcp::mcp(&args),
        Command::Tools(args) => commands::tools::tools(args),
        Command::Prompt(args) => commands::tools::prompt(&args.grants),
        Command::Engine(args) => commands::engine::engine(args),
        Command::Key(args) => commands::key::key(args),
        Command::Approvals(args) => commands::approvals::approvals(args),
        Command::Consent(args) => commands::consent::consent(args),
        Command::Bench(args) => commands::bench::bench(&args),
        Command::Backup(args) => commands::backup::backup(&args),
        Command::Doctor(args) => commands::doctor::doctor(args),
        Command::Completions(args) => Ok(commands::completions::completions(args)),
    };
    match done {
        Ok(exit) => exit,
        Err(failure) => failure.report(),
    }
    .into()
}

type Done = Result<Exit, Failure>;
