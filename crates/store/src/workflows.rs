//! Runs of workflows: what they are, what was sent to them, a state of each on the way, and the workflows that are kept by name.
//!
//! What a run was told is in its journal, and nowhere else.

use crate::StoreError;
use crate::database::{self, corrupt, now};
use crate::migrations::WORKFLOWS;
use isolith_core::{Json, RunId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The most that can be sent to one run.
const MAIL_MAX: u32 = 10_000;
/// The largest thing that can be sent.
const MAIL_BYTES_MAX: usize = 1 << 20;
/// The most workflows that are kept by name.
const SAVED_MAX: u32 = 1_000;
/// The largest of them.
const SAVED_BYTES_MAX: usize = 1 << 20;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowState {
    /// A process has it, or had when it was stopped.
    Running,
    /// It waits outside memory.
    Waiting,
    /// It came to its end.
    Finished,
    /// It came to no good one.
    Failed,
    /// Someone stopped it.
    Stopped,
}

impl FlowState {
    const ALL: [(FlowState, &'static str); 5] = [
        (FlowState::Running, "running"),
        (FlowState::Waiting, "waiting"),
        (FlowState::Finished, "finished"),
        (FlowState::Failed, "failed"),
        (FlowState::Stopped, "stopped"),
    ];

    /// In a word.
    pub fn word(self) -> &'static str {
        FlowState::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, word)| word)
    }

    /// Whether nothing more comes.
    pub fn is_over(self) -> bool {
        matches!(self, FlowState::Finished | FlowState::Failed | FlowState::Stopped)
    }

    fn read(word: &str) -> Option<FlowState> {
        FlowState::ALL.iter().find(|(_, known)| *known == word).map(|(state, _)| *state)
    }
}

/// One run of a workflow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Which run.
    pub run: RunId,
    /// The workflow's name.
    pub name: String,
    /// Where it stands.
    pub state: FlowState,
    /// The process that has it, or had.
    pub process: u32,
    /// When it began.
    pub created: Timestamp,
    /// When it last changed.
    pub changed: Timestamp,
    /// What names the workflow with everything that belongs to it.
    pub digest: String,
    /// How it is run, as whoever began it wrote it down.
    pub settings: Json,
    /// Its value, or its error.
    pub result: Option<Json>,
}

/// Something that was sent to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Its number.
    pub id: i64,
    /// What it is: a signal, an answer, an order.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// With what.
    pub value: Json,
}

/// Runs of workflows, in one SQLite file.
pub struct Workflows {
    path: PathBuf,
    db: Mutex<Connection>,
}

const FLOW: &str = "run, name, state, process, created_us, changed_us, digest, settings, result";

impl Workflows {
    pub(crate) fn open(path: &Path) -> Result<Workflows, StoreError> {
        Ok(Workflows { path: path.to_owned(), db: Mutex::new(database::open(path, &WORKFLOWS)?) })
    }

    /// Writes a run down that is about to begin.
    pub fn begin(&self, flow: &Flow) -> Result<(), StoreError> {
        self.change(|db| {
            let at = now().as_micros() as i64;
            let settings = flow.settings.text();
            let row = (&flow.run.0, &flow.name, flow.state.word(), flow.process, at, at, &flow.digest, settings);
            let sql = "INSERT INTO flows (run, name, state, process, created_us, changed_us, digest, settings) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            db.execute(sql, row).map(|_| Ok(()))
        })
    }

    /// Writes down where a run stands, and who has it.
    pub fn set(&self, run: &RunId, state: FlowState, process: u32, result: Option<&Json>) -> Result<(), StoreError> {
        self.change(|db| {
            let sql = "UPDATE flows SET state = ?2, process = ?3, changed_us = ?4, result = ?5 WHERE run = ?1";
            let row = (&run.0, state.word(), process, now().as_micros() as i64, result.map(Json::text));
            db.execute(sql, row)?;
            if state.is_over() {
                db.execute("DELETE FROM states WHERE run = ?1", [&run.0])?;
            }
            Ok(Ok(()))
        })
    }

    /// One run.
    pub fn get(&self, run: &RunId) -> Result<Option<Flow>, StoreError> {
        self.read(|db| {
            let sql = format!("SELECT {FLOW} FROM flows WHERE run = ?1");
            db.prepare_cached(&sql)?.query_row([&run.0], flow).optional()
        })
    }

    /// The runs whose names begin like this, the newest first.
    pub fn list(&self, beginning: &str, most: u32) -> Result<Vec<Flow>, StoreError> {
        self.read(|db| {
            let sql = format!(
                "SELECT {FLOW} FROM flows WHERE substr(run, 1, length(?1)) = ?1 ORDER BY created_us DESC, run DESC LIMIT ?2"
            );
            let mut statement = db.prepare_cached(&sql)?;
            statement.query_map((beginning, most), flow)?.collect()
        })
    }

    /// Forgets a run that is over; false when there is none.
    pub fn remove(&self, run: &RunId) -> Result<bool, StoreError> {
        self.change(|db| {
            db.execute("DELETE FROM states WHERE run = ?1", [&run.0])?;
            db.execute("DELETE FROM mail WHERE run = ?1", [&run.0])?;
            db.execute("DELETE FROM flows WHERE run = ?1", [&run.0]).map(|rows| Ok(rows > 0))
        })
    }

    /// Sends something to a run. It is on disk when this returns.
    pub fn send(&self, run: &RunId, kind: &str, name: &str, value: &Json) -> Result<(), StoreError> {
        if value.text().len() + name.len() > MAIL_BYTES_MAX {
            return Err(StoreError::Invalid(format!("what is sent to a run has at most {MAIL_BYTES_MAX} bytes")));
        }
        self.change(|db| {
            let count: u32 = db.query_row("SELECT count(*) FROM mail WHERE run = ?1", [&run.0], |row| row.get(0))?;
            if count >= MAIL_MAX {
                return Ok(Err(format!("a run takes at most {MAIL_MAX} letters")));
            }
            let row = (&run.0, kind, name, value.text());
            db.execute("INSERT INTO mail (run, kind, name, value) VALUES (?1, ?2, ?3, ?4)", row).map(|_| Ok(()))
        })
    }

    /// What was sent to a run after a letter of this number.
    pub fn mail(&self, run: &RunId, after: i64) -> Result<Vec<Mail>, StoreError> {
        self.read(|db| {
            let sql = "SELECT id, kind, name, value FROM mail WHERE run = ?1 AND id > ?2 ORDER BY id";
            let mut statement = db.prepare_cached(sql)?;
            let mail = |row: &Row<'_>| {
                let value = json(row.get(3)?)?;
                Ok(Mail { id: row.get(0)?, kind: row.get(1)?, name: row.get(2)?, value })
            };
            statement.query_map((&run.0, after), mail)?.collect()
        })
    }

    /// Keeps a state of a run in place of an earlier one.
    pub fn keep(&self, run: &RunId, state: &[u8]) -> Result<(), StoreError> {
        self.change(|db| {
            db.execute("INSERT OR REPLACE INTO states (run, state) VALUES (?1, ?2)", (&run.0, state)).map(|_| Ok(()))
        })
    }

    /// The state that was kept last.
    pub fn kept(&self, run: &RunId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|db| db.query_row("SELECT state FROM states WHERE run = ?1", [&run.0], |row| row.get(0)).optional())
    }

    /// Keeps a workflow by its name, in place of an earlier one.
    pub fn save(&self, name: &str, source: &str) -> Result<(), StoreError> {
        if source.len() > SAVED_BYTES_MAX || name.len() > 200 {
            return Err(StoreError::Invalid(format!("a workflow that is kept has at most {SAVED_BYTES_MAX} bytes")));
        }
        self.change(|db| {
            let others = "SELECT count(*) FROM saved WHERE name <> ?1";
            let count: u32 = db.query_row(others, [name], |row| row.get(0))?;
            if count >= SAVED_MAX {
                return Ok(Err(format!("at most {SAVED_MAX} workflows are kept")));
            }
            let row = (name, source, now().as_micros() as i64);
            db.execute("INSERT OR REPLACE INTO saved (name, source, saved_us) VALUES (?1, ?2, ?3)", row).map(|_| Ok(()))
        })
    }

    /// A workflow by its name.
    pub fn saved(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read(|db| db.query_row("SELECT source FROM saved WHERE name = ?1", [name], |row| row.get(0)).optional())
    }

    /// The names of all that are kept.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| {
            let mut statement = db.prepare_cached("SELECT name FROM saved ORDER BY name")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        read(&db).map_err(|error| StoreError::of(&self.path, error))
    }

    /// One change, on disk when it is done. What is refused changes nothing.
    fn change<T>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, String>>,
    ) -> Result<T, StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        let done = change(&transaction).map_err(of)?.map_err(StoreError::Invalid)?;
        transaction.commit().map_err(of)?;
        Ok(done)
    }
}

fn flow(row: &Row<'_>) -> rusqlite::Result<Flow> {
    let moment = |at: i64| Timestamp::from_micros(u64::try_from(at).unwrap_or_default());
    let state: String = row.get(2)?;
    Ok(Flow {
        run: RunId(row.get(0)?),
        name: row.get(1)?,
        state: FlowState::read(&state).ok_or_else(corrupt)?,
        process: row.get(3)?,
        created: moment(row.get(4)?),
        changed: moment(row.get(5)?),
        digest: row.get(6)?,
        settings: json(row.get(7)?)?,
        result: row.get::<_, Option<String>>(8)?.map(json).transpose()?,
    })
}

fn json(text: String) -> rusqlite::Result<Json> {
    Json::from_text(text).map_err(|_| corrupt())
}
