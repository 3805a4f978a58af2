//! Trees as archives and as folders of the host: in and out, as a whole.
//!
//! What comes in is one change: all of it is there, or nothing. Names that lead out, hard links, devices, names that are not text, and
//! files that come twice are refused; links are held to what links of a tree are held to. Modes and dates are kept, to the second or as
//! far as the format can say. What goes out is the same bytes for the same tree.

mod folder;
mod format;
mod intake;
mod outgo;
mod tape;
mod zipped;

use crate::scope::Scope;
use crate::work::Work;
use intake::{Bounded, Counted, Intake};
use isolith_core::files::FileTree;
use isolith_core::{FilesError, FilesReason, GuestPath};
use std::cell::Cell;
use std::io::{self, Read, Seek, Write};
use std::rc::Rc;

pub use cap_std::fs::Dir;
pub use format::Format;

/// How far it is, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files, links and folders.
    pub entries: u64,
    /// Bytes of files.
    pub bytes: u64,
}

/// Is told how far it is, after every entry.
pub type Told<'a> = dyn FnMut(&Progress) + 'a;

/// Takes what is in an archive into a folder of a tree.
pub fn import(
    tree: &dyn FileTree,
    scope: &Scope,
    into: &GuestPath,
    format: Format,
    source: &mut (impl Read + Seek),
    told: &mut Told<'_>,
) -> Result<Progress, FilesError> {
    take_in(tree, scope, into, told, &mut |intake| match format {
        Format::Tar => tape::import(intake, &mut *source),
        Format::TarGz => {
            let packed = Rc::new(Cell::new(0));
            let source = Counted { inner: &mut *source, count: Rc::clone(&packed) };
            let unpacked = Bounded::new(flate2::read::MultiGzDecoder::new(source), packed);
            tape::import(intake, unpacked)
        }
        Format::Zip => zipped::import(intake, &mut *source),
    })
}

/// Takes what is in a folder of the host into a folder of a tree.
pub fn import_folder(
    tree: &dyn FileTree,
    scope: &Scope,
    into: &GuestPath,
    from: &Dir,
    told: &mut Told<'_>,
) -> Result<Progress, FilesError> {
    take_in(tree, scope, into, told, &mut |intake| folder::import(intake, from))
}

fn take_in(
    tree: &dyn FileTree,
    scope: &Scope,
    into: &GuestPath,
    told: &mut Told<'_>,
    take: &mut dyn FnMut(&mut Intake<'_>) -> Result<(), FilesError>,
) -> Result<Progress, FilesError> {
    let (_, room) = tree.used()?;
    let work = Work { tree, scope, spend: &|_| Ok(()) };
    let mut begun = false;
    work.change("import", |draft| {
        // A source is read once.
        if std::mem::replace(&mut begun, true) {
            return Err(FilesReason::Io("someone else changed it meanwhile: import it again".into()).into());
        }
        let mut intake = Intake::new(draft, scope, into, room, told)?;
        take(&mut intake)?;
        intake.finish()
    })
}

/// Gives what is in a folder of a tree as an archive.
pub fn export(
    tree: &dyn FileTree,
    scope: &Scope,
    from: &GuestPath,
    format: Format,
    out: &mut dyn Write,
    told: &mut Told<'_>,
) -> Result<Progress, FilesError> {
    let work = Work { tree, scope, spend: &|_| Ok(()) };
    work.view(|view| match format {
        Format::Tar => outgo::give(view, scope, from, &mut tape::Writer::new(&mut *out), told),
        Format::TarGz => {
            let packed = flate2::GzBuilder::new().write(&mut *out, flate2::Compression::default());
            outgo::give(view, scope, from, &mut tape::Writer::new(packed), told)
        }
        Format::Zip => outgo::give(view, scope, from, &mut zipped::Writer::new(&mut *out), told),
    })
}

/// Puts what is in a folder of a tree into a folder of the host, where nothing may be in the way.
pub fn export_folder(
    tree: &dyn FileTree,
    scope: &Scope,
    from: &GuestPath,
    to: &Dir,
    told: &mut Told<'_>,
) -> Result<Progress, FilesError> {
    let work = Work { tree, scope, spend: &|_| Ok(()) };
    work.view(|view| outgo::give(view, scope, from, &mut folder::Writer::new(to), told))
}

/// What went wrong on the way in: our own refusals pass through readers as errors of theirs.
fn damaged(error: io::Error) -> FilesError {
    match error.downcast::<FilesError>() {
        Ok(error) => error,
        Err(error) => FilesReason::Invalid(format!("the archive cannot be read: {error}")).into(),
    }
}

// THREAT[T-FILES-008]: the system's own messages can hold paths of the host.
fn unwritten(error: io::Error) -> FilesError {
    match error.downcast::<FilesError>() {
        Ok(error) => error,
        Err(error) => FilesReason::Io(error.kind().to_string()).into(),
    }
}
