//! Sessions as they were: a copy of a session's file is a snapshot, and the beginning of another session.
//!
//! The file names chunks and does not hold them, so a copy of it takes no longer for larger files.

use super::{Failed, Sessions, missing, rows, unique};
use crate::database::{self, Use, now};
use crate::workspace::chunks_of;
use crate::{StoreError, folder};
use isolith_core::{SessionError, SessionName, SessionRecord, SessionStore as _, SnapshotRecord, SnapshotsKept};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Between the name of a session and that of its snapshot. No name has it.
const OF: char = '@';
/// What the file of a session and those that belong to it end in. The database comes first: what is left without it is nobody's.
const ENDINGS: [&str; 5] = ["sqlite", "sqlite-wal", "sqlite-shm", "sqlite-journal", "unfinished"];

impl Sessions {
    /// The file of a snapshot.
    pub(super) fn copy(&self, session: &SessionName, snapshot: &SessionName) -> PathBuf {
        self.folder.join(format!("{session}{OF}{snapshot}.sqlite"))
    }

    /// Removes a file of a session with everything that belongs to it. When this returns it does not come back either.
    ///
    /// What is beside a database is taken to be its own, so nothing may be left where another one is put.
    pub(super) fn clear(&self, path: &Path) -> Result<(), SessionError> {
        let cannot = |source: io::Error| self.store(&StoreError::File { path: path.to_owned(), source });
        for ending in ENDINGS {
            match std::fs::remove_file(path.with_extension(ending)) {
                Ok(()) => self.unsettled.store(true, Ordering::Release),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot(error)),
            }
        }
        if self.unsettled.swap(false, Ordering::AcqRel) {
            folder::sync(&self.folder).map_err(|error| {
                self.unsettled.store(true, Ordering::Release);
                cannot(error)
            })?;
        }
        Ok(())
    }

    pub(super) fn fork_to(
        &self,
        session: &SessionName,
        snapshot: Option<&SessionName>,
        name: Option<SessionName>,
    ) -> Result<SessionRecord, SessionError> {
        let from = self.get(session)?.ok_or_else(|| missing(session))?;
        let (source, origin, word) = match snapshot {
            Some(snapshot) => {
                let known = self.reading(|db| rows::snapshots(db, session))?;
                if !known.iter().any(|record| record.snapshot == *snapshot) {
                    return Err(SessionError::NotFound { what: "snapshot", name: snapshot.to_string() });
                }
                (self.copy(session, snapshot), format!("{session}{OF}{snapshot}"), "restored")
            }
            None => (self.file(session), session.to_string(), "fork"),
        };
        let name = name.map_or_else(|| derived(session, word), Ok)?;
        let at = now();
        let record =
            SessionRecord { session: name, settings: from.settings, created: at, used: at, origin: Some(origin) };
        self.copied(&source, &self.file(&record.session), session, |db| rows::add(db, &record))?;
        Ok(record)
    }

    pub(super) fn take(
        &self,
        session: &SessionName,
        name: Option<SessionName>,
        kept: SnapshotsKept,
    ) -> Result<SnapshotRecord, SessionError> {
        self.get(session)?.ok_or_else(|| missing(session))?;
        let snapshot = name.map_or_else(|| unique("snapshot_"), Ok)?;
        let record = SnapshotRecord { snapshot, session: session.clone(), created: now() };
        let target = self.copy(session, &record.snapshot);
        let forgotten = self.copied(&self.file(session), &target, session, |db| {
            rows::add_snapshot(db, &record)?;
            Ok(rows::forget_snapshots(db, session, kept, record.created)?)
        })?;
        forgotten.iter().for_each(|old| _ = self.clear(&self.copy(session, old)));
        Ok(record)
    }

    /// Copies a session's file under the catalogue's lock: two who want the same name, or one who removes the session meanwhile, wait.
    fn copied<T>(
        &self,
        source: &Path,
        target: &Path,
        session: &SessionName,
        add: impl FnOnce(&rusqlite::Connection) -> Result<T, Failed>,
    ) -> Result<T, SessionError> {
        // Until the copy is in place, what it names is in no file that a sweep would look into.
        let _held = self.chunks.hold()?;
        self.writing(|db| {
            if !Sessions::exists(db, session)? {
                return Err(missing(session).into());
            }
            let added = add(db)?;
            // Left by a crash: the catalogue knows nothing of it.
            self.clear(target)?;
            // A session that was never used has no file yet, and so has its copy.
            if source.exists() {
                database::copy(source, target).map_err(|error| Sessions::unusable(session, &error))?;
            }
            Ok(added)
        })
    }

    /// Forgets snapshots that are too old, and removes files that the catalogue does not know, and chunks that no file names.
    pub(super) fn sweep_all(&self) -> Result<u64, SessionError> {
        // On its own: a file goes when the catalogue has forgotten it for good.
        self.writing(|db| Ok(rows::forget_old_snapshots(db, now())?))?;
        self.chunks.sweep(|| {
            // Nobody can make a session or a snapshot meanwhile.
            self.writing(|db| {
                let mut used = HashSet::new();
                let unreadable = |error: io::Error| SessionError::Store(error.to_string());
                for entry in std::fs::read_dir(&self.folder).map_err(unreadable)? {
                    let path = entry.map_err(unreadable)?.path();
                    let ending = path.extension().and_then(|ending| ending.to_str());
                    if ending.is_none_or(|ending| !ENDINGS.contains(&ending)) {
                        continue;
                    }
                    match known(db, &path)? {
                        None => {}
                        // Begun by someone who is gone: whoever copies has the catalogue for as long.
                        Some(true) if ending == Some("unfinished") => {
                            std::fs::remove_file(&path).map_err(unreadable)?;
                        }
                        Some(true) if ending != Some("sqlite") => {}
                        Some(true) => {
                            let of = |error| SessionError::Store(StoreError::of(&path, error).to_string());
                            let file = database::connect(&path, Use::Reading)
                                .map_err(|error| SessionError::Store(error.to_string()))?;
                            chunks_of(&file, &mut used).map_err(of)?;
                        }
                        Some(false) => self.clear(&path)?,
                    }
                }
                Ok(used)
            })
        })
    }
}

/// Whether the catalogue has what a file is of; nothing where its name is another's, who may keep it.
fn known(db: &rusqlite::Connection, path: &Path) -> Result<Option<bool>, Failed> {
    let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { return Ok(None) };
    let (session, snapshot) = name.split_once(OF).map_or((name, None), |(session, of)| (session, Some(of)));
    let Ok(session) = SessionName::new(session) else { return Ok(None) };
    Ok(Some(match snapshot {
        None => Sessions::exists(db, &session)?,
        Some(snapshot) => rows::snapshots(db, &session)?.iter().any(|known| known.snapshot.as_str() == snapshot),
    }))
}

/// A name for what was made from a session.
fn derived(session: &SessionName, word: &str) -> Result<SessionName, SessionError> {
    let short = unique("")?.as_str().chars().take(8).collect::<String>();
    let base: String = session.as_str().chars().take(80).collect();
    SessionName::new(&format!("{base}-{word}-{short}")).map_err(|error| SessionError::Invalid(error.to_string()))
}
