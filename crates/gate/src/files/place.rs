//! The granted part of the tree, opened, and the way on from there.

use super::trouble::trouble;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use isolith_core::{Access, FilesError, FilesReason, GuestPath};
use rustix::fs::OFlags;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Where an operation happens: a folder that nothing leads out of, and the way from there.
pub(super) struct Place {
    pub(super) dir: Dir,
    /// Below `dir`. Empty for `dir` itself.
    pub(super) names: PathBuf,
}

impl Place {
    /// Opens what `granted` names and finds `path` from there. Writing makes a granted folder that is not there yet.
    ///
    /// `strict` refuses to go through links.
    pub(super) fn open(
        root: &Path,
        granted: &GuestPath,
        path: &GuestPath,
        access: Access,
        strict: bool,
    ) -> Result<Place, FilesError> {
        let names = granted.below(path).ok_or(FilesReason::Denied("it leads out of the granted place"))?;
        let place = Start::of(root, granted).map_err(trouble)?.place(names, access)?;
        if strict {
            place.has_no_links()?;
        }
        Ok(place)
    }

    /// The folder it is in, as a path below `dir`, and its name. Nothing for `dir` itself.
    pub(super) fn parent(&self) -> Option<(&Path, &Path)> {
        Some((self.names.parent()?, Path::new(self.names.file_name()?)))
    }

    /// What is there, without following it if it is a link.
    pub(super) fn look(&self) -> io::Result<Metadata> {
        match self.is_whole() {
            true => self.dir.dir_metadata(),
            false => self.dir.symlink_metadata(&self.names),
        }
    }

    /// Whether this is the granted folder itself.
    pub(super) fn is_whole(&self) -> bool {
        self.names.as_os_str().is_empty()
    }

    /// Opens the folder that this is.
    pub(super) fn folder(&self) -> Result<Dir, FilesError> {
        let dir = if self.is_whole() { self.dir.try_clone() } else { self.dir.open_dir(&self.names) };
        let dir = dir.map_err(trouble)?;
        refuse_kernel_files(&dir)?;
        Ok(dir)
    }

    /// Opens the file that this is, and nothing but a regular file.
    pub(super) fn file(&self, options: &mut OpenOptions) -> Result<(File, Metadata), FilesError> {
        if self.is_whole() {
            return Err(FilesReason::NotAFile("a folder").into());
        }
        // THREAT[T-FILES-003]: opening a pipe waits for its other end, and opening a device can do anything. Opened
        // without waiting, and what came of it is looked at on the open file, where nobody can swap it any more.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let options = options.custom_flags(flags.bits().cast_signed());
        let file = self.dir.open_with(&self.names, options).map_err(trouble)?;
        let found = file.metadata().map_err(trouble)?;
        if found.is_dir() {
            return Err(FilesReason::NotAFile("a folder").into());
        }
        if !found.is_file() {
            return Err(FilesReason::NotAFile("something special").into());
        }
        refuse_kernel_files(&file)?;
        Ok((file, found))
    }

    fn has_no_links(&self) -> Result<(), FilesError> {
        for part in self.names.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            if self.dir.symlink_metadata(part).is_ok_and(|found| found.is_symlink()) {
                return Err(FilesReason::Denied("it is or leads through a link").into());
            }
        }
        Ok(())
    }
}

/// From where the granted path is looked up.
enum Start {
    // THREAT[T-FILES-002]: a relative grant is looked up from the root without leaving it. Were it opened like any path,
    // then a link that was in a writable place could be moved to where a later run has its grant, and lead anywhere.
    Root(Dir, PathBuf),
    // The operator wrote where; links on that way are the operator's.
    Absolute(PathBuf),
}

impl Start {
    fn of(root: &Path, granted: &GuestPath) -> io::Result<Start> {
        let names: PathBuf = granted.names().iter().collect();
        if granted.is_absolute() {
            return Ok(Start::Absolute(resolve(&Path::new("/").join(names))));
        }
        Ok(Start::Root(Dir::open_ambient_dir(root, ambient_authority())?, names))
    }

    fn place(self, names: &[String], access: Access) -> Result<Place, FilesError> {
        let below: PathBuf = names.iter().collect();
        match self.folder() {
            Ok(dir) => return Ok(Place { dir, names: below }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && access == Access::Write && !names.is_empty() => {
                return Ok(Place { dir: self.make().map_err(trouble)?, names: below });
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(trouble(error)),
        }
        // The grant names a file, or something yet to come: its folder, and this one name in it.
        match names {
            [] => self.alone(access).map_err(trouble),
            _ => Err(FilesReason::NotAFolder.into()),
        }
    }

    fn folder(&self) -> io::Result<Dir> {
        match self {
            Start::Root(dir, names) if names.as_os_str().is_empty() => dir.try_clone(),
            Start::Root(dir, names) => dir.open_dir(names),
            Start::Absolute(path) => Dir::open_ambient_dir(path, ambient_authority()),
        }
    }

    fn make(&self) -> io::Result<Dir> {
        match self {
            Start::Root(dir, names) => dir.create_dir_all(names)?,
            Start::Absolute(path) => Dir::create_ambient_dir_all(path, ambient_authority())?,
        }
        self.folder()
    }

    fn alone(&self, access: Access) -> io::Result<Place> {
        let (Start::Root(_, path) | Start::Absolute(path)) = self;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let start = match self {
            Start::Root(dir, _) => Start::Root(dir.try_clone()?, parent.to_owned()),
            Start::Absolute(_) => Start::Absolute(parent.to_owned()),
        };
        let dir = match start.folder() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && access == Access::Write => start.make()?,
            other => other?,
        };
        Ok(Place { dir, names: name.into() })
    }
}

/// Follows the links of a path that the operator granted, as far as it exists.
fn resolve(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(path), ..) => path,
        (Err(_), Some(parent), Some(name)) => resolve(parent).join(name),
        _ => path.to_owned(),
    }
}

// THREAT[T-FILES-004]: the kernel's own files are no files. `/proc/self/environ` holds the secrets of this process, and
// others wait, or act when they are written. A grant of `/` does not mean them.
#[cfg(target_os = "linux")]
fn refuse_kernel_files(file: impl AsFd) -> Result<(), FilesError> {
    // proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2, bpf, pstore, selinux, efivarfs, configfs, binfmt_misc, devpts
    const KINDS: [u32; 14] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x0027_e0eb,
        0x6367_7270,
        0xcafe_4a11,
        0x6165_676c,
        0xf97c_ff8c,
        0xde5e_81e4,
        0x6265_6570,
        0x4249_4e4d,
        0x1cd1,
    ];
    let found = rustix::fs::fstatfs(file).map_err(|errno| trouble(errno.into()))?;
    match KINDS.contains(&(found.f_type as u32)) {
        true => Err(FilesReason::Denied("it belongs to the kernel").into()),
        false => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_kernel_files(_: impl AsFd) -> Result<(), FilesError> {
    Ok(())
}
