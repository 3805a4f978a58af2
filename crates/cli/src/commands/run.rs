use crate::Done;
use crate::args::Run;
use crate::commands::{many, watch, workbench, workbench::Workbench};
use crate::failure::Failure;
use crate::job::{Job, On};
use crate::source;

pub(crate) fn run(args: Run) -> Done {
    let suspend = args.suspend.suspend.as_deref();
    match args.files.as_slice() {
        [file] if args.watch => watch::watch(file, &args.options),
        [file] => {
            let source = source::program(file, workbench::limits(&args.options, None).source_bytes)?;
            let workbench = Workbench::small(&On::of(&args.options.elsewhere, &args.options.grants)?)?;
            let job = Job::new(source, &args.options, suspend, &workbench.runner)?;
            workbench.run(job, args.options.show, suspend)
        }
        _ if args.options.plan => Err(Failure::usage("`--plan` takes one program", "plan the programs one at a time")),
        _ if args.watch => Err(Failure::usage("`--watch` takes one file", "watch one, or run several once")),
        _ if suspend.is_some() => {
            Err(Failure::usage("`--suspend` takes one program", "run the programs one at a time"))
        }
        files => many::run(files, args.jobs, &args.options),
    }
}
