//! What was changed, and taking it back.

use super::{at_most, ms};
use crate::work::Work;
use isolith_core::files::{Change, NodeKind};
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::{Value, json};

/// How many changes are told when nothing is said, and at most.
const CHANGES_DEFAULT: usize = 100;
const CHANGES_MAX: usize = 1000;
/// How many paths an undo names.
const PATHS_MAX: usize = 1000;

pub(crate) fn history(work: &Work<'_>, path: &GuestPath, limit: Option<u32>) -> Result<Value, FilesError> {
    work.scope.admit(path)?;
    let open = |change: &Change| GuestPath::new(&change.path).is_ok_and(|path| !work.scope.is_closed(&path));
    let changes = work.tree.history(path, at_most(limit, CHANGES_DEFAULT, CHANGES_MAX))?;
    let changes: Vec<Value> = changes.iter().filter(|change| open(change)).map(shown).collect();
    Ok(json!({ "changes": changes }))
}

fn shown(change: &Change) -> Value {
    json!({
        "version": change.version,
        "at": ms(change.at),
        "what": change.what,
        "path": change.path,
        "kind": change.kind.map(NodeKind::as_str),
        "size": change.size,
    })
}

pub(crate) fn undo(work: &Work<'_>, version: Option<u64>) -> Result<Value, FilesError> {
    // THREAT[T-FILES-014]: a change concerns places of others too, and taking it back changes them. Only who may change everything
    // may do that.
    if !work.scope.is_whole() {
        return Err(FilesReason::Denied("only who may change the whole workspace can take changes back").into());
    }
    let (version, mut paths) = work.tree.undo(version)?;
    paths.truncate(PATHS_MAX);
    Ok(json!({ "version": version, "paths": paths }))
}
