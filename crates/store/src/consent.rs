use crate::StoreError;
use crate::database::{self, now};
use crate::migrations::CONSENT;
use isolith_core::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What people answered when a program asked for something. An answer holds for one program, by its digest: a program that
/// changed is another one.
pub struct Consent {
    path: PathBuf,
    db: Mutex<Connection>,
}

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The digest of the program.
    pub program: String,
    /// What it asked for.
    pub grant: String,
    /// Whether it may.
    pub allow: bool,
    /// When that was said.
    pub at: Timestamp,
}

impl Consent {
    pub(crate) fn open(path: &Path) -> Result<Consent, StoreError> {
        Ok(Consent { path: path.to_owned(), db: Mutex::new(database::open(path, &CONSENT)?) })
    }

    /// What was answered, if anything was. When that cannot be found out, nothing was: people are asked again.
    pub fn allowed(&self, program: &str, grant: &str) -> Option<bool> {
        let sql = "SELECT allow FROM answers WHERE program = ?1 AND grant_text = ?2";
        self.with(|db| db.prepare_cached(sql)?.query_row((program, grant), |row| row.get(0)).optional()).ok()?
    }

    /// Keeps an answer, in place of an earlier one.
    pub fn remember(&self, program: &str, grant: &str, allow: bool) -> Result<(), StoreError> {
        let sql = "INSERT INTO answers (program, grant_text, allow, at_us) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (program, grant_text) DO UPDATE SET allow = excluded.allow, at_us = excluded.at_us";
        let at = now().as_micros().cast_signed();
        self.with(|db| db.prepare_cached(sql)?.execute((program, grant, allow, at))).map(|_| ())
    }

    /// Forgets all answers about a program, and says how many there were.
    pub fn forget(&self, program: &str) -> Result<usize, StoreError> {
        self.with(|db| db.execute("DELETE FROM answers WHERE program = ?1", [program]))
    }

    /// All answers, the latest last.
    pub fn list(&self) -> Result<Vec<Answer>, StoreError> {
        let answer = |row: &rusqlite::Row<'_>| {
            let at = Timestamp::from_micros(row.get::<_, i64>(3)?.max(0).cast_unsigned());
            Ok(Answer { program: row.get(0)?, grant: row.get(1)?, allow: row.get(2)?, at })
        };
        let sql = "SELECT program, grant_text, allow, at_us FROM answers ORDER BY at_us, program, grant_text";
        self.with(|db| db.prepare_cached(sql)?.query_map([], answer)?.collect())
    }

    fn with<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        act(&db).map_err(|error| StoreError::of(&self.path, error))
    }
}
