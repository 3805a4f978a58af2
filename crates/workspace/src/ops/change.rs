//! Writing, making, moving and removing.

use crate::resolve::{Last, Spot, missing_folders, resolve};
use crate::work::Work;
use isolith_core::files::{Draft, NodeKind};
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// The last moment that has four digits for its year, in milliseconds since 1970.
const MODIFIED_MS_MAX: u64 = 253_402_300_799_999;
/// The bits of who may read, write and run. Those that lend someone's rights are not among them.
const MODE_BITS: u32 = 0o777;

pub(crate) fn write(
    work: &Work<'_>,
    what: &str,
    path: &GuestPath,
    bytes: &[u8],
    append: bool,
) -> Result<Value, FilesError> {
    let most = work.tree.used()?.1.file_bytes;
    work.change(what, |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        refuse_link(&spot)?;
        let before = match &spot.node {
            Some(_) => spot.file()?,
            None => {
                bounded(bytes.len() as u64, most)?;
                (work.spend)(bytes.len() as u64)?;
                make_way(draft, &spot.path)?;
                draft.put_file(&spot.path, bytes, None)?;
                return Ok(json!(bytes.len()));
            }
        };
        let (place, node) = before;
        let size = if append { node.size.saturating_add(bytes.len() as u64) } else { bytes.len() as u64 };
        bounded(size, most)?;
        (work.spend)(bytes.len() as u64)?;
        match append {
            true => draft.append(&place, bytes)?,
            false => draft.put_file(&place, bytes, None)?,
        }
        Ok(json!(size))
    })
}

fn bounded(bytes: u64, most: u64) -> Result<(), FilesError> {
    match bytes > most {
        true => Err(FilesReason::TooLarge { bytes, most }.into()),
        false => Ok(()),
    }
}

// THREAT[T-FILES-001]: what is written through a link ends up somewhere else than was said, and granted.
pub(super) fn refuse_link(spot: &Spot) -> Result<(), FilesError> {
    match spot.node.as_ref().map(|node| node.kind) {
        Some(NodeKind::Link) => Err(FilesReason::Denied("it is a link, and links are not written through").into()),
        _ => Ok(()),
    }
}

/// Makes the folders that something is put in.
pub(super) fn make_way(draft: &mut dyn Draft, place: &GuestPath) -> Result<(), FilesError> {
    for folder in missing_folders(&*draft, place)? {
        draft.put_folder(&folder)?;
    }
    Ok(())
}

pub(crate) fn make_folder(work: &Work<'_>, path: &GuestPath) -> Result<Value, FilesError> {
    work.change("make folder", |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        match spot.node.as_ref().map(|node| node.kind) {
            None => {
                make_way(draft, &spot.path)?;
                draft.put_folder(&spot.path)?;
            }
            Some(NodeKind::Folder) => {}
            Some(NodeKind::File) => return Err(FilesReason::Exists.into()),
            // It is there when what the link leads to is a folder, and is not made when it leads nowhere.
            Some(NodeKind::Link) => match resolve(&*draft, work.scope, path, Last::Follow)?.node {
                Some(node) if node.kind == NodeKind::Folder => {}
                _ => return Err(FilesReason::Exists.into()),
            },
        }
        Ok(Value::Null)
    })
}

pub(crate) fn remove(work: &Work<'_>, path: &GuestPath, recursive: bool) -> Result<Value, FilesError> {
    work.scope.admit_whole(path)?;
    // Looking first: what removes nothing is no change.
    let found = work.view(|view| match resolve(view, work.scope, path, Last::Keep) {
        Ok(spot) => Ok(spot.node.is_some()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    })?;
    if !found {
        return Ok(json!(false));
    }
    work.change("remove", |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        let Some(node) = spot.node else { return Ok(json!(false)) };
        work.scope.admit_whole(&spot.path)?;
        let is_full = |draft: &dyn Draft| Ok::<bool, FilesError>(!draft.list(&spot.path, None, 1)?.is_empty());
        if node.kind == NodeKind::Folder && !recursive && is_full(&*draft)? {
            return Err(FilesReason::NotEmpty.into());
        }
        draft.remove(&spot.path)?;
        Ok(json!(true))
    })
}

pub(crate) fn rename(work: &Work<'_>, path: &GuestPath, to: &GuestPath) -> Result<Value, FilesError> {
    work.change("rename", |draft| {
        let (from, node) = resolve(&*draft, work.scope, path, Last::Keep)?.there()?;
        work.scope.admit_whole(&from)?;
        let there = resolve(&*draft, work.scope, to, Last::Keep).map_err(|error| error.about(to))?;
        let to_place = free_for(work, &from, node.kind, there).map_err(|error| error.about(to))?;
        if to_place == from {
            return Ok(Value::Null);
        }
        if node.kind == NodeKind::Folder {
            fits_below(&*draft, &from, &to_place)?;
        }
        make_way(draft, &to_place).map_err(|error| error.about(to))?;
        draft.rename(&from, &to_place)?;
        Ok(Value::Null)
    })
}

/// The place that something is moved or copied to: nothing is there, or a file in the place of which a file or a link may be.
pub(super) fn free_for(work: &Work<'_>, from: &GuestPath, kind: NodeKind, to: Spot) -> Result<GuestPath, FilesError> {
    work.scope.admit_whole(&to.path)?;
    if to.path != *from && from.covers(&to.path) {
        return Err(FilesReason::Invalid("a folder cannot be put into itself".into()).into());
    }
    match to.node.map(|node| node.kind) {
        None => Ok(to.path),
        Some(_) if to.path == *from => Ok(to.path),
        Some(NodeKind::File) if kind != NodeKind::Folder => Ok(to.path),
        Some(_) => Err(FilesReason::Exists.into()),
    }
}

// THREAT[T-FILES-009]: what is put deeper than a path can say is out of everyone's reach, and in everyone's quota.
pub(super) fn fits_below(draft: &dyn Draft, from: &GuestPath, to: &GuestPath) -> Result<(), FilesError> {
    draft.walk(from, &mut |path, _| {
        to.rebased(from, path)?;
        Ok(ControlFlow::Continue(()))
    })
}

pub(crate) fn link(work: &Work<'_>, path: &GuestPath, target: &str) -> Result<Value, FilesError> {
    work.change("link", |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        if spot.node.is_some() {
            return Err(FilesReason::Exists.into());
        }
        work.scope.admit_target(&spot.path, target)?;
        make_way(draft, &spot.path)?;
        draft.put_link(&spot.path, target)?;
        Ok(Value::Null)
    })
}

pub(crate) fn set(
    work: &Work<'_>,
    path: &GuestPath,
    mode: Option<u32>,
    modified: Option<u64>,
) -> Result<Value, FilesError> {
    let invalid = |why: &str| Err(FilesReason::Invalid(why.into()).into());
    if mode.is_none() && modified.is_none() {
        return invalid("there is nothing to set: give a `mode` or `modified`");
    }
    if mode.is_some_and(|mode| mode & !MODE_BITS != 0) {
        return invalid("a mode has nine bits: from 0 to 0o777, which is 511");
    }
    if modified.is_some_and(|ms| ms > MODIFIED_MS_MAX) {
        return invalid("`modified` is in milliseconds since 1970, and before the year 10000");
    }
    work.change("set", |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        refuse_link(&spot)?;
        let (place, _) = spot.there()?;
        if place.is_root() {
            return Err(FilesReason::Denied("the root stays as it is").into());
        }
        draft.set(&place, mode, modified.map(|ms| Timestamp::from_micros(ms * 1000)))?;
        Ok(Value::Null)
    })
}
