//! Contents that are too large for a database: in chunks, each under the name of its hash, so that what is the same is kept once.

use crate::{StoreError, folder};
use bytes::Bytes;
use futures_executor::block_on;
use isolith_core::{FilesError, FilesReason};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};
use rustix::fs::FlockOperation;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A chunk is not smaller than this, unless it is a file's last.
const CHUNK_BYTES_MIN: usize = 128 << 10;
const CHUNK_BYTES_USUAL: usize = 512 << 10;
const CHUNK_BYTES_MAX: usize = 2 << 20;

/// The BLAKE3 hash of what is in a chunk.
pub(crate) type Hash = [u8; 32];

/// Chunks that several sessions share.
pub(crate) struct Chunks {
    store: Arc<dyn ObjectStore>,
    folder: PathBuf,
}

/// While this is held, no chunk goes.
pub(crate) struct Held(#[expect(dead_code, reason = "the lock ends with it")] File);

impl Chunks {
    /// Chunks in a folder, which is made when it is not there.
    pub(crate) fn folder(path: &Path) -> Result<Chunks, StoreError> {
        let cannot = |source: io::Error| StoreError::Folder { path: path.to_owned(), source };
        folder::make(path).map_err(cannot)?;
        let local = LocalFileSystem::new_with_prefix(path).map_err(|error| cannot(error.into()))?;
        // A chunk takes its place when it is on disk: one that is there already is others' too.
        let store = Arc::new(local.with_fsync(true));
        Ok(Chunks { store, folder: path.to_owned() })
    }

    /// Where the bytes are to be cut. The same bytes are cut the same way wherever they are in a file.
    pub(crate) fn cut(bytes: &[u8]) -> impl Iterator<Item = (Hash, &[u8])> {
        let cuts = fastcdc::v2020::FastCDC::new(bytes, CHUNK_BYTES_MIN, CHUNK_BYTES_USUAL, CHUNK_BYTES_MAX);
        cuts.map(|cut| {
            let bytes = &bytes[cut.offset..cut.offset + cut.length];
            (*blake3::hash(bytes).as_bytes(), bytes)
        })
    }

    /// Keeps the chunks that there are from being swept. Taken before a chunk is put, and held until its use is committed.
    pub(crate) fn hold(&self) -> Result<Held, FilesError> {
        self.locked(FlockOperation::LockShared).map_err(|error| refused(&error))
    }

    fn locked(&self, operation: FlockOperation) -> io::Result<Held> {
        let file = File::options().create(true).append(true).mode(0o600).open(self.folder.join(".lock"))?;
        rustix::fs::flock(&file, operation)?;
        Ok(Held(file))
    }

    /// Puts a chunk. It is on disk when this returns.
    ///
    /// One that is there is written again: that it is there does not say that all of it reached the disk.
    pub(crate) fn put(&self, hash: &Hash, bytes: &[u8]) -> Result<(), FilesError> {
        let key = key(hash);
        block_on(self.store.put(&key, Bytes::copy_from_slice(bytes).into())).map_err(|error| failed(&error))?;
        // The crate waits for the chunk and its folder. Another process may have made that, and not have come to wait for it.
        folder::sync(&self.folder).map_err(|error| refused(&error))
    }

    /// The bytes of a chunk, which are those that were put.
    pub(crate) fn get(&self, hash: &Hash) -> Result<Bytes, FilesError> {
        let read = block_on(async { self.store.get(&key(hash)).await?.bytes().await });
        let bytes = read.map_err(|error| match error {
            object_store::Error::NotFound { .. } => FilesReason::Damaged.into(),
            error => failed(&error),
        })?;
        // THREAT[T-SESSION-003]: what is on a disk can change without anyone having written it.
        match blake3::hash(&bytes).as_bytes() == hash {
            true => Ok(bytes),
            false => Err(FilesReason::Damaged.into()),
        }
    }

    /// Removes the chunks that are not among those that `used` names while nobody is putting any, and says how many bytes that were.
    pub(crate) fn sweep<E>(&self, used: impl FnOnce() -> Result<HashSet<Hash>, E>) -> Result<u64, E>
    where
        E: From<FilesError>,
    {
        let _alone = self.locked(FlockOperation::LockExclusive).map_err(|error| refused(&error))?;
        let used = used()?;
        let listed = block_on(async {
            use futures_util::TryStreamExt as _;
            self.store.list(None).try_collect::<Vec<_>>().await
        });
        let mut freed = 0;
        for found in listed.map_err(|error| failed(&error))? {
            let name = found.location.filename().and_then(|name| blake3::Hash::from_hex(name).ok());
            // What has another name is not ours.
            if name.is_none_or(|hash| used.contains(hash.as_bytes())) {
                continue;
            }
            block_on(self.store.delete(&found.location)).map_err(|error| failed(&error))?;
            freed += found.size;
        }
        Ok(freed + self.sweep_unfinished().map_err(|error| refused(&error))?)
    }

    /// Removes what was begun by someone who is gone. The crate does not list it: it has the name of a chunk, `#` and a number.
    fn sweep_unfinished(&self) -> io::Result<u64> {
        let mut freed = 0;
        for folder in std::fs::read_dir(&self.folder)? {
            let folder = folder?;
            if !folder.file_type()?.is_dir() {
                continue;
            }
            for entry in std::fs::read_dir(folder.path())? {
                let entry = entry?;
                let (name, bytes) = (entry.file_name(), entry.metadata()?.len());
                let begun = name.to_str().and_then(|name| name.split_once('#'));
                if begun.is_some_and(|(hash, _)| blake3::Hash::from_hex(hash).is_ok()) {
                    std::fs::remove_file(entry.path())?;
                    freed += bytes;
                }
            }
        }
        Ok(freed)
    }
}

fn key(hash: &Hash) -> Key {
    let name = blake3::Hash::from_bytes(*hash).to_hex();
    Key::from(format!("{}/{name}", &name[..2]))
}

fn refused(error: &io::Error) -> FilesError {
    let why = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "there is no space left on the disk".into(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "the disk cannot be written to by the user that isolith runs as".into()
        }
        kind => kind.to_string(),
    };
    FilesReason::Io(why).into()
}

// THREAT[T-FILES-008]: its own messages hold paths of the host.
fn failed(error: &object_store::Error) -> FilesError {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return refused(error);
        }
        source = error.source();
    }
    FilesReason::Io("its chunks cannot be read or written".into()).into()
}
