use crate::{CallError, GuestPath, InvalidPath};
use std::fmt;

/// Why something was not done with files, and with which one where that is not the one that was asked for.
///
/// Words know only paths of the tree, and none of the host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesError {
    /// Why.
    pub reason: FilesReason,
    /// With what.
    pub path: Option<String>,
}

/// Why something was not done with files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilesReason {
    /// There is nothing.
    NotFound,
    /// There is something already.
    Exists,
    /// It is this, and not a file.
    NotAFile(&'static str),
    /// It, or what leads to it, is not a folder.
    NotAFolder,
    /// A folder is removed with all that is in it only when that is said.
    NotEmpty,
    /// Policy, or what keeps a tree a tree, forbids it.
    Denied(&'static str),
    /// It leads out of the tree, or of the part of it that is granted.
    Outside {
        /// What to write instead, where that is plain.
        instead: Option<String>,
    },
    /// It would pass what may be written, or kept.
    Quota {
        /// What is counted: `bytes` or `files`.
        what: &'static str,
        /// How much there is.
        used: u64,
        /// How much it would take.
        wanted: u64,
        /// How much there may be.
        allowed: u64,
    },
    /// It would pass what one run may write.
    Written {
        /// How many bytes it has written.
        used: u64,
        /// How many it would write.
        wanted: u64,
        /// How many it may write.
        allowed: u64,
    },
    /// One file would be too large.
    TooLarge {
        /// How large.
        bytes: u64,
        /// How large it may be.
        most: u64,
    },
    /// It was asked for in a way that means nothing.
    Invalid(String),
    /// What is to be replaced is not there.
    NoMatch {
        /// Which edit, from 1.
        edit: usize,
        /// What is there that is nearest, if anything, and in which line.
        near: Option<(usize, String)>,
    },
    /// What is to be replaced is there more than once.
    Ambiguous {
        /// Which edit, from 1.
        edit: usize,
        /// How often.
        times: usize,
        /// In which lines, the first few.
        lines: Vec<usize>,
    },
    /// It is not a text.
    NotText,
    /// Whoever keeps this tree cannot do that.
    Unsupported(&'static str),
    /// What is kept is not what was written.
    Damaged,
    /// Too much at once.
    Limit(String),
    /// The disk, or the database, is in the way.
    Io(String),
}

impl FilesError {
    /// The same, with another path than the one that was asked for.
    pub fn about(mut self, path: &GuestPath) -> Self {
        self.path.get_or_insert_with(|| path.to_string());
        self
    }

    /// Whether nothing is there.
    pub fn is_not_found(&self) -> bool {
        matches!(self.reason, FilesReason::NotFound | FilesReason::NotAFolder)
    }

    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match &self.reason {
            FilesReason::NotFound => "files.not_found",
            FilesReason::Exists => "files.exists",
            FilesReason::NotAFile(_) => "files.not_a_file",
            FilesReason::NotAFolder => "files.not_a_folder",
            FilesReason::NotEmpty => "files.not_empty",
            FilesReason::Denied(_) | FilesReason::Outside { .. } => "files.denied",
            FilesReason::Quota { .. } | FilesReason::Written { .. } => "files.quota",
            FilesReason::TooLarge { .. } => "files.too_large",
            FilesReason::Invalid(_) => "files.invalid",
            FilesReason::NoMatch { .. } => "files.no_match",
            FilesReason::Ambiguous { .. } => "files.ambiguous",
            FilesReason::NotText => "files.not_text",
            FilesReason::Unsupported(_) => "files.unsupported",
            FilesReason::Damaged => "files.damaged",
            FilesReason::Limit(_) => "files.limit",
            FilesReason::Io(_) => "files.io",
        }
    }

    /// As the guest's `catch` sees it, who asked for `asked`.
    pub fn to_call_error(&self, asked: &str) -> CallError {
        let name = match &self.reason {
            FilesReason::NotFound => "NotFoundError",
            FilesReason::Denied(_) | FilesReason::Outside { .. } => "DeniedError",
            FilesReason::Quota { .. }
            | FilesReason::Written { .. }
            | FilesReason::TooLarge { .. }
            | FilesReason::Limit(_) => "RangeError",
            FilesReason::Invalid(_) => "TypeError",
            _ => "Error",
        };
        CallError { name: name.into(), message: self.message(asked), code: Some(self.code().to_owned()) }
    }

    /// For people and models, who asked for `asked`.
    pub fn message(&self, asked: &str) -> String {
        let path = self.path.as_deref().unwrap_or(asked).escape_debug();
        match &self.reason {
            FilesReason::NotFound => format!("there is no `{path}`"),
            FilesReason::Exists => format!("`{path}` is there already"),
            FilesReason::NotAFile(what) => format!("`{path}` is {what}, not a file"),
            FilesReason::NotAFolder => format!("`{path}`, or what leads to it, is not a folder"),
            FilesReason::NotEmpty => format!("`{path}` is a folder that is not empty: remove it with `recursive`"),
            FilesReason::Denied(why) => format!("`{path}` cannot be used: {why}"),
            FilesReason::Outside { instead: None } => {
                format!("`{path}` leads out of the place that is open here: paths are relative to the workspace")
            }
            FilesReason::Outside { instead: Some(instead) } => {
                format!(
                    "`{path}` is not a path here: paths are relative to the workspace: write `{}`",
                    instead.escape_debug()
                )
            }
            FilesReason::Quota { what, used, wanted, allowed } => {
                format!(
                    "`{path}` was not written: {wanted} {what} more than the {used} there are would pass the {allowed} allowed"
                )
            }
            FilesReason::Written { used, wanted, allowed } => {
                let what = format!("{wanted} bytes more than the {used} this run has written");
                format!("`{path}` was not written: {what} would pass the {allowed} allowed")
            }
            FilesReason::TooLarge { bytes, most } => {
                format!("`{path}` would have {bytes} bytes, and a file may have {most}")
            }
            FilesReason::Invalid(why) => why.clone(),
            FilesReason::NoMatch { edit, near } => {
                let near = near.as_ref().map_or_else(String::new, |(line, near)| {
                    format!("; the nearest is line {line}: `{}`", near.escape_debug())
                });
                format!(
                    "edit {edit} of `{path}` was not made: the old text is not in it, which has to fit to the letter{near}. Nothing was changed"
                )
            }
            FilesReason::Ambiguous { edit, times, lines } => {
                let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
                format!(
                    "edit {edit} of `{path}` was not made: the old text is in it {times} times (lines {}): take in more of what is around it, or say `replace_all`. Nothing was changed",
                    lines.join(", ")
                )
            }
            FilesReason::NotText => format!("`{path}` is not a text in UTF-8: read it as bytes"),
            FilesReason::Unsupported(what) => format!("`{path}` is kept where there is no {what}"),
            FilesReason::Damaged => format!("`{path}` is damaged: what is kept is not what was written"),
            FilesReason::Limit(why) => why.clone(),
            FilesReason::Io(why) => format!("`{path}` could not be used: {why}"),
        }
    }
}

impl From<FilesReason> for FilesError {
    fn from(reason: FilesReason) -> FilesError {
        FilesError { reason, path: None }
    }
}

impl From<InvalidPath> for FilesError {
    fn from(error: InvalidPath) -> FilesError {
        match error.leads_out() {
            true => FilesReason::Outside { instead: None }.into(),
            false => FilesReason::Invalid(error.to_string()).into(),
        }
    }
}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message("it"))
    }
}

impl std::error::Error for FilesError {}
