//! What is in a folder, page by page.

use super::place::Place;
use super::read::kind;
use super::trouble::trouble;
use super::write::is_unfinished;
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The most entries of one page, and how many there are when nothing is said.
const PAGE_ENTRIES_MAX: usize = 1000;

pub(super) fn list(
    place: &Place,
    path: &GuestPath,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<Value, FilesError> {
    let limit = limit.map_or(PAGE_ENTRIES_MAX, |limit| limit as usize).clamp(1, PAGE_ENTRIES_MAX);
    let invalid = || FilesReason::Invalid(format!("the cursor is not from a list of `{path}`"));
    let after = cursor.map(|cursor| name_of(cursor).ok_or_else(invalid)).transpose()?;
    let dir = place.folder()?;
    // Only the page itself is kept while looking through the folder, and one more to know whether there is another page.
    let mut page: BTreeSet<OsString> = BTreeSet::new();
    for entry in dir.entries().map_err(trouble)? {
        let name = entry.map_err(trouble)?.file_name();
        if after.as_ref().is_some_and(|after| name <= *after) || is_unfinished(&name) {
            continue;
        }
        page.insert(name);
        if page.len() > limit + 1 {
            page.pop_last();
        }
    }
    let more = page.len() > limit;
    if more {
        page.pop_last();
    }
    let cursor = page.last().filter(|_| more).map(|last| cursor_of(last));
    let mut entries = Vec::with_capacity(page.len());
    for name in &page {
        // It may have gone meanwhile.
        let Ok(found) = dir.symlink_metadata(name) else { continue };
        // A name that is not UTF-8 is shown as near as can be. No path of a guest's is that name, so it stays out of reach.
        entries.push(json!({ "name": name.to_string_lossy(), "kind": kind(found.file_type()), "size": found.len() }));
    }
    Ok(json!({ "entries": entries, "cursor": cursor }))
}

// Names need not be text, so the cursor is the name's bytes.
fn cursor_of(name: &OsStr) -> String {
    name.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn name_of(cursor: &str) -> Option<OsString> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let bytes = cursor.as_bytes();
    if bytes.is_empty() || bytes.len() % 2 == 1 || bytes.len() > 2 * 255 {
        return None;
    }
    let name: Option<Vec<u8>> = bytes.chunks(2).map(|pair| Some(digit(&pair[0])? << 4 | digit(&pair[1])?)).collect();
    name.map(OsString::from_vec)
}
