//! A granted folder of the host as a tree, for what is done with any tree.
//!
//! Every look and every change goes through a [`Place`]: what was resolved above it may have been exchanged since, and nothing that
//! is opened here leads out all the same.

use super::place::Place;
use super::trouble::trouble;
use super::write::{self, FILE_BYTES_MAX, is_unfinished};
use super::{State, read, tree};
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, Permissions, PermissionsExt as _};
use isolith_core::files::{Changing, Draft, FileTree, Looking, Node, NodeKind, Room, Used, View, Visiting};
use isolith_core::{Access, FilesError, FilesGrant, FilesReason, GuestPath, PathStep, Timestamp};
use std::collections::BTreeSet;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, UNIX_EPOCH};

/// How many names are asked for at a time.
const PAGE: usize = 1000;
/// How long a link's target may be.
const TARGET_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) state: &'a State,
    pub(super) grant: &'a FilesGrant,
}

impl Host<'_> {
    pub(super) fn place(&self, path: &GuestPath, access: Access) -> Result<Place, FilesError> {
        Place::open(&self.state.root, &self.grant.path, path, access, self.state.strict(self.grant))
    }

    fn node(&self, path: &GuestPath, found: &Metadata, dir: &Dir, name: &Path) -> Option<Node> {
        let kind = match found.file_type() {
            kind if kind.is_file() => NodeKind::File,
            kind if kind.is_dir() => NodeKind::Folder,
            kind if kind.is_symlink() => NodeKind::Link,
            _ => return None,
        };
        let micros = read::modified_ms(found).unwrap_or_default().saturating_mul(1000);
        let content = format!("{}-{}-{}-{}", found.dev(), found.ino(), found.mtime(), found.mtime_nsec());
        Some(Node {
            kind,
            size: if kind == NodeKind::File { found.len() } else { 0 },
            mode: found.permissions().mode() & 0o777,
            modified: Timestamp::from_micros(micros),
            target: (kind == NodeKind::Link).then(|| self.target(path, dir, name)).flatten(),
            content: Some(content),
        })
    }

    /// Where a link leads, if that is within what is granted. Others lead nowhere, and what they say is the host's.
    fn target(&self, link: &GuestPath, dir: &Dir, name: &Path) -> Option<String> {
        let target = dir.read_link_contents(name).ok()?.into_os_string().into_string().ok()?;
        if target.starts_with('/') || target.len() > TARGET_BYTES_MAX {
            return None;
        }
        let mut here = link.parent()?;
        for step in GuestPath::steps(&target).ok()? {
            here = match step {
                PathStep::Into(name) => here.child(name).ok()?,
                PathStep::Up => here.parent().filter(|parent| self.grant.path.covers(parent))?,
            };
        }
        Some(target)
    }
}

impl FileTree for Host<'_> {
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError> {
        look(self)
    }

    fn change(&self, _: &str, change: &mut Changing<'_>) -> Result<(), FilesError> {
        let _one = self.state.changing.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut { *self })
    }

    fn used(&self) -> Result<(Used, Room), FilesError> {
        Ok((Used::default(), Room { bytes: u64::MAX, files: u64::MAX, file_bytes: FILE_BYTES_MAX }))
    }
}

impl View for Host<'_> {
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError> {
        // What is around the granted place is nobody's business here, but for being there when something is put in.
        if path.covers(&self.grant.path) && *path != self.grant.path {
            return Ok(Some(Node {
                kind: NodeKind::Folder,
                size: 0,
                mode: 0o755,
                modified: Timestamp::default(),
                target: None,
                content: None,
            }));
        }
        let place = match self.place(path, Access::Read) {
            Ok(place) => place,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        match place.look().map_err(trouble) {
            Ok(found) => match self.node(path, &found, &place.dir, &place.names) {
                Some(node) => Ok(Some(node)),
                None => Err(FilesReason::NotAFile("something special").into()),
            },
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError> {
        let place = self.place(folder, Access::Read)?;
        let dir = match place.folder() {
            Err(error) if matches!(error.reason, FilesReason::NotAFolder) => return Ok(Vec::new()),
            other => other?,
        };
        // Only the page itself is kept while looking through the folder.
        let mut page: BTreeSet<String> = BTreeSet::new();
        for entry in dir.entries().map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            // What is no file, folder or link is not shown: nothing can be done with it.
            if !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir() || kind.is_symlink()) {
                continue;
            }
            let name = entry.file_name();
            // A name that no path can say is out of reach.
            let Ok(name) = name.into_string() else { continue };
            let past = after.is_some_and(|after| *name <= *after);
            if past || is_unfinished(name.as_ref()) || folder.child(&name).is_err() {
                continue;
            }
            page.insert(name);
            if page.len() > most {
                page.pop_last();
            }
        }
        let mut listed = Vec::with_capacity(page.len());
        for name in &page {
            let path = folder.child(name)?;
            // It may have gone meanwhile.
            let Ok(found) = dir.symlink_metadata(name) else { continue };
            if let Some(node) = self.node(&path, &found, &dir, Path::new(name)) {
                listed.push((name.clone(), node));
            }
        }
        // A page that is not full is the last: what has gone makes room for what comes after it.
        if let Some(last) = page.last().filter(|_| page.len() == most && listed.len() < most) {
            listed.extend(self.list(folder, Some(last), most - listed.len())?);
        }
        Ok(listed)
    }

    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError> {
        self.walk_on(folder, visit).map(|_| ())
    }

    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        let (file, _) = self.place(file, Access::Read)?.file(OpenOptions::new().read(true))?;
        let mut file = file.into_std();
        file.seek(SeekFrom::Start(offset)).map_err(trouble)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(trouble)?;
        Ok(bytes)
    }
}

impl Host<'_> {
    /// As deep as a path can say. Whether to go on.
    fn walk_on(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<bool, FilesError> {
        let mut after: Option<String> = None;
        loop {
            let page = self.list(folder, after.as_deref(), PAGE)?;
            let Some((last, _)) = page.last() else { return Ok(true) };
            after = Some(last.clone());
            for (name, node) in &page {
                let path = folder.child(name)?;
                if visit(&path, node)?.is_break() {
                    return Ok(false);
                }
                if node.kind == NodeKind::Folder && !self.walk_on(&path, visit)? {
                    return Ok(false);
                }
            }
        }
    }
}

impl Draft for Host<'_> {
    fn put_file(&mut self, path: &GuestPath, bytes: &[u8], mode: Option<u32>) -> Result<(), FilesError> {
        let is_new = self.look(path)?.is_none();
        write::replace(&self.place(path, Access::Write)?, bytes)?;
        match mode.filter(|_| is_new) {
            Some(mode) => self.set(path, Some(mode), None),
            None => Ok(()),
        }
    }

    fn append(&mut self, path: &GuestPath, bytes: &[u8]) -> Result<(), FilesError> {
        write::append(&self.place(path, Access::Write)?, bytes).map(|_| ())
    }

    fn put_folder(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        write::make_folder(&self.place(path, Access::Write)?)
    }

    fn put_link(&mut self, _: &GuestPath, _: &str) -> Result<(), FilesError> {
        Err(FilesReason::Unsupported("way to make links").into())
    }

    fn remove(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        tree::remove(&self.place(path, Access::Write)?, true).map(|_| ())
    }

    fn rename(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        tree::rename(&self.place(path, Access::Read)?, &self.place(to, Access::Write)?, to)
    }

    fn copy_file(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        let (file, found) = self.place(path, Access::Read)?.file(OpenOptions::new().read(true))?;
        let mut bytes = Vec::new();
        file.into_std().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(trouble)?;
        write::replace(&self.place(to, Access::Write)?, &bytes)?;
        self.set(to, Some(found.permissions().mode() & 0o777), None)
    }

    fn set(&mut self, path: &GuestPath, mode: Option<u32>, modified: Option<Timestamp>) -> Result<(), FilesError> {
        let place = self.place(path, Access::Write)?;
        let file = match place.look().map_err(trouble)?.is_dir() {
            true => place.folder()?.open(".").map_err(trouble)?,
            false => place.file(OpenOptions::new().read(true))?.0,
        };
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode & 0o777)).map_err(trouble)?;
        }
        if let Some(modified) = modified {
            let at = UNIX_EPOCH + Duration::from_micros(modified.as_micros());
            file.into_std().set_modified(at).map_err(trouble)?;
        }
        Ok(())
    }
}
