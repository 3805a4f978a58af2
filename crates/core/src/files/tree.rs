//! What files are kept in. Implementations bring a database, a folder of the host, or memory.
//!
//! A tree knows places and what is in them, and follows no links: paths are read, links resolved and rules kept above it, once for all
//! of them.

use super::FilesError;
use crate::{GuestPath, Timestamp};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What one place holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// How many bytes a file has; of others, nothing.
    pub size: u64,
    /// Who may read, write and run it, in nine bits.
    pub mode: u32,
    /// When it was changed.
    pub modified: Timestamp,
    /// Where a link leads, from the folder that it is in.
    pub target: Option<String>,
    /// Tells one content of a file from another, where whoever keeps it knows.
    pub content: Option<String>,
}

/// What can be in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Bytes.
    File,
    /// Names with places of their own.
    Folder,
    /// The name of another place.
    Link,
}

impl NodeKind {
    /// As it is said.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeKind::File => "file",
            NodeKind::Folder => "folder",
            NodeKind::Link => "link",
        }
    }
}

/// A tree at one moment.
pub trait View {
    /// What is in a place. The root is a folder always.
    fn look(&self, path: &GuestPath) -> Result<Option<Node>, FilesError>;

    /// What is in a folder, by name in order of bytes, beginning after a name. Of what is not a folder, nothing.
    fn list(&self, folder: &GuestPath, after: Option<&str>, most: usize) -> Result<Vec<(String, Node)>, FilesError>;

    /// Shows everything below a folder, each folder before what is in it, and names in order of bytes, until told to stop.
    fn walk(&self, folder: &GuestPath, visit: &mut Visiting<'_>) -> Result<(), FilesError>;

    /// Bytes of a file, from an offset on and at most so many; fewer at its end.
    fn bytes(&self, file: &GuestPath, offset: u64, most: u64) -> Result<Vec<u8>, FilesError>;
}

/// A tree while it is being changed. All that is done to it happens at once, or not at all where whoever keeps it can say so.
///
/// Whoever changes it has looked first: there is a folder to put things in, and nothing in the way.
pub trait Draft: View {
    /// Puts a file, in place of another or where nothing was. A new one gets the mode that is given, or one for all to read.
    fn put_file(&mut self, path: &GuestPath, bytes: &[u8], mode: Option<u32>) -> Result<(), FilesError>;

    /// Writes behind what is in a file.
    fn append(&mut self, path: &GuestPath, bytes: &[u8]) -> Result<(), FilesError>;

    /// Makes a folder where nothing was.
    fn put_folder(&mut self, path: &GuestPath) -> Result<(), FilesError>;

    /// Makes a link where nothing was.
    fn put_link(&mut self, path: &GuestPath, target: &str) -> Result<(), FilesError>;

    /// Removes what is there; a folder with all that is in it.
    fn remove(&mut self, path: &GuestPath) -> Result<(), FilesError>;

    /// Moves what is there to where nothing is, or to where a file is, which goes.
    fn rename(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError>;

    /// Copies one file with its mode to where nothing is, or a file, which goes. Content that is kept once is not kept twice.
    fn copy_file(&mut self, path: &GuestPath, to: &GuestPath) -> Result<(), FilesError>;

    /// Sets what is given of what else is known.
    fn set(&mut self, path: &GuestPath, mode: Option<u32>, modified: Option<Timestamp>) -> Result<(), FilesError>;
}

/// Whoever is shown one place after the other, and says whether to go on.
pub type Visiting<'a> = dyn FnMut(&GuestPath, &Node) -> Result<ControlFlow<()>, FilesError> + 'a;
/// Work on a tree at one moment.
pub type Looking<'a> = dyn FnMut(&dyn View) -> Result<(), FilesError> + 'a;
/// Work that changes a tree.
pub type Changing<'a> = dyn FnMut(&mut dyn Draft) -> Result<(), FilesError> + 'a;

/// Files that are kept somewhere.
///
/// Everything here takes its time with disks and locks: it is called from threads that may wait.
pub trait FileTree: Send + Sync {
    /// Looks at the tree as it is at one moment.
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError>;

    /// Changes the tree, one after the other with everyone else who does. What was changed is on disk when this returns without an
    /// error, and nothing is changed when it returns with one. `what` is for the history.
    fn change(&self, what: &str, change: &mut Changing<'_>) -> Result<(), FilesError>;

    /// What was changed at a path or below it, the newest first.
    fn history(&self, _path: &GuestPath, _most: usize) -> Result<Vec<Change>, FilesError> {
        Err(super::FilesReason::Unsupported("history").into())
    }

    /// A file as it was after a change; nothing when it was not there.
    fn earlier(&self, _path: &GuestPath, _version: u64) -> Result<Option<Vec<u8>>, FilesError> {
        Err(super::FilesReason::Unsupported("history").into())
    }

    /// Takes back the last change, or all from this one on, and says which was the first of them and where things are as they were.
    fn undo(&self, _version: Option<u64>) -> Result<(u64, Vec<String>), FilesError> {
        Err(super::FilesReason::Unsupported("history").into())
    }

    /// What there is, and what there may be.
    fn used(&self) -> Result<(Used, Room), FilesError>;
}

/// How much there is in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Bytes of files.
    pub bytes: u64,
    /// Files, links and folders.
    pub files: u64,
}

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Room {
    /// Bytes of files.
    pub bytes: u64,
    /// Files, links and folders.
    pub files: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
}

impl Room {
    /// The most that one file may have anywhere.
    pub const FILE_BYTES_MAX: u64 = 64 << 20;
}

impl Default for Room {
    fn default() -> Room {
        Room { bytes: 2 << 30, files: 100_000, file_bytes: Room::FILE_BYTES_MAX }
    }
}

/// One change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which change: they are counted. One that concerned several places has the same number in each.
    pub version: u64,
    /// When.
    pub at: Timestamp,
    /// In a word.
    pub what: String,
    /// Where.
    pub path: String,
    /// What was there afterwards; nothing when it was removed.
    pub kind: Option<NodeKind>,
    /// How large it was then.
    pub size: u64,
}
