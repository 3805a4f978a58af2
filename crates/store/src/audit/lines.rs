use crate::StoreError;
use isolith_core::AuditRow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A file with one row on each line, for those who collect logs.
pub(super) struct Lines {
    file: File,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Lines, StoreError> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        Ok(Lines { file })
    }

    // THREAT[T-AUDIT-002]: what a guest chose could look like another row if it could hold a line break. JSON escapes those. All
    // rows go out in one write to the end of the file, so that lines of several processes do not mix.
    pub(super) fn write(&mut self, rows: &[AuditRow]) -> io::Result<()> {
        let mut text = Vec::new();
        for row in rows {
            serde_json::to_writer(&mut text, row)?;
            text.push(b'\n');
        }
        self.file.write_all(&text)
    }
}
