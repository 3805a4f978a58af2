//! Bytes of files, at once or range by range.

use crate::resolve::{Last, resolve};
use crate::work::{FilesAnswer, Work};
use isolith_core::files::{FileTree, Node, View};
use isolith_core::{FilesError, FilesReason, GuestPath, MAX_READ_BYTES};

/// Up to here bytes are answered at once; beyond, they are read range by range.
const WHOLE_BYTES_MAX: u64 = MAX_READ_BYTES as u64;

pub(crate) fn read(
    work: &Work<'_>,
    path: &GuestPath,
    offset: u64,
    length: Option<u64>,
    version: Option<u64>,
) -> Result<FilesAnswer, FilesError> {
    let range = |size: u64| size.saturating_sub(offset).min(length.unwrap_or(u64::MAX));
    if let Some(version) = version {
        work.scope.admit(path)?;
        let bytes = work.tree.earlier(path, version)?.ok_or(FilesReason::NotFound)?;
        let wanted = range(bytes.len() as u64);
        // What starts beyond the end wants nothing.
        let from = offset.min(bytes.len() as u64) as usize;
        return Ok(match wanted > WHOLE_BYTES_MAX {
            true => FilesAnswer::Large(Pieces { path: path.clone(), of: Of::Earlier(bytes), offset, left: wanted }),
            false => FilesAnswer::Bytes(bytes[from..from + wanted as usize].to_vec()),
        });
    }
    work.view(|view| {
        let (path, node) = resolve(view, work.scope, path, Last::Follow)?.file()?;
        let wanted = range(node.size);
        Ok(match wanted > WHOLE_BYTES_MAX {
            true => FilesAnswer::Large(Pieces { path, of: Of::Kept(node), offset, left: wanted }),
            false => FilesAnswer::Bytes(exactly(view, &path, offset, wanted)?),
        })
    })
}

/// Bytes of a file that are there for sure.
pub(crate) fn exactly(view: &dyn View, path: &GuestPath, offset: u64, wanted: u64) -> Result<Vec<u8>, FilesError> {
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let bytes = view.bytes(path, offset, wanted)?;
    match bytes.len() as u64 == wanted {
        true => Ok(bytes),
        false => Err(changed()),
    }
}

/// The bytes of a file that are many. Each range is read on its own, and all of them are of the same file as it was at the first.
#[derive(Debug)]
pub struct Pieces {
    path: GuestPath,
    of: Of,
    offset: u64,
    left: u64,
}

#[derive(Debug)]
enum Of {
    Kept(Node),
    Earlier(Vec<u8>),
}

impl Pieces {
    /// How many bytes are yet to be read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next bytes, at most `most` of them; none at the end. An error when the file is not the same any more.
    pub fn next(&mut self, tree: &dyn FileTree, most: usize) -> Result<Vec<u8>, FilesError> {
        let wanted = self.left.min(most as u64).min(WHOLE_BYTES_MAX);
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let (path, offset) = (&self.path, self.offset);
        let bytes = match &self.of {
            Of::Earlier(bytes) => bytes[offset as usize..(offset + wanted) as usize].to_vec(),
            Of::Kept(first) => {
                let mut bytes = Vec::new();
                tree.view(&mut |view| {
                    let now = view.look(path)?.ok_or_else(changed)?;
                    if !is_same(first, &now) {
                        return Err(changed());
                    }
                    bytes = exactly(view, path, offset, wanted)?;
                    Ok(())
                })?;
                bytes
            }
        };
        self.offset += wanted;
        self.left -= wanted;
        Ok(bytes)
    }
}

// Whoever keeps it may not know contents apart; then a date that is the same is the best there is.
fn is_same(first: &Node, now: &Node) -> bool {
    first.kind == now.kind
        && first.size == now.size
        && first.content == now.content
        && (first.content.is_some() || first.modified == now.modified)
}

fn changed() -> FilesError {
    FilesReason::Io("it changed while it was read".into()).into()
}
