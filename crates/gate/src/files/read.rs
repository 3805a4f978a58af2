//! Looking at files.

use super::FilesAnswer;
use super::place::Place;
use super::trouble::trouble;
use crate::bodies::BodySource;
use cap_std::fs::{FileType, Metadata, OpenOptions, PermissionsExt as _};
use isolith_core::{BoxFuture, CallError, FilesError, FilesReason, MAX_READ_BYTES};
use serde_json::{Value, json};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::UNIX_EPOCH;

/// Up to here a file is answered whole; beyond, it is read piece by piece.
const WHOLE_BYTES_MAX: u64 = MAX_READ_BYTES as u64;

pub(super) fn read(place: &Place, offset: u64, length: Option<u64>) -> Result<FilesAnswer, FilesError> {
    let (file, found) = place.file(OpenOptions::new().read(true))?;
    let mut file = file.into_std();
    let wanted = found.len().saturating_sub(offset).min(length.unwrap_or(u64::MAX));
    if wanted > 0 && offset > 0 {
        file.seek(SeekFrom::Start(offset)).map_err(trouble)?;
    }
    if wanted > WHOLE_BYTES_MAX {
        return Ok(FilesAnswer::Stream(Box::new(Pieces { file: Some(file), left: wanted }), wanted));
    }
    let mut bytes = Vec::with_capacity(wanted as usize);
    file.take(wanted).read_to_end(&mut bytes).map_err(trouble)?;
    Ok(FilesAnswer::Bytes(bytes))
}

/// The rest of an open file.
struct Pieces {
    // Away while a piece is being read.
    file: Option<std::fs::File>,
    left: u64,
}

impl BodySource for Pieces {
    fn read(&mut self, most: usize) -> BoxFuture<'_, Result<Vec<u8>, CallError>> {
        Box::pin(async move {
            let most = self.left.min(most as u64).min(WHOLE_BYTES_MAX) as usize;
            if most == 0 {
                return Ok(Vec::new());
            }
            let mut file = self.file.take().ok_or_else(|| lost("an earlier piece of it was given up"))?;
            let read = move || {
                let mut bytes = vec![0; most];
                let read = file.read(&mut bytes);
                (
                    file,
                    read.map(|read| {
                        bytes.truncate(read);
                        bytes
                    }),
                )
            };
            let (file, bytes) = tokio::task::spawn_blocking(read).await.map_err(|_| lost("it was given up"))?;
            let bytes = bytes.map_err(|error| lost(&error.kind().to_string()))?;
            if bytes.is_empty() {
                // Its length was promised; ending early would look like the whole of it.
                return Err(lost("it became shorter meanwhile"));
            }
            self.left -= bytes.len() as u64;
            self.file = Some(file);
            Ok(bytes)
        })
    }
}

pub(super) fn lost(why: &str) -> CallError {
    let message = format!("the file could not be read to its end: {why}");
    CallError { name: "Error".into(), message, code: Some("files.io".into()) }
}

/// What is there. A link is what it leads to, and `link` only when that is nothing or outside.
pub(super) fn stat(place: &Place) -> Result<Value, FilesError> {
    let found = match place.look() {
        Ok(found) if found.is_symlink() => place.dir.metadata(&place.names).unwrap_or(found),
        Ok(found) => found,
        Err(error) => match trouble(error) {
            problem if problem.is_not_found() => return Ok(Value::Null),
            problem => return Err(problem),
        },
    };
    let mode = found.permissions().mode() & 0o777;
    let (kind, modified) = (kind(found.file_type()), modified_ms(&found)?);
    // Where a link of the host leads is not told: what it says may be about the rest of the host.
    Ok(json!({ "kind": kind, "size": found.len(), "modified": modified, "mode": mode }))
}

pub(super) fn kind(found: FileType) -> &'static str {
    match found {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "folder",
        kind if kind.is_symlink() => "link",
        _ => "other",
    }
}

pub(super) fn modified_ms(found: &Metadata) -> Result<u64, FilesError> {
    let modified = found.modified().map_err(trouble)?.into_std();
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).map_err(|_| FilesReason::Io("its date is absurd".into()).into())
}
