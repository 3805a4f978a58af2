use crate::args::Bench;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::{Done, show};
use isolith_bench::{Mode, Options, measure};

pub(crate) fn bench(args: &Bench) -> Done {
    if let Some(part) = &args.child {
        let printed = isolith_bench::child(part).map_err(|error| Failure::internal("measuring", &error))?;
        show::line(&printed);
        return Ok(Exit::Ok);
    }
    let exe = std::env::current_exe().map_err(|error| Failure::internal("finding this binary", &error))?;
    let spinner = Spinner::new("measuring");
    let mode = if args.quick { Mode::Quick } else { Mode::Full };
    let child = vec![exe.clone().into(), "bench".into(), "--child".into()];
    let only = args.only.clone();
    let options = Options { mode, only, exe: Some(exe), child: Some(child), ..Options::default() };
    let report = measure(&options, &mut |what| spinner.say(what));
    spinner.done();
    let report = report.map_err(|error| Failure::internal("measuring", &error))?;
    show::line(&if args.json { show::to_json(&report) } else { report.table() });
    Ok(Exit::Ok)
}
