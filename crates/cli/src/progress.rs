use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Shows that something goes on, when it takes more than a second and somebody watches.
#[derive(Clone)]
pub(crate) struct Spinner {
    bar: Option<ProgressBar>,
}

const APPEARS_AFTER: Duration = Duration::from_secs(1);
const TURNS_EVERY: Duration = Duration::from_millis(120);

impl Spinner {
    /// One that never shows.
    pub(crate) fn none() -> Spinner {
        Spinner { bar: None }
    }

    /// One that shows on stderr, if that is a terminal.
    pub(crate) fn new(what: &str) -> Spinner {
        if !std::io::stderr().is_terminal() {
            return Spinner::none();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        let late = bar.clone();
        // Nobody waits for this thread: the process ends without it.
        std::thread::spawn(move || {
            std::thread::sleep(APPEARS_AFTER);
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TURNS_EVERY);
            }
        });
        Spinner { bar: Some(bar) }
    }

    pub(crate) fn say(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    /// Writes something else without the two getting in each other's way.
    pub(crate) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    pub(crate) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
