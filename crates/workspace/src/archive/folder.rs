//! Folders of the host.

use super::intake::{Intake, Known};
use super::outgo::Taker;
use super::unwritten;
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use isolith_core::files::Node;
use isolith_core::{FilesError, FilesReason, Timestamp};
use rustix::fs::OFlags;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) fn import(intake: &mut Intake<'_>, from: &Dir) -> Result<(), FilesError> {
    below(intake, from, &[])
}

// As deep as paths can be, and no deeper: the names on the way are held against that before a folder is entered.
fn below(intake: &mut Intake<'_>, dir: &Dir, way: &[u8]) -> Result<(), FilesError> {
    let mut names = Vec::new();
    for entry in dir.entries().map_err(unwritten)? {
        names.push(entry.map_err(unwritten)?.file_name());
    }
    names.sort();
    for name in &names {
        let mut path = way.to_vec();
        path.extend_from_slice(name.as_bytes());
        let Some(place) = intake.place(&path)? else { continue };
        let found = dir.symlink_metadata(name).map_err(unwritten)?;
        if found.is_dir() {
            intake.folder(&place, known(&found))?;
            let inner = dir.open_dir(name).map_err(unwritten)?;
            path.push(b'/');
            below(intake, &inner, &path)?;
        } else if found.is_symlink() {
            let target = dir.read_link_contents(name).map_err(unwritten)?;
            intake.link(&place, target.as_os_str().as_bytes(), known(&found))?;
        } else if found.is_file() {
            // THREAT[T-FILES-003]: it may be something else by now. What was opened is what is looked at.
            // Opening a pipe waits for its other end unless one says not to.
            let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(flags.bits().cast_signed());
            let mut file = dir.open_with(name, &options).map_err(unwritten)?;
            let opened = file.metadata().map_err(unwritten)?;
            if !opened.is_file() {
                return Err(intake.refuse(&place, "it is no file, folder or link"));
            }
            intake.file(&place, &mut file, known(&opened))?;
        } else {
            return Err(intake.refuse(&place, "it is no file, folder or link"));
        }
    }
    Ok(())
}

fn known(found: &Metadata) -> Known {
    let modified = found.modified().ok().and_then(|at| at.into_std().duration_since(UNIX_EPOCH).ok());
    let micros = modified.and_then(|since| u64::try_from(since.as_micros()).ok());
    Known { mode: Some(found.permissions().mode()), modified: micros.map(Timestamp::from_micros) }
}

pub(super) struct Writer<'a> {
    to: &'a Dir,
    // Modes and dates come last: a folder that may not be written to would keep out what is in it.
    folders: Vec<(String, Node)>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(to: &'a Dir) -> Writer<'a> {
        Writer { to, folders: Vec::new() }
    }
}

fn date(node: &Node) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(node.modified.as_micros())
}

impl Taker for Writer<'_> {
    fn folder(&mut self, name: &str, node: &Node) -> Result<(), FilesError> {
        self.to.create_dir(name).map_err(there)?;
        self.folders.push((name.to_owned(), node.clone()));
        Ok(())
    }

    fn file(&mut self, name: &str, node: &Node, bytes: &mut dyn Read) -> Result<(), FilesError> {
        let made = self.to.open_with(name, OpenOptions::new().write(true).create_new(true));
        let mut file = made.map_err(there)?;
        io::copy(bytes, &mut file).map_err(unwritten)?;
        file.set_permissions(Permissions::from_mode(node.mode & 0o777)).map_err(unwritten)?;
        file.into_std().set_modified(date(node)).map_err(unwritten)
    }

    fn link(&mut self, name: &str, _: &Node, target: &str) -> Result<(), FilesError> {
        self.to.symlink(target, name).map_err(there)
    }

    fn finish(&mut self) -> Result<(), FilesError> {
        for (name, node) in self.folders.iter().rev() {
            // Opened as a file: what a folder is opened as to go through it cannot be dated.
            let folder = self.to.open(name).map_err(unwritten)?.into_std();
            folder.set_modified(date(node)).map_err(unwritten)?;
            let mode = std::os::unix::fs::PermissionsExt::from_mode(node.mode & 0o777);
            folder.set_permissions(mode).map_err(unwritten)?;
        }
        Ok(())
    }
}

fn there(error: io::Error) -> FilesError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => FilesReason::Exists.into(),
        _ => unwritten(error),
    }
}
