//! Places by what is known of them.

use super::{at_most, modified_ms};
use crate::pattern::Patterns;
use crate::resolve::{Last, resolve};
use crate::walk::{Ended, Ignoring, Next, walk};
use crate::work::Work;
use isolith_core::files::{Node, NodeKind};
use isolith_core::{FilesError, FilesOp, GuestPath};
use serde_json::{Value, json};

/// How many places are given when nothing is said, and at most.
const ENTRIES_DEFAULT: usize = 1000;
const ENTRIES_MAX: usize = 10_000;

pub(crate) fn find(work: &Work<'_>, path: &GuestPath, op: &FilesOp) -> Result<Value, FilesError> {
    let FilesOp::Find { name, kind, at_least, since, limit, .. } = op else { return Ok(Value::Null) };
    let name = name.as_deref().map(Patterns::name).transpose()?;
    let limit = at_most(*limit, ENTRIES_DEFAULT, ENTRIES_MAX);
    let wanted = |path: &GuestPath, node: &Node| {
        kind.is_none_or(|kind| kind == node.kind)
            && at_least.is_none_or(|least| node.kind == NodeKind::File && node.size >= least)
            && since.is_none_or(|since| modified_ms(node) >= since)
            && name.as_ref().is_none_or(|name| name.fits(path.name().unwrap_or_default(), false))
    };
    work.view(|view| {
        let start = resolve(view, work.scope, path, Last::Follow)?.folder()?;
        let mut entries = Vec::new();
        let ended = walk(view, work.scope, &start, Ignoring::Nothing, &mut |path, node| {
            if wanted(path, node) {
                if entries.len() == limit {
                    return Ok(Next::Stop);
                }
                let (kind, modified) = (node.kind.as_str(), modified_ms(node));
                entries
                    .push(json!({ "path": path.to_string(), "kind": kind, "size": node.size, "modified": modified }));
            }
            Ok(Next::On)
        })?;
        Ok(json!({ "entries": entries, "more": ended == Ended::Early }))
    })
}
