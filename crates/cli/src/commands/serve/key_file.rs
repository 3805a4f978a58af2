//! What a server needs of the data folder besides stores: a key for handles, and to be alone.

use super::file_failure;
use crate::failure::Failure;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The key that seals continuation handles: made once, the same after a restart.
pub(crate) fn handle_key(folder: &Path) -> Result<[u8; 32], Failure> {
    let path = folder.join("handle.key");
    let cannot = |error: std::io::Error| file_failure(&path, error);
    if !path.exists() {
        let mut key = [0; 32];
        rustix::rand::getrandom(&mut key[..], rustix::rand::GetRandomFlags::empty())
            .map_err(|errno| cannot(errno.into()))?;
        let mut file = tempfile::Builder::new().prefix(".handle").tempfile_in(folder).map_err(cannot)?;
        file.write_all(&key).and_then(|()| file.as_file().sync_all()).map_err(cannot)?;
        // Whoever was faster made the one that counts.
        let _ = file.persist_noclobber(&path);
    }
    let mut key = [0; 32];
    File::open(&path).and_then(|mut file| file.read_exact(&mut key)).map_err(cannot)?;
    Ok(key)
}

/// Keeps a second server from the same folder: both would wake the same runs.
pub(crate) fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join("server.lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = file.map_err(|error| file_failure(&path, error))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        let message = format!("another server uses `{}`", folder.display());
        Failure::usage(message, "stop it first, or set ISOLITH_DATA to another folder")
    })?;
    Ok(file)
}
