//! Files on their way in and out: folders of this machine, and archives.

use super::{failed, tell, wake};
use crate::args::OneSession;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::{Done, show};
use isolith_core::GuestPath;
use isolith_store::Sessions;
use isolith_workspace::Scope;
use isolith_workspace::archive::{self, Dir, Format, Progress};
use serde_json::json;
use std::path::Path;

pub(super) fn import(store: &Sessions, one: &OneSession, source: &Path, to: &str) -> Done {
    let woken = wake(store, &one.session)?;
    let tree = &*woken.open.files;
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("cannot read `{}`: {error}", source.display()), "check the path")
    };
    let into = place(to)?;
    let spinner = if one.json { Spinner::none() } else { Spinner::new("importing") };
    let mut progress =
        |counts: &Progress| spinner.say(&format!("importing: {} files, {} bytes", counts.entries, counts.bytes));
    let found = std::fs::metadata(source).map_err(unreadable)?;
    let counts = match found.is_dir() {
        true => {
            let from = folder(source).map_err(unreadable)?;
            archive::import_folder(tree, &Scope::whole(), &into, &from, &mut progress)
        }
        false => {
            let mut file = std::fs::File::open(source).map_err(unreadable)?;
            archive::import(tree, &Scope::whole(), &into, format_of(source)?, &mut file, &mut progress)
        }
    };
    spinner.done();
    finish(one, counts.map_err(|error| failed(&error.into()))?)
}

pub(super) fn export(store: &Sessions, one: &OneSession, target: &Path, path: &str) -> Done {
    let woken = wake(store, &one.session)?;
    let tree = &*woken.open.files;
    let from = place(path)?;
    let spinner = if one.json { Spinner::none() } else { Spinner::new("exporting") };
    let mut progress =
        |counts: &Progress| spinner.say(&format!("exporting: {} files, {} bytes", counts.entries, counts.bytes));
    let unwritable = |error: std::io::Error| {
        Failure::usage(format!("cannot write `{}`: {error}", target.display()), "name a place that can be written")
    };
    let counts = match Format::of(target) {
        None => {
            std::fs::create_dir_all(target).map_err(unwritable)?;
            let to = folder(target).map_err(unwritable)?;
            let counts = archive::export_folder(tree, &Scope::whole(), &from, &to, &mut progress);
            counts.map_err(|error| failed(&error.into()))
        }
        Some(format) => {
            // There whole, or not at all.
            let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
            let counts = archive::export(tree, &Scope::whole(), &from, format, &mut file, &mut progress);
            counts.map_err(|error| failed(&error.into())).and_then(|counts| {
                file.as_file().sync_all().map_err(unwritable)?;
                file.persist(target).map_err(|error| unwritable(error.error))?;
                Ok(counts)
            })
        }
    };
    spinner.done();
    finish(one, counts?)
}

fn folder(path: &Path) -> std::io::Result<Dir> {
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

fn place(path: &str) -> Result<GuestPath, Failure> {
    GuestPath::new(path).map_err(|error| failed(&isolith_core::FilesError::from(error).into()))
}

fn finish(one: &OneSession, counts: Progress) -> Done {
    let value = json!({ "entries": counts.entries, "bytes": counts.bytes });
    tell(one, &value, || show::line(&format!("{} files, {} bytes", counts.entries, counts.bytes)));
    Ok(Exit::Ok)
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    Format::of(path).ok_or_else(|| {
        let message = format!("`{}` is neither a folder nor an archive", path.display());
        Failure::usage(message, "an archive's name ends in `.tar`, `.tar.gz`, `.tgz` or `.zip`")
    })
}
