//! What `.gitignore` and `.ignore` say is not worth looking at.

use crate::scope::Scope;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use isolith_core::files::{NodeKind, View};
use isolith_core::{FilesError, FilesReason, GuestPath};

/// How much one call reads of ignore files.
const BYTES_MAX: u64 = 1 << 20;
/// Passed over like what an ignore file says.
const ALWAYS: &str = ".git";
/// What the first says goes before what the second says.
const FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The ignore files that hold at one place, from the root down.
pub(crate) struct Ignores<'a> {
    scope: &'a Scope,
    levels: Vec<Level>,
    bytes: u64,
}

struct Level {
    folder: GuestPath,
    rules: [Option<Gitignore>; 2],
}

impl<'a> Ignores<'a> {
    /// Those that hold in a folder: its own, and those of the folders around it.
    pub(crate) fn down_to(view: &dyn View, scope: &'a Scope, folder: &GuestPath) -> Result<Self, FilesError> {
        let mut ignores = Ignores { scope, levels: Vec::new(), bytes: 0 };
        let mut here = scope.root.clone();
        ignores.enter(view, &here)?;
        for name in scope.root.below(folder).unwrap_or_default() {
            here = here.child(name)?;
            ignores.enter(view, &here)?;
        }
        Ok(ignores)
    }

    /// Reads those of a folder.
    pub(crate) fn enter(&mut self, view: &dyn View, folder: &GuestPath) -> Result<(), FilesError> {
        let mut rules = [None, None];
        for (name, rule) in FILES.iter().zip(&mut rules) {
            let Ok(path) = folder.child(name) else { continue };
            if self.scope.is_closed(&path) {
                continue;
            }
            let Some(node) = view.look(&path)?.filter(|node| node.kind == NodeKind::File) else { continue };
            self.bytes = self.bytes.saturating_add(node.size);
            // THREAT[T-FILES-015]: ignore files are compiled, and there can be one in every folder.
            if self.bytes > BYTES_MAX {
                let why = format!("the ignore files have more than {BYTES_MAX} bytes: search without `ignore`");
                return Err(FilesReason::Limit(why).into());
            }
            let bytes = view.bytes(&path, 0, node.size)?;
            let mut builder = GitignoreBuilder::new("/");
            for line in String::from_utf8_lossy(&bytes).lines() {
                // A line that is none says nothing, as with git.
                let _ = builder.add_line(None, line);
            }
            *rule = builder.build().ok();
        }
        self.levels.push(Level { folder: folder.clone(), rules });
        Ok(())
    }

    /// Forgets those of the folder that was entered last.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Whether a place is passed over.
    pub(crate) fn passes_over(&self, path: &GuestPath, is_folder: bool) -> bool {
        if path.name() == Some(ALWAYS) {
            return true;
        }
        for kind in 0..FILES.len() {
            for level in self.levels.iter().rev() {
                let Some(rules) = &level.rules[kind] else { continue };
                let below = level.folder.below(path).unwrap_or_default().join("/");
                match rules.matched(format!("/{below}"), is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
        }
        false
    }
}
