//! Some text in place of other text, to the letter.

use super::text::text;
use crate::resolve::{Last, resolve};
use crate::work::Work;
use isolith_core::files::TextEdit;
use isolith_core::{FilesError, FilesReason, GuestPath};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The largest text that is edited.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// How many edits one call may bring.
const EDITS_MAX: usize = 1000;
/// The text is gone through once for each edit: so many bytes of it in all.
const WORK_BYTES_MAX: u64 = 1 << 30;
/// How many lines an error names.
const LINES_SHOWN: usize = 10;
/// How many characters of a line an error shows.
const LINE_CHARS_SHOWN: usize = 200;

pub(crate) fn edit(work: &Work<'_>, path: &GuestPath, edits: &[TextEdit]) -> Result<Value, FilesError> {
    if edits.is_empty() {
        return Err(FilesReason::Invalid("there is no edit to make".into()).into());
    }
    if edits.len() > EDITS_MAX {
        return Err(FilesReason::Limit(format!("{} edits are too many: at most {EDITS_MAX}", edits.len())).into());
    }
    if let Some(at) = edits.iter().position(|edit| edit.old.is_empty()) {
        let why = format!("`old` of edit {} is empty: to make a file, write it", at + 1);
        return Err(FilesReason::Invalid(why).into());
    }
    let most = work.tree.used()?.1.file_bytes;
    work.change("edit", |draft| {
        let spot = resolve(&*draft, work.scope, path, Last::Keep)?;
        super::change::refuse_link(&spot)?;
        let (place, node) = spot.file()?;
        let mut whole = text(&*draft, &place, &node, TEXT_BYTES_MAX)?;
        let (mut replaced, mut gone_through) = (0, 0u64);
        for (at, edit) in edits.iter().enumerate() {
            gone_through += whole.len() as u64;
            if gone_through > WORK_BYTES_MAX {
                let why = format!("{} edits of a text this large are too many for one call", edits.len());
                return Err(FilesReason::Limit(why).into());
            }
            let made = apply(&whole, edit, at + 1, most)?;
            whole = made.0;
            replaced += made.1;
        }
        (work.spend)(whole.len() as u64)?;
        draft.put_file(&place, whole.as_bytes(), None)?;
        Ok(json!({ "size": whole.len(), "replaced": replaced }))
    })
}

/// One edit, and how often it was made.
fn apply(text: &str, edit: &TextEdit, number: usize, most: u64) -> Result<(String, usize), FilesError> {
    let (old, new) = with_line_ends_of(text, edit);
    let Some(first) = text.find(&*old) else {
        return Err(FilesReason::NoMatch { edit: number, near: nearest(text, &edit.old) }.into());
    };
    let times = text.matches(&*old).count();
    if !edit.replace_all {
        // Places that overlap are two places all the same: `aa` is in `aaa` twice.
        let step = old.chars().next().map_or(1, char::len_utf8);
        let second = text[first + step..].find(&*old);
        if second.is_some() {
            let lines = lines_of(text, &old);
            return Err(FilesReason::Ambiguous { edit: number, times: times.max(2), lines }.into());
        }
    }
    // THREAT[T-FILES-013]: a small edit that is made everywhere makes a text of any size. How large it gets is known before.
    let size = (text.len() - times * old.len()) as u64 + (times as u64).saturating_mul(new.len() as u64);
    if size > most {
        return Err(FilesReason::TooLarge { bytes: size, most }.into());
    }
    let mut made = String::with_capacity(size as usize);
    let mut after = 0;
    for (at, found) in text.match_indices(&*old) {
        made.push_str(&text[after..at]);
        made.push_str(&new);
        after = at + found.len();
    }
    made.push_str(&text[after..]);
    Ok((made, times))
}

/// A text whose lines all end with CRLF keeps that: an edit that knows only LF means its line ends.
fn with_line_ends_of<'a>(text: &str, edit: &'a TextEdit) -> (Cow<'a, str>, Cow<'a, str>) {
    let (old, new) = (Cow::Borrowed(&*edit.old), Cow::Borrowed(&*edit.new));
    let has_lines = edit.old.contains('\n') || edit.new.contains('\n');
    if !has_lines || edit.old.contains('\r') || edit.new.contains('\r') {
        return (old, new);
    }
    let both = text.matches("\r\n").count();
    if both == 0 || both != text.matches('\n').count() {
        return (old, new);
    }
    (edit.old.replace('\n', "\r\n").into(), edit.new.replace('\n', "\r\n").into())
}

/// The lines in which it begins, the first few.
fn lines_of(text: &str, old: &str) -> Vec<usize> {
    let (mut lines, mut line, mut seen, mut from) = (Vec::new(), 1, 0, 0);
    let step = old.chars().next().map_or(1, char::len_utf8);
    while let Some(at) = text[from..].find(old).map(|at| at + from) {
        line += text[seen..at].matches('\n').count();
        seen = at;
        if lines.last() != Some(&line) {
            lines.push(line);
        }
        if lines.len() == LINES_SHOWN {
            break;
        }
        // On to the next line: it is lines that are looked for. What is longer than a line is looked for at every place.
        from = text[at..].find('\n').map_or(text.len(), |end| at + end + 1).max(at + step).min(text.len());
    }
    lines
}

/// The line that the old text may have meant: its first line but for spaces, or for small mistakes.
fn nearest(text: &str, old: &str) -> Option<(usize, String)> {
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    let shown = |line: &str| line.trim_end().chars().take(LINE_CHARS_SHOWN).collect::<String>();
    let numbered = || text.lines().enumerate().map(|(at, line)| (at + 1, line));
    if let Some((at, line)) = numbered().find(|(_, line)| line.trim() == wanted) {
        return Some((at, shown(line)));
    }
    if wanted.chars().count() < 4 {
        return None;
    }
    let trimmed = numbered().map(|(_, line)| line.trim()).filter(|line| line.len().abs_diff(wanted.len()) <= 3);
    let near = isolith_core::nearest(wanted, trimmed.take(NEAREST_LINES_MAX))?;
    numbered().find(|(_, line)| line.trim() == near).map(|(at, line)| (at, shown(line)))
}

/// How many lines are compared letter by letter.
const NEAREST_LINES_MAX: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, old: &str, new: &str, replace_all: bool) -> Result<String, FilesReason> {
        let edit = TextEdit { old: old.into(), new: new.into(), replace_all };
        apply(text, &edit, 1, 1000).map(|made| made.0).map_err(|error| error.reason)
    }

    #[test]
    fn edits_are_literal_and_unique() {
        assert_eq!(made("abc", "b", "$&$1\\1", false), Ok("a$&$1\\1c".into()));
        assert_eq!(made("a.b.c", ".", "", true), Ok("abc".into()));
        assert_eq!(
            made("x\naa\nx\nx", "x", "y", false),
            Err(FilesReason::Ambiguous { edit: 1, times: 3, lines: vec![1, 3, 4] })
        );
        assert_eq!(made("aaa", "aa", "b", false), Err(FilesReason::Ambiguous { edit: 1, times: 2, lines: vec![1] }));
        assert_eq!(made("ééé", "éé", "b", true), Ok("bé".into()));
        assert_eq!(made(&"a".repeat(500), "a", "bbb", true), Err(FilesReason::TooLarge { bytes: 1500, most: 1000 }));
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_is_nearest() {
        let near = |text: &str, old: &str| match made(text, old, "", false) {
            Err(FilesReason::NoMatch { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("a\n    let x = 1;\n", "let x = 1;\nlet y"), Some((2, "    let x = 1;".into())));
        assert_eq!(near("a\nlet color = 1;\n", "let colour = 1;"), Some((2, "let color = 1;".into())));
        assert_eq!(near("a\nb", "zzzzzz"), None);
    }

    #[test]
    fn line_ends_are_kept() {
        assert_eq!(made("a\r\nb\r\n", "a\nb", "a\nc\nd", false), Ok("a\r\nc\r\nd\r\n".into()));
        assert_eq!(made("a\r\nb\r\n", "b", "b\nc", false), Ok("a\r\nb\r\nc\r\n".into()));
        assert_eq!(made("a\r\nb\n", "b", "b\nc", false), Ok("a\r\nb\nc\n".into()));
        assert_eq!(made("a\r\nb\r\n", "a\r\nb", "x", false), Ok("x\r\n".into()));
    }
}
