//! What happens in a run: kept, and told to whoever is here.

use super::view::{View, Wish, report};
use crate::failure::Failure;
use crate::terminal::inert;
use crate::{job, show};
use isolith_core::RunId;
use isolith_workflow::{Audience, Control, Event};
use owo_colors::OwoColorize as _;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// How what happens is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tell {
    /// On a screen of its own, as long as nobody is asked anything.
    View,
    Lines,
    Json,
    Nothing,
}

/// Keeps events beside the journal, and tells them.
pub(super) struct Teller {
    file: Mutex<File>,
    tell: Tell,
    view: Mutex<Option<View>>,
}

/// Where the events of a run are.
pub(super) fn path(run: &RunId) -> Result<PathBuf, Failure> {
    let folder = job::data_folder()?.path().join("events");
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| Failure::internal("making a folder for events", &error))?;
    Ok(folder.join(format!("{run}.jsonl")))
}

impl Teller {
    pub(super) fn new(run: &RunId, tell: Tell, control: &Arc<Control>) -> Result<Arc<Teller>, Failure> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path(run)?);
        let file = file.map_err(|error| Failure::internal("opening the events of a run", &error))?;
        let (wishes, wished) = std::sync::mpsc::channel();
        // Where there can be no screen, there are lines.
        let view = (tell == Tell::View).then(|| View::start(wishes).ok()).flatten();
        let teller = Arc::new(Teller { file: Mutex::new(file), tell, view: Mutex::new(view) });
        let (heard, control) = (Arc::downgrade(&teller), Arc::clone(control));
        std::thread::spawn(move || {
            for wish in wished {
                match wish {
                    Wish::Pause => control.pause(true),
                    Wish::Resume => control.pause(false),
                    Wish::Stop => control.stop.cancel(),
                    Wish::Leave => drop(heard.upgrade().and_then(|teller| teller.take_view()).map(View::finish)),
                }
            }
        });
        Ok(teller)
    }

    fn take_view(&self) -> Option<View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Shows an event on the screen; false where there is none.
    fn shown(&self, event: &Event) -> bool {
        match self.view.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(view) => view.hear(event),
            None => return false,
        }
        match event.kind.as_str() {
            // Whoever is asked needs the terminal.
            "question-asked" => drop(self.take_view().map(View::finish)),
            "run-finished" => {
                if let Some(view) = self.take_view() {
                    anstream::eprint!("{}", report(&view.finish()));
                }
            }
            _ => return true,
        }
        // What closed the screen is told in a line as well.
        false
    }
}

impl Audience for Teller {
    fn hear(&self, event: &Event) {
        let line = show::to_json(event);
        // Events are for those who watch: a disk that is full must not end the run, whose journal says so itself.
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(format!("{line}\n").as_bytes());
        match self.tell {
            Tell::Nothing => {}
            Tell::Json => show::line(&line),
            Tell::View if self.shown(event) => {}
            Tell::View | Tell::Lines => {
                if let Some(line) = plain(event, std::io::stderr().is_terminal()) {
                    anstream::eprintln!("{line}");
                }
            }
        }
    }
}

/// An event for people; nothing for those that only tools want.
pub(super) fn plain(event: &Event, terminal: bool) -> Option<String> {
    let text = |name: &str| inert(event.text(name).unwrap_or_default(), terminal).into_owned();
    let label = || text("key").splitn(3, ':').last().unwrap_or_default().to_owned();
    Some(match event.kind.as_str() {
        "run-started" => format!("▶ {} ({})", text("name"), text("runId")),
        "run-resumed" => format!("▶ goes on ({})", text("runId")),
        "phase-started" => format!("{}", format!("# {}", text("phase")).bold()),
        "agent-started" => format!("  {} {}", "…".dimmed(), label()),
        "agent-finished" => {
            let tokens = event
                .about
                .get("usage")
                .and_then(|usage| usage.get("outputTokens"))
                .and_then(serde_json::Value::as_u64);
            let cached = if event.is_cached() { ", cached" } else { "" };
            format!("  {} {} ({} tok{cached})", "✓".green(), label(), tokens.unwrap_or_default())
        }
        "agent-failed" => {
            let error = event.about.get("error").map(ToString::to_string).unwrap_or_default();
            format!("  {} {}: {}", "✗".red(), label(), inert(&error, terminal))
        }
        "question-asked" => format!("  ? {} ({})", text("question"), text("key")),
        "question-answered" => format!("  ! {}", text("key")),
        "log" => format!("  {}", text("message")),
        "run-finished" if event.text("status") == Some("finished") => "■ done".into(),
        "run-finished" => "■ failed".into(),
        _ => return None,
    })
}
