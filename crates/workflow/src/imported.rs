//! Journals of another implementation: a line for each answer, by the number of its call, in the order in which they came.

use crate::pace::Pace;
use isolith_core::Json;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// One answer of such a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The number of the call.
    pub seq: u64,
    /// Its key.
    pub key: String,
    /// The answer as text.
    pub text: String,
    /// The answer as data, where a schema was given.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub data: Option<Json>,
    /// What it cost.
    pub output_tokens: u64,
}

/// Why such a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the journal makes no sense [workflow.journal]")]
pub struct ImportError {
    line: usize,
}

/// Answers that are known beforehand.
#[derive(Debug)]
pub struct Imported {
    lines: BTreeMap<u64, (usize, Line)>,
    turns: Mutex<Turns>,
}

#[derive(Debug, Default)]
struct Turns {
    /// Asked for and not given yet, by where they are in the journal.
    asked: BTreeSet<usize>,
    /// After which step the last one was given.
    given: Option<u64>,
}

impl Imported {
    /// Reads the lines. One that was cut off at the end is left out; of two for one call the last holds.
    pub fn read(text: &str) -> Result<Imported, ImportError> {
        let all: Vec<(usize, &str)> = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
        let (mut lines, last) = (BTreeMap::new(), all.len());
        for (n, (line, text)) in all.into_iter().enumerate() {
            match serde_json::from_str::<Line>(text) {
                Ok(read) => drop(lines.insert(read.seq, (n, read))),
                Err(error) if n + 1 == last && error.is_eof() => {}
                Err(_) => return Err(ImportError { line }),
            }
        }
        Ok(Imported { lines, turns: Mutex::default() })
    }

    /// The answer to a call, if it is known.
    pub fn line(&self, seq: u64) -> Option<&Line> {
        self.lines.get(&seq).map(|(_, line)| line)
    }

    /// Takes note that it is asked for, before anyone waits.
    pub fn ask(&self, seq: u64) {
        if let Some((at, _)) = self.lines.get(&seq) {
            self.lock().asked.insert(*at);
        }
    }

    /// Returns when it is this answer's turn: those that came before it, and are asked for, come before it again.
    pub async fn turn(&self, seq: u64, pace: &Pace) {
        let Some((at, _)) = self.lines.get(&seq) else { return };
        loop {
            let steps = pace.steps();
            {
                let mut turns = self.lock();
                if turns.given != Some(steps) && turns.asked.first() == Some(at) {
                    turns.asked.remove(at);
                    turns.given = Some(steps);
                    return;
                }
            }
            pace.beyond(steps).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A field that is there, be it `null`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
