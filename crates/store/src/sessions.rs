//! Sessions of one caller: a catalogue, and one file for each.

mod agents;
mod copies;
mod rows;
mod webhooks;

use crate::chunks::Chunks;
use crate::database::{self, now};
use crate::migrations::{SESSION, SESSIONS};
use crate::readers::Readers;
use crate::secrets::random;
use crate::workspace::Workspace;
use crate::{Kv, StoreError, folder};
use isolith_core::files::Room;
use isolith_core::{
    AgentRecord, EventEffect, EventRecord, OpenSession, SessionError, SessionName, SessionRecord, SessionSettings,
    SessionStore, SnapshotRecord, SnapshotsKept, WebhookRecord, WebhookSettings,
};
use rows::micros;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Within how long a session that was used is not written down to have been used again.
const TOUCH_PAUSE: Duration = Duration::from_secs(60);
/// The most sessions of one page.
const PAGE_MAX: usize = 10_000;

/// Sessions in a folder.
pub struct Sessions {
    path: PathBuf,
    folder: PathBuf,
    db: Mutex<Connection>,
    readers: Readers,
    chunks: Arc<Chunks>,
    // Those that are awake. Whoever holds one keeps it so; two who open one share it.
    awake: Mutex<HashMap<SessionName, Awake>>,
    // Whether files were removed that may come back, should the machine stop.
    unsettled: AtomicBool,
}

#[derive(Clone)]
struct Awake {
    files: Weak<Workspace>,
    keys: Weak<Kv>,
    room: Room,
}

impl Sessions {
    /// The catalogue is `catalogue`, and files of sessions and chunks are in folders beside it.
    pub(crate) fn open(catalogue: &Path, folder: &Path, chunks: &Path) -> Result<Sessions, StoreError> {
        let db = Mutex::new(database::open(catalogue, &SESSIONS)?);
        let cannot = |source| StoreError::Folder { path: folder.to_owned(), source };
        folder::make(folder).map_err(cannot)?;
        Ok(Sessions {
            path: catalogue.to_owned(),
            folder: folder.to_owned(),
            db,
            readers: Readers::new(catalogue),
            chunks: Arc::new(Chunks::folder(chunks)?),
            awake: Mutex::default(),
            unsettled: AtomicBool::default(),
        })
    }

    fn reading<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, SessionError> {
        self.readers.read(read).map_err(|error| self.store(&error))
    }

    fn writing<T>(&self, write: impl FnOnce(&Connection) -> Result<T, Failed>) -> Result<T, SessionError> {
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let written = (|| {
            let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = write(&change)?;
            change.commit()?;
            Ok(done)
        })();
        written.map_err(|failed| match failed {
            Failed::Asked(error) => error,
            Failed::Database(error) => self.store(&StoreError::of(&self.path, error)),
        })
    }

    fn store(&self, error: &StoreError) -> SessionError {
        SessionError::Store(error.to_string())
    }

    /// The file of a session.
    fn file(&self, session: &SessionName) -> PathBuf {
        self.folder.join(format!("{session}.sqlite"))
    }

    fn unusable(session: &SessionName, error: &StoreError) -> SessionError {
        match error {
            StoreError::Damaged(_) | StoreError::Foreign(_) => SessionError::Damaged(session.to_string()),
            error => SessionError::Store(error.to_string()),
        }
    }
}

/// Why a change of the catalogue was not made.
enum Failed {
    Asked(SessionError),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed::Database(error)
    }
}

impl From<SessionError> for Failed {
    fn from(error: SessionError) -> Failed {
        Failed::Asked(error)
    }
}

/// A name that nobody has.
fn unique(what: &str) -> Result<SessionName, SessionError> {
    let mut bytes = [0; 8];
    random(&mut bytes).map_err(|error| SessionError::Store(error.to_string()))?;
    let name = format!("{what}{:016x}", u64::from_be_bytes(bytes));
    SessionName::new(&name).map_err(|error| SessionError::Invalid(error.to_string()))
}

fn missing(session: &SessionName) -> SessionError {
    SessionError::NotFound { what: "session", name: session.to_string() }
}

impl SessionStore for Sessions {
    fn create(&self, name: Option<SessionName>, settings: SessionSettings) -> Result<SessionRecord, SessionError> {
        let session = name.map_or_else(|| unique("session_"), Ok)?;
        let at = now();
        let record = SessionRecord { session, settings, created: at, used: at, origin: None };
        self.writing(|db| {
            rows::add(db, &record)?;
            // THREAT[T-SESSION-002]: what is left of a session of this name is not this one's.
            self.clear(&self.file(&record.session))?;
            Ok(())
        })?;
        Ok(record)
    }

    fn get(&self, session: &SessionName) -> Result<Option<SessionRecord>, SessionError> {
        self.reading(|db| rows::find(db, session))
    }

    fn list(
        &self,
        agent: Option<&SessionName>,
        after: Option<&SessionName>,
        most: usize,
    ) -> Result<Vec<SessionRecord>, SessionError> {
        self.reading(|db| rows::list(db, agent, after, most.min(PAGE_MAX)))
    }

    fn set(&self, session: &SessionName, settings: SessionSettings) -> Result<SessionRecord, SessionError> {
        self.writing(|db| {
            let mut record = rows::find(db, session)?.ok_or_else(|| missing(session))?;
            record.settings = settings;
            rows::change(db, &record)?;
            Ok(record)
        })
    }

    fn touch(&self, session: &SessionName) -> Result<(), SessionError> {
        let at = now();
        let used = self.get(session)?.ok_or_else(|| missing(session))?.used;
        if used.after(TOUCH_PAUSE) > at {
            return Ok(());
        }
        let sql = "UPDATE sessions SET used_us = ?2 WHERE session = ?1";
        self.writing(|db| Ok(db.prepare_cached(sql)?.execute((session.as_str(), micros(at)))?)).map(|_| ())
    }

    fn remove(&self, session: &SessionName) -> Result<bool, SessionError> {
        let Some(snapshots) = self.writing(|db| rows::remove(db, session))? else { return Ok(false) };
        self.awake.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        // The catalogue says that it is gone. Files that are left here are swept, or cleared away when the name is used again.
        let _ = self.clear(&self.file(session));
        snapshots.iter().for_each(|snapshot| _ = self.clear(&self.copy(session, snapshot)));
        Ok(true)
    }

    fn open(&self, session: &SessionName, room: Room) -> Result<OpenSession, SessionError> {
        let mut awake = self.awake.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Awake { files, keys, room: had }) = awake.get(session)
            && let (Some(files), Some(keys)) = (files.upgrade(), keys.upgrade())
            && *had == room
        {
            return Ok(OpenSession { files, keys });
        }
        self.get(session)?.ok_or_else(|| missing(session))?;
        let path = self.file(session);
        let woken = Workspace::open(&path, Arc::clone(&self.chunks), room)
            .and_then(|files| Ok((Arc::new(files), Arc::new(Kv::within(&path, &SESSION)?))));
        let (files, keys) = woken.map_err(|error| Sessions::unusable(session, &error))?;
        awake.retain(|_, awake| awake.files.strong_count() > 0 || awake.keys.strong_count() > 0);
        awake.insert(session.clone(), Awake { files: Arc::downgrade(&files), keys: Arc::downgrade(&keys), room });
        Ok(OpenSession { files, keys })
    }

    fn fork(
        &self,
        session: &SessionName,
        snapshot: Option<&SessionName>,
        name: Option<SessionName>,
    ) -> Result<SessionRecord, SessionError> {
        self.fork_to(session, snapshot, name)
    }

    fn snapshot(
        &self,
        session: &SessionName,
        name: Option<SessionName>,
        kept: SnapshotsKept,
    ) -> Result<SnapshotRecord, SessionError> {
        self.take(session, name, kept)
    }

    fn snapshots(&self, session: &SessionName) -> Result<Vec<SnapshotRecord>, SessionError> {
        self.get(session)?.ok_or_else(|| missing(session))?;
        self.reading(|db| rows::snapshots(db, session))
    }

    fn remove_snapshot(&self, session: &SessionName, snapshot: &SessionName) -> Result<bool, SessionError> {
        let removed = self.writing(|db| Ok(rows::remove_snapshot(db, session, snapshot)?))?;
        if removed {
            let _ = self.clear(&self.copy(session, snapshot));
        }
        Ok(removed)
    }

    fn sweep(&self) -> Result<u64, SessionError> {
        self.sweep_all()
    }

    fn put_agent(
        &self,
        agent: &SessionName,
        description: &str,
        settings: SessionSettings,
    ) -> Result<AgentRecord, SessionError> {
        self.writing(|db| agents::put(db, agent, description, settings))
    }

    fn agents(&self) -> Result<Vec<AgentRecord>, SessionError> {
        self.reading(agents::list)
    }

    fn remove_agent(&self, agent: &SessionName) -> Result<bool, SessionError> {
        self.writing(|db| agents::remove(db, agent))
    }

    fn put_webhook(&self, webhook: &SessionName, settings: WebhookSettings) -> Result<WebhookRecord, SessionError> {
        self.writing(|db| webhooks::put(db, webhook, settings))
    }

    fn webhook(&self, webhook: &SessionName) -> Result<Option<WebhookRecord>, SessionError> {
        self.reading(|db| webhooks::find(db, webhook))
    }

    fn webhooks(&self) -> Result<Vec<WebhookRecord>, SessionError> {
        self.reading(webhooks::list)
    }

    fn remove_webhook(&self, webhook: &SessionName) -> Result<bool, SessionError> {
        self.writing(|db| Ok(webhooks::remove(db, webhook)?))
    }

    fn add_event(&self, webhook: &SessionName, event: &EventRecord) -> Result<Option<EventRecord>, SessionError> {
        self.writing(|db| webhooks::add_event(db, webhook, event))
    }

    fn event(&self, webhook: &SessionName, id: &str) -> Result<Option<EventRecord>, SessionError> {
        self.reading(|db| webhooks::event(db, webhook, id))
    }

    fn events(&self, webhook: &SessionName, most: usize) -> Result<Vec<EventRecord>, SessionError> {
        self.reading(|db| webhooks::events(db, webhook, most))
    }

    fn set_effect(&self, webhook: &SessionName, id: &str, effect: &EventEffect) -> Result<(), SessionError> {
        self.writing(|db| Ok(webhooks::set_effect(db, webhook, id, effect)?))
    }
}

impl Sessions {
    fn exists(db: &Connection, session: &SessionName) -> rusqlite::Result<bool> {
        let mut statement = db.prepare_cached("SELECT 1 FROM sessions WHERE session = ?1")?;
        Ok(statement.query_row([session.as_str()], |_| Ok(())).optional()?.is_some())
    }
}
