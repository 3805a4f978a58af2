use crate::Done;
use crate::args::Eval;
use crate::commands::workbench::Workbench;
use crate::failure::Failure;
use crate::job::{Job, On};
use crate::source::Source;

pub(crate) fn eval(args: Eval) -> Done {
    if args.code.trim().is_empty() {
        return Err(Failure::usage("the program is empty", "write one, such as `isolith eval '1 + 1'`"));
    }
    let suspend = args.suspend.suspend.as_deref();
    let source = Source { name: "eval".into(), text: args.code };
    let workbench = Workbench::small(&On::of(&args.options.elsewhere, &args.options.grants)?)?;
    let job = Job::new(source, &args.options, suspend, &workbench.runner)?;
    workbench.run(job, args.options.show, suspend)
}
