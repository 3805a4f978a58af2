//! The same once more, in another place.

use super::change::{free_for, make_way};
use crate::resolve::{Last, resolve};
use crate::work::Work;
use isolith_core::files::{Draft, Node, NodeKind};
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::Value;
use std::ops::ControlFlow;

/// How many files, links and folders one call may copy.
const NODES_MAX: usize = 20_000;

/// Copies what is there. A link that is named is followed; links in a folder stay links, to where they lead from their new place.
pub(crate) fn copy(work: &Work<'_>, path: &GuestPath, to: &GuestPath) -> Result<Value, FilesError> {
    work.change("copy", |draft| {
        let (from, node) = resolve(&*draft, work.scope, path, Last::Follow)?.there()?;
        work.scope.admit_whole(&from)?;
        let there = resolve(&*draft, work.scope, to, Last::Keep).map_err(|error| error.about(to))?;
        let to_place = free_for(work, &from, node.kind, there).map_err(|error| error.about(to))?;
        if to_place == from {
            return Ok(Value::Null);
        }
        let mut copies = vec![Copy { from: from.clone(), to: to_place.clone(), node: node.clone() }];
        if node.kind == NodeKind::Folder {
            below(work, &*draft, &from, &to_place, &mut copies)?;
        }
        (work.spend)(copies.iter().map(|copy| copy.node.size).fold(0, u64::saturating_add))?;
        make_way(draft, &to_place).map_err(|error| error.about(to))?;
        for copy in &copies {
            copy.make(draft).map_err(|error| error.about(&copy.from))?;
        }
        // Last: what may not be written to would keep out what is in it.
        for copy in copies.iter().rev().filter(|copy| copy.node.kind == NodeKind::Folder) {
            draft.set(&copy.to, Some(copy.node.mode), None)?;
        }
        Ok(Value::Null)
    })
}

struct Copy {
    from: GuestPath,
    to: GuestPath,
    node: Node,
}

/// All that is in a folder, each with its new place. What cannot be put there is known before anything is: not every tree takes back
/// what was begun.
fn below(
    work: &Work<'_>,
    draft: &dyn Draft,
    from: &GuestPath,
    to: &GuestPath,
    copies: &mut Vec<Copy>,
) -> Result<(), FilesError> {
    draft.walk(from, &mut |path, node| {
        if copies.len() > NODES_MAX {
            let why = format!("there is more in it than the {NODES_MAX} places that one call copies");
            return Err(FilesReason::Limit(why).into());
        }
        let there = to.rebased(from, path)?;
        if node.kind == NodeKind::Link {
            let target = node.target.as_deref().unwrap_or_default();
            work.scope.admit_target(&there, target).map_err(|error| error.about(path))?;
        }
        copies.push(Copy { from: path.clone(), to: there, node: node.clone() });
        Ok(ControlFlow::Continue(()))
    })
}

impl Copy {
    fn make(&self, draft: &mut dyn Draft) -> Result<(), FilesError> {
        match self.node.kind {
            NodeKind::File => draft.copy_file(&self.from, &self.to),
            NodeKind::Folder => draft.put_folder(&self.to),
            NodeKind::Link => draft.put_link(&self.to, self.node.target.as_deref().unwrap_or_default()),
        }
    }
}
