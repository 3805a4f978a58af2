//! Files in memory: for tests, and for runs whose files nobody wants to keep.

mod past;
mod pen;

use isolith_core::files::{Change, Changing, Draft, FileTree, Looking, Node, NodeKind, Room, Used, View, Visiting};
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use past::Past;
use pen::Pen;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a folder and a link can be used for, unless someone says otherwise.
const FOLDER_MODE: u32 = 0o755;
const LINK_MODE: u32 = 0o777;
/// The same for a file.
const FILE_MODE: u32 = 0o644;

/// Files in memory, with what they were before.
pub struct Memory {
    state: RwLock<State>,
    room: Room,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

// In order of paths by their names, which is the order in which a tree is walked.
type Places = BTreeMap<GuestPath, Place>;

#[derive(Default)]
struct State {
    places: Places,
    used: Used,
    // Counts contents, so that each has a name of its own.
    contents: u64,
    past: Past,
}

#[derive(Clone)]
struct Place {
    node: Node,
    bytes: Arc<Vec<u8>>,
}

impl Memory {
    /// Nothing yet, and room for so much.
    pub fn new(room: Room) -> Memory {
        Memory::with_clock(room, || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
        })
    }

    /// The same, with a clock of one's own.
    pub fn with_clock(room: Room, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Memory {
        Memory { state: RwLock::default(), room, clock: Box::new(clock) }
    }
}

impl FileTree for Memory {
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        look(&*state)
    }

    fn change(&self, what: &str, change: &mut Changing<'_>) -> Result<(), FilesError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut pen = Pen::new(&mut state, self.room, (self.clock)());
        change(&mut pen as &mut dyn Draft)?;
        pen.keep(what);
        Ok(())
    }

    fn history(&self, path: &GuestPath, most: usize) -> Result<Vec<Change>, FilesError> {
        Ok(self.state.read().unwrap_or_else(PoisonError::into_inner).past.of(path, most))
    }

    fn earlier(&self, path: &GuestPath, version: u64) -> Result<Option<Vec<u8>>, FilesError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let now = || state.places.get(path).cloned();
        let place = state.past.at(path, version, now)?;
        Ok(place.filter(|place| place.node.kind == NodeKind::File).map(|place| place.bytes.to_vec()))
    }

    fn undo(&self, version: Option<u64>) -> Result<(u64, Vec<String>), FilesError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let (version, before) = state.past.before(version)?;
        let mut pen = Pen::new(&mut state, self.room, (self.clock)());
        let paths = before.keys().map(GuestPath::to_string).collect();
        for (path, place) in before {
            pen.put(&path, place);
        }
        pen.keep("undo");
        Ok((version, paths))
    }

    fn used(&self) -> Result<(Used, Room), FilesError> {
        Ok((self.state.read().unwrap_or_else(PoisonError::into_inner).used, self.room))
    }
}

impl View for State {
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError> {
        match path.is_root() {
            true => Ok(Some(folder_node(Timestamp::default()))),
            false => Ok(self.places.get(path).map(|place| place.node.clone())),
        }
    }

    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError> {
        let depth = folder.names().len() + 1;
        let mut listed = Vec::new();
        let mut from = match after {
            Some(after) => folder.child(after)?,
            None => folder.clone(),
        };
        // From name to name, past all that is in them.
        while listed.len() < most {
            let mut places = self.places.range((Bound::Excluded(&from), Bound::Unbounded));
            let next = places.find(|(path, _)| !folder.covers(path) || path.names().len() == depth);
            let Some((path, place)) = next.filter(|(path, _)| folder.covers(path)) else { break };
            let Some(name) = path.name() else { break };
            if after.is_none_or(|after| name > after) {
                listed.push((name.to_owned(), place.node.clone()));
            }
            from = path.clone();
        }
        Ok(listed)
    }

    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError> {
        let below = self.places.range((Bound::Excluded(folder), Bound::Unbounded));
        for (path, place) in below.take_while(|(path, _)| folder.covers(path)) {
            if visit(path, &place.node)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError> {
        let place = self.places.get(file).ok_or(FilesReason::NotFound)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(place.bytes.len());
        let to = from.saturating_add(usize::try_from(most).unwrap_or(usize::MAX)).min(place.bytes.len());
        Ok(place.bytes[from..to].to_vec())
    }
}

fn folder_node(at: Timestamp) -> Node {
    Node { kind: NodeKind::Folder, size: 0, mode: FOLDER_MODE, modified: at, target: None, content: None }
}
