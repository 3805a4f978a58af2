//! A tree while it is being changed, in one transaction.

use super::rows::{self, COLUMNS, Found, Rows, key, micros};
use super::{content, history, trouble};
use crate::chunks::Chunks;
use crate::database::now;
use isolith_core::files::{Draft, Node, NodeKind, Room, View, Visiting};
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use rusqlite::Connection;

/// How files come to be when nothing is said.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;
const LINK_MODE: u32 = 0o777;

pub(super) struct Drafting<'a> {
    pub(super) rows: Rows<'a>,
    room: Room,
    what: &'a str,
    at: Timestamp,
    /// What this change is numbered, if it is one.
    pub(super) version: i64,
    bytes: i64,
    files: i64,
    before_bytes: i64,
    changed: bool,
}

impl<'a> Drafting<'a> {
    pub(super) fn begin(
        db: &'a Connection,
        chunks: &'a Chunks,
        room: Room,
        what: &'a str,
    ) -> Result<Drafting<'a>, FilesError> {
        let sql = "SELECT bytes, files, version, before_bytes FROM totals";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?, row.get(3)?));
        let totals = db.prepare_cached(sql).and_then(|mut statement| statement.query_row([], read));
        let (bytes, files, version, before_bytes) = totals.map_err(trouble)?;
        let (rows, at) = (Rows { db, chunks }, now());
        Ok(Drafting { rows, room, what, at, version: version + 1, bytes, files, before_bytes, changed: false })
    }

    /// Puts something in a place, or nothing, and remembers what was there.
    pub(super) fn replace(&mut self, key: &str, new: Option<&Found>) -> Result<(), FilesError> {
        let old = self.rows.find(key)?;
        if old.as_ref() == new {
            return Ok(());
        }
        // Before anything is given back: what is in the old place may be the new content too.
        if let Some(id) = new.and_then(|new| new.content) {
            content::used(self.rows.db, id)?;
        }
        self.remember(key, old.as_ref())?;
        match new {
            Some(new) => self.write(key, new)?,
            None => self.run("DELETE FROM nodes WHERE path = ?1", [key])?,
        }
        if let Some(id) = old.as_ref().and_then(|old| old.content) {
            content::unused(self.rows.db, id)?;
        }
        let size = |found: Option<&Found>| found.map_or(0, |found| found.size.cast_signed());
        self.count(size(new) - size(old.as_ref()), i64::from(new.is_some()) - i64::from(old.is_some()))
    }

    /// Keeps what was in a place before this change; what it was in between is nobody's.
    fn remember(&mut self, key: &str, old: Option<&Found>) -> Result<(), FilesError> {
        if !std::mem::replace(&mut self.changed, true) {
            let sql = "INSERT INTO changes (version, at_us, what) VALUES (?1, ?2, ?3)";
            self.run(sql, (self.version, micros(self.at), self.what))?;
        }
        let sql = format!(
            "INSERT INTO before (path, version, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING"
        );
        let columns = (
            key,
            self.version,
            old.map(|old| rows::kind_number(old.kind)),
            old.map_or(0, |old| old.mode),
            old.map_or(0, |old| micros(old.modified)),
            old.map_or(0, |old| old.size.cast_signed()),
            old.and_then(|old| old.content),
            old.and_then(|old| old.target.as_deref()),
        );
        let kept = self.rows.db.prepare_cached(&sql).and_then(|mut statement| statement.execute(columns));
        if kept.map_err(trouble)? == 1
            && let Some((id, size)) = old.and_then(|old| Some((old.content?, old.size)))
        {
            content::used(self.rows.db, id)?;
            self.before_bytes += size.cast_signed();
        }
        Ok(())
    }

    fn write(&self, key: &str, new: &Found) -> Result<(), FilesError> {
        let sql =
            format!("INSERT OR REPLACE INTO nodes (path, parent, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
        let columns = (
            key,
            rows::parent(key),
            rows::kind_number(new.kind),
            new.mode,
            micros(new.modified),
            new.size.cast_signed(),
            new.content,
            new.target.as_deref(),
        );
        self.run(&sql, columns)
    }

    fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<(), FilesError> {
        let run = self.rows.db.prepare_cached(sql).and_then(|mut statement| statement.execute(parameters));
        run.map(|_| ()).map_err(trouble)
    }

    // THREAT[T-SESSION-004]: counted in the transaction, so that those who write at the same time cannot all find room.
    fn count(&mut self, bytes: i64, files: i64) -> Result<(), FilesError> {
        self.fits(bytes, files)?;
        self.bytes += bytes;
        self.files += files;
        Ok(())
    }

    fn fits(&self, bytes: i64, files: i64) -> Result<(), FilesError> {
        let check = |what, used: i64, more: i64, allowed: u64| {
            let over = more > 0 && (used + more).max(0).cast_unsigned() > allowed;
            let (used, wanted) = (used.max(0).cast_unsigned(), more.max(0).cast_unsigned());
            if over { Err(FilesReason::Quota { what, used, wanted, allowed }) } else { Ok(()) }
        };
        check("bytes", self.bytes, bytes, self.room.bytes)?;
        check("files", self.files, files, self.room.files)?;
        Ok(())
    }

    /// Whether there is room for a file of this size in place of what is there, before chunks are written that would have none.
    fn sized(&self, bytes: u64, old: Option<&Found>) -> Result<(), FilesError> {
        let most = self.room.file_bytes.min(Room::FILE_BYTES_MAX);
        if bytes > most {
            return Err(FilesReason::TooLarge { bytes, most }.into());
        }
        self.fits(bytes.cast_signed() - old.map_or(0, |old| old.size.cast_signed()), i64::from(old.is_none()))
    }

    /// Counts, and forgets what is too long ago.
    pub(super) fn finish(mut self) -> Result<(), FilesError> {
        if !self.changed {
            return Ok(());
        }
        self.before_bytes = history::prune(self.rows.db, self.version, self.before_bytes)?;
        let sql = "UPDATE totals SET bytes = ?1, files = ?2, version = ?3, before_bytes = ?4";
        self.run(sql, (self.bytes, self.files, self.version, self.before_bytes))
    }

    fn there(&self, key: &str) -> Result<Found, FilesError> {
        self.rows.find(key)?.ok_or_else(|| FilesReason::NotFound.into())
    }

    fn file(&self, size: u64, mode: u32, content: i64) -> Found {
        Found { kind: NodeKind::File, mode, modified: self.at, size, content: Some(content), target: None }
    }

    /// A place and all below it.
    fn whole(&self, key: &str) -> Result<Vec<(String, Found)>, FilesError> {
        let sql = format!("SELECT path, {COLUMNS} FROM nodes WHERE path = ?1 OR (path > ?2 AND path < ?3)");
        let (first, last) = rows::below(key);
        let mut statement = self.rows.db.prepare_cached(&sql).map_err(trouble)?;
        let found = statement.query_map((key, first, last), |row| Ok((row.get(0)?, rows::read(row, 1)?)));
        found.and_then(Iterator::collect).map_err(trouble)
    }
}

impl Draft for Drafting<'_> {
    fn put_file(&mut self, path: &GuestPath, bytes: &[u8], mode: Option<u32>) -> Result<(), FilesError> {
        let key = key(path);
        let old = self.rows.find(&key)?;
        self.sized(bytes.len() as u64, old.as_ref())?;
        let mode = old.map(|old| old.mode).or(mode).unwrap_or(FILE_MODE) & 0o777;
        let content = content::keep(self.rows.db, self.rows.chunks, bytes)?;
        self.replace(&key, Some(&self.file(bytes.len() as u64, mode, content)))
    }

    fn append(&mut self, path: &GuestPath, bytes: &[u8]) -> Result<(), FilesError> {
        let key = key(path);
        let old = self.there(&key)?;
        let size = old.size.saturating_add(bytes.len() as u64);
        self.sized(size, Some(&old))?;
        let whole = self.rows.content(old.content.ok_or(FilesReason::NotAFile("no file"))?)?;
        let content = content::append(self.rows.db, self.rows.chunks, whole, bytes)?;
        self.replace(&key, Some(&self.file(size, old.mode, content)))
    }

    fn put_folder(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        let (mode, modified) = (FOLDER_MODE, self.at);
        let folder = Found { kind: NodeKind::Folder, mode, modified, size: 0, content: None, target: None };
        self.replace(&key(path), Some(&folder))
    }

    fn put_link(&mut self, path: &GuestPath, target: &str) -> Result<(), FilesError> {
        let (mode, modified, target) = (LINK_MODE, self.at, Some(target.to_owned()));
        self.replace(&key(path), Some(&Found { kind: NodeKind::Link, mode, modified, size: 0, content: None, target }))
    }

    fn remove(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        for (key, _) in self.whole(&key(path))? {
            self.replace(&key, None)?;
        }
        Ok(())
    }

    fn rename(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        let (from, to) = (key(path), key(to));
        for (key, found) in self.whole(&from)? {
            // Its content stays in use all the while.
            if let Some(id) = found.content {
                content::used(self.rows.db, id)?;
            }
            self.replace(&key, None)?;
            self.replace(&format!("{to}{}", &key[from.len()..]), Some(&found))?;
            if let Some(id) = found.content {
                content::unused(self.rows.db, id)?;
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        let found = Found { modified: self.at, ..self.there(&key(path))? };
        self.replace(&key(to), Some(&found))
    }

    fn set(&mut self, path: &GuestPath, mode: Option<u32>, modified: Option<Timestamp>) -> Result<(), FilesError> {
        let key = key(path);
        let mut found = self.there(&key)?;
        found.mode = mode.unwrap_or(found.mode) & 0o777;
        found.modified = modified.unwrap_or(found.modified);
        self.replace(&key, Some(&found))
    }
}

impl View for Drafting<'_> {
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError> {
        self.rows.look(path)
    }

    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError> {
        self.rows.list(folder, after, most)
    }

    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError> {
        self.rows.walk(folder, visit)
    }

    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        self.rows.bytes(file, offset, most)
    }
}
