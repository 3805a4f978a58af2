//! What comes in, held against what a tree may have.

use super::{Progress, Told};
use crate::resolve::{Last, missing_folders, resolve};
use crate::scope::Scope;
use isolith_core::files::{Draft, NodeKind, Room};
use isolith_core::{FilesError, FilesReason, GuestPath, PathStep, Timestamp};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::rc::Rc;

/// How many entries an archive may have.
const ENTRIES_MAX: u64 = 500_000;
/// The bits of a mode that are kept.
const MODE_BITS: u32 = 0o777;
// THREAT[T-FILES-016]: a small archive that unpacks to more than anyone has room for. What is taken in is bounded by the room of the
// tree, and what is unpacked on the way by how much was packed.
/// How many times larger than its packed form an archive may be, once it is larger than can do harm.
const RATIO_MAX: u64 = 200;
const HARMLESS_BYTES: u64 = 16 << 20;

/// What else is known of an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) mode: Option<u32>,
    pub(super) modified: Option<Timestamp>,
}

pub(super) struct Intake<'a> {
    draft: &'a mut dyn Draft,
    scope: &'a Scope,
    into: GuestPath,
    room: Room,
    progress: Progress,
    told: &'a mut Told<'a>,
    // What came already, by place.
    came: BTreeSet<GuestPath>,
    // Dated at the end: what is put into a folder may change its date.
    folders: Vec<(GuestPath, Known)>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        draft: &'a mut dyn Draft,
        scope: &'a Scope,
        into: &GuestPath,
        room: Room,
        told: &'a mut (dyn FnMut(&Progress) + '_),
    ) -> Result<Intake<'a>, FilesError> {
        let spot = resolve(&*draft, scope, into, Last::Follow)?;
        if spot.node.is_none() {
            for folder in missing_folders(&*draft, &spot.path)? {
                draft.put_folder(&folder)?;
            }
            draft.put_folder(&spot.path)?;
        } else if spot.node.is_some_and(|node| node.kind != NodeKind::Folder) {
            return Err(FilesReason::NotAFolder.into());
        }
        // The callback lives as long as the caller's; here it is only lent.
        let told: &'a mut Told<'a> = told;
        let (came, folders) = (BTreeSet::new(), Vec::new());
        Ok(Intake { draft, scope, into: spot.path, room, progress: Progress::default(), told, came, folders })
    }

    /// Where an entry goes, by its name in the archive; nothing for the folder that all are in.
    pub(super) fn place(&self, name: &[u8]) -> Result<Option<GuestPath>, FilesError> {
        let shown: String = String::from_utf8_lossy(name).chars().take(200).collect();
        let named = |reason: FilesReason| FilesError { reason, path: Some(shown.clone()) };
        let Ok(text) = std::str::from_utf8(name) else {
            return Err(named(FilesReason::Invalid(format!("`{shown}` is not a name: it is not UTF-8"))));
        };
        // THREAT[T-FILES-012]: names that lead out, or up and down again: nobody who means well writes them.
        let steps = GuestPath::steps(text).map_err(FilesError::from)?;
        if text.starts_with('/') || steps.contains(&PathStep::Up) {
            return Err(named(FilesReason::Outside { instead: None }));
        }
        let relative = GuestPath::new(text)?;
        if relative.is_root() {
            return Ok(None);
        }
        let place = self.into.rebased(&GuestPath::root(), &relative)?;
        self.scope.admit(&place).map_err(|error| error.about(&place))?;
        Ok(Some(place))
    }

    pub(super) fn folder(&mut self, place: &GuestPath, known: Known) -> Result<(), FilesError> {
        self.begin(place)?;
        match self.draft.look(place)?.map(|node| node.kind) {
            None => self.draft.put_folder(place)?,
            Some(NodeKind::Folder) => {}
            Some(_) => return Err(FilesError::from(FilesReason::Exists).about(place)),
        }
        self.folders.push((place.clone(), known));
        self.over(0);
        Ok(())
    }

    pub(super) fn file(&mut self, place: &GuestPath, from: &mut dyn Read, known: Known) -> Result<(), FilesError> {
        self.only_once(place)?;
        self.begin(place)?;
        match self.draft.look(place)?.map(|node| node.kind) {
            None | Some(NodeKind::File) => {}
            Some(_) => return Err(FilesError::from(FilesReason::Exists).about(place)),
        }
        let most = self.room.file_bytes;
        let mut bytes = Vec::new();
        from.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(super::damaged)?;
        let size = bytes.len() as u64;
        if size > most {
            return Err(FilesError::from(FilesReason::TooLarge { bytes: size, most }).about(place));
        }
        self.draft.put_file(place, &bytes, None).map_err(|error| error.about(place))?;
        self.date(place, known)?;
        self.over(size);
        Ok(())
    }

    pub(super) fn link(&mut self, place: &GuestPath, target: &[u8], known: Known) -> Result<(), FilesError> {
        let wrong = |reason: FilesReason| FilesError::from(reason).about(place);
        self.only_once(place)?;
        self.begin(place)?;
        let target = std::str::from_utf8(target)
            .map_err(|_| wrong(FilesReason::Invalid("the target of a link is not UTF-8".into())))?;
        self.scope.admit_target(place, target).map_err(|error| error.about(place))?;
        if self.draft.look(place)?.is_some() {
            return Err(wrong(FilesReason::Exists));
        }
        self.draft.put_link(place, target)?;
        self.date(place, Known { mode: None, ..known })?;
        self.over(0);
        Ok(())
    }

    /// What is refused whatever it is called.
    pub(super) fn refuse(&self, place: &GuestPath, what: &'static str) -> FilesError {
        FilesError::from(FilesReason::Denied(what)).about(place)
    }

    pub(super) fn finish(mut self) -> Result<Progress, FilesError> {
        for (place, known) in std::mem::take(&mut self.folders).into_iter().rev() {
            self.date(&place, known)?;
        }
        Ok(self.progress)
    }

    /// Makes the folders on the way. Links are not gone through, whoever put them there: the archive, or someone before.
    fn begin(&mut self, place: &GuestPath) -> Result<(), FilesError> {
        if self.progress.entries == ENTRIES_MAX {
            return Err(FilesReason::Limit(format!("there are more than {ENTRIES_MAX} entries")).into());
        }
        let missing = missing_folders(&*self.draft, place).map_err(|error| error.about(place))?;
        for folder in missing {
            self.draft.put_folder(&folder).map_err(|error| error.about(&folder))?;
        }
        Ok(())
    }

    // Programs disagree about which of two files with one name is meant.
    fn only_once(&mut self, place: &GuestPath) -> Result<(), FilesError> {
        match self.came.insert(place.clone()) {
            true => Ok(()),
            false => Err(FilesError {
                reason: FilesReason::Invalid(format!("`{place}` comes twice in it")),
                path: Some(place.to_string()),
            }),
        }
    }

    fn date(&mut self, place: &GuestPath, known: Known) -> Result<(), FilesError> {
        match known.mode.is_some() || known.modified.is_some() {
            true => self.draft.set(place, known.mode.map(|mode| mode & MODE_BITS), known.modified),
            false => Ok(()),
        }
    }

    fn over(&mut self, bytes: u64) {
        self.progress.entries += 1;
        self.progress.bytes += bytes;
        (self.told)(&self.progress);
    }
}

/// Counts what is read.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// Ends when far more comes out than went in.
pub(super) struct Bounded<R> {
    inner: R,
    unpacked: u64,
    packed: Rc<Cell<u64>>,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, packed: Rc<Cell<u64>>) -> Bounded<R> {
        Bounded { inner, unpacked: 0, packed }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.unpacked += read as u64;
        admit_ratio(self.unpacked, self.packed.get()).map_err(io::Error::other)?;
        Ok(read)
    }
}

pub(super) fn admit_ratio(unpacked: u64, packed: u64) -> Result<(), FilesError> {
    match unpacked > HARMLESS_BYTES && unpacked / RATIO_MAX > packed {
        true => Err(FilesReason::Limit(format!("the archive unpacks to more than {RATIO_MAX} times its size")).into()),
        false => Ok(()),
    }
}
