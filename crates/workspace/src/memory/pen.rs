//! One change, which is taken back unless it is kept.

use super::{FILE_MODE, LINK_MODE, Place, State, folder_node};
use isolith_core::files::{Draft, Node, NodeKind, Room, View, Visiting};
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Pen<'a> {
    state: &'a mut State,
    room: Room,
    now: Timestamp,
    // What was in each place before.
    before: BTreeMap<GuestPath, Option<Place>>,
}

impl<'a> Pen<'a> {
    pub(super) fn new(state: &'a mut State, room: Room, now: Timestamp) -> Pen<'a> {
        Pen { state, room, now, before: BTreeMap::new() }
    }

    pub(super) fn keep(mut self, what: &str) {
        let before = std::mem::take(&mut self.before);
        let State { places, past, .. } = &mut *self.state;
        past.add(what, self.now, before, |path| places.get(path).cloned());
    }

    /// Puts something, or nothing, in a place, and remembers what was there.
    pub(super) fn put(&mut self, path: &GuestPath, place: Option<Place>) {
        let used = &mut self.state.used;
        if let Some(place) = &place {
            used.bytes += place.node.size;
            used.files += 1;
        }
        let was = match place {
            Some(place) => self.state.places.insert(path.clone(), place),
            None => self.state.places.remove(path),
        };
        if let Some(was) = &was {
            used.bytes -= was.node.size;
            used.files -= 1;
        }
        self.before.entry(path.clone()).or_insert(was);
    }

    /// Whether there is room for this in a place.
    fn admit(&self, path: &GuestPath, bytes: u64) -> Result<(), FilesError> {
        let (used, room) = (self.state.used, self.room);
        let was = self.state.places.get(path).map(|place| place.node.size);
        if bytes > room.file_bytes {
            return Err(FilesReason::TooLarge { bytes, most: room.file_bytes }.into());
        }
        let others = used.bytes - was.unwrap_or(0);
        if others.saturating_add(bytes) > room.bytes {
            let (used, wanted) = (used.bytes, bytes - was.unwrap_or(0).min(bytes));
            return Err(FilesReason::Quota { what: "bytes", used, wanted, allowed: room.bytes }.into());
        }
        if was.is_none() && used.files + 1 > room.files {
            return Err(FilesReason::Quota { what: "files", used: used.files, wanted: 1, allowed: room.files }.into());
        }
        Ok(())
    }

    fn put_bytes(&mut self, path: &GuestPath, bytes: Arc<Vec<u8>>, mode: u32) -> Result<(), FilesError> {
        let size = bytes.len() as u64;
        self.admit(path, size)?;
        self.state.contents += 1;
        let content = Some(self.state.contents.to_string());
        let node = Node { kind: NodeKind::File, size, mode, modified: self.now, target: None, content };
        self.put(path, Some(Place { node, bytes }));
        Ok(())
    }

    fn get(&self, path: &GuestPath) -> Result<&Place, FilesError> {
        self.state.places.get(path).ok_or_else(|| FilesReason::NotFound.into())
    }

    fn mode_of(&self, path: &GuestPath) -> Option<u32> {
        let place = self.state.places.get(path)?;
        (place.node.kind == NodeKind::File).then_some(place.node.mode)
    }

    fn with_all_below(&self, path: &GuestPath) -> Vec<GuestPath> {
        let places = self.state.places.range(path..);
        places.map(|(place, _)| place).take_while(|place| path.covers(place)).cloned().collect()
    }
}

// However it ends, by an error or by a panic, what was not kept did not happen.
impl Drop for Pen<'_> {
    fn drop(&mut self) {
        for (path, was) in std::mem::take(&mut self.before) {
            self.put(&path, was);
        }
        self.before.clear();
    }
}

impl View for Pen<'_> {
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError> {
        self.state.look(path)
    }

    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError> {
        self.state.list(folder, after, most)
    }

    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError> {
        self.state.walk(folder, visit)
    }

    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        self.state.bytes(file, offset, most)
    }
}

impl Draft for Pen<'_> {
    fn put_file(&mut self, path: &GuestPath, bytes: &[u8], mode: Option<u32>) -> Result<(), FilesError> {
        let mode = self.mode_of(path).or(mode).unwrap_or(FILE_MODE);
        self.put_bytes(path, Arc::new(bytes.to_vec()), mode)
    }

    fn append(&mut self, path: &GuestPath, bytes: &[u8]) -> Result<(), FilesError> {
        let place = self.get(path)?;
        let (mode, size) = (place.node.mode, place.node.size + bytes.len() as u64);
        self.admit(path, size)?;
        let mut whole = self.get(path)?.bytes.to_vec();
        whole.extend_from_slice(bytes);
        self.put_bytes(path, Arc::new(whole), mode)
    }

    fn put_folder(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        self.admit(path, 0)?;
        self.put(path, Some(Place { node: folder_node(self.now), bytes: Arc::default() }));
        Ok(())
    }

    fn put_link(&mut self, path: &GuestPath, target: &str) -> Result<(), FilesError> {
        self.admit(path, 0)?;
        let target = Some(target.to_owned());
        let node = Node { kind: NodeKind::Link, mode: LINK_MODE, target, ..folder_node(self.now) };
        self.put(path, Some(Place { node, bytes: Arc::default() }));
        Ok(())
    }

    fn remove(&mut self, path: &GuestPath) -> Result<(), FilesError> {
        for place in self.with_all_below(path) {
            self.put(&place, None);
        }
        Ok(())
    }

    fn rename(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        for from in self.with_all_below(path) {
            let place = self.get(&from)?.clone();
            self.put(&from, None);
            self.put(&to.rebased(path, &from)?, Some(place));
        }
        Ok(())
    }

    fn copy_file(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
        let Place { node, bytes } = self.get(path)?.clone();
        self.put_bytes(to, bytes, node.mode)
    }

    fn set(&mut self, path: &GuestPath, mode: Option<u32>, modified: Option<Timestamp>) -> Result<(), FilesError> {
        let Place { mut node, bytes } = self.get(path)?.clone();
        node.mode = mode.unwrap_or(node.mode);
        node.modified = modified.unwrap_or(node.modified);
        self.put(path, Some(Place { node, bytes }));
        Ok(())
    }
}
