//! A tree as the tables hold it.

use super::content::{self, Content};
use super::trouble;
use crate::chunks::Chunks;
use isolith_core::files::{Node, NodeKind, Used, View, Visiting};
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::ops::ControlFlow;

/// Between the names of a path. No name has it, and it comes before all that names have.
const BETWEEN: &str = "\u{1}";
/// Comes right after it.
const BEHIND: &str = "\u{2}";

/// A tree at one moment.
pub(super) struct Rows<'a> {
    pub(super) db: &'a Connection,
    pub(super) chunks: &'a Chunks,
}

/// One row: what is in a place, and where its content is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: NodeKind,
    pub(super) mode: u32,
    pub(super) modified: Timestamp,
    pub(super) size: u64,
    pub(super) content: Option<i64>,
    pub(super) target: Option<String>,
}

/// What a row is made of, in this order.
pub(super) const COLUMNS: &str = "kind, mode, modified_us, size, content, target";
/// How many these are.
const COLUMN_COUNT: usize = 6;

/// A path as it is kept; the root is empty.
pub(super) fn key(path: &GuestPath) -> String {
    path.names().join(BETWEEN)
}

pub(super) fn path_of(key: &str) -> Result<GuestPath, FilesError> {
    GuestPath::new(&shown(key)).map_err(|_| FilesReason::Damaged.into())
}

/// A key as people write it.
pub(super) fn shown(key: &str) -> String {
    key.replace(BETWEEN, "/")
}

/// All keys below one: after the first and before the second.
pub(super) fn below(key: &str) -> (String, String) {
    match key {
        "" => (String::new(), "\u{10ffff}".into()),
        key => (format!("{key}{BETWEEN}"), format!("{key}{BEHIND}")),
    }
}

pub(super) fn parent(key: &str) -> &str {
    key.rsplit_once(BETWEEN).map_or("", |(parent, _)| parent)
}

fn name(key: &str) -> &str {
    key.rsplit_once(BETWEEN).map_or(key, |(_, name)| name)
}

pub(super) fn kind_number(kind: NodeKind) -> i64 {
    match kind {
        NodeKind::File => 0,
        NodeKind::Folder => 1,
        NodeKind::Link => 2,
    }
}

pub(super) fn kind_of(number: i64) -> rusqlite::Result<NodeKind> {
    match number {
        0 => Ok(NodeKind::File),
        1 => Ok(NodeKind::Folder),
        2 => Ok(NodeKind::Link),
        _ => Err(crate::database::corrupt()),
    }
}

/// Reads [`COLUMNS`] from a column on.
pub(super) fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Found> {
    Ok(Found {
        kind: kind_of(row.get(from)?)?,
        mode: row.get(from + 1)?,
        modified: moment(row.get(from + 2)?),
        size: row.get::<_, i64>(from + 3)?.max(0).cast_unsigned(),
        content: row.get(from + 4)?,
        target: row.get(from + 5)?,
    })
}

pub(super) fn moment(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros.max(0).cast_unsigned())
}

pub(super) fn micros(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}

impl Rows<'_> {
    pub(super) fn find(&self, key: &str) -> Result<Option<Found>, FilesError> {
        let sql = format!("SELECT {COLUMNS} FROM nodes WHERE path = ?1");
        let mut statement = self.db.prepare_cached(&sql).map_err(trouble)?;
        statement.query_row([key], |row| read(row, 0)).optional().map_err(trouble)
    }

    pub(super) fn used(&self) -> Result<Used, FilesError> {
        let sql = "SELECT bytes, files FROM totals";
        let read = |row: &Row<'_>| {
            let number = |at| row.get::<_, i64>(at).map(|number| number.max(0).cast_unsigned());
            Ok(Used { bytes: number(0)?, files: number(1)? })
        };
        self.db.prepare_cached(sql).and_then(|mut statement| statement.query_row([], read)).map_err(trouble)
    }

    pub(super) fn content(&self, id: i64) -> Result<Content, FilesError> {
        content::find(self.db, id)
    }

    fn show(&self, found: Found, digest: Option<Vec<u8>>) -> Node {
        let Found { kind, mode, modified, size, target, .. } = found;
        let content = digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect());
        Node { kind, size, mode, modified, target, content }
    }

    /// Rows of nodes with the digests of their contents, in order.
    fn each(
        &self,
        condition: &str,
        parameters: impl rusqlite::Params,
        mut visit: impl FnMut(&str, Node) -> Result<ControlFlow<()>, FilesError>,
    ) -> Result<(), FilesError> {
        let columns = COLUMNS.split(", ").map(|column| format!("n.{column}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns}, c.digest, n.path FROM nodes n LEFT JOIN contents c ON c.id = n.content WHERE {condition} ORDER BY n.path"
        );
        let mut statement = self.db.prepare_cached(&sql).map_err(trouble)?;
        let mut rows = statement.query(parameters).map_err(trouble)?;
        while let Some(row) = rows.next().map_err(trouble)? {
            let node = self.show(read(row, 0).map_err(trouble)?, row.get(COLUMN_COUNT).map_err(trouble)?);
            let path = row.get_ref(COLUMN_COUNT + 1).and_then(|path| Ok(path.as_str()?)).map_err(trouble)?;
            if visit(path, node)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// What is always there.
fn root() -> Node {
    let (kind, modified) = (NodeKind::Folder, Timestamp::default());
    Node { kind, size: 0, mode: 0o755, modified, target: None, content: None }
}

impl View for Rows<'_> {
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError> {
        if path.names().is_empty() {
            return Ok(Some(root()));
        }
        let mut found = None;
        self.each("n.path = ?1", [key(path)], |_, node| {
            found = Some(node);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError> {
        let parent = key(folder);
        let (first, _) = below(&parent);
        let after = after.map_or_else(|| first.clone(), |after| format!("{first}{after}"));
        let mut found = Vec::new();
        self.each("n.parent = ?1 AND n.path > ?2", (parent, after), |path, node| {
            if found.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            found.push((name(path).to_owned(), node));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError> {
        self.each("n.path > ?1 AND n.path < ?2", below(&key(folder)), |path, node| visit(&path_of(path)?, &node))
    }

    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        let found = self.find(&key(file))?.ok_or(FilesReason::NotFound)?;
        let id = found.content.ok_or(FilesReason::NotAFile("no file"))?;
        self.content(id)?.bytes(self.chunks, offset, most)
    }
}
