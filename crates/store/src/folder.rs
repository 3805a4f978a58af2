use crate::database;
use crate::migrations::{AUDIT, CONSENT, KV, SECRETS, Schema};
use crate::{Audit, Consent, KeySource, Kv, Secrets, StoreError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The folder with everything that isolith keeps for one user.
#[derive(Clone, Debug)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Uses a folder, and makes it when it is not there. Its stores are opened when they are asked for.
    pub fn open(path: impl Into<PathBuf>) -> Result<DataFolder, StoreError> {
        let path = path.into();
        let cannot = |source: io::Error| StoreError::Folder { path: path.clone(), source };
        // An absolute path, so that changing the current folder changes nothing.
        let path = std::path::absolute(&path).map_err(cannot)?;
        let cannot = |source: io::Error| StoreError::Folder { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(cannot)?;
        let mode = std::fs::metadata(&path).map_err(cannot)?.permissions().mode();
        // THREAT[T-SECRET-014]: whoever can write here can put a database or a key of theirs in place of ours.
        if mode & 0o002 != 0 {
            return Err(StoreError::Open(path));
        }
        Ok(DataFolder { path })
    }

    /// Where the folder is unless someone says otherwise: `$ISOLITH_DATA`, `$XDG_DATA_HOME/isolith` or `~/.local/share/isolith`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG rules say that a relative path there is to be ignored.
        let shared = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let shared = shared.or_else(|| set("HOME").map(|home| home.join(".local/share")));
        set("ISOLITH_DATA").or_else(|| shared.map(|path| path.join("isolith"))).ok_or(StoreError::Homeless)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key spaces.
    pub fn kv(&self) -> Result<Kv, StoreError> {
        Kv::open(&self.file(&KV))
    }

    /// The audit log, and its writer.
    pub fn audit(&self) -> Result<Audit, StoreError> {
        Audit::open(&self.file(&AUDIT))
    }

    /// The secrets, with the key that the environment names: `$ISOLITH_KEY`, `$ISOLITH_KEY_FILE`, or the file `key` in here.
    pub fn secrets(&self) -> Result<Secrets, StoreError> {
        self.secrets_with(KeySource::from_environment(&self.path))
    }

    /// The secrets, with a key from elsewhere.
    pub fn secrets_with(&self, key: KeySource) -> Result<Secrets, StoreError> {
        Secrets::open(&self.file(&SECRETS), key)
    }

    /// The answers that people gave.
    pub fn consent(&self) -> Result<Consent, StoreError> {
        Consent::open(&self.file(&CONSENT))
    }

    /// Looks through every database that is there for damage. Takes as long as reading them does.
    pub fn check(&self) -> Vec<(PathBuf, Result<(), StoreError>)> {
        let files = [&KV, &AUDIT, &SECRETS, &CONSENT].map(|schema| (self.file(schema), schema));
        let check = |(path, schema): (PathBuf, &Schema)| {
            let sound = database::check(&path, schema);
            (path, sound)
        };
        files.into_iter().filter(|(path, _)| path.exists()).map(check).collect()
    }

    fn file(&self, schema: &Schema) -> PathBuf {
        self.path.join(schema.file)
    }
}
