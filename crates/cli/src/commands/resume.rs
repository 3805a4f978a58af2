use crate::Done;
use crate::args::Resume;
use crate::commands::workbench::{self, Workbench};
use crate::failure::Failure;
use crate::job::{self, Job, On, Resumable};
use crate::progress::Spinner;
use crate::{journals, pending};
use isolith_runner::{Again, Durable, Patience, ResumedJournal, RunError, SuspendedRun};
use std::path::Path;
use std::time::Duration;

pub(crate) fn resume(mut args: Resume) -> Done {
    let suspend = args.suspend.suspend.as_deref();
    let (run, kept) = match args.file.to_str().filter(|_| !args.file.exists()) {
        Some(id) => {
            let kept = waiting()?.block_on(pending::find(&job::data_folder()?, id))?;
            (kept.run.clone(), Some(kept))
        }
        None => (from_file(&args.file)?, None),
    };
    // It goes on in the walls that it had.
    let mut on = On::of(&args.elsewhere, &args.grants)?;
    on.housing.isolation = on.housing.isolation.max(run.isolation());
    let workbench = Workbench::small(&on)?;
    if let Some(kept) = &kept {
        args.grants.session = args.grants.session.or_else(|| kept.session.clone());
    }
    let (name, source) = (run.name().to_owned(), run.source().to_owned());
    let said = kept.as_ref().map_or(&[][..], |kept| &kept.approvals);
    let Resumable { run, host, audit, asks } = Job::again(run, said, &args.grants, &workbench.runner)?;
    let patience = Patience {
        timer: suspend.map_or(Duration::MAX, |_| Duration::ZERO),
        outside: if asks { Duration::ZERO } else { Duration::MAX },
    };
    let again = Again { patience: (asks || suspend.is_some()).then_some(patience), lineage: None };
    let spinner = if args.show.json { Spinner::none() } else { Spinner::new("running") };
    let attend = workbench::attend(host, args.show, &spinner);
    let ended = match journals::going_on(&run)? {
        Some((journal, earlier)) => {
            let (to, durable) = (Box::new(journal), Durable::AtItsEnd);
            let journal = ResumedJournal { to, durable, earlier: &earlier };
            let resumed = workbench.runner.resume_recording(run, attend, again, journal);
            workbench.runtime.block_on(resumed)
        }
        None => workbench.runtime.block_on(workbench.runner.resume(run, attend, again)),
    };
    spinner.done();
    workbench.runtime.block_on(workbench::flush(audit))?;
    let ended = ended?;
    workbench.runtime.block_on(pending::settle(&ended, kept.as_ref(), args.grants.session.as_ref(), args.show.json))?;
    workbench::finish(&ended, args.show, suspend, &name, &source)
}

/// Something to wait on for what is kept.
fn waiting() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::internal("starting the runtime", &error))
}

fn from_file(file: &Path) -> Result<SuspendedRun, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        let hint = "give the file that `isolith run --suspend FILE` wrote";
        Failure::usage(format!("cannot read `{}`: {error}", file.display()), hint)
    })?;
    Ok(SuspendedRun::from_bytes(&bytes).map_err(RunError::Suspended)?)
}
