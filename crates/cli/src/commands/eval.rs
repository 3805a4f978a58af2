use crate::Done;
use crate::args::Eval;
use crate::commands::session::{self, Session};
use crate::failure::Failure;
use crate::source::Source;

pub(crate) fn eval(args: Eval) -> Done {
    if args.code.trim().is_empty() {
        return Err(Failure::usage("the program is empty", "write one, such as `isolith eval '1 + 1'`"));
    }
    let suspend = args.suspend.suspend.as_deref();
    let source = Source { name: "eval".into(), text: args.code };
    let plan = session::plan(source, &args.options, suspend)?;
    Session::small()?.run(plan, args.options.show, suspend)
}
