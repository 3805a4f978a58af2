//! Going through what is below a folder, past what is not open or not wanted.

use crate::ignores::Ignores;
use crate::scope::Scope;
use isolith_core::files::{Node, NodeKind, View};
use isolith_core::{FilesError, GuestPath};
use std::collections::VecDeque;

/// How many places one call looks at.
const PLACES_MAX: usize = 200_000;
/// How many names are asked for at a time.
const PAGE: usize = 500;

/// What to do after a place was shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on, and into it when it is a folder.
    On,
    /// It is enough.
    Stop,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Everything was shown.
    Whole,
    /// There may be more.
    Early,
}

/// Whether what ignore files say is passed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignoring {
    Nothing,
    IgnoreFiles,
}

impl From<bool> for Ignoring {
    fn from(ignore: bool) -> Ignoring {
        if ignore { Ignoring::IgnoreFiles } else { Ignoring::Nothing }
    }
}

struct Level {
    folder: GuestPath,
    page: VecDeque<(String, Node)>,
    // The last name that was asked for, until there are no more.
    after: Option<String>,
    over: bool,
}

impl Level {
    fn of(folder: GuestPath) -> Level {
        Level { folder, page: VecDeque::new(), after: None, over: false }
    }

    fn next(&mut self, view: &dyn View) -> Result<Option<(String, Node)>, FilesError> {
        if self.page.is_empty() && !self.over {
            let page = view.list(&self.folder, self.after.as_deref(), PAGE)?;
            self.over = page.len() < PAGE;
            self.after = page.last().map(|(name, _)| name.clone());
            self.page = page.into();
        }
        Ok(self.page.pop_front())
    }
}

/// Shows what is below a folder: each folder before what is in it, and names in order of bytes. Links are shown and not followed.
///
/// Folder by folder and not as one, so that what is passed over costs nothing.
pub(crate) fn walk(
    view: &dyn View,
    scope: &Scope,
    start: &GuestPath,
    ignoring: Ignoring,
    visit: &mut dyn FnMut(&GuestPath, &Node) -> Result<Next, FilesError>,
) -> Result<Ended, FilesError> {
    let mut ignores = match ignoring {
        Ignoring::Nothing => None,
        Ignoring::IgnoreFiles => Some(Ignores::down_to(view, scope, start)?),
    };
    let mut levels = vec![Level::of(start.clone())];
    let mut seen = 0;
    while let Some(level) = levels.last_mut() {
        let Some((name, node)) = level.next(view)? else {
            levels.pop();
            if let Some(ignores) = &mut ignores {
                ignores.leave();
            }
            continue;
        };
        // What no path can name is out of reach.
        let Ok(path) = level.folder.child(&name) else { continue };
        let is_folder = node.kind == NodeKind::Folder;
        if scope.is_closed(&path) || ignores.as_ref().is_some_and(|ignores| ignores.passes_over(&path, is_folder)) {
            continue;
        }
        seen += 1;
        if seen > PLACES_MAX {
            return Ok(Ended::Early);
        }
        match visit(&path, &node)? {
            Next::Stop => return Ok(Ended::Early),
            Next::On if is_folder => {
                if let Some(ignores) = &mut ignores {
                    ignores.enter(view, &path)?;
                }
                levels.push(Level::of(path));
            }
            Next::On => {}
        }
    }
    Ok(Ended::Whole)
}

/// A path as globs see it: from the folder that they are relative to.
pub(crate) fn relative(start: &GuestPath, path: &GuestPath) -> String {
    start.below(path).map(|names| names.join("/")).unwrap_or_default()
}
