//! Changing files.

use super::place::Place;
use super::trouble::trouble;
use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt as _};
use isolith_core::files::Room;
use isolith_core::{FilesError, FilesReason};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;

/// The most one file may have after it was written to.
pub(super) const FILE_BYTES_MAX: u64 = Room::FILE_BYTES_MAX;
/// How the names of files begin that are being written. Lists leave them out.
const UNFINISHED: &str = ".isolith-unfinished-";

pub(super) fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes())
}

/// Puts a file in place of what is there, whole or not at all, and returns its size.
pub(super) fn replace(place: &Place, bytes: &[u8]) -> Result<u64, FilesError> {
    let size = bytes.len() as u64;
    bounded(size)?;
    let before = target(place)?;
    let (parent, name) = place.parent().ok_or(FilesReason::NotAFile("a folder"))?;
    let folder = make_parent(&place.dir, parent)?;
    let unfinished = Unfinished::new(&folder).map_err(trouble)?;
    let made = folder.open_with(&unfinished.name, OpenOptions::new().write(true).create_new(true));
    let mut file = made.map_err(trouble)?;
    file.write_all(bytes).map_err(trouble)?;
    if let Some(mode) = before {
        // What could be run before can be run still. Bits that lend someone's rights are not carried over.
        file.set_permissions(Permissions::from_mode(mode & 0o777)).map_err(trouble)?;
    }
    file.sync_all().map_err(trouble)?;
    folder.rename(&unfinished.name, &folder, name).map_err(trouble)?;
    unfinished.finish();
    sync(&folder).map_err(trouble)?;
    Ok(size)
}

/// Writes behind what is there and returns the file's new size. What cannot be written to its end is taken back.
pub(super) fn append(place: &Place, bytes: &[u8]) -> Result<u64, FilesError> {
    let existed = target(place)?.is_some();
    let (parent, name) = place.parent().ok_or(FilesReason::NotAFile("a folder"))?;
    let folder = make_parent(&place.dir, parent)?;
    let place = Place { dir: folder, names: name.to_owned() };
    let (mut file, found) = place.file(OpenOptions::new().append(true).create(true))?;
    let size = found.len().saturating_add(bytes.len() as u64);
    bounded(size)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = file.set_len(found.len());
        return Err(trouble(error));
    }
    if !existed {
        sync(&place.dir).map_err(trouble)?;
    }
    Ok(size)
}

/// Makes a folder and those on the way. One that is there is fine.
pub(super) fn make_folder(place: &Place) -> Result<(), FilesError> {
    if place.is_whole() {
        return Ok(());
    }
    match place.dir.metadata(&place.names) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(FilesReason::Exists.into()),
        Err(_) => place.dir.create_dir_all(&place.names).map_err(trouble),
    }
}

/// Makes the folder that something is put in, and opens it.
pub(super) fn make_parent(dir: &Dir, parent: &Path) -> Result<Dir, FilesError> {
    if parent.as_os_str().is_empty() {
        return dir.try_clone().map_err(trouble);
    }
    match dir.open_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            dir.create_dir_all(parent).map_err(trouble)?;
            dir.open_dir(parent).map_err(trouble)
        }
        other => other.map_err(trouble),
    }
}

/// Makes what happened in a folder last.
pub(super) fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

/// The mode of the file that is about to be written, when there is one.
fn target(place: &Place) -> Result<Option<u32>, FilesError> {
    match place.look() {
        Ok(found) if found.is_file() => Ok(Some(found.permissions().mode())),
        Ok(found) if found.is_dir() => Err(FilesReason::NotAFile("a folder").into()),
        // THREAT[T-FILES-001]: what is written through a link ends up somewhere else than was said, and granted.
        Ok(found) if found.is_symlink() => {
            Err(FilesReason::Denied("it is a link, and links are not written through").into())
        }
        Ok(_) => Err(FilesReason::NotAFile("something special").into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

fn bounded(bytes: u64) -> Result<(), FilesError> {
    match bytes > FILE_BYTES_MAX {
        true => Err(FilesReason::TooLarge { bytes, most: FILE_BYTES_MAX }.into()),
        false => Ok(()),
    }
}

/// A file that goes again unless it gets its name.
struct Unfinished<'a> {
    folder: &'a Dir,
    name: OsString,
    done: bool,
}

impl<'a> Unfinished<'a> {
    fn new(folder: &'a Dir) -> io::Result<Self> {
        let mut random = [0u8; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let name = format!("{UNFINISHED}{:016x}", u64::from_ne_bytes(random)).into();
        Ok(Unfinished { folder, name, done: false })
    }

    fn finish(mut self) {
        self.done = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.done {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}
