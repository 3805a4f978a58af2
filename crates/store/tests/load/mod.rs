//! What a writer does to the files of a session, and what is there when it was done.

use isolith_core::files::Draft;
use isolith_core::{FileTree, FilesError, GuestPath};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Files, and what is in them.
pub(crate) type Model = BTreeMap<String, Vec<u8>>;

pub(crate) fn path(text: &str) -> GuestPath {
    GuestPath::new(text).unwrap()
}

pub(crate) fn filler(number: u64, bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| (number.wrapping_mul(31).wrapping_add(at * at / 7)) as u8).collect()
}

/// Puts a file with the folder it is in.
fn put(draft: &mut dyn Draft, file: &str, bytes: &[u8]) -> Result<(), FilesError> {
    if let Some((folder, _)) = file.rsplit_once('/')
        && draft.look(&path(folder))?.is_none()
    {
        draft.put_folder(&path(folder))?;
    }
    draft.put_file(&path(file), bytes, None)
}

/// The numbered operation: of all kinds, small and large, one place and several.
pub(crate) fn perform(tree: &dyn FileTree, number: u64) -> Result<(), FilesError> {
    let (small, big) = (format!("w/{}", number % 5), format!("big/{}", number % 3));
    tree.change("test", &mut |draft| match number % 8 {
        0 => put(draft, &small, &filler(number, 100 + number * 7919 % 3_000)),
        1 => put(draft, &big, &filler(number, 40_000 + number * 31 % 200_000)),
        2 if draft.look(&path("log"))?.is_none() => put(draft, "log", b""),
        2 => draft.append(&path("log"), format!("{number}\n").as_bytes()),
        3 if draft.look(&path(&big))?.is_some() => draft.append(&path(&big), &filler(number, 10_000)),
        4 if draft.look(&path(&small))?.is_some() => {
            let to = format!("v/{}", number % 5);
            put(draft, &to, b"")?;
            draft.rename(&path(&small), &path(&to))
        }
        5 => ["t/a", "t/b", "t/c"].iter().try_for_each(|file| put(draft, file, number.to_string().as_bytes())),
        6 if draft.look(&path("v"))?.is_some() => draft.remove(&path("v")),
        7 if draft.look(&path(&small))?.is_some() => {
            let to = format!("c/{}", number % 4);
            put(draft, &to, b"")?;
            draft.copy_file(&path(&small), &path(&to))
        }
        _ => Ok(()),
    })
}

/// The same, of a map.
pub(crate) fn expect(model: &mut Model, number: u64) {
    let (small, big) = (format!("w/{}", number % 5), format!("big/{}", number % 3));
    match number % 8 {
        0 => drop(model.insert(small, filler(number, 100 + number * 7919 % 3_000))),
        1 => drop(model.insert(big, filler(number, 40_000 + number * 31 % 200_000))),
        2 => match model.get_mut("log") {
            Some(log) => log.extend(format!("{number}\n").as_bytes()),
            None => drop(model.insert("log".into(), Vec::new())),
        },
        3 => {
            if let Some(big) = model.get_mut(&big) {
                big.extend(filler(number, 10_000));
            }
        }
        4 => {
            if let Some(bytes) = model.remove(&small) {
                model.insert(format!("v/{}", number % 5), bytes);
            }
        }
        5 => {
            for file in ["t/a", "t/b", "t/c"] {
                model.insert(file.into(), number.to_string().into());
            }
        }
        6 => model.retain(|file, _| !file.starts_with("v/")),
        _ => {
            if let Some(bytes) = model.get(&small).cloned() {
                model.insert(format!("c/{}", number % 4), bytes);
            }
        }
    }
}

/// All files.
pub(crate) fn contents(tree: &dyn FileTree) -> Result<Model, FilesError> {
    let mut found = Model::new();
    tree.view(&mut |view| {
        view.walk(&path("."), &mut |file, node| {
            if node.content.is_some() {
                found.insert(file.to_string(), view.bytes(file, 0, u64::MAX)?);
            }
            Ok(ControlFlow::Continue(()))
        })
    })?;
    Ok(found)
}
