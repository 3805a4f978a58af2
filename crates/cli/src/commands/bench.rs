use crate::args::Bench;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::{Done, show};
use isolith_bench::{Options, measure};

pub(crate) fn bench(args: &Bench) -> Done {
    let exe = std::env::current_exe().map_err(|error| Failure::internal("finding this binary", &error))?;
    let spinner = Spinner::new("measuring");
    let options = Options { quick: args.quick, exe: Some(exe), ..Options::default() };
    let report = measure(&options, &mut |what| spinner.say(what));
    spinner.done();
    let report = report.map_err(|error| Failure::internal("measuring", &error))?;
    show::line(&if args.json { show::to_json(&report) } else { report.table() });
    Ok(Exit::Ok)
}
