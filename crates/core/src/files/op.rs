use crate::Access;
use serde::{Deserialize, Serialize};

/// What is done with files. Whoever asks says it with one of these: a guest, a person, a server's caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum FilesOp {
    /// Answered by bytes, or by a body when there are many.
    Read {
        /// Which file.
        path: String,
        /// From this byte on.
        #[serde(default)]
        offset: u64,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
        /// As it was after this change, instead of as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
    /// Answered by `{"text", "from", "lines", "total"}`: whole lines of a text, and how many it has.
    ReadLines {
        /// Which file.
        path: String,
        /// The first line; lines are counted from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// At most this many lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<u64>,
    },
    /// Answered by the file's size. Makes the folders on the way. The file is there whole or as it was.
    Write {
        /// Which file.
        path: String,
        /// Behind what is there, instead of in its place.
        #[serde(default)]
        append: bool,
    },
    /// Answered by `{"size", "replaced"}`. Makes all the edits, one after the other, or none.
    Edit {
        /// Which file.
        path: String,
        /// What is changed in it.
        edits: Vec<TextEdit>,
    },
    /// Answered by `{"entries": [{"name", "kind": "file" | "folder" | "link", "size"}, …], "cursor": text or null}`.
    List {
        /// Which folder.
        path: String,
        /// Where an earlier list ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answered by `{"kind", "size", "modified", "mode"}`, a link's `target` too, or by null when there is nothing.
    Stat {
        /// What.
        path: String,
    },
    /// Answered by whether there was something.
    Remove {
        /// What.
        path: String,
        /// A folder with all that is in it.
        #[serde(default)]
        recursive: bool,
    },
    /// Makes a folder and those on the way to it.
    MakeFolder {
        /// Which.
        path: String,
    },
    /// Moves a file or a folder to another place and name, within one grant.
    Rename {
        /// What.
        path: String,
        /// Where to.
        to: String,
    },
    /// Copies a file, or a folder with all that is in it, within one grant.
    Copy {
        /// What.
        path: String,
        /// Where to.
        to: String,
    },
    /// Makes a link. It leads to a place within, and nowhere else.
    Link {
        /// Where.
        path: String,
        /// Where it leads, from the folder that it is in.
        target: String,
    },
    /// Sets what else is known of a file or a folder.
    Set {
        /// Which.
        path: String,
        /// Its mode: the nine bits of who may read, write and run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
        /// When it was changed, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<u64>,
    },
    /// Answered by `{"paths": […], "more": bool}`: what fits the pattern, in order.
    Glob {
        /// Below which folder; the pattern is relative to it.
        #[serde(default = "here")]
        path: String,
        /// With `*`, `?`, `**`, `[…]` and `{a,b}`.
        pattern: String,
        /// Whether to pass over what `.gitignore` and `.ignore` say, and `.git`.
        #[serde(default)]
        ignore: bool,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answered by `{"matches": [{"path", "line", "text", "before", "after"}, …], "more": bool, "skipped": [{"path", "why"}, …]}`.
    Grep {
        /// Below which folder, or in which file.
        #[serde(default = "here")]
        path: String,
        /// A regular expression that is matched in linear time, or text.
        pattern: String,
        /// Whether the pattern is text.
        #[serde(default)]
        literal: bool,
        /// Whether upper and lower case are the same.
        #[serde(default)]
        ignore_case: bool,
        /// Only files that fit one of these globs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        include: Vec<String>,
        /// Whether to pass over what `.gitignore` and `.ignore` say, and `.git`.
        #[serde(default)]
        ignore: bool,
        /// How many lines around a match.
        #[serde(default)]
        context: u32,
        /// At most this many matches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answered by `{"entries": [{"path", "kind", "size", "modified"}, …], "more": bool}`.
    Find {
        /// Below which folder.
        #[serde(default = "here")]
        path: String,
        /// Only what has a name that fits this glob.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Only `file`, `folder` or `link`. A call of a guest has a `kind` of its own, so there it is `only`.
        #[serde(default, skip_serializing_if = "Option::is_none", rename = "only", alias = "kind")]
        kind: Option<super::NodeKind>,
        /// Only files with at least this many bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_least: Option<u64>,
        /// Only what was changed since, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<u64>,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answered by `{"text", "files", "folders", "bytes", "more"}`: a picture of what is below a folder.
    Tree {
        /// Which folder.
        #[serde(default = "here")]
        path: String,
        /// How many levels of it are shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    },
    /// Answered by `{"diff"}`: what leads from one file to the other, or from an earlier version of it to the present one.
    Diff {
        /// Which file.
        path: String,
        /// The other file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// The version before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
    /// Answered by `{"changes": [{"version", "at", "what", "path", "kind", "size"}, …]}`, the newest first.
    History {
        /// Of which file, or of all that is below a folder.
        #[serde(default = "here")]
        path: String,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Takes the last change back, or this one and all after it. Answered by `{"version", "paths"}`. It is a change itself.
    Undo {
        /// The first change to be taken back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
}

/// Some text in place of other text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextEdit {
    /// What is there, to the letter.
    pub old: String,
    /// What is to be there, to the letter.
    pub new: String,
    /// Wherever it is, instead of in the one place where it has to be.
    #[serde(default)]
    pub replace_all: bool,
}

fn here() -> String {
    ".".into()
}

impl FilesOp {
    /// A whole file.
    pub fn read(path: impl Into<String>) -> FilesOp {
        FilesOp::Read { path: path.into(), offset: 0, length: None, version: None }
    }

    /// What it is about.
    pub fn path(&self) -> &str {
        match self {
            FilesOp::Read { path, .. }
            | FilesOp::ReadLines { path, .. }
            | FilesOp::Write { path, .. }
            | FilesOp::Edit { path, .. }
            | FilesOp::List { path, .. }
            | FilesOp::Stat { path }
            | FilesOp::Remove { path, .. }
            | FilesOp::MakeFolder { path }
            | FilesOp::Rename { path, .. }
            | FilesOp::Copy { path, .. }
            | FilesOp::Link { path, .. }
            | FilesOp::Set { path, .. }
            | FilesOp::Glob { path, .. }
            | FilesOp::Grep { path, .. }
            | FilesOp::Find { path, .. }
            | FilesOp::Tree { path, .. }
            | FilesOp::Diff { path, .. }
            | FilesOp::History { path, .. } => path,
            FilesOp::Undo { .. } => ".",
        }
    }

    /// The other place that it is about.
    pub fn to(&self) -> Option<&str> {
        match self {
            FilesOp::Rename { to, .. } | FilesOp::Copy { to, .. } => Some(to),
            FilesOp::Diff { to, .. } => to.as_deref(),
            _ => None,
        }
    }

    /// Whether it changes something.
    pub fn access(&self) -> Access {
        match self {
            FilesOp::Write { .. }
            | FilesOp::Edit { .. }
            | FilesOp::Remove { .. }
            | FilesOp::MakeFolder { .. }
            | FilesOp::Rename { .. }
            | FilesOp::Copy { .. }
            | FilesOp::Link { .. }
            | FilesOp::Set { .. }
            | FilesOp::Undo { .. } => Access::Write,
            FilesOp::Read { .. }
            | FilesOp::ReadLines { .. }
            | FilesOp::List { .. }
            | FilesOp::Stat { .. }
            | FilesOp::Glob { .. }
            | FilesOp::Grep { .. }
            | FilesOp::Find { .. }
            | FilesOp::Tree { .. }
            | FilesOp::Diff { .. }
            | FilesOp::History { .. } => Access::Read,
        }
    }

    /// In a word.
    pub fn verb(&self) -> &'static str {
        match self {
            FilesOp::Read { .. } => "read",
            FilesOp::ReadLines { .. } => "read lines",
            FilesOp::Write { .. } => "write",
            FilesOp::Edit { .. } => "edit",
            FilesOp::List { .. } => "list",
            FilesOp::Stat { .. } => "stat",
            FilesOp::Remove { .. } => "remove",
            FilesOp::MakeFolder { .. } => "make folder",
            FilesOp::Rename { .. } => "rename",
            FilesOp::Copy { .. } => "copy",
            FilesOp::Link { .. } => "link",
            FilesOp::Set { .. } => "set",
            FilesOp::Glob { .. } => "glob",
            FilesOp::Grep { .. } => "grep",
            FilesOp::Find { .. } => "find",
            FilesOp::Tree { .. } => "tree",
            FilesOp::Diff { .. } => "diff",
            FilesOp::History { .. } => "history",
            FilesOp::Undo { .. } => "undo",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostCall;
    use crate::files::NodeKind;

    #[test]
    fn every_operation_is_told_and_read_again() {
        let edit = TextEdit { old: "a".into(), new: "b".into(), replace_all: true };
        let (path, to) = (String::from("p"), String::from("t"));
        let ops = [
            FilesOp::Read { path: path.clone(), offset: 1, length: Some(2), version: Some(3) },
            FilesOp::ReadLines { path: path.clone(), from: Some(1), lines: Some(2) },
            FilesOp::Write { path: path.clone(), append: true },
            FilesOp::Edit { path: path.clone(), edits: vec![edit] },
            FilesOp::List { path: path.clone(), cursor: Some("c".into()), limit: Some(1) },
            FilesOp::Stat { path: path.clone() },
            FilesOp::Remove { path: path.clone(), recursive: true },
            FilesOp::MakeFolder { path: path.clone() },
            FilesOp::Rename { path: path.clone(), to: to.clone() },
            FilesOp::Copy { path: path.clone(), to: to.clone() },
            FilesOp::Link { path: path.clone(), target: to.clone() },
            FilesOp::Set { path: path.clone(), mode: Some(1), modified: Some(2) },
            FilesOp::Glob { path: path.clone(), pattern: "*".into(), ignore: true, limit: Some(1) },
            FilesOp::Grep {
                path: path.clone(),
                pattern: "x".into(),
                literal: true,
                ignore_case: true,
                include: vec!["*".into()],
                ignore: true,
                context: 1,
                limit: Some(1),
            },
            FilesOp::Find {
                path: path.clone(),
                name: Some("n".into()),
                kind: Some(NodeKind::Link),
                at_least: Some(1),
                since: Some(2),
                limit: Some(3),
            },
            FilesOp::Tree { path: path.clone(), depth: Some(1) },
            FilesOp::Diff { path: path.clone(), to: Some(to), version: Some(1) },
            FilesOp::History { path, limit: Some(1) },
            FilesOp::Undo { version: Some(1) },
        ];
        for op in ops {
            let call = HostCall::Files { op: op.clone(), bytes: b"x".to_vec() };
            let text = serde_json::to_string(&call).unwrap();
            assert_eq!(serde_json::from_str::<HostCall>(&text).unwrap(), call, "{text}");
            let text = serde_json::to_string(&op).unwrap();
            assert_eq!(serde_json::from_str::<FilesOp>(&text).unwrap(), op, "{text}");
        }
        let said = serde_json::from_str(r#"{"op": "find", "kind": "folder"}"#).unwrap();
        assert!(matches!(said, FilesOp::Find { kind: Some(NodeKind::Folder), .. }));
    }
}
