use crate::Done;
use crate::args::Resume;
use crate::commands::session::{self, Session};
use crate::failure::Failure;
use crate::job::Job;
use crate::journals;
use crate::progress::Spinner;
use isolith_runner::{Again, Durable, ResumedJournal, RunError, SuspendedRun};

pub(crate) fn resume(args: Resume) -> Done {
    let bytes = std::fs::read(&args.file).map_err(|error| {
        let hint = "give the file that `isolith run --suspend FILE` wrote";
        Failure::usage(format!("cannot read `{}`: {error}", args.file.display()), hint)
    })?;
    let run = SuspendedRun::from_bytes(&bytes).map_err(RunError::Suspended)?;
    let (name, source) = (run.name().to_owned(), run.source().to_owned());
    let suspend = args.suspend.suspend.as_deref();
    let again = Again { patience: suspend.map(|_| session::AT_ONCE) };
    let session = Session::small(&args.elsewhere)?;
    let (run, host, audit) = Job::again(run, &args.grants, &session.runner)?;
    let spinner = if args.show.json { Spinner::none() } else { Spinner::new("running") };
    let attend = session::attend(host, args.show, &spinner);
    let ended = match journals::going_on(&run)? {
        Some((journal, earlier)) => {
            let (to, durable) = (Box::new(journal), Durable::AtItsEnd);
            let journal = ResumedJournal { to, durable, earlier: &earlier };
            let resumed = session.runner.resume_recording(run, attend, again, journal);
            session.runtime.block_on(resumed)
        }
        None => session.runtime.block_on(session.runner.resume(run, attend, again)),
    };
    spinner.done();
    session::flush(audit)?;
    session::finish(ended, args.show, suspend, &name, &source)
}
