use crate::args::{Cli, Completions};
use crate::exit::Exit;
use clap::CommandFactory;

pub(crate) fn completions(args: Completions) -> Exit {
    clap_complete::generate(args.shell, &mut Cli::command(), "isolith", &mut std::io::stdout());
    Exit::Ok
}
