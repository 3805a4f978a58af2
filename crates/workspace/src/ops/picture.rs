//! A picture of what is below a folder.

use super::at_most;
use crate::resolve::{Last, resolve};
use crate::walk::{Ended, Ignoring, Next, walk};
use crate::work::Work;
use isolith_core::files::NodeKind;
use isolith_core::{FilesError, GuestPath};
use serde_json::{Value, json};

/// How many levels are shown when nothing is said, and at most.
const LEVELS_DEFAULT: usize = 3;
const LEVELS_MAX: usize = 100;
/// How many lines a picture has.
const LINES_MAX: usize = 1000;

/// What is below the levels that are shown is counted all the same.
pub(crate) fn picture(work: &Work<'_>, path: &GuestPath, depth: Option<u32>) -> Result<Value, FilesError> {
    let depth = at_most(depth, LEVELS_DEFAULT, LEVELS_MAX);
    work.view(|view| {
        let start = resolve(view, work.scope, path, Last::Follow)?.folder()?;
        let (mut text, mut lines, mut more) = (format!("{start}/\n"), 0, false);
        let (mut files, mut folders, mut bytes) = (0u64, 0u64, 0u64);
        let ended = walk(view, work.scope, &start, Ignoring::Nothing, &mut |path, node| {
            match node.kind {
                NodeKind::Folder => folders += 1,
                NodeKind::File | NodeKind::Link => files += 1,
            }
            bytes = bytes.saturating_add(node.size);
            let level = path.names().len() - start.names().len();
            if level > depth || lines == LINES_MAX {
                more = true;
                return Ok(Next::On);
            }
            lines += 1;
            let name = path.name().unwrap_or_default();
            let indent = "  ".repeat(level);
            match (node.kind, &node.target) {
                (NodeKind::Folder, _) => text.push_str(&format!("{indent}{name}/\n")),
                (NodeKind::Link, Some(target)) => text.push_str(&format!("{indent}{name} -> {target}\n")),
                _ => text.push_str(&format!("{indent}{name}\n")),
            }
            Ok(Next::On)
        })?;
        let more = more || ended == Ended::Early;
        Ok(json!({ "text": text, "files": files, "folders": folders, "bytes": bytes, "more": more }))
    })
}
