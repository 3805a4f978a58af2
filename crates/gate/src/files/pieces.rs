//! A large file of a workspace, range by range.

use super::read::lost;
use crate::bodies::BodySource;
use isolith_core::files::FileTree;
use isolith_core::{BoxFuture, CallError};
use isolith_workspace::Pieces;
use std::sync::Arc;

pub(super) struct TreePieces {
    tree: Arc<dyn FileTree>,
    // Away while a piece is being read.
    pieces: Option<Pieces>,
}

impl TreePieces {
    pub(super) fn new(tree: Arc<dyn FileTree>, pieces: Pieces) -> TreePieces {
        TreePieces { tree, pieces: Some(pieces) }
    }
}

impl BodySource for TreePieces {
    fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>> {
        Box::pin(async move {
            let mut pieces = self.pieces.take().ok_or_else(|| lost("an earlier piece of it was given up"))?;
            let tree = Arc::clone(&self.tree);
            let read = move || {
                let bytes = pieces.next(&*tree, most);
                (pieces, bytes)
            };
            let (pieces, bytes) = tokio::task::spawn_blocking(read).await.map_err(|_| lost("it was given up"))?;
            self.pieces = Some(pieces);
            bytes.map_err(|error| lost(&error.message("the file")))
        })
    }
}
