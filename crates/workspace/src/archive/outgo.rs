//! What goes out, in one order.

use super::{Progress, Told};
use crate::resolve::{Last, resolve};
use crate::scope::Scope;
use isolith_core::files::{Node, NodeKind, View};
use isolith_core::{FilesError, FilesReason, GuestPath};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// How much of a file is held at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// Something that takes a tree, folders before what is in them.
pub(super) trait Taker {
    fn folder(&mut self, name: &str, node: &Node) -> Result<(), FilesError>;
    fn file(&mut self, name: &str, node: &Node, bytes: &mut dyn Read) -> Result<(), FilesError>;
    fn link(&mut self, name: &str, node: &Node, target: &str) -> Result<(), FilesError>;
    fn finish(&mut self) -> Result<(), FilesError>;
}

pub(super) fn give(
    view: &dyn View,
    scope: &Scope,
    from: &GuestPath,
    to: &mut dyn Taker,
    told: &mut Told<'_>,
) -> Result<Progress, FilesError> {
    let from = resolve(view, scope, from, Last::Follow)?.folder()?;
    // Links may lead anywhere within what goes out, and not out of it: there is nothing of ours there.
    let within = Scope { root: from.clone(), closed: scope.closed.clone() };
    let mut progress = Progress::default();
    view.walk(&from, &mut |path, node| {
        if scope.is_closed(path) {
            return Ok(ControlFlow::Continue(()));
        }
        let name = from.below(path).unwrap_or_default().join("/");
        match node.kind {
            NodeKind::Folder => to.folder(&name, node)?,
            NodeKind::File => {
                let mut bytes = FileBytes { view, path, size: node.size, offset: 0, piece: Vec::new(), used: 0 };
                to.file(&name, node, &mut bytes).map_err(|error| error.about(path))?;
            }
            NodeKind::Link => {
                let target = node.target.as_deref().unwrap_or_default();
                within.admit_target(path, target).map_err(|error| error.about(path))?;
                to.link(&name, node, target)?;
            }
        }
        progress.entries += 1;
        progress.bytes += node.size;
        told(&progress);
        Ok(ControlFlow::Continue(()))
    })?;
    to.finish()?;
    Ok(progress)
}

/// The bytes of a file, as many as it is said to have.
struct FileBytes<'a> {
    view: &'a dyn View,
    path: &'a GuestPath,
    size: u64,
    offset: u64,
    piece: Vec<u8>,
    used: usize,
}

impl Read for FileBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.len() && self.offset < self.size {
            let wanted = PIECE_BYTES.min(self.size - self.offset);
            self.piece = self.view.bytes(self.path, self.offset, wanted).map_err(io::Error::other)?;
            if self.piece.is_empty() {
                return Err(io::Error::other(FilesError::from(FilesReason::Io("it became shorter meanwhile".into()))));
            }
            self.used = 0;
            self.offset += self.piece.len() as u64;
        }
        let given = (self.piece.len() - self.used).min(buffer.len());
        buffer[..given].copy_from_slice(&self.piece[self.used..self.used + given]);
        self.used += given;
        Ok(given)
    }
}
