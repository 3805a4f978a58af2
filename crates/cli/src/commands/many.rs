//! Several programs side by side, results as JSON lines in the order in which they are done.

use crate::args::{RunOptions, Show};
use crate::commands::workbench::{self, Workbench};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job::{Job, On};
use crate::progress::Spinner;
use crate::{Done, pending, show, source};
use isolith_core::{AuditLog, Outcome};
use isolith_runner::{Ended, RunError};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    outcome: &'a Outcome,
}

pub(crate) fn run(files: &[PathBuf], jobs: u32, options: &RunOptions) -> Done {
    let workbench = Workbench::wide(jobs, &On::of(&options.elsewhere, &options.grants)?)?;
    // Everything is read and checked first: one wrong file stops all, before anything runs.
    let all_jobs = files
        .iter()
        .map(|file| {
            let source = source::program(file, workbench::limits(options, None).source_bytes)?;
            Ok((file.display().to_string(), Job::new(source, options, None, &workbench.runner)?))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let spinner = Spinner::new("running");
    let exit = workbench.runtime.block_on(all(&workbench, all_jobs, jobs, &spinner));
    spinner.done();
    exit
}

async fn all(workbench: &Workbench, all_jobs: Vec<(String, Job)>, jobs: u32, spinner: &Spinner) -> Done {
    let places = Arc::new(Semaphore::new(jobs as usize));
    let quiet = Show { json: true, quiet: true };
    let (mut running, mut exit, total) = (JoinSet::new(), Exit::Ok, all_jobs.len());
    for (file, mut job) in all_jobs {
        let recording = job.recording()?;
        let Job { plan, host, audit, session, .. } = job;
        let (runner, places) = (workbench.runner.clone(), Arc::clone(&places));
        let attend = workbench::attend(host, quiet, &Spinner::none());
        running.spawn(async move {
            let _place = places.acquire_owned().await;
            let ended = workbench::go(&runner, plan, attend, recording).await;
            (file, ended, audit, session)
        });
    }
    let mut done = 0;
    while let Some(joined) = running.join_next().await {
        let (file, ended, audit, session): (String, Result<Ended, RunError>, Option<Arc<dyn AuditLog>>, _) =
            joined.map_err(|error| Failure::internal("running a program", &error))?;
        workbench::flush(audit).await?;
        let ended = ended?;
        pending::settle(&ended, None, session.as_ref(), true).await?;
        let outcome = ended.outcome;
        done += 1;
        spinner.say(&format!("{done} of {total} done"));
        spinner.aside(|| show::line(&show::to_json(&Line { file: &file, outcome: &outcome })));
        exit = exit.with(Exit::of(&outcome));
    }
    Ok(exit)
}
