//! A copy of a data folder while it is in use.

use crate::chunks::Chunks;
use crate::{StoreError, database};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// How deep a data folder is.
const LEVELS_MAX: usize = 8;

/// How much was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Copies a folder to where nothing is. Databases are as they are at one moment each, and what they name is there.
pub(crate) fn backup(from: &Path, to: &Path, told: &mut dyn FnMut(Copied)) -> Result<Copied, StoreError> {
    let cannot = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| StoreError::File { path, source }
    };
    if std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(StoreError::Invalid(format!("`{}` is not empty: name a new folder", to.display())));
    }
    let listed = || {
        let mut all = Vec::new();
        gather(from, from, LEVELS_MAX, &mut all).map_err(cannot(from))?;
        all.sort();
        Ok::<_, StoreError>(all)
    };
    let all = listed()?;
    // Chunks stay until all of them are copied.
    let _held: Vec<_> = all
        .iter()
        .filter(|path| path.ends_with("chunks/.lock"))
        .filter_map(|path| Chunks::folder(from.join(path).parent()?).ok()?.hold().ok())
        .collect();
    let mut copied = Copied::default();
    let mut copy = |path: &Path| {
        let (source, target) = (from.join(path), to.join(path));
        let folder = target.parent().unwrap_or(to);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(cannot(folder))?;
        match is_database(path) {
            true => database::copy(&source, &target)?,
            false => match std::fs::copy(&source, &target) {
                Ok(_) => std::fs::File::open(&target).and_then(|file| file.sync_all()).map_err(cannot(&target))?,
                // It went meanwhile, so nothing that was copied needs it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(cannot(&target)(error)),
            },
        }
        copied.files += 1;
        copied.bytes += std::fs::metadata(&target).map_or(0, |found| found.len());
        told(copied);
        Ok(())
    };
    all.iter().filter(|path| is_database(path)).try_for_each(|path| copy(path))?;
    // What the copies name was there before they were made, and not all of it when the databases were looked for.
    listed()?.iter().filter(|path| !is_database(path) && !is_passing(path)).try_for_each(|path| copy(path))?;
    Ok(copied)
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sqlite")
}

/// What belongs to someone who is at work.
fn is_passing(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".sqlite-wal") || name.ends_with(".sqlite-shm") || name.ends_with(".unfinished") || name == ".lock"
}

fn gather(root: &Path, folder: &Path, levels: usize, all: &mut Vec<PathBuf>) -> io::Result<()> {
    if levels == 0 {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            gather(root, &path, levels - 1, all)?;
        } else if let (true, Ok(path)) = (kind.is_file(), path.strip_prefix(root)) {
            all.push(path.to_owned());
        }
    }
    Ok(())
}
