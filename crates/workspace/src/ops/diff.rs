//! What leads from one text to another.

use super::text::{as_text, text};
use crate::resolve::{Last, resolve};
use crate::work::Work;
use isolith_core::files::View;
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::{Value, json};
use similar::TextDiff;
use std::time::Duration;

/// The largest text that is compared.
const TEXT_BYTES_MAX: u64 = 4 << 20;
/// How long the shortest way from one to the other is looked for; then some way is good enough.
const TIME_MAX: Duration = Duration::from_secs(2);
/// The longest answer.
const DIFF_BYTES_MAX: usize = 1 << 20;
/// How many lines are shown around what differs.
const CONTEXT_LINES: usize = 3;

pub(crate) fn diff(
    work: &Work<'_>,
    path: &GuestPath,
    to: Option<&GuestPath>,
    version: Option<u64>,
) -> Result<Value, FilesError> {
    if to.is_none() && version.is_none() {
        let why = "say what to compare it with: another file as `to`, or an earlier `version`";
        return Err(FilesReason::Invalid(why.into()).into());
    }
    let earlier = version.map(|version| earlier(work, path, version)).transpose()?;
    let after = to.unwrap_or(path);
    let (before_text, after_text) = work.view(|view| {
        let before = match &earlier {
            Some(earlier) => earlier.clone(),
            None => present(work, view, path)?,
        };
        Ok((before, present(work, view, after).map_err(|error| error.about(after))?))
    })?;
    let mut differing = TextDiff::configure();
    differing.timeout(TIME_MAX);
    let differing = differing.diff_lines(&*before_text, &*after_text);
    let mut said = String::new();
    let mut shown = differing.unified_diff();
    shown.context_radius(CONTEXT_LINES);
    for hunk in shown.iter_hunks() {
        if said.is_empty() {
            said = format!("--- a/{path}\n+++ b/{after}\n");
        }
        said.push_str(&hunk.to_string());
        if said.len() > DIFF_BYTES_MAX {
            let why = format!("the texts differ in more than the {DIFF_BYTES_MAX} bytes that an answer may have");
            return Err(FilesReason::Limit(why).into());
        }
    }
    Ok(json!({ "diff": said }))
}

fn present(work: &Work<'_>, view: &dyn View, path: &GuestPath) -> Result<String, FilesError> {
    let (path, node) = resolve(view, work.scope, path, Last::Follow)?.file()?;
    text(view, &path, &node, TEXT_BYTES_MAX)
}

/// What was not there has no lines.
fn earlier(work: &Work<'_>, path: &GuestPath, version: u64) -> Result<String, FilesError> {
    work.scope.admit(path)?;
    let bytes = work.tree.earlier(path, version)?.unwrap_or_default();
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        let why = format!("the text had {} bytes, and for this it may have {TEXT_BYTES_MAX}", bytes.len());
        return Err(FilesReason::Limit(why).into());
    }
    as_text(bytes)
}
