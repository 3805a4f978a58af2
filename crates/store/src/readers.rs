use crate::StoreError;
use crate::database::{self, Use};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many connections for reading are kept while nobody reads.
const READERS_KEPT: usize = 8;

/// Connections to one file for reading: as many as there are readers at a time, and a few for the next ones.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Readers {
        Readers { path: path.to_owned(), idle: Mutex::default() }
    }

    /// Reads on the calling thread.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.with(read)?.map_err(|error| StoreError::of(&self.path, error))
    }

    /// The same, for whoever has errors of their own.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => database::connect(&self.path, Use::Reading)?,
        };
        let found = read(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < READERS_KEPT {
            idle.push(connection);
        }
        Ok(found)
    }
}
