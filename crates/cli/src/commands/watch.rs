//! Runs a program again whenever its file changes.

use crate::args::RunOptions;
use crate::commands::workbench::{self, Workbench};
use crate::failure::Failure;
use crate::job::{Job, On};
use crate::{Done, paint, source};
use notify::{EventKind, RecursiveMode, Watcher};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Editors write a file in several steps; they are one change.
const SETTLES_AFTER: Duration = Duration::from_millis(50);

pub(crate) fn watch(file: &Path, options: &RunOptions) -> Done {
    let failed = |error: notify::Error| Failure::internal("watching the file", &error);
    let (told, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event| {
        let _ = told.send(event);
    })
    .map_err(failed)?;
    // The folder, not the file: editors replace the file, and the watch would go with the old one.
    let file = file
        .canonicalize()
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", file.display()), "check the path"))?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    watcher.watch(folder, RecursiveMode::NonRecursive).map_err(failed)?;
    let workbench = Workbench::small(&On::of(&options.elsewhere, &options.grants)?)?;
    loop {
        if let Err(failure) = once(&workbench, &file, options) {
            failure.report();
        }
        paint::note(paint::QUIET, "waiting for changes; Ctrl-C ends");
        if !changed(&changes, &file) {
            return Err(Failure::usage("the file can no longer be watched", "start again"));
        }
    }
}

fn once(workbench: &Workbench, file: &Path, options: &RunOptions) -> Result<(), Failure> {
    let source = source::program(file, workbench::limits(options, None).source_bytes)?;
    let job = Job::new(source, options, None, &workbench.runner)?;
    workbench.run(job, options.show, None).map(|_| ())
}

/// Waits until the file has changed and is quiet again; false when nothing more will be heard.
fn changed(changes: &Receiver<notify::Result<notify::Event>>, file: &Path) -> bool {
    let concerns = |event: &notify::Result<notify::Event>| {
        event.as_ref().is_ok_and(|e| !matches!(e.kind, EventKind::Access(_)) && e.paths.iter().any(|path| path == file))
    };
    loop {
        match changes.recv() {
            Ok(event) if concerns(&event) => break,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    while changes.recv_timeout(SETTLES_AFTER).is_ok() {}
    true
}
