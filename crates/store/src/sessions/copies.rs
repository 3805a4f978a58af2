//! Sessions as they were: a copy of a session's file is a snapshot, and the beginning of another session.
//!
//! The file names chunks and does not hold them, so a copy of it takes no longer for larger files.

use super::{Failed, Sessions, missing, rows, unique};
use crate::database::{self, Use, now};
use crate::workspace::chunks_of;
use isolith_core::{SessionError, SessionName, SessionRecord, SessionStore as _, SnapshotRecord};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Between the name of a session and that of its snapshot. No name has it.
const OF: char = '@';

impl Sessions {
    /// The file of a snapshot.
    pub(super) fn copy(&self, session: &SessionName, snapshot: &SessionName) -> PathBuf {
        self.folder.join(format!("{session}{OF}{snapshot}.sqlite"))
    }

    pub(super) fn unlink(&self, path: &Path) {
        // The database first: what is left without it means nothing.
        for extension in ["sqlite", "sqlite-wal", "sqlite-shm"] {
            let _ = std::fs::remove_file(path.with_extension(extension));
        }
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
        kept: u32,
    ) -> Result<SnapshotRecord, SessionError> {
        self.get(session)?.ok_or_else(|| missing(session))?;
        let snapshot = name.map_or_else(|| unique("snapshot_"), Ok)?;
        let record = SnapshotRecord { snapshot, session: session.clone(), created: now() };
        let target = self.copy(session, &record.snapshot);
        self.copied(&self.file(session), &target, session, |db| rows::add_snapshot(db, &record))?;
        let all = self.reading(|db| rows::snapshots(db, session))?;
        let many = all.len().saturating_sub(kept.max(1) as usize);
        for old in &all[..many] {
            if self.writing(|db| Ok(rows::remove_snapshot(db, session, &old.snapshot)?))? {
                self.unlink(&self.copy(session, &old.snapshot));
            }
        }
        Ok(record)
    }

    /// Copies a session's file under the catalogue's lock: two who want the same name, or one who removes the session meanwhile, wait.
    fn copied(
        &self,
        source: &Path,
        target: &Path,
        session: &SessionName,
        add: impl FnOnce(&rusqlite::Connection) -> Result<(), Failed>,
    ) -> Result<(), SessionError> {
        // Until the copy is in place, what it names is in no file that a sweep would look into.
        let _held = self.chunks.hold()?;
        self.writing(|db| {
            if !Sessions::exists(db, session)? {
                return Err(missing(session).into());
            }
            add(db)?;
            // Left by a crash: the catalogue knows nothing of it.
            self.unlink(target);
            // A session that was never used has no file yet, and so has its copy.
            if source.exists() {
                database::copy(source, target).map_err(|error| Sessions::unusable(session, &error))?;
            }
            Ok(())
        })
    }

    /// Removes files that the catalogue does not know, and chunks that no file names.
    pub(super) fn sweep_all(&self) -> Result<u64, SessionError> {
        self.chunks.sweep(|| {
            // Nobody can make a session or a snapshot meanwhile.
            self.writing(|db| {
                let mut used = HashSet::new();
                let unreadable = |error: std::io::Error| SessionError::Store(error.to_string());
                for entry in std::fs::read_dir(&self.folder).map_err(unreadable)? {
                    let path = entry.map_err(unreadable)?.path();
                    if path.extension().is_none_or(|extension| extension != "sqlite") {
                        continue;
                    }
                    match known(db, &path)? {
                        true => {
                            let of = |error| SessionError::Store(crate::StoreError::of(&path, error).to_string());
                            let file = database::connect(&path, Use::Reading)
                                .map_err(|error| SessionError::Store(error.to_string()))?;
                            chunks_of(&file, &mut used).map_err(of)?;
                        }
                        false => self.unlink(&path),
                    }
                }
                Ok(used)
            })
        })
    }
}

/// Whether the catalogue has what a file is of. Files with names of others are left alone.
fn known(db: &rusqlite::Connection, path: &Path) -> Result<bool, Failed> {
    let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { return Ok(true) };
    let (session, snapshot) = name.split_once(OF).map_or((name, None), |(session, of)| (session, Some(of)));
    let Ok(session) = SessionName::new(session) else { return Ok(true) };
    match snapshot {
        None => Ok(Sessions::exists(db, &session)?),
        Some(snapshot) => Ok(rows::snapshots(db, &session)?.iter().any(|known| known.snapshot.as_str() == snapshot)),
    }
}

/// A name for what was made from a session.
fn derived(session: &SessionName, word: &str) -> Result<SessionName, SessionError> {
    let short = unique("")?.as_str().chars().take(8).collect::<String>();
    let base: String = session.as_str().chars().take(80).collect();
    SessionName::new(&format!("{base}-{word}-{short}")).map_err(|error| SessionError::Invalid(error.to_string()))
}
