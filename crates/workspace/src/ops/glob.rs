//! Paths that fit a pattern.

use super::at_most;
use crate::pattern::Patterns;
use crate::resolve::{Last, resolve};
use crate::walk::{Ended, Next, relative, walk};
use crate::work::Work;
use isolith_core::files::NodeKind;
use isolith_core::{FilesError, GuestPath};
use serde_json::{Value, json};

/// How many paths are given when nothing is said, and at most.
const PATHS_DEFAULT: usize = 1000;
const PATHS_MAX: usize = 10_000;

/// Files, links and folders, each by its path in the tree. One that starts in a linked folder gives paths of where that leads.
pub(crate) fn glob(
    work: &Work<'_>,
    path: &GuestPath,
    pattern: &str,
    ignore: bool,
    limit: Option<u32>,
) -> Result<Value, FilesError> {
    let pattern = Patterns::path(pattern)?;
    let limit = at_most(limit, PATHS_DEFAULT, PATHS_MAX);
    work.view(|view| {
        let start = resolve(view, work.scope, path, Last::Follow)?.folder()?;
        let mut paths = Vec::new();
        let ended = walk(view, work.scope, &start, ignore.into(), &mut |path, node| {
            if pattern.fits(&relative(&start, path), node.kind == NodeKind::Folder) {
                if paths.len() == limit {
                    return Ok(Next::Stop);
                }
                paths.push(path.to_string());
            }
            Ok(Next::On)
        })?;
        Ok(json!({ "paths": paths, "more": ended == Ended::Early }))
    })
}
