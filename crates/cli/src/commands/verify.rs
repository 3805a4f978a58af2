//! Whether what is written down is whole, and true.

use crate::Done;
use crate::commands::replay;
use crate::commands::workbenches::Workbenches;
use crate::exit::Exit;
use crate::journals::{self, Unreadable};
use crate::paint::{self, ERROR, QUIET};
use crate::{job, show};
use isolith_runner::{Recorded, Verdict};
use owo_colors::OwoColorize;
use serde_json::json;

/// What was found, for the last line.
#[derive(Default)]
struct Tally {
    same: usize,
    inexact: usize,
    wrong: usize,
}

pub(crate) fn verify(names: &[String], reexecute: bool, as_json: bool) -> Done {
    let mut tally = Tally::default();
    if names.is_empty() {
        for (path, sound) in job::data_folder()?.check() {
            let Err(error) = sound else { continue };
            tally.wrong += 1;
            if as_json {
                show::line(&show::to_json(&json!({ "file": path, "verdict": "damaged", "error": error.to_string() })));
            } else {
                paint::complain(ERROR, "error", &error.to_string());
            }
        }
    }
    let journals = journals::open()?;
    let mut workbenches = reexecute.then(Workbenches::default);
    let runs = journals::named(&journals, names)?;
    for run in &runs {
        match journals::read(&journals, run)? {
            Ok(recorded) => check(workbenches.as_mut(), &recorded, as_json, &mut tally)?,
            Err(Unreadable::Damaged(why)) => {
                tally.wrong += 1;
                if as_json {
                    let found = json!({ "run": run, "verdict": "damaged", "code": "replay.damaged", "error": why });
                    show::line(&show::to_json(&found));
                } else {
                    paint::complain(ERROR, "error", &format!("{run}: {why}"));
                }
            }
            Err(Unreadable::Redacted(_)) => tally.inexact += 1,
        }
    }
    if !as_json {
        let Tally { same, inexact, wrong } = tally;
        let word = if reexecute { "the same" } else { "whole" };
        let summary = format!(
            "recorded runs: {}, {word}: {same}, not to be repeated exactly: {inexact}, wrong: {wrong}",
            runs.len()
        );
        anstream::println!("{}", summary.style(QUIET));
    }
    Ok(if tally.wrong > 0 { Exit::Failed } else { Exit::Ok })
}

fn check(
    workbenches: Option<&mut Workbenches>,
    recorded: &Recorded,
    as_json: bool,
    tally: &mut Tally,
) -> Result<(), crate::failure::Failure> {
    let Some(workbenches) = workbenches else {
        tally.same += 1;
        if as_json {
            let header = &recorded.header;
            show::line(&show::to_json(&json!({ "run": header.run, "name": header.name, "verdict": "whole" })));
        }
        return Ok(());
    };
    let (_, replayed) = workbenches.replay(recorded)?;
    match &replayed.verdict {
        Verdict::Same { .. } => tally.same += 1,
        Verdict::SameSoFar { .. } | Verdict::Redacted => tally.inexact += 1,
        Verdict::Different(divergence) => {
            tally.wrong += 1;
            if !as_json {
                let header = &recorded.header;
                paint::complain(ERROR, "error", &format!("{} {}: {divergence}", header.run, header.name));
            }
        }
    }
    if as_json {
        show::line(&show::to_json(&replay::findings(recorded, &replayed)));
    }
    Ok(())
}
