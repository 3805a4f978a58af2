//! What is in a folder, page by page, and what is in one place.

use super::{at_most, modified_ms};
use crate::resolve::{Last, resolve};
use crate::work::Work;
use isolith_core::files::{Node, NodeKind};
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::{Value, json};

/// The most entries of one page, and how many there are when nothing is said.
const PAGE_ENTRIES_MAX: usize = 1000;
/// The longest cursor: a name, in two digits a byte.
const CURSOR_BYTES_MAX: usize = 2 * 255;

pub(crate) fn list(
    work: &Work<'_>,
    path: &GuestPath,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<Value, FilesError> {
    let limit = at_most(limit, PAGE_ENTRIES_MAX, PAGE_ENTRIES_MAX);
    let invalid = || FilesReason::Invalid(format!("the cursor is not from a list of `{path}`"));
    let after = cursor.map(|cursor| name_of(cursor).ok_or_else(invalid)).transpose()?;
    let mut page = work.view(|view| {
        let folder = resolve(view, work.scope, path, Last::Follow)?.folder()?;
        // One more, to know whether there is another page.
        view.list(&folder, after.as_deref(), limit + 1)
    })?;
    let more = page.len() > limit;
    page.truncate(limit);
    let cursor = page.last().filter(|_| more).map(|(name, _)| cursor_of(name));
    let entries: Vec<Value> = page
        .iter()
        .map(|(name, node)| json!({ "name": name, "kind": node.kind.as_str(), "size": node.size }))
        .collect();
    Ok(json!({ "entries": entries, "cursor": cursor }))
}

// In digits, so that nobody takes it for a name and puts another one there.
fn cursor_of(name: &str) -> String {
    name.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn name_of(cursor: &str) -> Option<String> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let bytes = cursor.as_bytes();
    if bytes.is_empty() || bytes.len() % 2 == 1 || bytes.len() > CURSOR_BYTES_MAX {
        return None;
    }
    let name: Option<Vec<u8>> = bytes.chunks(2).map(|pair| Some(digit(&pair[0])? << 4 | digit(&pair[1])?)).collect();
    String::from_utf8(name?).ok()
}

/// What is there. A link is what it leads to, and `link` only when that is nothing or outside.
pub(crate) fn stat(work: &Work<'_>, path: &GuestPath) -> Result<Value, FilesError> {
    work.view(|view| {
        let spot = match resolve(view, work.scope, path, Last::Keep) {
            Ok(spot) => spot,
            Err(error) if error.is_not_found() => return Ok(Value::Null),
            Err(error) => return Err(error),
        };
        let Some(node) = spot.node else { return Ok(Value::Null) };
        if node.kind != NodeKind::Link {
            return Ok(shown(&node, None));
        }
        let target = node.target.clone();
        let leads_to = resolve(view, work.scope, path, Last::Follow).ok().and_then(|spot| spot.node);
        Ok(shown(&leads_to.unwrap_or(node), target))
    })
}

fn shown(node: &Node, target: Option<String>) -> Value {
    let mut shown = json!({
        "kind": node.kind.as_str(),
        "size": node.size,
        "modified": modified_ms(node),
        "mode": node.mode,
    });
    if let (Some(target), Some(fields)) = (target, shown.as_object_mut()) {
        fields.insert("target".into(), target.into());
    }
    shown
}
