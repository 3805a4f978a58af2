//! Texts, and lines of them.

use super::read::exactly;
use crate::resolve::{Last, resolve};
use crate::work::Work;
use isolith_core::files::{Node, Room, View};
use isolith_core::{FilesError, FilesReason, GuestPath, MAX_READ_BYTES};
use serde_json::{Value, json};

/// How many lines are given when nothing is said, and at most.
const LINES_MAX: usize = 2000;
/// How many bytes these lines may have together.
const LINES_BYTES_MAX: usize = MAX_READ_BYTES as usize;
/// The largest text of which lines are given.
const TEXT_BYTES_MAX: u64 = Room::FILE_BYTES_MAX;

/// A whole text of at most so many bytes.
pub(super) fn text(view: &dyn View, path: &GuestPath, node: &Node, most: u64) -> Result<String, FilesError> {
    if node.size > most {
        let why = format!("the text has {} bytes, and for this it may have {most}", node.size);
        return Err(FilesReason::Limit(why).into());
    }
    as_text(exactly(view, path, 0, node.size)?)
}

pub(super) fn as_text(bytes: Vec<u8>) -> Result<String, FilesError> {
    String::from_utf8(bytes).map_err(|_| FilesReason::NotText.into())
}

pub(crate) fn read_lines(
    work: &Work<'_>,
    path: &GuestPath,
    from: Option<u64>,
    lines: Option<u64>,
) -> Result<Value, FilesError> {
    let from = from.unwrap_or(1);
    if from == 0 {
        return Err(FilesReason::Invalid("lines are counted from 1".into()).into());
    }
    let most = lines.map_or(LINES_MAX, |lines| usize::try_from(lines).unwrap_or(LINES_MAX)).min(LINES_MAX);
    let text = work.view(|view| {
        let (path, node) = resolve(view, work.scope, path, Last::Follow)?.file()?;
        text(view, &path, &node, TEXT_BYTES_MAX)
    })?;
    let (mut given, mut count, mut total) = (String::new(), 0, 0u64);
    let mut full = false;
    for line in text.split_inclusive('\n') {
        total += 1;
        if total < from || count >= most || full {
            continue;
        }
        // Lines are given whole, so that each can be found again to the letter.
        if given.len() + line.len() > LINES_BYTES_MAX {
            if count == 0 {
                let why = format!("line {total} alone has {} bytes: read it by offset and length", line.len());
                return Err(FilesReason::Limit(why).into());
            }
            full = true;
            continue;
        }
        given.push_str(line);
        count += 1;
    }
    Ok(json!({ "text": given, "from": from, "lines": count, "total": total }))
}
