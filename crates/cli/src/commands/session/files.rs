//! What is done with the files of a session, by the same operations that programs have.

use super::{tell, wake};
use crate::args::{Grep, OneSession, Session as Args};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::source::{self, Source};
use crate::terminal::shown;
use crate::{Done, show};
use isolith_core::files::{NodeKind, Room, TextEdit};
use isolith_core::{FilesError, FilesOp, GuestPath, Limits, Woken};
use isolith_store::Sessions;
use isolith_workspace::{Answer, Scope};
use serde_json::{Value, json};
use std::io::Write as _;

/// How much is listed unless someone pages through it.
const LISTED_MAX: u32 = 10_000;

pub(super) fn perform(store: &Sessions, args: Args) -> Done {
    let (one, op, bytes) = asked(args)?;
    let woken = wake(store, &one.session)?;
    let answer = done(&woken, &op, &bytes)?;
    match answer {
        Answer::Bytes(bytes) => write_out(&one, bytes)?,
        Answer::Value(value) => tell(&one, &value, || in_words(&op, &value)),
    }
    Ok(Exit::Ok)
}

pub(super) fn remove(store: &Sessions, one: &OneSession, paths: Vec<String>, recursive: bool) -> Done {
    let woken = wake(store, &one.session)?;
    let mut exit = Exit::Ok;
    for path in paths {
        let op = FilesOp::Remove { path, recursive };
        if let Answer::Value(Value::Bool(false)) = done(&woken, &op, &[])? {
            crate::paint::complain(crate::paint::ERROR, "error", &format!("there is no `{}`", shown(op.path())));
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// Performs an operation on all that a session has.
pub(super) fn done(woken: &Woken, op: &FilesOp, bytes: &[u8]) -> Result<Answer, Failure> {
    isolith_workspace::whole(&*woken.open.files, &Scope::whole(), op, bytes).map_err(|error| failed(&error, op.path()))
}

pub(super) fn failed(error: &FilesError, path: &str) -> Failure {
    let hint = match error.code() {
        "files.not_found" => "`isolith session files NAME` lists what is there",
        "files.denied" | "files.invalid" => "paths are relative to the workspace, such as `src/main.ts`",
        "files.quota" => "remove something, or make a session with more `--room`",
        "files.damaged" => "`isolith session fork NAME --snapshot SNAPSHOT` begins where it was whole",
        _ => "`isolith session --help` says what can be done",
    };
    Failure::usage(format!("{} [{}]", shown(&error.message(path)), error.code()), hint)
}

/// A program that is a file of the workspace.
pub(super) fn program(woken: &Woken, path: &str) -> Result<Source, Failure> {
    let op =
        FilesOp::Read { path: path.into(), offset: 0, length: Some(Limits::default().source_bytes + 1), version: None };
    let Answer::Bytes(bytes) = done(woken, &op, &[])? else { return Err(not_text(path)) };
    let text = String::from_utf8(bytes).map_err(|_| not_text(path))?;
    // Where it is in the workspace: its imports are relative to that.
    let name = GuestPath::new(path).map_or_else(|_| path.to_owned(), |path| path.to_string());
    Ok(Source { name, text })
}

fn not_text(path: &str) -> Failure {
    Failure::usage(format!("`{path}` is not a program"), "a program is JavaScript or TypeScript in UTF-8")
}

fn asked(args: Args) -> Result<(OneSession, FilesOp, Vec<u8>), Failure> {
    let limit = Some(LISTED_MAX);
    let mut bytes = Vec::new();
    let (one, op) = match args {
        Args::Files { session, path } => (session, FilesOp::List { path, cursor: None, limit: None }),
        Args::Read { session, path, lines: None, version } => {
            (session, FilesOp::Read { path, offset: 0, length: None, version })
        }
        Args::Read { session, path, lines: Some(span), .. } => {
            let (from, lines) = lines(&span)?;
            (session, FilesOp::ReadLines { path, from, lines })
        }
        Args::Write { session, path, file, text, append } => {
            bytes = match text {
                Some(text) => text.into_bytes(),
                None => source::bytes(&file, Room::FILE_BYTES_MAX)?,
            };
            (session, FilesOp::Write { path, append })
        }
        Args::Edit { session, path, old, new, replace_all } => {
            if old.len() != new.len() {
                return Err(Failure::usage("`--old` and `--new` go together", "give each `--old` its `--new`"));
            }
            let edits = old.into_iter().zip(new).map(|(old, new)| TextEdit { old, new, replace_all }).collect();
            (session, FilesOp::Edit { path, edits })
        }
        Args::Mkdir { session, path } => (session, FilesOp::MakeFolder { path }),
        Args::Mv { session, path, to } => (session, FilesOp::Rename { path, to }),
        Args::Cp { session, path, to } => (session, FilesOp::Copy { path, to }),
        Args::Ln { session, target, path } => (session, FilesOp::Link { path, target }),
        Args::Glob { session, pattern, ignore } => {
            (session, FilesOp::Glob { path: ".".into(), pattern, ignore, limit })
        }
        Args::Grep(Grep { session, pattern, path, fixed_strings, ignore_case, include, ignore, context }) => {
            let literal = fixed_strings;
            (session, FilesOp::Grep { path, pattern, literal, ignore_case, include, ignore, context, limit })
        }
        Args::Find { session, path, name, kind, at_least } => {
            let kind = kind.as_deref().map(|kind| match kind {
                "file" => NodeKind::File,
                "folder" => NodeKind::Folder,
                _ => NodeKind::Link,
            });
            (session, FilesOp::Find { path, name, kind, at_least, since: None, limit })
        }
        Args::Tree { session, path, depth } => (session, FilesOp::Tree { path, depth }),
        Args::Diff { session, path, to, version } => (session, FilesOp::Diff { path, to, version }),
        Args::History { session, path } => (session, FilesOp::History { path, limit: None }),
        Args::Undo { session, version } => (session, FilesOp::Undo { version }),
        _ => return Err(Failure::usage("this is not about files", "`isolith session --help` lists what is")),
    };
    Ok((one, op, bytes))
}

/// `10:20`, `10:` or `10`.
fn lines(span: &str) -> Result<(Option<u64>, Option<u64>), Failure> {
    let wrong = || Failure::usage(format!("`--lines {span}` is not a span of lines"), "write it as `--lines 10:20`");
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(wrong);
    match span.split_once(':') {
        None => Ok((Some(number(span)?), Some(1))),
        Some((from, "")) => Ok((Some(number(from)?), None)),
        Some((from, to)) => {
            let (from, to) = (if from.is_empty() { 1 } else { number(from)? }, number(to)?);
            Ok((Some(from), Some((to + 1).checked_sub(from).filter(|lines| *lines > 0).ok_or_else(wrong)?)))
        }
    }
}

/// Bytes as they are, unless JSON is wanted.
fn write_out(one: &OneSession, bytes: Vec<u8>) -> Result<(), Failure> {
    if one.json {
        let value = match String::from_utf8(bytes) {
            Ok(text) => json!({ "text": text }),
            Err(error) => {
                use base64::Engine as _;
                json!({ "base64": base64::prelude::BASE64_STANDARD.encode(error.as_bytes()) })
            }
        };
        show::line(&value.to_string());
        return Ok(());
    }
    // Whoever reads it may have had enough.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(&bytes).and_then(|()| out.flush());
    Ok(())
}

fn in_words(op: &FilesOp, value: &Value) {
    let say = |text: &str| show::line(&shown(text));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = |field: &str| value[field].as_array().cloned().unwrap_or_default();
    match op {
        FilesOp::List { .. } => rows("entries").iter().for_each(|row| {
            let mark = if row["kind"] == "folder" { "/" } else { "" };
            say(&format!("{:>10}  {}{mark}", row["size"].as_u64().unwrap_or(0), text(&row["name"])));
        }),
        FilesOp::ReadLines { .. } => show::line(shown(&text(&value["text"])).trim_end_matches('\n')),
        FilesOp::Edit { .. } => say(&format!("{} replaced", value["replaced"])),
        FilesOp::Glob { .. } => rows("paths").iter().for_each(|path| say(&text(path))),
        FilesOp::Find { .. } => rows("entries").iter().for_each(|row| say(&text(&row["path"]))),
        FilesOp::Grep { .. } => rows("matches").iter().for_each(|found| {
            let (path, line) = (text(&found["path"]), found["line"].as_u64().unwrap_or(0));
            let around = |field: &str| found[field].as_array().cloned().unwrap_or_default();
            let (before, after) = (around("before"), around("after"));
            for (n, row) in before.iter().enumerate() {
                say(&format!("{path}-{}-{}", line - (before.len() - n) as u64, text(row)));
            }
            say(&format!("{path}:{line}:{}", text(&found["text"])));
            for (n, row) in after.iter().enumerate() {
                say(&format!("{path}-{}-{}", line + n as u64 + 1, text(row)));
            }
        }),
        FilesOp::Tree { .. } => show::line(shown(&text(&value["text"])).trim_end_matches('\n')),
        FilesOp::Diff { .. } => show::line(shown(&text(&value["diff"])).trim_end_matches('\n')),
        FilesOp::History { .. } => rows("changes").iter().for_each(|row| {
            let left = row["kind"].as_str().map_or_else(|| "gone".into(), |_| format!("{} bytes", row["size"]));
            say(&format!("{:>6}  {:<12} {}  {left}", row["version"], text(&row["what"]), text(&row["path"])));
        }),
        FilesOp::Undo { .. } => {
            say(&format!("taken back from change {} on", value["version"]));
            rows("paths").iter().for_each(|path| say(&text(path)));
        }
        _ => {}
    }
    if value["more"] == true {
        crate::paint::note(crate::paint::HINT, "there is more: ask for less of it");
    }
}
