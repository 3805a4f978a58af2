//! One operation, from what was asked to its answer.

use crate::ops::{self, Pieces};
use crate::scope::Scope;
use isolith_core::files::{Draft, FileTree, View};
use isolith_core::{FilesError, FilesOp, FilesReason, GuestPath};
use serde_json::Value;

/// What was asked for.
#[derive(Debug)]
pub enum FilesAnswer {
    /// A value.
    Value(Value),
    /// The bytes of a file that are few.
    Bytes(Vec<u8>),
    /// The bytes of a file that are many: more than [`isolith_core::MAX_READ_BYTES`].
    Large(Pieces),
}

/// Performs an operation. `bytes` are what is written.
///
/// Paths in answers are paths of the tree, as they can be asked for. Everything is bounded; where an answer has a `more`, that says
/// whether something was left out. A change happens as a whole or not at all, where whoever keeps the tree can say so.
pub fn perform(tree: &dyn FileTree, scope: &Scope, op: &FilesOp, bytes: &[u8]) -> Result<FilesAnswer, FilesError> {
    Work { tree, scope, spend: &|_| Ok(()) }.perform(op, bytes)
}

/// Operations on one part of a tree, for someone who may not write without end.
pub struct Work<'a> {
    /// The tree.
    pub tree: &'a dyn FileTree,
    /// What is open of it.
    pub scope: &'a Scope,
    /// Is told how many bytes an operation is about to write in all, before it does, and can refuse.
    pub spend: &'a dyn Fn(u64) -> Result<(), FilesError>,
}

/// What a path is meant to name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    Thing,
    Folder,
}

impl Work<'_> {
    /// As [`perform`].
    pub fn perform(&self, op: &FilesOp, bytes: &[u8]) -> Result<FilesAnswer, FilesError> {
        let value = match op {
            FilesOp::Read { path, offset, length, version } => {
                return ops::read(self, &self.asked(path)?, *offset, *length, *version);
            }
            FilesOp::ReadLines { path, from, lines } => ops::read_lines(self, &self.asked(path)?, *from, *lines),
            FilesOp::Write { path, append } => ops::write(self, op.verb(), &self.asked(path)?, bytes, *append),
            FilesOp::Edit { path, edits } => ops::edit(self, &self.asked(path)?, edits),
            FilesOp::List { path, cursor, limit } => ops::list(self, &self.folder(path)?, cursor.as_deref(), *limit),
            FilesOp::Stat { path } => ops::stat(self, &self.folder(path)?),
            FilesOp::Remove { path, recursive } => ops::remove(self, &self.asked(path)?, *recursive),
            FilesOp::MakeFolder { path } => ops::make_folder(self, &self.asked(path)?),
            FilesOp::Rename { path, to } => ops::rename(self, &self.asked(path)?, &self.asked(to)?),
            FilesOp::Copy { path, to } => ops::copy(self, &self.asked(path)?, &self.asked(to)?),
            FilesOp::Link { path, target } => ops::link(self, &self.asked(path)?, target),
            FilesOp::Set { path, mode, modified } => ops::set(self, &self.asked(path)?, *mode, *modified),
            FilesOp::Glob { path, pattern, ignore, limit } => {
                ops::glob(self, &self.folder(path)?, pattern, *ignore, *limit)
            }
            FilesOp::Grep { path, .. } => ops::grep(self, &self.folder(path)?, op),
            FilesOp::Find { path, .. } => ops::find(self, &self.folder(path)?, op),
            FilesOp::Tree { path, depth } => ops::picture(self, &self.folder(path)?, *depth),
            FilesOp::Diff { path, to, version } => {
                let to = to.as_deref().map(|to| self.asked(to)).transpose()?;
                ops::diff(self, &self.asked(path)?, to.as_ref(), *version)
            }
            FilesOp::History { path, limit } => ops::history(self, &self.folder(path)?, *limit),
            FilesOp::Undo { version } => ops::undo(self, *version),
        };
        value.map(FilesAnswer::Value)
    }

    /// The path of a file, or of whatever there may be.
    fn asked(&self, text: &str) -> Result<GuestPath, FilesError> {
        self.path(text, Meant::Thing)
    }

    /// The path of a folder: nothing means the one that others are relative to.
    fn folder(&self, text: &str) -> Result<GuestPath, FilesError> {
        self.path(text, Meant::Folder)
    }

    fn path(&self, text: &str, meant: Meant) -> Result<GuestPath, FilesError> {
        if text.is_empty() && meant == Meant::Thing {
            return Err(FilesReason::Invalid("a path is missing: it is empty".into()).into());
        }
        let path = GuestPath::new(text)?;
        // THREAT[T-FILES-012]: an absolute path means the host's own tree. It is refused, and not read as if it were relative: what
        // was meant is not what would be found.
        if path.is_absolute() != self.scope.root.is_absolute() {
            let instead = if path.is_root() { ".".into() } else { path.names().join("/") };
            return Err(FilesReason::Outside { instead: Some(instead) }.into());
        }
        Ok(path)
    }

    /// Looks at the tree at one moment.
    pub(crate) fn view<T>(&self, mut look: impl FnMut(&dyn View) -> Result<T, FilesError>) -> Result<T, FilesError> {
        let mut seen = None;
        self.tree.view(&mut |view| {
            seen = Some(look(view)?);
            Ok(())
        })?;
        seen.ok_or_else(not_done)
    }

    /// Changes the tree, at once. It may be done again from the start when someone else was faster.
    pub(crate) fn change<T>(
        &self,
        what: &str,
        mut change: impl FnMut(&mut dyn Draft) -> Result<T, FilesError>,
    ) -> Result<T, FilesError> {
        let mut made = None;
        self.tree.change(what, &mut |draft| {
            made = Some(change(draft)?);
            Ok(())
        })?;
        made.ok_or_else(not_done)
    }
}

fn not_done() -> FilesError {
    FilesReason::Io("whoever keeps it did not look".into()).into()
}
