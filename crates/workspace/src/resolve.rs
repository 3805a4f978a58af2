//! From a path that was asked for to a place that is there.

use crate::scope::Scope;
use isolith_core::files::{Node, NodeKind, View};
use isolith_core::{FilesError, FilesReason, GuestPath, PathStep};

/// How many links may be on the way to one place.
const LINKS_MAX: usize = 40;

/// What is done when the last name of a path is a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// What it leads to is meant.
    Follow,
    /// The link is meant.
    Keep,
}

/// A place, and what is there.
pub(crate) struct Spot {
    pub(crate) path: GuestPath,
    pub(crate) node: Option<Node>,
}

enum Step {
    Into(String),
    Up,
}

impl From<PathStep<'_>> for Step {
    fn from(step: PathStep<'_>) -> Step {
        match step {
            PathStep::Into(name) => Step::Into(name.to_owned()),
            PathStep::Up => Step::Up,
        }
    }
}

/// Follows the links on the way to a place.
///
/// Where nothing is, or on the way to it, the rest of the path is taken by its names: something can be put there.
pub(crate) fn resolve(view: &dyn View, scope: &Scope, asked: &GuestPath, last: Last) -> Result<Spot, FilesError> {
    scope.admit(asked)?;
    let names = scope.root.below(asked).unwrap_or_default();
    let mut todo: Vec<Step> = names.iter().rev().map(|name| Step::Into(name.clone())).collect();
    let mut path = scope.root.clone();
    let mut node = view.look(&path)?;
    let mut links = 0;
    loop {
        if let Some(target) = node.as_ref().filter(|node| node.kind == NodeKind::Link).map(|node| &node.target)
            && !(todo.is_empty() && last == Last::Keep)
        {
            links += 1;
            if links > LINKS_MAX {
                return Err(FilesReason::Denied("it leads through too many links").into());
            }
            let target = target.as_deref().unwrap_or_default();
            // THREAT[T-FILES-011]: the target is looked at where it is followed too: it may have been put there by someone else.
            // A link in the place of the root itself has no folder around it that is open.
            if target.starts_with('/') || target.is_empty() || path == scope.root {
                return Err(outside());
            }
            todo.extend(GuestPath::steps(target)?.into_iter().rev().map(Step::from));
            path = path.parent().ok_or_else(outside)?;
            node = view.look(&path)?;
            continue;
        }
        let Some(step) = todo.pop() else { break };
        if node.as_ref().is_some_and(|node| node.kind != NodeKind::Folder) {
            return Err(FilesReason::NotAFolder.into());
        }
        match step {
            Step::Into(name) => {
                path = path.child(&name)?;
                scope.admit(&path)?;
                node = if node.is_some() { view.look(&path)? } else { None };
            }
            // What is around a place that is not there cannot be told.
            Step::Up if node.is_none() => return Err(FilesReason::NotFound.into()),
            Step::Up => {
                path = path.parent().filter(|parent| scope.root.covers(parent)).ok_or_else(outside)?;
                node = view.look(&path)?;
            }
        }
    }
    Ok(Spot { path, node })
}

fn outside() -> FilesError {
    FilesReason::Outside { instead: None }.into()
}

impl Spot {
    /// What is there, or that nothing is.
    pub(crate) fn there(self) -> Result<(GuestPath, Node), FilesError> {
        match self.node {
            Some(node) => Ok((self.path, node)),
            None => Err(FilesReason::NotFound.into()),
        }
    }

    /// The file that is there.
    pub(crate) fn file(self) -> Result<(GuestPath, Node), FilesError> {
        let (path, node) = self.there()?;
        match node.kind {
            NodeKind::File => Ok((path, node)),
            NodeKind::Folder => Err(FilesReason::NotAFile("a folder").into()),
            NodeKind::Link => Err(FilesReason::Denied("it is a link").into()),
        }
    }

    /// The folder that is there.
    pub(crate) fn folder(self) -> Result<GuestPath, FilesError> {
        let (path, node) = self.there()?;
        match node.kind {
            NodeKind::Folder => Ok(path),
            _ => Err(FilesReason::NotAFolder.into()),
        }
    }
}

/// The folders on the way to a place that are not there, the outermost first.
pub(crate) fn missing_folders(view: &dyn View, place: &GuestPath) -> Result<Vec<GuestPath>, FilesError> {
    let mut missing = Vec::new();
    let mut around = place.parent();
    while let Some(folder) = around {
        match view.look(&folder)?.map(|node| node.kind) {
            Some(NodeKind::Folder) => break,
            Some(NodeKind::File) => return Err(FilesReason::NotAFolder.into()),
            Some(NodeKind::Link) => return Err(FilesReason::Denied("a link is in the way").into()),
            None => {}
        }
        around = folder.parent();
        missing.push(folder);
    }
    missing.reverse();
    Ok(missing)
}
