//! Moving and removing, of single files and of whole trees.

use super::place::Place;
use super::trouble::trouble;
use super::write::{make_parent, sync};
use cap_std::fs::Dir;
use isolith_core::{FilesError, FilesReason, GuestPath};
use std::ffi::OsStr;

/// How deep a tree may be for it to be removed in one call.
const LEVELS_MAX: usize = 200;

/// Removes what is there and says whether there was something. A link goes, what it leads to stays.
pub(super) fn remove(place: &Place, recursive: bool) -> Result<bool, FilesError> {
    let Some((parent, name)) = place.parent() else {
        return Err(FilesReason::Denied("the granted folder itself stays").into());
    };
    let found = match place.look().map_err(trouble) {
        Ok(found) => found,
        Err(problem) if problem.is_not_found() => return Ok(false),
        Err(problem) => return Err(problem),
    };
    let folder = make_parent(&place.dir, parent)?;
    match (found.is_dir(), recursive) {
        (false, _) => folder.remove_file(name).map_err(trouble)?,
        (true, false) => folder.remove_dir(name).map_err(trouble)?,
        (true, true) => remove_tree(&folder, name.as_os_str(), LEVELS_MAX)?,
    }
    sync(&folder).map_err(trouble)?;
    Ok(true)
}

// THREAT[T-FILES-009]: folders can be moved into each other until they nest deeper than any stack. The depth is counted
// here, which cap-std's own removal does not do.
fn remove_tree(folder: &Dir, name: &OsStr, levels: usize) -> Result<(), FilesError> {
    if levels == 0 {
        return Err(FilesReason::Io(format!("its folders nest deeper than {LEVELS_MAX} levels")).into());
    }
    let inner = folder.open_dir(name).map_err(trouble)?;
    for entry in inner.entries().map_err(trouble)? {
        let entry = entry.map_err(trouble)?;
        if entry.file_type().map_err(trouble)?.is_dir() {
            remove_tree(&inner, &entry.file_name(), levels - 1)?;
        } else {
            inner.remove_file(entry.file_name()).map_err(trouble)?;
        }
    }
    folder.remove_dir(name).map_err(trouble)
}

/// Gives a file or a folder another place. A file that is there already is replaced; a folder is not.
pub(super) fn rename(from: &Place, to: &Place, to_path: &GuestPath) -> Result<(), FilesError> {
    let (Some((_, _)), Some((parent, name))) = (from.parent(), to.parent()) else {
        return Err(FilesReason::Denied("the granted folder itself stays").into());
    };
    // THREAT[T-FILES-010]: a link that is moved leads elsewhere, or takes the place of a folder that is granted to someone else.
    // Guests cannot make links, and this way they cannot place them either.
    if from.look().map_err(trouble)?.is_symlink() {
        return Err(FilesReason::Denied("it is a link, and links stay where they are").into());
    }
    let about_to = |problem: FilesError| problem.about(to_path);
    match to.look() {
        Ok(found) if found.is_dir() => return Err(about_to(FilesReason::Exists.into())),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(about_to(FilesReason::NotAFile("something special").into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(about_to(trouble(error))),
    }
    let folder = make_parent(&to.dir, parent).map_err(about_to)?;
    from.dir.rename(&from.names, &folder, name).map_err(trouble)?;
    sync(&folder).map_err(trouble)
}
