//! What tools of a workspace ask for, whoever calls them: MCP clients, and those that declare workspaces.

use crate::asked::{Table, session};
use crate::error::Refusal;
use isolith_core::files::TextEdit;
use isolith_core::{FilesOp, SessionName};
use isolith_workspace::Answer;
use isolith_workspace::contract::Offer;
use serde_json::{Value, json};

/// What is asked of a workspace, but for programs.
pub(crate) enum Wanted {
    Files(FilesOp, Vec<u8>),
    Snapshot(Option<SessionName>),
    Restore(SessionName),
    Snapshots(usize),
    Forget(SessionName),
}

/// Reads the argument of a tool.
pub(crate) fn read(offer: &Offer, table: &mut Table) -> Result<Wanted, Refusal> {
    let path = match offer.fields.first() {
        Some(("path", _)) if offer.required > 0 => text(table, "path")?,
        _ => table.parse("path", "a path")?.unwrap_or_else(|| ".".into()),
    };
    let wanted = match offer.name {
        "workspace_snapshot" => Wanted::Snapshot(table.parse::<String>("name", "a name")?.map(session).transpose()?),
        "workspace_restore" => Wanted::Restore(session(text(table, "snapshot")?)?),
        "workspace_delete_snapshot" => Wanted::Forget(session(text(table, "snapshot")?)?),
        "workspace_list_snapshots" => Wanted::Snapshots(table.parse("limit", "a number")?.unwrap_or(usize::MAX)),
        "workspace_write_file" => {
            let bytes = text(table, "content")?.into_bytes();
            Wanted::Files(FilesOp::Write { path, append: flag(table, "append")? }, bytes)
        }
        name => Wanted::Files(operation(name, path, table)?, Vec::new()),
    };
    let known: Vec<&str> = offer.fields.iter().map(|(name, _)| *name).collect();
    // What was taken is gone; whatever is left is not one of these.
    let rest = Table(std::mem::take(&mut table.0));
    rest.finish(&known)?;
    Ok(wanted)
}

fn operation(name: &str, path: String, table: &mut Table) -> Result<FilesOp, Refusal> {
    Ok(match name {
        "workspace_read_file" => {
            let (from, lines) = (table.parse("from", "a line's number")?, table.parse("lines", "a number of lines")?);
            FilesOp::ReadLines { path, from, lines }
        }
        "workspace_edit_file" => {
            let (old, new) = (text(table, "old")?, text(table, "new")?);
            let replace_all = flag(table, "replace_all")?;
            FilesOp::Edit { path, edits: vec![TextEdit { old, new, replace_all }] }
        }
        "workspace_ls" => FilesOp::List { path, cursor: None, limit: None },
        "workspace_glob" => FilesOp::Glob { path, pattern: text(table, "pattern")?, ignore: false, limit: None },
        "workspace_grep" => FilesOp::Grep {
            path,
            pattern: text(table, "pattern")?,
            literal: false,
            ignore_case: flag(table, "ignoreCase")?,
            include: table.parse::<String>("includeGlob", "a glob")?.into_iter().collect(),
            ignore: false,
            context: 0,
            limit: table.parse("maxResults", "a number")?,
        },
        "workspace_stat" => FilesOp::Stat { path },
        "workspace_rm" => FilesOp::Remove { path, recursive: flag(table, "recursive")? },
        "workspace_mkdir" => FilesOp::MakeFolder { path },
        "workspace_mv" => FilesOp::Rename { path, to: text(table, "to")? },
        other => return Err(Refusal::invalid(format!("there is no tool `{other}` here"))),
    })
}

fn text(table: &mut Table, field: &str) -> Result<String, Refusal> {
    let given: Option<String> = table.parse(field, "a text")?;
    given.ok_or_else(|| Refusal::invalid(format!("`{field}` is missing")).at(field))
}

fn flag(table: &mut Table, field: &str) -> Result<bool, Refusal> {
    Ok(table.parse(field, "a boolean")?.unwrap_or(false))
}

/// An answer as JSON.
pub(crate) fn value_of(answer: Answer) -> Value {
    match answer {
        Answer::Value(value) => value,
        Answer::Bytes(bytes) => json!({ "text": String::from_utf8_lossy(&bytes) }),
    }
}
