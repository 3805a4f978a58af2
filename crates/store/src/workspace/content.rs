//! What a file holds: in its row where it is little, else in chunks.

use super::trouble;
use crate::chunks::{Chunks, Hash};
use isolith_core::{FilesError, FilesReason};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::HashSet;

/// Up to here a content is in the database: one wait for the disk instead of several.
const INLINE_BYTES_MAX: usize = 32 << 10;
/// A chunk in a row: its hash, and its size in four bytes.
const PIECE_BYTES: usize = 36;

/// A chunk of a content, and how large it is.
type Piece = (Hash, u64);

pub(super) struct Content {
    digest: Vec<u8>,
    size: u64,
    kept: Kept,
}

enum Kept {
    Here(Vec<u8>),
    Chunks(Vec<Piece>),
}

impl Content {
    /// Bytes from an offset on, at most so many, and those that were written.
    pub(super) fn bytes(&self, chunks: &Chunks, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        let end = offset.saturating_add(most).min(self.size);
        if offset >= end {
            return Ok(Vec::new());
        }
        match &self.kept {
            Kept::Here(data) => {
                // THREAT[T-SESSION-003]: what is on a disk can change without anyone having written it.
                if data.len() as u64 != self.size || blake3::hash(data).as_bytes() != &self.digest[..] {
                    return Err(FilesReason::Damaged.into());
                }
                Ok(data[offset as usize..end as usize].to_vec())
            }
            Kept::Chunks(pieces) => {
                let mut bytes = Vec::with_capacity((end - offset) as usize);
                let mut start = 0;
                for (hash, size) in pieces {
                    let (from, to) = (offset.max(start), end.min(start + size));
                    if from < to {
                        let chunk = chunks.get(hash)?;
                        let wanted = (from - start) as usize..(to - start) as usize;
                        bytes.extend_from_slice(chunk.get(wanted).ok_or(FilesReason::Damaged)?);
                    }
                    start += size;
                }
                Ok(bytes)
            }
        }
    }

    /// The chunks that stay as they are when something is written behind, and the bytes of what does not.
    fn behind(self, chunks: &Chunks) -> Result<(Vec<Piece>, Vec<u8>), FilesError> {
        match self.kept {
            Kept::Here(_) => Ok((Vec::new(), self.bytes(chunks, 0, u64::MAX)?)),
            Kept::Chunks(mut pieces) => match pieces.pop() {
                Some((last, _)) => Ok((pieces, chunks.get(&last)?.to_vec())),
                None => Ok((pieces, Vec::new())),
            },
        }
    }
}

pub(super) fn find(db: &Connection, id: i64) -> Result<Content, FilesError> {
    let sql = "SELECT digest, size, chunks, data FROM contents WHERE id = ?1";
    let mut statement = db.prepare_cached(sql).map_err(trouble)?;
    let found = statement.query_row([id], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<Vec<u8>>>(2)?, row.get::<_, Option<Vec<u8>>>(3)?))
    });
    let (digest, size, chunks, data) = found.optional().map_err(trouble)?.ok_or(FilesReason::Damaged)?;
    let kept = match (chunks, data) {
        (Some(chunks), None) => Kept::Chunks(pieces(&chunks).ok_or(FilesReason::Damaged)?),
        (None, Some(data)) => Kept::Here(data),
        _ => return Err(FilesReason::Damaged.into()),
    };
    Ok(Content { digest, size: size.max(0).cast_unsigned(), kept })
}

fn pieces(row: &[u8]) -> Option<Vec<Piece>> {
    let whole = row.len().is_multiple_of(PIECE_BYTES);
    let piece = |piece: &[u8]| {
        let (hash, size) = piece.split_first_chunk::<32>()?;
        Some((*hash, u64::from(u32::from_le_bytes(size.try_into().ok()?))))
    };
    row.chunks(PIECE_BYTES).map(piece).collect::<Option<_>>().filter(|_| whole)
}

/// Keeps bytes, in place where they are kept already, and says where.
pub(super) fn keep(db: &Connection, chunks: &Chunks, bytes: &[u8]) -> Result<i64, FilesError> {
    keep_behind(db, chunks, Vec::new(), bytes)
}

/// Keeps what a content and more bytes make together.
pub(super) fn append(db: &Connection, chunks: &Chunks, content: Content, bytes: &[u8]) -> Result<i64, FilesError> {
    let (first, mut rest) = content.behind(chunks)?;
    rest.extend_from_slice(bytes);
    keep_behind(db, chunks, first, &rest)
}

fn keep_behind(db: &Connection, chunks: &Chunks, first: Vec<Piece>, bytes: &[u8]) -> Result<i64, FilesError> {
    if first.is_empty() && bytes.len() <= INLINE_BYTES_MAX {
        let digest = blake3::hash(bytes);
        return insert(db, digest.as_bytes(), bytes.len() as u64, None, Some(bytes));
    }
    let size = first.iter().map(|(_, size)| size).sum::<u64>() + bytes.len() as u64;
    let mut row: Vec<u8> = Vec::new();
    let piece = |row: &mut Vec<u8>, hash: &Hash, size: u64| {
        row.extend_from_slice(hash);
        row.extend_from_slice(&(size as u32).to_le_bytes());
    };
    first.iter().for_each(|(hash, size)| piece(&mut row, hash, *size));
    let cut: Vec<(Hash, &[u8])> = Chunks::cut(bytes).collect();
    cut.iter().for_each(|(hash, bytes)| piece(&mut row, hash, bytes.len() as u64));
    let digest = blake3::hash(&row);
    // What this session has already is on disk, chunks and all.
    if let Some(id) = same(db, digest.as_bytes())? {
        return Ok(id);
    }
    for (hash, bytes) in &cut {
        chunks.put(hash, bytes)?;
    }
    insert(db, digest.as_bytes(), size, Some(&row), None)
}

fn same(db: &Connection, digest: &[u8]) -> Result<Option<i64>, FilesError> {
    let mut statement = db.prepare_cached("SELECT id FROM contents WHERE digest = ?1").map_err(trouble)?;
    statement.query_row([digest], |row| row.get(0)).optional().map_err(trouble)
}

fn insert(
    db: &Connection,
    digest: &[u8],
    size: u64,
    chunks: Option<&[u8]>,
    data: Option<&[u8]>,
) -> Result<i64, FilesError> {
    if let Some(id) = same(db, digest)? {
        return Ok(id);
    }
    let sql = "INSERT INTO contents (digest, size, uses, chunks, data) VALUES (?1, ?2, 0, ?3, ?4)";
    let mut statement = db.prepare_cached(sql).map_err(trouble)?;
    statement.insert((digest, size.cast_signed(), chunks, data)).map_err(trouble)
}

/// Counts one use more.
pub(super) fn used(db: &Connection, id: i64) -> Result<(), FilesError> {
    let sql = "UPDATE contents SET uses = uses + 1 WHERE id = ?1";
    db.prepare_cached(sql).and_then(|mut statement| statement.execute([id])).map(|_| ()).map_err(trouble)
}

/// Counts one use less. What nobody uses goes; its chunks stay until they are swept, others may have them.
pub(super) fn unused(db: &Connection, id: i64) -> Result<(), FilesError> {
    let sql = "UPDATE contents SET uses = uses - 1 WHERE id = ?1";
    db.prepare_cached(sql).and_then(|mut statement| statement.execute([id])).map_err(trouble)?;
    let sql = "DELETE FROM contents WHERE id = ?1 AND uses <= 0";
    db.prepare_cached(sql).and_then(|mut statement| statement.execute([id])).map(|_| ()).map_err(trouble)
}

/// All chunks that a session's file names.
pub(crate) fn chunks_of(db: &Connection, into: &mut HashSet<Hash>) -> rusqlite::Result<()> {
    // One that was never opened to the end has nothing in it yet.
    let tables: i64 =
        db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'contents'", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(());
    }
    let mut statement = db.prepare("SELECT chunks FROM contents WHERE chunks IS NOT NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let pieces = pieces(row.get_ref(0)?.as_blob()?).ok_or_else(crate::database::corrupt)?;
        into.extend(pieces.into_iter().map(|(hash, _)| hash));
    }
    Ok(())
}
